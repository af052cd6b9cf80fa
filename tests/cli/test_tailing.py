"""`audit events --follow`: each event once, a line each, and the cursor at the end."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from ledger.audit import tail
from ledger.cli import tailing
from ledger.store.memory import MemoryStore
from ledger.store.port import CallFilter, Settled, Store
from tests.audit.world import opened
from tests.cli.running import ledger, terminal


def lines(*options: str) -> list[dict[str, Any]]:
    result = ledger("audit", "events", "--follow", *options)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("form", [("--json",), ("--format", "jsonl")])
def test_events_are_lines(world: Path, form: tuple[str, ...]) -> None:
    """Programs get one JSON value a line, as `audit events --format jsonl` prints them."""
    followed = lines("--limit", "5", *form)
    plain = ledger("audit", "events", "--limit", "5", "--format", "jsonl").stdout.splitlines()
    assert followed == [json.loads(line) for line in plain]


def test_a_table_has_the_columns_that_it_has_without(world: Path) -> None:
    """The header, the times and the values are those of the table that does not follow; only widths may differ."""
    followed = ledger("audit", "events", "--follow", "--limit", "9").stdout.splitlines()
    plain = ledger("audit", "events", "--limit", "9").stdout.splitlines()
    assert [line.split() for line in followed] == [line.split() for line in plain]
    assert followed[0].split()[:3] == ["POS", "TIME", "(UTC)"]


def test_a_column_without_room_is_told(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the columns that do not fit are named, once."""
    from ledger.cli import main

    _, err = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main.main(["audit", "events", "--follow", "--limit", "3", "--no-color"])
    assert err.shown == ("2 columns do not fit (SEQ, TOOL): widen the terminal, or use --json.\nGo on with --after 3\n")


def test_the_cursor_leads_on(world: Path) -> None:
    """Behind the last event the place to go on from is told; from there nothing comes twice."""
    result = ledger("audit", "events", "--follow", "--limit", "3")
    assert "Go on with --after 3" in result.stderr
    assert len(result.stdout.splitlines()) == 1 + 3
    assert [row["position"] for row in lines("--limit", "2", "--after", "3", "--format", "jsonl")] == [4, 5]


def test_a_signal_ends_it(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C and SIGTERM end it with 0 and a cursor, whether it waits or is in the middle of many."""
    monkeypatch.setattr(tail, "POLL", 30.0)
    interrupted = iter([False] * 4 + [True])

    def summary(body: Any) -> str:
        if next(interrupted, False):
            os.kill(os.getpid(), signal.SIGTERM)
        return "x"

    monkeypatch.setattr(tailing, "summary_of", summary)
    with opened(world) as found:
        first = found.reader.calls(CallFilter(), limit=1)[0].row.call_id
    result = ledger("audit", "events", "--follow", "--call", first)
    assert result.exit_code == 0
    assert "Go on with --after" in result.stderr


@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_never_ends_has_no_other_form(world: Path, form: str) -> None:
    """A table of CSV or one JSON array would never be whole."""
    result = ledger("audit", "events", "--follow", "--format", form)
    assert result.exit_code == 2


def test_who_holds_events_back_is_told_once(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person hears whose transaction newer events wait for, once for each holder."""

    class Slow(MemoryStore):
        answers = iter(
            [Settled(0, "process 7 (a, 1 s)"), Settled(0, "process 7 (a, 2 s)"), Settled(0, "process 8 (b)")]
        )

        def settled(self) -> Settled:
            found = next(self.answers, None)
            if found is None:
                os.kill(os.getpid(), signal.SIGINT)
                return Settled(0)
            return found

    monkeypatch.setattr(tail, "POLL", 0.0)
    slow: Store = Slow()
    monkeypatch.setattr("ledger.cli.opening.open_reader", lambda _: slow)
    result = ledger("audit", "events", "--follow")
    assert [line for line in result.stderr.splitlines() if "wait for" in line] == [
        "Newer events wait for process 7 (a, 1 s)",
        "Newer events wait for process 8 (b)",
    ]
