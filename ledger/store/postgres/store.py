"""The `Store` over one PostgreSQL database."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from ledger.calls import CallRow
from ledger.ids import Clock
from ledger.store.postgres.comparing import ALONE, Difference, compare, differences, rewrite
from ledger.store.postgres.door import Connection, Server
from ledger.store.postgres.reader import Readers, ServerReader
from ledger.store.postgres.writer import Writer
from ledger.store.writing import Grouped, Refusing, read_only


class PostgresStore(Grouped, ServerReader):
    """A ledger in one database, shared by threads, processes and machines."""

    def __init__(self, server: Server, *, clock: Clock | None, patience: float) -> None:
        self._pool = Readers(server)
        ServerReader.__init__(self, self._pool)
        self._server = server
        self._writer = Writer(server, clock, patience)
        Grouped.__init__(self, self._writer)
        _OPEN.add(self)

    def rebuild(self, rows: Iterator[CallRow], *, write: bool) -> Sequence[Difference]:
        """Compare the projection with folded rows, in one state of the ledger; see `Store.rebuild`."""
        if not write:
            with self._pool.snapshot() as connection:
                return differences(connection, rows)

        def work(connection: Connection, _now: datetime) -> Sequence[Difference]:
            connection.execute(ALONE)
            found = differences(connection, rows)
            rewrite(connection, found)
            return found

        return self._writer.alone(work)

    def reindex(self, *, write: bool) -> Sequence[tuple[str, int]]:
        """Compare what is looked up beside the calls with the events; see `Store.reindex`."""
        if not write:
            with self._pool.snapshot() as connection:
                return compare(connection, write=False)

        def work(connection: Connection, _now: datetime) -> Sequence[tuple[str, int]]:
            connection.execute(ALONE)
            return compare(connection, write=True)

        return self._writer.alone(work)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()
        self._writer.close()
        self._server.close()

    def forget(self) -> None:
        """Start anew in a forked child: the parent's connections are not ours."""
        self._pool.forget()
        self._writer.forget()
        self._server.forget()
        self._regroup()


class ReadOnlyPostgresStore(Refusing, ServerReader):
    """A ledger opened for reading: every write is refused, by the server too."""

    def __init__(self, server: Server) -> None:
        self._pool = Readers(server)
        self._server = server
        ServerReader.__init__(self, self._pool)
        _OPEN.add(self)

    def rebuild(self, rows: Iterator[CallRow], *, write: bool) -> Sequence[Difference]:
        """Compare the projection with folded rows; see `Store.rebuild`. Refuses to write."""
        if write:
            raise read_only(rows)
        with self._pool.snapshot() as connection:
            return differences(connection, rows)

    def reindex(self, *, write: bool) -> Sequence[tuple[str, int]]:
        """Compare what is looked up beside the calls with the events; see `Store.reindex`. Refuses to write."""
        if write:
            raise read_only(write)
        with self._pool.snapshot() as connection:
            return compare(connection, write=False)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()
        self._server.close()

    def forget(self) -> None:
        """Start anew in a forked child."""
        self._pool.forget()
        self._server.forget()


_OPEN: Final[weakref.WeakSet[PostgresStore | ReadOnlyPostgresStore]] = weakref.WeakSet()


def _forget_all() -> None:
    for store in list(_OPEN):
        store.forget()


if hasattr(os, "register_at_fork"):  # pragma: no branch - only Windows cannot fork
    os.register_at_fork(after_in_child=_forget_all)
