"""From a URL to a store."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ledger.errors import UsageError
from ledger.ids import Clock
from ledger.store.masking import mask_url
from ledger.store.port import Store
from ledger.store.schema import Migrate

__all__ = ["MEMORY", "POSTGRES", "mask_url", "open_store", "sqlite_path"]

MEMORY: Final = "memory://"
_SQLITE: Final = "sqlite:///"
POSTGRES: Final = re.compile(r"postgres(ql)?(\+\w+)?://")
_FORMS: Final = "Use sqlite:///relative.db, sqlite:////absolute.db, postgresql://user@host/database or memory://."


def sqlite_path(url: str) -> Path:
    """
    Return the path of a `sqlite:///` URL, or of a plain path.

    Raises `UsageError` for any other URL, and for SQLite's own in-memory databases, which cannot be shared.
    """
    path = url.removeprefix(_SQLITE)
    if "://" in path or path.startswith("file:") or "\0" in path:
        raise UsageError(f"{mask_url(url)!r} is not a ledger's URL", hint=_FORMS)
    if path in ("", ":memory:"):
        raise UsageError(f"{url!r} names no file", hint="Use memory:// for a ledger that is thrown away.")
    if "?" in path and url != path:
        raise UsageError(f"{url!r}: a ledger's URL has no options after '?'", hint=_FORMS)
    return Path(path)


def need_driver() -> None:
    """Raise `UsageError` where the driver of PostgreSQL is not installed."""
    if find_spec("psycopg") is None:
        hint = "pip install 'toolcall-ledger[postgres]'"
        raise UsageError("a ledger on PostgreSQL needs the driver psycopg", hint=hint)


def open_store(
    url: str,
    *,
    create: bool,
    migrate: Migrate | None = None,
    clock: Clock | None = None,
    read_only: bool = False,
    patience: float = 30.0,
) -> Store:
    """
    Open the store of a URL.

    `create`: make the file where there is none, in a folder that is there; otherwise `NoDatabase`. `migrate`: "auto"
    brings older tables up to date, "check" raises `SchemaOutdated`, "off" does not look; None is "auto" for a file and
    "check" for a server, where `ledger db upgrade` makes the tables. `clock`: a server's own, if none is given.
    `read_only`: writes are refused, nothing is created or migrated. `patience`: seconds that an append waits for other
    writers before it raises `StoreBusy`; an outcome waits as long as it takes. Raises `UsageError` for a URL that no
    adapter knows, or whose driver is not installed.
    """
    if url.startswith(MEMORY):
        from ledger.store.memory import MemoryStore

        return MemoryStore(clock)
    if POSTGRES.match(url):
        need_driver()
        from ledger.store.postgres.opening import open_server

        return open_server(
            url, create=create, migrate=migrate or "check", clock=clock, read_only=read_only, patience=patience
        )
    from ledger.store.sqlite.opening import open_file

    return open_file(
        sqlite_path(url),
        create=create,
        migrate=migrate or "auto",
        clock=clock or Clock(),
        read_only=read_only,
        patience=patience,
    )
