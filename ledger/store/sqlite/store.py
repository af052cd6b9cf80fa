"""The `Store` over one SQLite file."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from typing import Final

from ledger.calls import CallRow
from ledger.ids import Clock
from ledger.store.sqlite import door, sql
from ledger.store.sqlite.anchor import Anchor
from ledger.store.sqlite.changes import Changes
from ledger.store.sqlite.faults import translated
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lookups import compare
from ledger.store.sqlite.reader import Readers, SqliteReader
from ledger.store.sqlite.writer import Writer
from ledger.store.writing import Grouped, Refusing, read_only

Difference = tuple[str, CallRow | None, CallRow | None]


class SqliteStore(Grouped, SqliteReader):
    """A ledger in one file, shared by threads and processes of one machine."""

    def __init__(self, files: Files, *, clock: Clock, patience: float) -> None:
        self._pool = Readers(files)
        SqliteReader.__init__(self, self._pool)
        self._files = files
        self._clock = clock
        self._writer = Writer(files, clock, patience)
        Grouped.__init__(self, self._writer)
        _OPEN.add(self)

    def rebuild(self, rows: Iterator[CallRow], *, write: bool) -> Sequence[Difference]:
        """Compare the projection with folded rows, in one state of the ledger; see `Store.rebuild`."""
        if not write:
            with self._pool.snapshot(tolerant=True) as connection:
                return differences(connection, rows)
        try:
            return self._writer.alone(lambda connection: self._rewritten(connection, rows))
        except sqlite3.Error as error:
            raise translated(error, self._files.database, doing="rebuild the calls of") from error

    def _rewritten(self, connection: sqlite3.Connection, rows: Iterator[CallRow]) -> Sequence[Difference]:
        changes = Changes(connection, self._clock.now())
        found = differences(connection, rows)
        _drop(connection, {call_id for call_id, _, _ in found})
        for _, _, row in found:
            if row is not None:
                changes.put_call(row)
        return found

    def reindex(self, *, write: bool) -> Sequence[tuple[str, int]]:
        """Compare what is looked up beside the calls with the events; see `Store.reindex`."""
        if not write:
            with self._pool.snapshot(tolerant=True) as connection:
                return compare(connection, write=False)
        try:
            return self._writer.alone(lambda connection: compare(connection, write=True))
        except sqlite3.Error as error:
            raise translated(error, self._files.database, doing="rebuild the look-ups of") from error

    def close(self) -> None:
        """Close the connections; the last one brings the log home."""
        self._pool.close()
        self._writer.close()

    def hold(self) -> bool:
        """Let no transaction begin while this process forks; see `Writer.hold`."""
        return self._writer.hold()

    def let_go(self) -> None:
        """Let transactions begin again."""
        self._writer.let_go()

    def forget(self) -> None:
        """Start anew in a forked child: the parent's connections and its lock are not ours."""
        self._pool.forget()
        self._writer.forget()
        self._regroup()


class ReadOnlySqliteStore(Refusing, SqliteReader):
    """A ledger opened for reading: every write is refused."""

    def __init__(self, files: Files) -> None:
        self._anchor = Anchor(files)
        self._pool = Readers(files)
        SqliteReader.__init__(self, self._pool)
        _OPEN.add(self)

    def rebuild(self, rows: Iterator[CallRow], *, write: bool) -> Sequence[Difference]:
        """Compare the projection with folded rows; see `Store.rebuild`. Refuses to write."""
        if write:
            raise read_only(rows)
        with self._pool.snapshot(tolerant=True) as connection:
            return differences(connection, rows)

    def reindex(self, *, write: bool) -> Sequence[tuple[str, int]]:
        """Compare what is looked up beside the calls with the events; see `Store.reindex`. Refuses to write."""
        if write:
            raise read_only(write)
        with self._pool.snapshot(tolerant=True) as connection:
            return compare(connection, write=False)

    def close(self) -> None:
        """Close the connections, and leave no trace of them."""
        self._pool.close()
        self._anchor.close()

    def forget(self) -> None:
        """Start anew in a forked child."""
        self._pool.forget()
        self._anchor.forget()


def _drop(connection: sqlite3.Connection, call_ids: set[str]) -> None:
    """Delete calls: by their rows, as no comparison finds an id that is stored as bytes, or is no UTF-8 any more."""
    if call_ids:
        stored = connection.execute(sql.CALL_IDS)
        for rowid in [rowid for rowid, call_id in stored if sql.readable((call_id,))[0] in call_ids]:
            connection.execute(sql.DROP_CALL, (rowid,))


def differences(connection: sqlite3.Connection, rows: Iterator[CallRow]) -> list[Difference]:
    """Return where the stored calls and the folded ones differ: (call id, stored, folded)."""
    found: list[Difference] = []
    seen = set()
    for folded in rows:
        seen.add(folded.call_id)
        first, *row = sql.run(connection, sql.CALL_AND_FIRST, (folded.call_id,)).fetchone() or (None,)
        if row != [first, *sql.bindable(folded)]:  # as it is stored: what only reads alike is found by no query
            found.append((folded.call_id, sql.placed_call(tuple(row)).row if row else None, folded))
    for row in sql.run(connection, sql.ALL_CALLS):
        stored = sql.placed_call(row).row
        if stored.call_id not in seen:
            found.append((stored.call_id, stored, None))
    return sorted(found, key=lambda difference: difference[0])


_OPEN: Final[weakref.WeakSet[SqliteStore | ReadOnlySqliteStore]] = weakref.WeakSet()


_HELD: Final[list[SqliteStore]] = []


def _hold_all() -> None:
    _HELD.extend(store for store in list(_OPEN) if isinstance(store, SqliteStore) and store.hold())


def _let_all_go() -> None:
    while _HELD:
        _HELD.pop().let_go()


def _forget_all() -> None:
    _HELD.clear()
    for store in list(_OPEN):
        store.forget()


door.around_fork(_hold_all, _let_all_go, _forget_all)
