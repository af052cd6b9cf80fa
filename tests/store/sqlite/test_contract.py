"""The SQLite adapter keeps the contract."""

from __future__ import annotations

from pathlib import Path

from ledger.ids import Clock
from ledger.store.port import Store
from ledger.store.urls import open_store
from ledger.testing.contract import StoreContract


class TestSqliteStore(StoreContract):
    """A ledger in a file."""

    def make_store(self, folder: Path, clock: Clock) -> Store:
        return open_store(f"sqlite:///{folder}/ledger.db", create=True, clock=clock)
