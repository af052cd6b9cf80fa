"""The files of one ledger: where they lie, how they are opened, and whether they are still the same ones."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from ledger.errors import StoreReplaced, StoreUnavailable
from ledger.store.sqlite import door

BUSY_SECONDS: Final = 5.0
"""How long SQLite itself waits for a program that does not know the writers' lock."""

SYNCHRONOUS: Final = "FULL"
"""With NORMAL 72 % of simulated power losses took acknowledged events, with FULL none."""

_STATEMENTS: Final = 256


class Files:
    """
    The database, its write-ahead log and the side file of the writers' lock.

    The database is only ever opened and closed by SQLite: closing any other descriptor of it would drop SQLite's locks
    in this process (https://sqlite.org/howtocorrupt.html, 2.2). `stat` is all we do to it.
    """

    def __init__(self, path: str | Path) -> None:
        self.database = Path(os.path.realpath(path))
        self.wal = Path(f"{self.database}-wal")
        self.lock = Path(f"{self.database}.lock")

    def exists(self) -> bool:
        """Return whether there is a database."""
        return self.database.exists()

    def place(self) -> tuple[int, int] | None:
        """Return the database's device and inode; None where there is none."""
        with suppress(OSError):
            found = self.database.stat()
            return found.st_dev, found.st_ino
        return None

    def refuse_odd(self) -> None:
        """Raise `StoreUnavailable` where a pipe, a device or a socket has the name of a file: to open it may hang."""
        for path in (self.database, self.wal, self.lock):
            with suppress(OSError):  # it is not there, or not ours to see: opening it tells
                kind = stat.S_IFMT(path.stat().st_mode)
                if kind not in (stat.S_IFREG, stat.S_IFDIR):
                    raise StoreUnavailable(f"{path} is no file", hint="Name another place.")

    def refuse_network(self) -> None:
        """Raise `StoreUnavailable` where the folder lies on a network file system."""
        kind = door.network_kind(str(self.database.parent))
        if kind is not None:
            raise StoreUnavailable(
                f"{self.database} lies on a network file system ({kind}), whose locks SQLite cannot rely on",
                hint="Keep the ledger on a local disk, or use PostgreSQL.",
            )

    def connect(self, mode: Literal["ro", "rw", "rwc"], *, immutable: bool = False) -> sqlite3.Connection:
        """Open a connection; a new file gets the side file's permissions (0600). Raises `sqlite3.Error`."""
        options = f"?mode={mode}" + ("&immutable=1" if immutable else "")
        if mode == "rwc":
            options += "&modeof=" + self.lock.as_uri().removeprefix("file://")
        return sqlite3.connect(
            self.database.as_uri() + options,
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )

    def writer(self, mode: Literal["rw", "rwc"] = "rw") -> sqlite3.Connection:
        """Open a connection for writing; under the lock only, as it may bring the log of a killed writer home."""
        connection = self.connect(mode)
        try:
            self._use_log(connection)
            connection.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
            if door.syncs_lie():
                connection.execute("PRAGMA fullfsync=ON")
                connection.execute("PRAGMA checkpoint_fullfsync=ON")
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute(f"PRAGMA journal_size_limit={WAL_BYTES}")
            # Undo of a statement in memory, from small pieces: the default takes 64 KiB each time, which the C library
            # gives back to the system and fetches again (a seventh of the processor time of a call).
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("PRAGMA mmap_size=0")
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("BEGIN IMMEDIATE")  # the log is opened now: what `Identity` looks at is there
            connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        return connection

    def _use_log(self, connection: sqlite3.Connection) -> None:
        (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        if mode != "wal":
            raise StoreUnavailable(
                f"{self.database} cannot have a write-ahead log here (journal mode {mode})",
                hint="Keep the ledger on a local disk.",
            )


WAL_BYTES: Final = 1000 * 4120
"""The size of the log at which it is checkpointed: about 1000 pages."""


class Identity:
    """
    Which files a connection writes to; a replaced or unlinked one takes every later event with it, without an error.

    Two `stat` calls before a transaction, two after its commit: what is acknowledged is in the files of that name.
    """

    def __init__(self, files: Files, before: tuple[int, int] | None) -> None:
        self._database = os.fspath(files.database)
        self._wal = os.fspath(files.wal)
        self.wal_bytes = 0
        self._seen = self._look()
        if before is not None and before != self.database:
            raise self._replaced()

    @property
    def database(self) -> tuple[int, int]:
        """The database's device and inode."""
        return self._seen[:2]

    def check(self) -> None:
        """Raise `StoreReplaced` unless both are the files they were; sets `wal_bytes`."""
        if self._look() != self._seen:
            raise self._replaced()

    def _replaced(self) -> StoreReplaced:
        return StoreReplaced(
            f"{self._database} or its -wal was replaced or removed while it was open; nothing more is written",
            hint="Stop this program, put the right files back, run `ledger db check`, start again.",
        )

    def _look(self) -> tuple[int, int, int, int]:
        try:
            database, wal = os.stat(self._database), os.stat(self._wal)  # noqa: PTH116 - half the time, on the hot path
        except OSError:
            return 0, 0, 0, 0
        self.wal_bytes = wal.st_size
        return database.st_dev, database.st_ino, wal.st_dev, wal.st_ino
