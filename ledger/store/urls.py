"""From a URL to a store."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ledger.errors import UsageError
from ledger.ids import Clock
from ledger.store.port import Store
from ledger.store.schema import Migrate

MEMORY: Final = "memory://"
_SQLITE: Final = "sqlite:///"
_POSTGRES: Final = re.compile(r"postgres(ql)?(\+\w+)?://")
_PASSWORD: Final = re.compile(r"(?<=://)([^/?#]*?):([^/?#]*)@")
_SECRET: Final = re.compile(r"(?i)([?&;](?:password|passwd|pwd|secret|token|sslpassword)=)[^&#\s]*")
_FORMS: Final = "Use sqlite:///relative.db, sqlite:////absolute.db or memory://."


def mask_url(url: str) -> str:
    """Return the URL without its password, for people to read."""
    return _SECRET.sub(r"\1***", _PASSWORD.sub(r"\1:***@", url))


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


def open_store(
    url: str,
    *,
    create: bool,
    migrate: Migrate = "auto",
    clock: Clock | None = None,
    read_only: bool = False,
    patience: float = 30.0,
) -> Store:
    """
    Open the store of a URL.

    `create`: make the file where there is none, in a folder that is there; otherwise `NoDatabase`. `migrate`: "auto"
    brings older tables up to date, "check" raises `SchemaOutdated`, "off" does not look. `read_only`: writes are
    refused, nothing is created or migrated. `patience`: seconds that an append waits for other writers before it raises
    `StoreBusy`; an outcome waits as long as it takes. Raises `UsageError` for a URL that no adapter knows.
    """
    if url.startswith(MEMORY):
        from ledger.store.memory import MemoryStore

        return MemoryStore(clock)
    if _POSTGRES.match(url):
        raise UsageError(f"{mask_url(url)}: this release has no PostgreSQL adapter yet", hint=_FORMS)
    from ledger.store.sqlite.opening import open_file

    return open_file(
        sqlite_path(url),
        create=create,
        migrate=migrate,
        clock=clock or Clock(),
        read_only=read_only,
        patience=patience,
    )
