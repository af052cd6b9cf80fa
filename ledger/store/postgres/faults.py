"""PostgreSQL's errors in the ledger's words; never with a password."""

from __future__ import annotations

import re
from typing import Final

from psycopg import Error, OperationalError, errors
from psycopg.errors import PipelineAborted

from ledger.errors import IntegrityFailure, NoDatabase, StoreBusy, StoreError, StoreUnavailable

MAKE: Final = "`createdb -E UTF8 -T template0 NAME`"
"""How a database is made that can hold a ledger; template1 may have another encoding."""

_HINTS: Final[dict[type[Error], str]] = {
    errors.DiskFull: "The server's disk is full: make room, then go on; nothing that was acknowledged is lost.",
    errors.InsufficientPrivilege: "`ledger db roles` prints what each role needs.",
    errors.ReadOnlySqlTransaction: "This server takes no writes: it is a standby, or was made read-only.",
    errors.TooManyConnections: "The server has no connection left: raise max_connections, or use fewer processes.",
    errors.UndefinedTable: "`ledger db upgrade` makes the tables.",
}
_UNREACHED: Final = re.compile(r"refused|No such file|could not translate host name|timeout expired|No route to host")
"""How libpq tells, in words only, that nobody answered."""
_BUSY: Final = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
_GONE: Final = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
    errors.ConnectionException,
)
_DAMAGED: Final = (errors.DataCorrupted, errors.IndexCorrupted)


def lost(error: Error) -> bool:
    """Return whether the connection is gone, or the server told it to go."""
    if isinstance(error, _GONE):
        return True
    return isinstance(error, OperationalError) and error.sqlstate is None and not isinstance(error, PipelineAborted)


def contended(error: Error) -> bool:
    """Return whether others held what was asked for: it may go better another time."""
    return isinstance(error, _BUSY)


def translated(error: Error, where: str, *, doing: str) -> StoreError | NoDatabase:
    """Return what to raise instead of PostgreSQL's error; `where` is the URL without its password."""
    if isinstance(error, errors.InvalidCatalogName):
        return NoDatabase(f"there is no database at {where}", hint=f"Make it first: {MAKE}.")
    if contended(error):
        return StoreBusy(f"{where} was locked for too long ({doing})", hint="Look for a transaction that stays open.")
    why = str(error).strip().partition("\n")[0]
    if "does not exist" in why and "database" in why and error.sqlstate is None:  # libpq tells it in words only
        return NoDatabase(f"there is no database at {where}", hint=f"Make it first: {MAKE}.")
    kind = IntegrityFailure if isinstance(error, _DAMAGED) else StoreUnavailable
    hint = next((hint for fault, hint in _HINTS.items() if isinstance(error, fault)), None)
    if error.sqlstate is None and _UNREACHED.search(why):
        hint = "Is the server running, and are the URL's host and port right?"
    return kind(f"cannot {doing} {where}: {why}", hint=hint)
