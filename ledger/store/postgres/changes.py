"""
What one transaction does: each request is decided here, and all they write goes to the server in one go.

The heads are locked first, so that what is decided stays true until the commit. A decision needs no answer of the
server but for limits and host's keys; where the server refuses what was decided on, all is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from ledger.calls import CallRow
from ledger.errors import KeyConflict, LedgerError
from ledger.events import SessionOpened, ToolVersionPublished
from ledger.store import places, rules, tags
from ledger.store.columns import IDENTITY
from ledger.store.port import Append, Appended, Head, StoredEvent
from ledger.store.postgres import sql
from ledger.store.postgres.door import Connection, Cursor, pipeline, send_rows
from ledger.store.postgres.places import ServerPlaces, hold
from ledger.store.postgres.texts import kept, readable, short
from ledger.store.rules import Link
from ledger.store.writing import Answer, Request

About: TypeAlias = tuple[str, str | None, str | None, str | None]
"""What of an event makes tags: session, tenant, principal, actor."""

MOST_KNOWN: Final = 20_000
"""Sessions' facts that a writer remembers to have tagged; then it begins anew."""

_Statement: TypeAlias = tuple[str, Sequence[Any]]


class Outcome:
    """An answer; `start` says where the positions of its events begin, which are known at the end."""

    __slots__ = ("answer", "start")

    def __init__(self, answer: Answer, start: int | None = None) -> None:
        self.answer = answer
        self.start = start


