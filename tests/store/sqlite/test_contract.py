"""The SQLite adapter keeps the contract."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from ledger.ids import Clock
from ledger.store.port import Store
from ledger.store.urls import open_store
from ledger.testing.contract import StoreContract


@cache
def empty_ledger() -> bytes:
    """Return the bytes of a new ledger: migrating once is enough for all tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        open_store(str(path), create=True).close()
        return path.read_bytes()


class TestSqliteStore(StoreContract):
    """A ledger in a file."""

    def make_store(self, folder: Path, clock: Clock) -> Store:
        (folder / "ledger.db").write_bytes(empty_ledger())
        return open_store(f"sqlite:///{folder}/ledger.db", create=False, clock=clock)
