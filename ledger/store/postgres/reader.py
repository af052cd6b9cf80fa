"""The read side: a connection for each reader at a time, one state of the ledger a call."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from ledger.calls import CallRow
from ledger.errors import StoreUnavailable
from ledger.store.columns import CARRIED, IS_OPEN, PLACED, SESSIONS, STORED, Row, counted, session_row
from ledger.store.fits import Group, in_order, tally
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
from ledger.store.postgres import sql
from ledger.store.postgres.door import Connection, Server
from ledger.store.postgres.faults import lost
from ledger.store.postgres.filters import Where, call_where, event_where
from ledger.store.postgres.texts import kept, readable
from ledger.store.postgres.watermark import Watermark

_READ: Final = (
    f"SELECT {STORED} FROM event"  # noqa: S608 - our own names
    " WHERE session_id = %s AND sequence > %s AND sequence <= %s ORDER BY sequence LIMIT %s"
)
_KEYED: Final = f"SELECT {PLACED} FROM call WHERE tenant = %s AND idempotency_key = %s"  # noqa: S608 - our own names
_PAGE: Final = "session_id > %s AND NOT starts_with(session_id, '_')"
_ALL_SESSIONS: Final = f"{SESSIONS} WHERE {_PAGE} ORDER BY session_id LIMIT %s"
_UNFINISHED: Final = f"""{SESSIONS} WHERE session_id IN (
      SELECT DISTINCT session_id FROM call c WHERE {IS_OPEN} AND {_PAGE}
        AND NOT EXISTS (SELECT 1 FROM event e WHERE e.session_id = c.session_id AND e.type = 'session.closed')
      ORDER BY session_id LIMIT %s)
    ORDER BY session_id
"""  # noqa: S608 - our own names
_COUNTS: Final = "count(*), sum(model_can_repair)::bigint, count(duration_ms)"
_CARRIED: Final = f" LEFT JOIN ({CARRIED}) upcast ON upcast.carried = call.call_id"
_IS_CARRIED: Final = "upcast.carried IS NOT NULL"
"""By a join: a list that does not fit into the server's `work_mem` would be read anew for each call."""
_LAST: Final = 2**63 - 1
_SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class Readers:
    """Lends connections; a thread takes one for each call, so it never waits for another's."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._pinned = threading.local()
        self._closed = False

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection; PostgreSQL's errors become the ledger's."""
        if self._closed:
            raise StoreUnavailable("this ledger is closed")
        pinned = getattr(self._pinned, "connection", None)
        if pinned is not None:
            yield pinned
            return
        with self.server.lent() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Let every read of this thread see the same state, until the end of the block."""
        with self.connection() as connection:
            connection.execute(_SNAPSHOT)
            self._pinned.connection = connection
            try:
                yield connection
            finally:
                self._pinned.connection = None
            connection.execute(sql.ROLLBACK)

    def rows(self, statement: str, values: Sequence[Any]) -> list[Row]:
        """Return the rows of a SELECT; where the connection was lost meanwhile, those of a new one."""
        pinned = getattr(self._pinned, "connection", None) is not None
        try:
            with self.connection() as connection:
                return connection.execute(statement, values).fetchall()
        except StoreUnavailable as error:
            if pinned or not isinstance(error.__cause__, psycopg.Error) or not lost(error.__cause__):
                raise
        with self.connection() as connection:
            return connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Let no more be lent."""
        self._closed = True

    def forget(self) -> None:
        """Start anew in a forked child."""
        self._pinned = threading.local()


class ServerReader:
    """A `Reader` over one server."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._watermark = Watermark(lambda statement: readers.rows(statement, ()))

    def settled(self) -> Settled:
        """Return up to which position the ledger is final; see `Reader.settled`."""
        return self._watermark.settled()

    def head(self, session_id: str) -> Head | None:
        """Return where the session stands; see `Reader.head`."""
        for row in self._readers.rows(sql.HEAD, (kept(session_id),)):
            return sql.head_of(row)
        return None

    def read(self, session_id: str, *, after: int = 0, until: int | None = None, limit: int) -> Sequence[StoredEvent]:
        """Return events of one session; see `Reader.read`."""
        values = (kept(session_id), after, _LAST if until is None else until, limit)
        return list(map(sql.stored_event, self._readers.rows(_READ, values)))

    def events(self, where: EventFilter, *, after: int = 0, limit: int) -> Sequence[StoredEvent]:
        """Return events over all sessions; see `Reader.events`."""
        found = event_where(where, after)
        rows = self._readers.rows(found.select(STORED), (*found.values, limit))
        return list(map(sql.stored_event, rows))

    def calls(self, where: CallFilter, *, after: int = 0, limit: int) -> Sequence[PlacedCall]:
        """Return calls; see `Reader.calls`."""
        found = call_where(where, after)
        rows = self._readers.rows(found.select(PLACED), (*found.values, limit))
        return list(map(sql.placed_call, rows))

    def tally(self, where: CallFilter, by: tuple[GroupKey, ...]) -> Sequence[Tally]:
        """Count calls; see `Reader.tally`."""
        found = call_where(where)
        found.beside = _CARRIED if "recorded_version" in by else ""
        with self._readers.snapshot():
            groups = self._groups(found, by)
            ranks = self._ranks(found, by)
        return in_order(tally(key, group, *ranks.get(key, (None, None))) for key, group in groups.items())

    def _groups(self, where: Where, by: Sequence[GroupKey]) -> Mapping[Row, Group]:
        columns = ", ".join(counted((*by, "state"), _IS_CARRIED))
        found: dict[Row, Group] = {}
        for row in self._readers.rows(f"{where.matching(f'{columns}, {_COUNTS}')} GROUP BY {columns}", where.values):
            *values, state, calls, repairable, timed = readable(row)
            before = found.get(tuple(values), Group(Counter(), 0, 0))
            states = before.states + Counter({state: calls})
            found[tuple(values)] = Group(states, before.repairable + repairable, before.timed + timed)
        return found

    def _ranks(self, where: Where, by: Sequence[GroupKey]) -> Mapping[Row, tuple[float, float]]:
        """Return the 50th and 95th percentile of each group's durations, by nearest rank."""
        columns = counted(by, _IS_CARRIED)
        ranks = [f"percentile_disc({part}) WITHIN GROUP (ORDER BY duration_ms)" for part in ("0.5", "0.95")]
        statement = f"{where.matching(', '.join([*columns, *ranks]))} AND duration_ms IS NOT NULL"
        if by:
            statement += f" GROUP BY {', '.join(columns)}"
        rows = self._readers.rows(statement, where.values)
        return {readable(row[:-2]): (row[-2], row[-1]) for row in rows if row[-1] is not None}

    def call(self, call_id: str) -> CallRow | None:
        """Return a call's row."""
        for row in self._readers.rows(sql.CALL, (kept(call_id),)):
            return sql.placed_call(row).row
        return None

    def keyed(self, tenant: str, idempotency_key: str) -> CallRow | None:
        """Return the call that holds a host's idempotency key."""
        for row in self._readers.rows(_KEYED, (kept(tenant), kept(idempotency_key))):
            return sql.placed_call(row).row
        return None

    def sessions(self, *, after: str = "", limit: int, unfinished: bool = False) -> Sequence[SessionRow]:
        """Return sessions by id; see `Reader.sessions`."""
        asked = _UNFINISHED if unfinished else _ALL_SESSIONS
        return [session_row(readable(row)) for row in self._readers.rows(asked, (kept(after), limit))]
