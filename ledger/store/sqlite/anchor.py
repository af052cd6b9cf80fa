"""Leaves no trace of readers: the last connection to close removes the side files, if it is one that may write."""

from __future__ import annotations

import contextlib
import sqlite3

from ledger.errors import StoreError
from ledger.store.sqlite import door
from ledger.store.sqlite.faults import FAULTS
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock

PATIENCE = 2.0
"""Seconds to wait for the lock at the end; who holds it longer has the file open, and will tidy up itself."""


class Anchor:
    """
    A connection that could write, held while others read and closed after them.

    Connections that only read leave an empty log and its index beside a closed ledger. This one never writes either
    (`query_only`); closing it removes them, and brings home what a killed writer left in the log.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._connection: sqlite3.Connection | None = None
        with contextlib.suppress(*FAULTS):
            self._connection = _idle(files)

    def close(self) -> None:
        """Close, under the writers' lock if there is one: closing may checkpoint."""
        if self._connection is None:
            return
        with contextlib.ExitStack() as stack:
            if self._files.lock.exists():
                with contextlib.suppress(StoreError):
                    stack.enter_context(SideLock(self._files.lock).held(PATIENCE))
            self._connection.close()
            self._connection = None

    def forget(self) -> None:
        """Leave an inherited connection alone in a forked child."""
        if self._connection is not None:
            door.leak(self._connection)
            self._connection = None


def _idle(files: Files) -> sqlite3.Connection:
    connection = files.connect("rw")
    try:
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    except FAULTS:
        connection.close()
        raise
    return connection
