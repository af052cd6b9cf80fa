"""Whatever a model or a tool wrote: no command lets a raw control character, or an invisible one, reach a terminal."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger.events import CallOutcomeArrivedLate, ToolStageChanged, ToolVersionPublished, encode
from ledger.store.port import Append
from tests.audit.odd import append, held, of_call
from tests.audit.world import HOSTILE, opened
from tests.cli.hosts import app
from tests.cli.running import call_ids, ledger
from tests.cli.test_output import raw_controls

__all__ = ["app"]

BOSS, DOUBT, DONE = "mix 2.0", "mix 3.0", "done 1.0"


@pytest.fixture
def ids(world: Path) -> dict[str, str]:
    """The ledger with hostile words at more places: a late outcome, an owner, evidence, a tool and its schema."""
    found = call_ids()
    with opened(world) as host:
        doubt = host.find(found[DOUBT])
        append(host, doubt, CallOutcomeArrivedLate(ended="succeeded", token=0, result={HOSTILE: [HOSTILE]}))
        host.note(found[DONE], HOSTILE, by=HOSTILE, evidence=({"url": HOSTILE},))
        held(host, "crash", f"{HOSTILE}:boot:ns:{HOSTILE}:2:x", seconds=-1)
        published = ToolVersionPublished(
            schema={"title": HOSTILE}, contract={"effect": HOSTILE}, description=HOSTILE, description_digest=HOSTILE
        )
        place = doubt.changed(session_id="_catalog", call_id=None, tool=HOSTILE)
        retired = ToolStageChanged(stage="compat", hint=HOSTILE)
        for event in (of_call(place, published, event_id="h1"), of_call(place, retired, event_id="h2")):
            host._wiring.store.append(Append(session_id="_catalog", drafts=(encode(event),)))
    return found


def commands(ids: dict[str, str], app: str) -> list[list[str]]:
    """Every command that shows something, in every form for people."""
    return [
        ["audit", "calls"],
        ["audit", "events"],
        *(["audit", "call", called] for called in ids.values()),
        ["review"],
        *(["review", "show", called] for called in ids.values()),
        ["replay", "session", "mix"],
        ["replay", "session", "mix", "--diff", "done"],
        ["session"],
        ["session", "show", "mix"],
        ["session", "show", "crash"],
        ["tool"],
        ["tool", "show", HOSTILE],
        ["tool", "show", f"x{HOSTILE}"],
        ["audit", "call", f"x{HOSTILE}"],
        ["session", "show", HOSTILE],
        ["session", "list", "--db", f"sqlite:///{HOSTILE}.db".replace("\x00", "").replace("\udce9", "")],
        ["resume", "--all", "--dry-run"],
        ["resume", "mix", "--app", f"{app}:ledger"],
        ["resume", "mix", "--app", f"{app}:{HOSTILE}"],
        ["review", "note", ids[DONE], HOSTILE, "--by", HOSTILE],
        ["review", "resolve", ids[DOUBT], "--happened", HOSTILE],
        ["review", "resolve", ids[DOUBT], "--abandon", "--by", HOSTILE, "--note", HOSTILE],
        ["session", "close", "mix", "--message", HOSTILE],
        ["db", "check"],
    ]


def test_no_raw_control_in_any_output(ids: dict[str, str], app: str) -> None:
    """Text for people, JSON and rows: hostile data is shown escaped, in the answer and in errors."""
    shown = ""
    for command in commands(ids, app):
        for form in ([], ["--json"]):
            result = ledger(*command, *form)
            assert result.exit_code in (0, 1, 2, 3), command
            assert raw_controls(result.output) == [], command
            shown += result.output
    assert shown.count("evil") > 100


@pytest.mark.parametrize("noun", [["audit", "calls"], ["audit", "events"], ["replay", "session", "mix"], ["review"]])
def test_rows_keep_the_data_exactly(ids: dict[str, str], noun: list[str]) -> None:
    """JSON is ASCII and gives back every character, lone surrogates and NUL too."""
    text = ledger(*noun, "--format", "jsonl").stdout
    assert text.isascii()
    rows = [json.loads(line) for line in text.splitlines()]
    assert any(HOSTILE in found for row in rows for found in _texts(row))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)
