"""The tables that commands print, at the widths that terminals have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from ledger.catalog import Catalog
from ledger.cli import acts, audit, differing, main, replaying, review, session, statistics, tool
from ledger.cli.rows import Row
from ledger.cli.table import Column, Flow, Paper, lines
from ledger.cli.text import paint, width
from ledger.session.ledger import Ledger
from tests.cli.running import data, ledger, terminal

TIME: Final = "2026-05-01T12:00:00.000Z"
SESSIONS: Final = [
    *(f"0197aaaa-0000-7000-8000-0123456789a{n}" for n in range(3)),
    *(f"production-eu-west-acme-support-{n:04}" for n in range(2)),
    "会话-東京-한국-🚀-1",
    "short",
]
TOOLS: Final = ["search_customer_orders_by_date", "search_customer_orders_by_name", "find", "cafe\u0301", "発送"]
TEXT: Final = "Search the orders of a customer by their date, 新しい順; the newest come first."


def rows(**shapes: Any) -> list[Row]:
    """Rows with the same values in all but what tells them apart."""
    made: list[Row] = []
    for at in range(12):
        ids = {"callId": f"0197aaaa-0000-7000-8000-00000000{at:04}", "position": 1_000 + at, "sequence": at}
        named = {"sessionId": SESSIONS[at % 7], "tool": TOOLS[at % 5], "schemaVersion": 1 + at // 5, "place": f"{at}.3"}
        made.append({**ids, **named, **shapes})
    return made


CALLS: Final = {"proposedAt": TIME, "state": "awaiting-approval", "why": "outcome-unknown", "durationMs": 12.25}
EVENT: Final = {"recordedAt": TIME, "type": "call.approval_requested", "summary": TEXT}
ASKED: Final = {"age": "12m !", "kind": "never ran", "why": "outcome-unknown", "expires": "in 23h 59m", "arguments": {}}
VERSIONS: Final = {
    "stage": "hidden",
    "publishedAt": TIME,
    "calls": 50_000,
    "carried": 40_000,
    "succeeded": 49_000,
    "rejected": 300,
    "denied": 300,
    "failed": 400,
    "description": TEXT,
}
COUNTS: Final = {
    "calls": 120,
    "of": 240,
    "succeeded": 12,
    "ended": 15,
    "repairable": 1,
    "open": 3,
    "timed": 15,
    "stage": "active",
    "share": 0.5,
    "shareLow": 0.4,
    "shareHigh": 0.6,
    "succeededRate": 0.8,
    "succeededRateLow": 0.55,
    "p95Ms": 12.5,
    "succeededRateHigh": 0.93,
    "repairableRate": 0.1,
    "repairableRateLow": 0.01,
    "repairableRateHigh": 0.3,
    "p50Ms": 1,
    "model": "claude-sonnet-4-5-20250929",
    "provider": "anthropic",
    "tenant": "acme-eu-0001",
    "principal": "ada@acme",
}
TIMES: Final = {"openedAt": TIME, "lastAt": TIME, "closed": "final_answer", "state": "waiting"}
SESSION: Final = {**TIMES, "events": 1_200, "calls": 120, "open": 12, "waiting": 12}
KNOWN: Final = {
    "current": 12,
    "stage": "renamed to search_orders",
    "effect": "external",
    "known": ["catalog", "ledger"],
}
CHANGE: Final = {
    "verdict": "incompatible",
    "code": "idempotency_changed",
    "message": TEXT,
    "old": {"a": TEXT},
    "new": {},
}

TABLES: Final[dict[str, tuple[Sequence[Column], list[Row]]]] = {
    "audit calls": (audit.CALL_COLUMNS, rows(**CALLS)),
    "audit events": (audit.EVENT_COLUMNS, rows(**EVENT)),
    "audit call": (audit.STORY_COLUMNS, rows(**EVENT)),
    "audit versions": (audit.VERSION_COLUMNS, rows(**VERSIONS)),
    "audit stats": (statistics.columns_of(["tool"]), [statistics.told(row) for row in rows(**COUNTS)]),
    "audit stats --by": (
        statistics.columns_of(["version", "tenant", "principal", "model"]),
        [statistics.told(row) for row in rows(**COUNTS)],
    ),
    "review list": (review.COLUMNS, rows(**ASKED)),
    "session list": (session.COLUMNS, [{**SESSION, "sessionId": name} for name in SESSIONS]),
    "tool list": (tool.COLUMNS, [{**KNOWN, "tool": name, "description": TEXT} for name in TOOLS]),
    "replay": (replaying.COLUMNS, rows(**EVENT)),
    "tool diff": (differing.COLUMNS, [{**CHANGE, "pointer": f"/properties/recipients/items/{n}"} for n in range(9)]),
    "demo calls": (acts.CALLS, rows(arguments={"path": TEXT}, state="succeeded", code=None)),
    "demo events": (acts.EVENTS, rows(**EVENT)),
}
NAMES: Final = ("sessionId", "tool", "pointer", "model", "tenant", "principal")


def shown(name: str, room: int | None, *, flowing: bool = False) -> list[str]:
    columns, found = TABLES[name]
    paper = Paper(room, "utf-8")
    flow = Flow(columns, paper)
    made = (line for row in found for line in flow.lines(row)) if flowing else lines(found, columns, paper)
    return [paint(line, color=False) for line in made]


@pytest.mark.parametrize("room", [60, 80, 100, 200])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_and_its_names_are_whole(name: str, room: int) -> None:
    """No line is wider than the terminal, every name that is shown can be copied, and no two rows look alike."""
    columns, found = TABLES[name]
    printed = shown(name, room)
    assert max(map(width, printed)) <= room
    for key in {column.key for column in columns if column.key in NAMES}:
        gone = not re.search(rf"\b{key.removesuffix('Id').upper()}\b", "\n".join(printed))
        assert all(str(row[key]) in "\n".join(printed) for row in found) is not gone
    above: dict[str, str] = {}
    told = []
    for line in printed[1:]:
        head = line.partition("  ")[0]
        if any(column.apart and column.heading == head for column in columns):
            above[head] = line
        else:
            told.append(f"{above} {line}")
    assert len(set(told)) == len(told) == len(found)


@pytest.mark.parametrize("name", TABLES)
def test_a_pipe_has_everything(name: str) -> None:
    """Without a terminal nothing is cut, short, set apart or gone."""
    columns, found = TABLES[name]
    printed = shown(name, None)
    assert len(printed) == 1 + len(found)
    for line, row in zip(printed[1:], found, strict=True):
        assert all(column.show(row.get(column.key)) in line for column in columns)


@pytest.mark.parametrize("room", [60, 80, 100, 200])
def test_a_followed_table_fits_too(room: int) -> None:
    """Rows that come one at a time are no wider, and their names as whole."""
    printed = shown("audit events", room, flowing=True)
    assert max(map(width, printed)) <= room
    assert all(name in "\n".join(printed) for name in SESSIONS)


LEAVING: Final[dict[str, tuple[list[str], list[str]]]] = {
    "audit calls": (["ASKED (UTC)", "MS"], ["V", "MS"]),
    "audit events": (["TOOL"], ["TIME (UTC)", "TOOL"]),
    "audit versions": (
        ["STAGE", "PUBLISHED (UTC)", "DESCRIPTION"],
        ["STAGE", "PUBLISHED (UTC)", "OK", "REJ", "DEN", "DESCRIPTION"],
    ),
    "review list": (["KIND", "ARGUMENTS"], ["ARGUMENTS"]),
    "session list": (
        ["END", "OPENED (UTC)", "EVENTS", "CALLS"],
        ["END", "OPENED (UTC)", "LAST (UTC)", "EVENTS", "CALLS"],
    ),
    "tool list": (["KNOWN BY", "DESCRIPTION"], ["KNOWN BY"]),
    "tool diff": (["CODE", "OLD", "NEW"], ["OLD", "NEW"]),
}


@pytest.mark.parametrize("name", LEAVING)
def test_what_matters_least_leaves_first(name: str) -> None:
    """What has no room on 80 columns, and on 60; CARRIED stays, and so does what a person is asked to decide by."""
    columns, found = TABLES[name]
    left: list[list[str]] = [[], []]
    for missing, room in zip(left, (80, 60), strict=True):
        list(lines(found, columns, Paper(room, "utf-8"), missing.extend))
    assert tuple(left) == LEAVING[name]


WORDINGS: Final = ("Send an email; one address.", "Send an email; several addresses.")


@pytest.fixture(scope="module")
def wordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with sessions that have the ids that a ledger makes, and a tool in two wordings."""
    folder = tmp_path_factory.mktemp("wordings")
    for wording in WORDINGS:
        with Ledger.open(f"sqlite:///{folder}/ledger.db", catalog=Catalog(tools={}, digest="")) as host:

            @host.tool("send_email_with_attachments", effect="external", description=wording)
            def send(to: str) -> str:
                return to

            for number in range(2):
                with host.session() as made:
                    made.call("send_email_with_attachments", {"to": f"{number}@x"})
    return folder


