"""Calls that started and did not end: a note under the list of questions, until a resume looks at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.cli import stranded
from tests.audit.odd import held
from tests.audit.world import crashed, opened
from tests.cli.running import ledger


def killed(world: Path, session_id: str) -> None:
    """Let the session's owner be a process of this host that is gone, whose lease still runs."""
    with opened(world) as host:
        here = str(host._wiring.owner).split(":")
        held(host, session_id, ":".join([*here[:3], "999999999", "1", "x"]))


def notes(*options: str) -> list[str]:
    return [line for line in ledger("review", *options).stderr.splitlines() if "did not end" in line]


def test_a_call_that_started_and_did_not_end_is_no_silence(world: Path) -> None:
    """Nobody is asked about it yet; a note names the command that looks at it, and after that there is none."""
    killed(world, "crash")
    assert ledger("review", "list", "--session", "crash").output == (
        "Nothing waits.\n1 session has calls that started and did not end: `ledger resume crash` looks at them.\n"
    )
    assert ledger("review", "--session", "crash").exit_code == 0
    assert len(notes()) == len(notes("--kind", "doubt")) == 1
    assert notes("--session", "mix") == notes("--tool", "find") == notes("--kind", "approval") == notes("--json") == []
    assert ledger("resume", "crash").exit_code == 3
    assert notes() == []


def test_a_call_that_runs_is_not_told(world: Path) -> None:
    """Where somebody holds the session the call runs, as far as can be seen; nobody holds it when the time is over."""
    with opened(world) as host:
        held(host, "crash", "a worker whose time is over", seconds=0.0)
        assert len(notes()) == 1
        held(host, "crash", "worker on another host")
        assert notes() == []


def test_many_sessions_are_one_command(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several sessions are resumed together; no more than a hundred calls are looked at."""
    crashed(world, "other")
    for name in ("crash", "other"):
        killed(world, name)
    assert notes() == ["2 sessions have calls that started and did not end: `ledger resume --all` looks at them."]
    monkeypatch.setattr(stranded, "_MOST", 1)
    assert notes() == [
        "At least 1 session has calls that started and did not end: `ledger resume crash` looks at them."
    ]
