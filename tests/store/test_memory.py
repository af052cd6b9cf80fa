"""The memory adapter keeps the contract."""

from __future__ import annotations

from pathlib import Path

from ledger.ids import Clock
from ledger.store.memory import MemoryStore
from ledger.store.port import Append, Store
from ledger.store.urls import open_store
from ledger.testing.contract import StoreContract
from ledger.testing.contract.building import HandClock, Story
from ledger.testing.contract.limits import guard, start, started


class TestMemoryStore(StoreContract):
    """A ledger in memory."""

    def make_store(self, folder: Path, clock: Clock) -> Store:
        return open_store("memory://", create=True, clock=clock)


def test_keys_under_which_nothing_is_taken_are_forgotten() -> None:
    """Places that are free again leave no key behind, however many principals never come back."""
    time = HandClock()
    store = MemoryStore(time.clock())
    start(store, "a", guard("a", key="timed", seconds=60.0))
    running = Append(session_id="r", drafts=started(Story("r"), "r"), guards=(guard("r", key="ran", seconds=None),))
    store.append(running)  # without a row: the call is not there
    start(store, "b", guard("b", key="runs", seconds=None))
    assert sorted(store._limited._of) == ["runs", "timed"]
    time.move(60)
    start(store, "c", guard("c", key="later"))
    assert sorted(store._limited._of) == ["later", "runs"]
