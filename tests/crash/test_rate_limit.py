"""Eight processes share a limit of 100 calls an hour: the 101st call never starts."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ledger import Ledger
from ledger.events import CallDenied, CallStarted, read_event
from ledger.store.port import EventFilter
from ledger.testing import crash
from tests.crash import forking

PROCESSES = 8
LIMIT = 100
EACH = 13
DYING = {8: crash.after("call.started", 3), 9: crash.before("call.started", 3)}


def program(folder: Path) -> Ledger:
    """A program whose tool leaves a mark in the world; its limit is shared by all who have the ledger."""
    ledger = Ledger.open(f"sqlite:///{folder}/ledger.db")

    @ledger.tool("send", effect="external", limits=[{"max": LIMIT, "per": "hour"}])
    def send(n: int) -> int:
        """Send."""
        with (folder / "sent").open("a") as sent:
            sent.write(".")
        return n

    return ledger


def work(folder: Path, number: int) -> None:
    """Send as often as it can, or until it dies."""
    with program(folder) as ledger:
        if number in DYING:
            crash.arm(ledger, DYING[number])
        session = ledger.session(f"s{number}")
        for n in range(EACH):
            assert session.call("send", {"n": n}).state in ("succeeded", "denied")


def test_the_101st_call_never_starts(tmp_path: Path) -> None:
    """Eight processes at once, after two that died, start as many calls as the limit allows, and one more never."""
    program(tmp_path).close()
    for number in DYING:
        assert not forking.run(partial(work, tmp_path, number), tmp_path)
    children = [forking.begin(partial(work, tmp_path, number), tmp_path) for number in range(PROCESSES)]
    ended = [forking.ended(pid, tmp_path) for pid in children]
    assert all(ended)
    with program(tmp_path) as ledger:
        rows = ledger.reader.events(EventFilter(types=("call.started", "call.denied")), limit=1000)
        bodies = [read_event(row.record).body for row in rows]
        started = sum(isinstance(body, CallStarted) for body in bodies)
        denied = [body for body in bodies if isinstance(body, CallDenied)]
        sent = len((tmp_path / "sent").read_text())
        assert (started, sent) == (LIMIT, LIMIT - 1)  # one process died between its start and its effect
        assert len(denied) == PROCESSES * EACH - (LIMIT - 3 - 2)
        assert all(body.retry_after is not None and 3500 < body.retry_after <= 3600 for body in denied)
        assert ledger.session("later").call("send", {"n": 0}).state == "denied"
        assert len((tmp_path / "sent").read_text()) == sent
