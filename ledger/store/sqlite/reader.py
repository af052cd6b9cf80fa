"""The read side: a connection for each reader at a time that cannot write, one snapshot a call."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ledger.calls import CallRow
from ledger.errors import StoreReplaced, StoreUnavailable
from ledger.store.columns import IS_OPEN, PLACED, SESSIONS, STORED, Row, session_row
from ledger.store.port import (
    CallFilter,
    EventFilter,
    GroupKey,
    Head,
    PlacedCall,
    SessionRow,
    Settled,
    StoredEvent,
    Tally,
)
from ledger.store.sqlite import door, sql
from ledger.store.sqlite.counting import tallied
from ledger.store.sqlite.faults import FAULTS, translated
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.filters import call_where, event_where
from ledger.store.sqlite.hints import look

_READ: Final = (
    f"SELECT {STORED} FROM event"  # noqa: S608 - our own names
    " WHERE session_id = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?"
)
_KEYED: Final = f"SELECT {PLACED} FROM call WHERE tenant = ? AND idempotency_key = ?"  # noqa: S608 - our own names
_PAGE: Final = "session_id > ? AND substr(session_id, 1, 1) <> '_'"
_ALL_SESSIONS: Final = f"{SESSIONS} WHERE {_PAGE} ORDER BY session_id LIMIT ?"
_UNFINISHED: Final = f"""{SESSIONS} WHERE session_id IN (
      SELECT DISTINCT session_id FROM call c INDEXED BY call_open WHERE {IS_OPEN} AND {_PAGE}
        AND NOT EXISTS (SELECT 1 FROM event e WHERE e.session_id = c.session_id AND e.type = 'session.closed')
      ORDER BY session_id LIMIT ?)
    ORDER BY session_id
"""  # noqa: S608 - our own names
_LAST_POSITION: Final = "SELECT ifnull(max(position), 0) FROM event"
_LAST: Final = 2**63 - 1


class Readers:
    """The idle connections for reading; a thread takes one for each call, so it never waits for another's."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._place = files.place()
        self._idle: deque[sqlite3.Connection] = deque()
        self._pinned = threading.local()
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection; SQLite's errors become the ledger's."""
        pinned = getattr(self._pinned, "connection", None)
        try:
            if pinned is not None:
                yield pinned
                return
            connection = self._take()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._give_back(connection)
        except FAULTS as error:
            raise translated(error, self.files.database, doing="read") from error

    @contextmanager
    def snapshot(self, *, tolerant: bool = False) -> Iterator[sqlite3.Connection]:
        """
        Let every read of this thread see the same state, until the end of the block.

        `tolerant`: a text that is no UTF-8 is read with escapes from the first, for what cannot be read once more.
        """
        with self.connection() as connection:
            connection.execute("BEGIN")
            self._pinned.connection = connection
            connection.text_factory = sql.text if tolerant else str
            try:
                yield connection
            finally:
                self._pinned.connection = None
                connection.text_factory = str
                connection.execute("ROLLBACK")

    def _take(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreUnavailable("this ledger is closed")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = open_reader(self.files)
        if self.files.place() != self._place:
            connection.close()
            raise self._replaced()
        return connection

    def _replaced(self) -> StoreReplaced:
        """A connection goes on reading the old file: nothing is recorded there any more, and nobody would be told."""
        return StoreReplaced(
            f"{self.files.database} was replaced or removed while it was open; what is recorded now is not read here",
            hint="Start this program again; cursors of the old file may not fit the new one.",
        )

    def _give_back(self, connection: sqlite3.Connection) -> None:
        self._idle.append(connection)
        if self._closed:
            self.close()

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def forget(self) -> None:
        """Start anew in a forked child: nothing inherited is used or closed."""
        for connection in self._idle:
            door.leak(connection)
        self._idle = deque()
        self._pinned = threading.local()


def open_reader(files: Files) -> sqlite3.Connection:
    """
    Open a connection that cannot write.

    Where the folder is not writable SQLite cannot open a closed ledger as usual. It is then read as `immutable`, but
    only if there is no log: in the log are events that such a connection would not see.
    """
    connection = files.connect("ro")
    try:
        connection.execute("PRAGMA query_only=ON")
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
        return connection
    except sqlite3.OperationalError:
        connection.close()
        if files.wal.exists() or door.may_write(files.database.parent):
            raise
        connection = files.connect("ro", immutable=True)
        connection.execute("PRAGMA query_only=ON")
        return connection
    except FAULTS:
        connection.close()
        raise


class SqliteReader:
    """A `Reader` over one file."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def _all(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._readers.connection() as connection:
            return sql.fetched(connection, statement, values)

    def head(self, session_id: str) -> Head | None:
        """Return where the session stands; see `Reader.head`."""
        for row in self._all(sql.HEAD, (session_id,)):
            return sql.head_of(row, session_id)
        return None

    def read(self, session_id: str, *, after: int = 0, until: int | None = None, limit: int) -> Sequence[StoredEvent]:
        """Return events of one session; see `Reader.read`."""
        rows = self._all(_READ, (session_id, after, _LAST if until is None else until, limit))
        return list(map(sql.stored_event, rows))

    def events(self, where: EventFilter, *, after: int = 0, limit: int) -> Sequence[StoredEvent]:
        """Return events over all sessions; see `Reader.events`."""
        with self._readers.connection() as connection:
            found = event_where(where, after, look(connection, where, limit))
            rows = sql.fetched(connection, found.select(STORED), (*found.values, limit))
        return list(map(sql.stored_event, rows))

    def settled(self) -> Settled:
        """Return the last position: there is one writer at a time; see `Reader.settled`."""
        ((last,),) = self._all(_LAST_POSITION)
        return Settled(last)

    def calls(self, where: CallFilter, *, after: int = 0, limit: int) -> Sequence[PlacedCall]:
        """Return calls; see `Reader.calls`."""
        with self._readers.connection() as connection:
            found = call_where(where, after, look(connection, where, limit))
            rows = sql.fetched(connection, found.select(PLACED), (*found.values, limit))
        return list(map(sql.placed_call, rows))

    def tally(self, where: CallFilter, by: tuple[GroupKey, ...]) -> Sequence[Tally]:
        """Count calls; see `Reader.tally`."""
        with self._readers.snapshot() as connection:
            return sql.tolerant(connection, lambda: tallied(connection, where, by))

    def call(self, call_id: str) -> CallRow | None:
        """Return a call's row."""
        for row in self._all(sql.CALL, (call_id,)):
            return sql.placed_call(row).row
        return None

    def keyed(self, tenant: str, idempotency_key: str) -> CallRow | None:
        """Return the call that holds a host's idempotency key."""
        for row in self._all(_KEYED, (tenant, idempotency_key)):
            return sql.placed_call(row).row
        return None

    def sessions(self, *, after: str = "", limit: int, unfinished: bool = False) -> Sequence[SessionRow]:
        """Return sessions by id; see `Reader.sessions`."""
        rows = self._all(_UNFINISHED if unfinished else _ALL_SESSIONS, (after, limit))
        read = sql.readable
        return [session_row((*read(row[:4]), row[4], *read(row[5:]))) for row in rows]  # the fifth are bytes indeed
