"""What one transaction does: each request applied in turn, a refused one leaving no trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from ledger.calls import CallRow
from ledger.errors import LedgerError
from ledger.events import ToolVersionPublished
from ledger.store import places, rules
from ledger.store.columns import IDENTITY, Row
from ledger.store.port import Append, Appended, Head, StoredEvent
from ledger.store.rules import Link
from ledger.store.sqlite import sql
from ledger.store.sqlite.lookups import About, LookUps
from ledger.store.writing import Answer, Request

_PROPOSED: Final = "call.proposed"


class Torn(Exception):
    """One of several requests was refused after it had written something that no savepoint takes back."""


class Changes:
    """
    The requests of one open transaction; `made` says whether there is anything to commit.

    Most refusals come before a request has written anything. So a group is written without `savepoints` first: behind
    one SQLite copies each page that is changed (a third of its work in a group of 18).
    """

    def __init__(
        self, connection: sqlite3.Connection, now: datetime, known: Container[About] = (), *, savepoints: bool = False
    ) -> None:
        self._connection = connection
        self.now = now
        self._savepoints = savepoints
        self._half = False  # a request has written its events, and not all the rest
        self.looked_up = LookUps(connection, known)
        self.made = False

    def apply(self, request: Request, *, alone: bool) -> Answer | LedgerError:
        """
        Apply a request; return its answer, or the error to raise for it.

        `alone` in its transaction it needs no savepoint: where it is refused, all is rolled back. Raises `Torn` where
        the group is to be rolled back and written again with savepoints, `sqlite3.Error` where the whole transaction
        is lost.
        """
        try:
            if not isinstance(request, Append):
                return self._lease(request)
            if request.guards and places.set_back(request.guards, SqlitePlaces(self._connection), self.now):
                self.made, alone = True, False
            if self._savepoints:
                return self._append_beside(request)
            return self._append(request)
        except LedgerError as refusal:
            if alone:
                self.made = False
            elif self._half:
                raise Torn from refusal
            return refusal

    def _append_beside(self, request: Append) -> Appended:
        try:
            with _savepoint(self._connection):
                return self._append(request)
        finally:
            self._half = False

    def _append(self, request: Append) -> Appended:
        head = self.head(request.session_id)
        try:
            after = rules.admit(request, head, self.now)
            if request.guards:
                places.admit(request.guards, SqlitePlaces(self._connection), self.now)
        except LedgerError as refusal:
            return self._recorded(request, head, refusal)
        links = rules.linked(request.drafts, head.sequence, head.digest)
        try:
            last = self._insert_events(links)
        except sqlite3.IntegrityError:
            conflict = rules.twice(request.drafts) or rules.head_disagrees(request.session_id)
            return self._recorded(request, head, conflict)
        except OverflowError as error:
            raise rules.too_large(request) or error from error
        self._half = True
        after = rules.moved(after, links[-1])
        self._move_head(request.session_id, head, after)
        positions = tuple(range(last - len(links) + 1, last + 1))
        if request.calls:
            self._put_calls(request, positions)
        self._publish(links)
        self.looked_up.note(request, positions)
        if request.guards:  # after the events: a repeated append takes no place again
            places.take(request.guards, SqlitePlaces(self._connection), self.now)
        self.made, self._half = True, False
        return Appended(sequences=tuple(link.sequence for link in links), positions=positions, head=after)

    def head(self, session_id: str) -> Head:
        """Return where the session stands in this transaction."""
        row = self._run(sql.HEAD, (session_id,)).fetchone()
        return rules.EMPTY if row is None else sql.head_of(row, session_id)

    def heads(self, session_ids: Sequence[str]) -> dict[str, Row]:
        """Return sessions' rows for `sql.head_of` in this transaction; those without an event are left out."""
        found = {}
        for start in range(0, len(session_ids), sql.MOST_ROWS):
            some = session_ids[start : start + sql.MOST_ROWS]
            for name, *row in self._run(sql.select_heads(len(some)), some):
                found[sql.readable((name,))[0]] = tuple(row)
        return found

    def put(self, statement: Callable[[int], str], rows: Sequence[Row], most: int) -> int:
        """Execute a statement that takes up to `most` rows, for all of them; return the last row's number."""
        last = 0
        for start in range(0, len(rows), most):
            some = rows[start : start + most]
            last = self._run(statement(len(some)), [value for row in some for value in row]).lastrowid or 0
        return last

    def stored(self, request: Append) -> Mapping[str, StoredEvent]:
        """Return the events of the session that have one of the request's event ids."""
        found = {}
        ids = [draft.event.event_id for draft in request.drafts]
        for start in range(0, len(ids), sql.MOST_ROWS):
            some = ids[start : start + sql.MOST_ROWS]
            statement = sql.select_events_by_id(len(some))
            for row in self._run(statement, (request.session_id, *some)):
                event = sql.stored_event(row)
                found[event.event_id] = event
        return found

    def _recorded(self, request: Append, head: Head, otherwise: LedgerError) -> Appended:
        """Return the answer to a repeated request; raise `otherwise` where it is none."""
        repeated = rules.repeat(request, self.stored(request), head)
        if repeated is None:
            raise otherwise
        return repeated

    def _insert_events(self, links: list[Link]) -> int:
        """Insert events and return the position of the last; a transaction gives them consecutive ones."""
        rows = list(map(sql.event_row, links))
        if len(rows) <= sql.MOST_ROWS:
            return self.put(sql.insert_events, rows, sql.MOST_ROWS)
        with _savepoint(self._connection):
            return self.put(sql.insert_events, rows, sql.MOST_ROWS)

    def _move_head(self, session_id: str, before: Head, after: Head) -> None:
        columns = sql.head_row(session_id, after)
        if before is rules.EMPTY:
            self._run(sql.NEW_HEAD, columns)
        else:
            self._run(sql.MOVE_HEAD, (*columns, before.sequence))

    def _lease(self, request: rules.Renewal | rules.Return) -> bool:
        head = self.head(request.session_id)
        if isinstance(request, rules.Renewal):
            after = rules.renewed(head, request, self.now)
        else:
            after = rules.returned(head, request)
        if after is None:
            return False
        self._move_head(request.session_id, head, after)
        self.made = True
        return True

    def _put_calls(self, request: Append, positions: tuple[int, ...]) -> None:
        for call_id in rules.freed_keys(request.calls, self._key_holder):
            self._run(sql.FREE_KEY, (call_id,))
        proposed = proposals(request, positions)
        for row in request.calls:
            try:
                self.put_call(row, proposed.get(row.call_id))
            except sqlite3.IntegrityError as error:
                raise rules.place_taken(row) from error

    def put_call(self, row: CallRow, proposed: int | None = None) -> None:
        """Write a call's row: a new one, at its proposal's position where the caller knows it, or over the old one."""
        if proposed is None:
            if self._run(sql.MOVE_CALL, (*row[IDENTITY:], row.call_id)).rowcount:
                return
            proposed = self._run(sql.FIRST_OF_CALL, (row.call_id,)).fetchone()[0]
        self._run(sql.NEW_CALL, (proposed, *row))

    def _key_holder(self, tenant: str, key: str) -> str | None:
        row = self._run(sql.KEY_HOLDER, (tenant, key)).fetchone()
        return row[0] if row is not None else None

    def _publish(self, links: list[Link]) -> None:
        for link in links:
            body = link.draft.event.body
            if isinstance(body, ToolVersionPublished):
                self._run(sql.NEW_TOOL_VERSION, sql.version_row(link.draft.event, body))

    def _run(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        return sql.run(self._connection, statement, values)


def proposals(request: Append, positions: Sequence[int]) -> dict[str | None, int]:
    """Return the positions of the calls that a request proposes, by call id."""
    return {
        draft.event.call_id: position
        for draft, position in zip(request.drafts, positions, strict=True)
        if draft.type == _PROPOSED
    }


class SqlitePlaces:
    """The places under limits, in the open transaction; see `ledger.store.places.Places`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def free_until(self, key: str, now: str) -> None:
        """Free old places."""
        self._run(sql.FREE_UNTIL, key, now)

    def free_ended(self, key: str) -> None:
        """Free the places of calls that run no more."""
        self._run(sql.FREE_ENDED, key)

    def not_after(self, key: str, latest: str) -> bool:
        """Shorten what is taken too long; return whether there was any."""
        return self._run(sql.NOT_AFTER, latest, key, latest).rowcount > 0

    def taken(self, key: str) -> int:
        """Count."""
        return int(self._run(sql.TAKEN, key).fetchone()[0])

    def free_at(self, key: str, skip: int) -> str:
        """Return the time of a place."""
        return str(self._run(sql.FREE_AT, key, skip).fetchone()[0])

    def take(self, key: str, call_id: str, free_at: str) -> None:
        """Give a place to a call."""
        self._run(sql.TAKE_PLACE, key, free_at, call_id)

    def sweep(self, now: str) -> None:
        """Forget a few places that are free again."""
        self._run(sql.SWEEP_TIMED, now)
        self._run(sql.SWEEP_RUNNING)

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return sql.run(self._connection, statement, values)


@contextmanager
def _savepoint(connection: sqlite3.Connection) -> Iterator[None]:
    """Undo what is done inside where it is refused."""
    connection.execute("SAVEPOINT request")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it: its error is what counts
            connection.execute("ROLLBACK TO request")
        raise
    finally:
        if connection.in_transaction:
            connection.execute("RELEASE request")
