"""SQLite's errors in the ledger's words."""

from __future__ import annotations

import sqlite3
from typing import Final, TypeAlias

from ledger.errors import IntegrityFailure, StoreBusy, StoreError, StoreUnavailable

Fault: TypeAlias = sqlite3.Error | UnicodeDecodeError

FAULTS: Final = (sqlite3.Error, UnicodeDecodeError)
"""What sqlite3 raises; the second where SQLite's own words quote a name in the schema that is no UTF-8 any more."""

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_HINTS: Final = {
    sqlite3.SQLITE_FULL: "The disk is full: make room, then go on; nothing that was acknowledged is lost.",
    sqlite3.SQLITE_IOERR: "The disk reports an error: look at the system's log, then run `ledger db check`.",
    sqlite3.SQLITE_READONLY: "This process may not write there: look at the permissions of the file and its folder.",
    sqlite3.SQLITE_CANTOPEN: "Look at the permissions of the file and its folder.",
    sqlite3.SQLITE_CORRUPT: "The file is damaged: stop writing, copy it, run `ledger db check`.",
    sqlite3.SQLITE_NOTADB: "This file is not a SQLite database.",
}


def primary(error: sqlite3.Error) -> int:
    """Return the error's primary code; 0 where the driver itself raised it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def translated(error: Fault, path: object, *, doing: str) -> StoreError:
    """Return what to raise instead of SQLite's error."""
    if isinstance(error, UnicodeDecodeError):
        return IntegrityFailure(
            f"cannot {doing} {path}: a name in its schema is no text any more", hint=_HINTS[sqlite3.SQLITE_CORRUPT]
        )
    code = primary(error)
    if code in _BUSY:
        return StoreBusy(
            f"{path} is locked by a program that does not take part in the ledger's queue ({doing})",
            hint="Close the other program's transaction.",
        )
    kind = IntegrityFailure if code == sqlite3.SQLITE_CORRUPT else StoreUnavailable
    return kind(f"cannot {doing} {path}: {error}", hint=_HINTS.get(code))
