"""A clock that is set back in the middle: order, leases and calls do not depend on it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.errors import SessionOwned
from ledger.ids import Clock
from ledger.replay.reading import session_at
from ledger.store.maintenance import check
from tests.session.agents import asked, recorded


class Wall:
    """A clock on the wall, which people set."""

    def __init__(self) -> None:
        self.off = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.off


def opened(folder: Path, wall: Wall) -> Ledger:
    ledger = Ledger.open(f"sqlite:///{folder}/ledger.db", clock=Clock(now=wall.now))

    def act(number: int) -> dict[str, Any]:
        """Act; somebody sets the clock back meanwhile."""
        wall.off -= timedelta(hours=1)
        return {"done": number}

    ledger.tool("act", effect="external")(act)
    return ledger


def test_a_clock_set_back_changes_no_order(tmp_path: Path) -> None:
    """Each call ends an hour before it began: events stand in their order, `db check` notes it and finds no fault."""
    with opened(tmp_path, Wall()) as ledger:
        session = ledger.session("s")
        for number in range(3):
            assert session.dispatch(asked(("act", {"number": number}))).calls[0].state == "succeeded"
        events = recorded(ledger, "s")
        calls = session_at(ledger.reader, "s").calls.values()
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    assert len({event.event_id for event in events}) == len(events)
    assert [call.result for call in calls] == [{"done": number} for number in range(3)]
    health = check(str(tmp_path / "ledger.db"))
    assert (health.sound, health.chains.clock_back) == (True, 3)


def test_a_lease_outlives_a_clock_set_back(tmp_path: Path) -> None:
    """Its owner goes on; another one is told who has it and until when, and gets it when it is given back."""
    wall = Wall()
    with opened(tmp_path, wall) as ledger, opened(tmp_path, wall) as other:
        refused: list[SessionOwned] = []

        def meanwhile(number: int) -> dict[str, Any]:
            """Act, while another worker tries."""
            wall.off -= timedelta(hours=1)
            with pytest.raises(SessionOwned) as owned:
                other.session("s").messages()
            refused.append(owned.value)
            return {"done": number}

        ledger.tool("meanwhile", effect="external")(meanwhile)
        session = ledger.session("s")
        assert session.dispatch(asked(("meanwhile", {"number": 1}))).calls[0].state == "succeeded"
        assert session.dispatch(asked(("act", {"number": 2}))).calls[0].state == "succeeded"
        assert [error.until > wall.now().isoformat() for error in refused] == [True]
        assert other.session("s").dispatch(asked(("act", {"number": 3}))).turn == 3
