"""The door to a ledger that is already there, for looking at it only; it loads nothing of the engine."""

from __future__ import annotations

from ledger.errors import NoDatabase
from ledger.store.port import Store
from ledger.store.urls import MEMORY, open_store


def open_reader(url: str) -> Store:
    """
    Open a ledger for reading only: nothing is created, migrated or written.

    Raises `NoDatabase`, `SchemaOutdated`, `StoreUnavailable`, and `UsageError` for a URL that no adapter knows.
    """
    return open_store(lasting(url), create=False, migrate="check", read_only=True)


def lasting(url: str) -> str:
    """Return the URL of a ledger that another process may have made; raises `NoDatabase` for one in memory."""
    if url.startswith(MEMORY):
        raise NoDatabase(f"{url} lives only in the process that made it", hint="Name a file, or a server.")
    return url
