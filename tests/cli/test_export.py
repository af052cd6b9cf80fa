"""
An export is whole, and gives back each field, whatever is in it.

https://github.com/OctopusDeploy/Issues/issues/7315: columns shifted where a value was empty or held a separator;
https://github.com/Stellar-VaultLink/invofi/pull/282: an export ended at a bound without a word.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.events import CallProposed, MessageRecorded, SessionOpened
from ledger.store.port import Append, Store
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story
from tests.cli.running import ledger

EVENTS = 12_345
ODD = (
    *('plain, with "quotes" and ; too', "line\r\nbreak\n\rand\ttab", "=HYPERLINK(1)", "'=1+1", "''-1", "-2", "@x"),
    *("+3", "", " spaces ", "中文 é", '"', ",", "\r\n", "'quoted'", "null", "\tx", "\uff1dcmd"),
)
"""Texts that shift columns, run in spreadsheets, or look like nothing."""
QUOTED = "\x01"
"""Marks what stood in quotes: no output holds such a character."""
FORMULA = re.compile(r"'+\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def filled(store: Store, count: int) -> None:
    """Events whose principal, tenant, tool and message are odd texts, and absent ones."""
    batch = 1000
    for number in range(0, count, batch):
        story = Story(f"s{number}", principal=None, tenant=None)
        drafts = []
        for n in range(number, min(number + batch, count)):
            odd = ODD[n % len(ODD)]
            about = {"principal": odd if n % 3 else None, "tenant": ODD[n % 7] if n % 5 else None}
            if n % 2:
                body = MessageRecorded(role="user", provider="p", message={"text": odd, "nothing": None})
                drafts.append(story.event(body, actor=odd or None, **about))
            else:
                proposal = CallProposed(raw_arguments=odd, arguments={"text": odd, "none": None, "empty": ""})
                drafts.append(story.propose(f"call-{n:05}", proposal, tool=odd or "x", **about))
        opened = story.event(SessionOpened()) if count - number < batch else None
        rows = story.rows(*story.calls)
        store.append(Append(session_id=story.session_id, drafts=(*drafts, *([opened] if opened else ())), calls=rows))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger of 12,346 events."""
    folder = tmp_path_factory.mktemp("export")
    store = open_store(f"sqlite:///{folder}/ledger.db", create=True)
    filled(store, EVENTS)
    store.close()
    return folder


@pytest.fixture
def here(exported: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(exported)
    return exported


def parsed(text: str) -> Iterator[dict[str, str | None]]:
    """What a parser reads that knows PostgreSQL's rule: a bare empty field is null, a quoted one is a text."""
    marked = re.sub(r'"(?:[^"]|"")*"', lambda quoted: '"' + QUOTED + quoted[0][1:], text)
    header, *rows = csv.reader(io.StringIO(marked, newline=""))
    for row in rows:
        yield dict(zip(header, map(_field, row), strict=True))


def _field(cell: str) -> str | None:
    return cell.removeprefix(QUOTED) if cell else None


def same(cell: str | None, value: Any, *, formulas: bool) -> bool:
    """Whether a cell is a value: texts as they are (behind one ' where a formula would run), the rest as JSON."""
    if value is None or cell is None:
        return value is cell
    if not isinstance(value, str):
        return json.dumps(value) == cell
    return value == (cell[1:] if not formulas and FORMULA.match(cell) else cell)


def run(*arguments: str) -> str:
    """The whole output of an export that nothing cut."""
    result = ledger("audit", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout_bytes.decode()  # as it is written: `stdout` has other line ends


@pytest.mark.uncounted
def test_every_format_gives_back_each_field(here: Path) -> None:
    """12,346 events as json, jsonl and csv: the same count, the same fields, null and the empty text apart."""
    lines = run("events", "--format", "jsonl").splitlines()
    assert run("events", "--format", "json") == f"[{', '.join(lines)}]\n"
    events = [json.loads(line) for line in lines]
    assert len(events) == EVENTS + 1
    count = 0
    for row, event in zip(parsed(run("events", "--format", "csv")), events, strict=True):
        assert list(row) == list(event)
        assert all(same(row[key], value, formulas=False) for key, value in event.items()), (row, event)
        count += sum(bool(cell and cell.startswith("'")) for cell in row.values())
    assert count > 1000
    odd = {event["principal"] for event in events} & {None, ""}
    assert odd == {None, ""}


@pytest.mark.uncounted
def test_no_cell_runs_unless_asked_for(here: Path) -> None:
    """No field of the CSV begins as a formula; with --keep-formulas a program gets the very texts."""
    options = ("calls", "--until", "2027-01-01", "--after", "11000", "--format")
    calls = [json.loads(line) for line in run(*options, "jsonl").splitlines()]
    neutral, exact = list(parsed(run(*options, "csv"))), list(parsed(run(*options, "csv", "--keep-formulas")))
    assert len(neutral) == len(exact) == len(calls) > 500
    for safe, raw, call in zip(neutral, exact, calls, strict=True):
        texts = {key for key, value in call.items() if isinstance(value, str)}
        assert not any(re.match(r"\s*[=+\-@\uff1d]", safe[key] or "") for key in texts)
        assert all(same(safe[key], value, formulas=False) for key, value in call.items())
        assert all(same(raw[key], value, formulas=True) for key, value in call.items())


def test_a_table_has_as_many_rows(here: Path) -> None:
    """A table has a line a row, whatever line breaks the data has."""
    lines = run("calls", "--session", "s0", "--format", "table").splitlines()
    assert len(lines) == 1 + len(json.loads(run("calls", "--session", "s0", "--format", "json"))) == 501


@pytest.mark.parametrize("noun", ["calls", "events"])
@pytest.mark.parametrize("format", ["json", "jsonl", "csv"])
def test_a_cap_is_printed_and_is_no_success(here: Path, noun: str, format: str) -> None:
    """What --limit cut says so and exits with 1: a part is not the whole; a limit that cuts nothing is fine."""
    cut = ledger("audit", noun, "--session", "s0", "--limit", "3", "--format", format)
    assert (cut.exit_code, cut.stderr.startswith("There are more: go on with --after ")) == (1, True)
    whole = ledger("audit", noun, "--session", "s12000", "--limit", "346", "--format", format)
    assert (whole.exit_code, whole.stderr) == (0, "")


def test_pages_of_the_envelope_make_the_whole(here: Path) -> None:
    """With --json the cursor stands in the answer, so a page is a success; the pages are the rows, each once."""
    seen, after = [], "0"
    while after:
        page = json.loads(run("events", "--session", "s3000", "--limit", "300", "--after", after, "--json"))
        seen += [row["eventId"] for row in page["data"]]
        after = page["next"]
    assert seen == [f"s3000-e{n}" for n in range(1, 1001)]
