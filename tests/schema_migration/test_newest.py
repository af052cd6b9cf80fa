"""Calls that ended, told in the newest form of their arguments: where that is proved, and without touching them."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Allow, Ledger
from ledger.calls import Call
from ledger.catalog import Registry, load_catalog
from ledger.providers.check import check
from ledger.providers.formats import FORMATS, get_format
from ledger.replay import replay_json, replay_messages, replay_rows
from ledger.replay.shapes import Shaped
from ledger.schema_migration import Newest
from tests.cli.running import data, failure, ledger
from tests.recovery.deploys import V1, Deploy
from tests.session.agents import asked


@pytest.fixture(scope="module")
def deploy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    """Calls of version 1: ended well, with arguments that are none, of an unknown tool, and one that has not ended."""
    found = Deploy(tmp_path_factory.mktemp("deploy"))
    found.policy = lambda call, principal: Allow()
    found.write(1)
    session = found.open(1).session("s")
    session.messages(start=[{"role": "user", "content": "Charge."}])
    session.dispatch(asked(("charge", {"amt": 5}), ("charge", "no JSON"), ("charge", {"amt": "x"}), ("pay", {"n": 1})))
    session.propose("charge", {"amt": 7})
    yield found
    found.close()


@pytest.fixture
def host(deploy: Deploy) -> Ledger:
    return deploy.opened[0]


def release(deploy: Deploy, version: int) -> None:
    """Write the catalog as this release has it, and nothing of a later one."""
    for file in (deploy.folder / "catalog/charge").glob("*.upcast.json"):
        file.unlink()
    deploy.write(version)


def newest(deploy: Deploy, version: int) -> Newest:
    release(deploy, version)
    return Newest(Registry(load_catalog(deploy.folder / "catalog")), deploy.opened[0].reader)


def told(deploy: Deploy, version: int) -> list[Shaped]:
    """How each call reads under a release, in their order."""
    shaping, host = newest(deploy, version), deploy.opened[0]
    return [shaping(host.find(str(row["callId"]))) for row in host.calls()]


def test_what_is_proved_is_told_in_the_newest_form(deploy: Deploy) -> None:
    """The call that ended is carried to version 2; all others are told as they were, with why."""
    first, *others = told(deploy, 2)
    assert first.to_wire() == {
        "recorded": 1,
        "version": 2,
        "latest": 2,
        "arguments": {"amount": 5},
        "code": None,
        "message": None,
    }
    assert [(each.code, each.moved) for each in others] == [
        ("no_arguments", False),
        ("invalid_before", False),
        ("tool_unknown", False),
        ("not_ended", False),
    ]


def test_a_change_of_meaning_is_where_it_stops(deploy: Deploy) -> None:
    """Told as version 2, since that is proved; why it is not version 3 stands beside it."""
    [first, *_] = told(deploy, 3)
    assert (first.version, first.latest, first.arguments) == (2, 3, {"amount": 5})
    assert (first.code, first.message) == ("semantic", "A currency has to be named now.")


def test_nothing_differs_under_the_version_of_then(deploy: Deploy) -> None:
    """The same version is the newest: no step, no reason."""
    first, undecoded, *_ = told(deploy, 1)
    assert (first.arguments, first.moved, first.code) == ({"amt": 5}, False, None)
    assert (undecoded.arguments, undecoded.code) == (None, None)


def test_what_the_catalog_does_not_hold_as_it_was(deploy: Deploy) -> None:
    """Somebody edited version 1 since, or it is gone: no step is about that record. Nor is a mask an argument."""
    shaping, host = newest(deploy, 2), deploy.opened[0]
    call = host.find(str(next(iter(host.calls()))["callId"]))
    assert shaping(call.changed(schema_digest="0" * 64)).code == "version_unknown"
    assert shaping(call.changed(intent_version=9, schema_version=9)).code == "version_unknown"
    assert shaping(call.changed(schema_version=2, schema_digest="")).version == 2  # it was carried before it ended
    assert shaping(call.changed(redacted=True)).code == "redacted"
    assert shaping(call.changed(executor="provider")).code == "ran_elsewhere"
    assert shaping(Call(tool="charge", intent_version=1, call_id="none")).code == "not_ended"
    edited = V1 | {"properties": {"amt": {"type": "integer", "minimum": 0}}}
    (deploy.folder / "catalog/charge/v1.json").write_text(json.dumps(edited))
    again = Newest(Registry(load_catalog(deploy.folder / "catalog")), host.reader)
    assert again(call).code == "version_unknown"


@pytest.mark.parametrize("name", FORMATS)
def test_every_provider_takes_it(deploy: Deploy, host: Ledger, name: str) -> None:
    """The conversation holds the new arguments, and is one that the provider takes."""
    plain = list(replay_messages(host.reader, "s", get_format(name)))
    messages = list(replay_messages(host.reader, "s", get_format(name), shaping=newest(deploy, 2)))
    text = json.dumps(messages)
    assert ("amount" in text, "amount" in json.dumps(plain)) == (True, False)
    assert check(name, messages) == []
    assert len(messages) == len(plain)


def test_the_record_stays_as_it_is(deploy: Deploy, host: Ledger) -> None:
    """Rows and document tell both forms; the events are byte for byte what they were."""
    before = [row.record for row in host.reader.read("s", limit=100)]
    shaping = newest(deploy, 2)
    rows = [row for row in replay_rows(host.reader, "s", shaping=shaping) if row.type == "call.proposed"]
    assert [row.summary for row in rows[:2]] == ['asked with {"amount":5} (v1 as v2)', rows[1].summary]
    assert rows[1].summary == "asked with no JSON (v1: what the model sent are no arguments)"
    assert rows[3].summary == 'asked with {"n": 1} (v?: the catalog has no such tool)'
    assert rows[0].to_wire()["asVersion"]["arguments"] == {"amount": 5}
    [turn, *_] = json.loads("".join(replay_json(host.reader, "s", shaping=shaping)))["turns"]
    assert (turn["calls"][0]["arguments"], turn["calls"][0]["asVersion"]["arguments"]) == ({"amt": 5}, {"amount": 5})
    assert [row.record for row in host.reader.read("s", limit=100)] == before


REPLAY = ("replay", "session", "s", "--as-version", "latest")


@pytest.fixture
def here(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the ledger and the catalog, at version 2."""
    release(deploy, 2)
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    return deploy.folder


