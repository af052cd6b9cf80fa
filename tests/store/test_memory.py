"""The memory adapter keeps the contract."""

from __future__ import annotations

from pathlib import Path

from ledger.ids import Clock
from ledger.store.port import Store
from ledger.store.urls import open_store
from ledger.testing.contract import StoreContract


class TestMemoryStore(StoreContract):
    """A ledger in memory."""

    def make_store(self, folder: Path, clock: Clock) -> Store:
        return open_store("memory://", create=True, clock=clock)