@pytest.fixture
def wide(wordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(wordings)


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    out, _ = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main.main([*arguments, "--no-color"])
    return out.shown


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("command", ["audit calls", "audit events", "audit events --follow --limit 12", "session list"])
def test_a_session_is_copied_from_every_list(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 80 columns its id stands there whole, and the other commands take it."""
    sessions = {row["sessionId"] for row in data("session", "list")}
    ids = set(re.findall(r"[0-9a-f-]{36}", on_a_terminal(monkeypatch, *command.split())))
    assert ids <= sessions
    assert len(ids) == (2 if "--follow" in command else 4)
    assert on_a_terminal(monkeypatch, "session", "show", min(ids)).startswith(f"Session {min(ids)}  ")


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    ("command", "heads"),
    [
        ("versions", "TOOL V DIGEST CALLS CARRIED OK REJ DEN FAIL"),
        ("stats --by description", "TOOL DIGEST WORDING CALLS SUCCEEDED OPEN"),
        ("stats --by version", "TOOL V STAGE CALLS SUCCEEDED REPAIRABLE"),
    ],
)
def test_wordings_are_told_apart(command: str, heads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a tool has several, a column of their digests does so: most begin with the same words."""
    lines = on_a_terminal(monkeypatch, "audit", *command.split()).splitlines()
    assert lines[0].split() == heads.split()
    digests = {row["descriptionDigest"] for row in data("audit", "versions")}
    assert len(digests) == 2
    assert all(f"  {digest[:8]}  " in "\n".join(lines) for digest in digests) == ("DIGEST" in heads)
    assert "DIGEST" not in ledger("audit", "versions", "--tool", "nothing").stdout