@pytest.mark.usefixtures("here")
def test_the_command_tells_it_in_each_form() -> None:
    """As a table, as rows, as the document, and as messages; there, what is not told in the newest form is noted."""
    table = ledger(*REPLAY).stdout
    assert 'asked with {"amount":5} (v1 as v2)' in table
    rows = [json.loads(line) for line in ledger(*REPLAY, "--format", "jsonl").stdout.splitlines()]
    assert [row["asVersion"]["version"] for row in rows if row["asVersion"]] == [2, 1, 1, None, 1]
    sheet = list(csv.DictReader(io.StringIO(ledger(*REPLAY, "--format", "csv").stdout, newline="")))
    told = [json.loads(row["asVersion"])["version"] for row in sheet if row["asVersion"]]
    assert (len(sheet), told) == (len(rows), [2, 1, 1, None, 1])
    assert data(*REPLAY)["turns"][0]["calls"][0]["asVersion"]["version"] == 2
    done = ledger(*REPLAY, "--format", "openai")
    assert "amount" in done.stdout
    assert "charge, is told as v1: it has not ended" in done.stderr
    assert "pay, is told as it was: the catalog has no such tool" in done.stderr
    assert "asVersion" not in ledger("replay", "session", "s", "--format", "json").stdout


@pytest.mark.usefixtures("here")
def test_many_calls_are_noted_in_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long session's notes do not bury what it is about."""
    monkeypatch.setattr("ledger.cli.replaying._MOST_NOTES", 1)
    assert "… and 3 calls more (--json tells of each)." in ledger(*REPLAY, "--format", "openai").stderr


@pytest.mark.usefixtures("here")
def test_what_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison has no newest form, only the newest version can be asked for, and there must be a catalog."""
    assert failure(*REPLAY, "--diff", "s")[:2] == (2, "usage")
    assert failure("replay", "session", "s", "--as-version", "1")[:2] == (2, "usage")
    monkeypatch.setenv("LEDGER_CATALOG", "nowhere")
    assert failure(*REPLAY)[1] == "catalog_fault"
