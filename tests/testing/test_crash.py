"""Crash points: where they are, what they leave, and what they note."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ledger import Ledger
from ledger.testing import crash

SOURCE = """
import sys
from ledger import Ledger
from ledger.testing import crash

ledger = Ledger.open(sys.argv[1])

@ledger.tool(effect="write")
def act() -> str:
    "Act."
    print("acted", flush=True)
    if sys.argv[2] == "die":
        crash.die()
    return "done"

crash.arm(ledger, *([crash.after("call.started")] if sys.argv[2] == "started" else []), acknowledged=sys.argv[3])
ledger.session("s").call("act")
"""


class Here(BaseException):
    """The point was reached."""


def here() -> None:
    raise Here


@pytest.fixture
def ledger() -> Ledger:
    found = Ledger.open("memory://")

    @found.tool(effect="write")
    def act() -> str:
        """Act."""
        return "done"

    return found


def stored(ledger: Ledger) -> list[str]:
    return [event.type for event in ledger.reader.read("s", limit=100)]


@pytest.mark.parametrize(
    ("point", "last"),
    [
        (crash.before(1), None),
        (crash.after(1), "call.started"),
        (crash.before(2), "call.started"),
        (crash.after(2), "call.succeeded"),
        (crash.before("call.started"), None),
        (crash.after("call.started"), "call.started"),
        (crash.before("call.succeeded"), "call.started"),
        (crash.after("session.opened"), "call.started"),
        (crash.before("call.started", 2), "call.succeeded"),
        (crash.before(3), "call.succeeded"),
    ],
    ids=str,
)
def test_a_point_is_before_or_after_an_append(ledger: Ledger, point: crash.Point, last: str | None) -> None:
    """By its number or by an event in it; what was acknowledged before is there, what comes after is not."""
    crash.arm(ledger, point, end=here)
    session = ledger.session("s")
    with pytest.raises(Here):
        [session.call("act") for _ in range(2)]
    assert stored(ledger)[-1:] == ([] if last is None else [last])


def test_a_point_that_is_not_reached_ends_nothing(ledger: Ledger) -> None:
    """The watch counts the appends all the same."""
    watch = crash.arm(ledger, crash.before(9), crash.after("session.closed"), end=here)
    ledger.session("s").call("act")
    assert watch.appends == 2


def test_acknowledged_events_are_noted(ledger: Ledger, tmp_path: Path) -> None:
    """One line for each, in order, as soon as its append returned."""
    notes = tmp_path / "notes"
    watch = crash.arm(ledger, acknowledged=notes)
    ledger.session("s").call("act")
    lines = [line.split(" ") for line in notes.read_text().splitlines()]
    assert lines == [["s", event.event_id] for event in watch.read("s", limit=100)]
    ledger.close()
    watch.close()  # once more is the same as once


def child(folder: Path, how: str) -> subprocess.CompletedProcess[str]:
    url = f"sqlite:///{folder}/ledger.db"
    command = [sys.executable, "-c", SOURCE, url, how, str(folder / "notes")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("how", "said"), [("started", ""), ("die", "acted\n")])
def test_a_process_kills_itself(tmp_path: Path, how: str, said: str) -> None:
    """By SIGKILL, at an append or in a tool; what was noted is in the ledger."""
    done = child(tmp_path, how)
    assert (done.returncode, done.stdout) == (-9, said)
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        assert stored(ledger)[-1] == "call.started"
        noted = [line.split(" ")[1] for line in (tmp_path / "notes").read_text().splitlines()]
        assert noted == [event.event_id for event in ledger.reader.read("s", limit=100)]