class Changes:
    """The requests of one open transaction; `made` says whether there is anything to commit."""

    def __init__(
        self, connection: Connection, heads: Mapping[str, Head], now: datetime, known: Container[About]
    ) -> None:
        self._connection = connection
        self._now = now
        self._known = known
        self._before = dict(heads)  # as they stand in the database
        self._after = dict(heads)
        self._links: list[Link] = []
        self._freed: list[str] = []
        self._calls: dict[str, CallRow] = {}
        self._rest: list[_Statement] = []
        self._places = ServerPlaces(connection)
        self.positions: list[int] = []  # of all events, in the order of the requests
        self.fresh: set[About] = set()
        self.made = False

    def head(self, session_id: str) -> Head:
        """Return where the session stands in this transaction."""
        return self._after.get(session_id, rules.EMPTY)

    def apply(self, request: Request) -> Outcome | LedgerError:
        """Decide on a request: what will be its answer, or the error to raise for it. Raises `psycopg.Error`."""
        try:
            if isinstance(request, Append):
                return self._append(request)
            return self._lease(request)
        except LedgerError as refusal:
            return refusal

    def _append(self, request: Append) -> Outcome:
        head = self.head(request.session_id)
        try:
            after = rules.admit(request, head, self._now)
            if request.guards:
                self._admit(request)
        except LedgerError as refusal:
            return Outcome(self.recorded(request, head, refusal))
        try:
            freed = self._freed_keys(request.calls)
        except KeyConflict as conflict:
            return Outcome(self.recorded(request, head, rules.twice(request.drafts) or conflict))
        links = rules.linked(request.drafts, head.sequence, head.digest)
        start = len(self.positions) + len(self._links)
        self._links += links
        self._after[request.session_id] = after = rules.moved(after, links[-1])
        self._freed += freed
        self._put_calls(request.calls)
        self._rest += self._beside(request)
        if request.guards:  # a repeated append is refused by the server here, and takes no place again
            self.flush()
            places.take(request.guards, self._places, self._now)
        self.made = True
        return Outcome(Appended(sequences=tuple(link.sequence for link in links), positions=(), head=after), start)

    def _put_calls(self, rows: Sequence[CallRow]) -> None:
        """Take in rows; which call it is stays as the first row says, as it does where that one is stored already."""
        for row in rows:
            known = self._calls.get(row.call_id)
            self._calls[row.call_id] = row if known is None else CallRow._make((*known[:IDENTITY], *row[IDENTITY:]))

    def _admit(self, request: Append) -> None:
        """Look for places; a clock that was set back is kept in mind also where there is none."""
        self.flush()
        hold(self._connection, request.guards)
        self.made = places.set_back(request.guards, self._places, self._now) or self.made
        places.admit(request.guards, self._places, self._now)

    def stored(self, request: Append) -> Mapping[str, StoredEvent]:
        """Return the events of the session that have one of the request's event ids."""
        ids = [kept(draft.event.event_id) for draft in request.drafts]
        rows = self._connection.execute(sql.BY_EVENT_ID, (kept(request.session_id), ids)).fetchall()
        return {event.event_id: event for event in map(sql.stored_event, rows)}

    def recorded(self, request: Append, head: Head, otherwise: LedgerError) -> Appended:
        """Return the answer to a repeated request; raise `otherwise` where it is none."""
        self.flush()
        repeated = rules.repeat(request, self.stored(request), head)
        if repeated is None:
            raise otherwise
        return repeated

    def _lease(self, request: rules.Renewal | rules.Return) -> Outcome:
        head = self.head(request.session_id)
        if isinstance(request, rules.Renewal):
            after = rules.renewed(head, request, self._now)
        else:
            after = rules.returned(head, request)
        if after is not None:
            self._after[request.session_id] = after
            self.made = True
        return Outcome(after is not None)

    def _freed_keys(self, rows: Sequence[CallRow]) -> list[str]:
        if not any(row.idempotency_key is not None for row in rows):
            return []
        self.flush()
        return rules.freed_keys(rows, self._key_holder)

    def _key_holder(self, tenant: str, key: str) -> str | None:
        rows = self._connection.execute(sql.KEY_HOLDER, (kept(tenant), kept(key))).fetchall()
        return readable(rows[0])[0] if rows else None

    def _beside(self, request: Append) -> Iterator[_Statement]:
        """Yield what is written beside events and calls: tags, resources, versions of tools."""
        for draft in request.drafts:
            event = draft.event
            about = event.session_id, event.tenant, event.principal, event.actor
            if (about not in self._known and about not in self.fresh) or isinstance(event.body, SessionOpened):
                self.fresh.add(about)
                for name, value, session_id in tags.tags_of(event):
                    yield sql.NEW_TAG, (short(name), short(value), kept(session_id))
            for resource in tags.resources_of(event):
                yield sql.NEW_RESOURCE, (short(resource), event.call_id and kept(event.call_id))
            if isinstance(event.body, ToolVersionPublished):
                yield sql.NEW_TOOL_VERSION, sql.version_row(event, event.body)

    def flush(self, *, commit: bool = False) -> None:
        """
        Send what was decided so far, and wait until it is done.

        The heads come first: they give the transaction its number before its events get their positions, which is
        what lets a reader know when no position below one that it saw can come any more.
        """
        moved = {name: head for name, head in self._after.items() if head is not self._before.get(name)}
        if not (moved or self._links or commit):
            return
        with pipeline(self._connection):
            self._send_heads(moved)
            inserted = self._send(sql.insert_events, [sql.event_row(link) for link in self._links])
            self._send_calls()
            for statement, values in self._rest:
                self._connection.execute(statement, values)
            if commit:
                self._connection.execute(sql.COMMIT)
        for cursor in inserted:
            self.positions += [position for (position,) in cursor.fetchall()]
        self._links, self._rest = [], []

    def _send_heads(self, moved: Mapping[str, Head]) -> None:
        self._send(sql.move_heads, [sql.head_row(name, head) for name, head in moved.items() if name in self._before])
        for name, head in moved.items():  # in the order of the requests: two processes never wait for each other
            if name not in self._before:
                self._connection.execute(sql.NEW_HEAD, sql.head_row(name, head))
        self._before |= moved

    def _send_calls(self) -> None:
        for call_id in self._freed:
            self._connection.execute(sql.FREE_KEY, (kept(call_id),))
        self._send(sql.put_calls, [sql.call_row(row) for row in self._calls.values()])
        self._freed, self._calls = [], {}

    def _send(self, statement: Callable[[int], str], rows: list[list[Any]]) -> list[Cursor]:
        return send_rows(self._connection, statement, rows)

    def answer(self, outcome: Outcome) -> Answer:
        """Return the final answer to a request, once everything was sent."""
        answer, start = outcome.answer, outcome.start
        if start is None or not isinstance(answer, Appended):
            return answer
        positions = tuple(self.positions[start : start + len(answer.sequences)])
        return Appended(sequences=answer.sequences, positions=positions, head=answer.head)
