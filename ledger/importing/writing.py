"""Planned events into a store: many in one commit, a turn never torn apart, each checked against the legal order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ledger.calls import NEW_CALL, Call, call_row, evolve, fold
from ledger.errors import LedgerError
from ledger.events import CallProposed, Draft, Event, encode, read_event
from ledger.importing.refusals import OF_THE_STORE
from ledger.store.port import Append, Appended, Batching, EventFilter, Store

MOST_EVENTS: Final = 1000
MOST_SESSIONS: Final = 32
MOST_BYTES: Final = 4 * 2**20
"""Of one commit, roughly: what is asked for together is never torn apart."""

_PAGE: Final = 500


class Outbox:
    """
    The last commits of sessions that have ended, to be made together where the store can do that.

    A commit is what an import waits for: thirty sessions in one take hardly longer than one.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._many = store if isinstance(store, Batching) else None
        self._waiting: dict[str, tuple[Writer, Append]] = {}
        self._events = 0

    def put(self, writer: Writer, request: Append) -> None:
        """Take in a commit; where the store takes one at a time it is made at once."""
        if self._many is None:
            writer.answered(self.store.append(request))
            return
        self._waiting[request.session_id] = writer, request
        self._events += len(request.drafts)

    def holds(self, session_id: str) -> bool:
        """Whether something of this session still waits."""
        return session_id in self._waiting

    @property
    def is_due(self) -> bool:
        """Whether it is to be emptied: enough is in it, or nothing is gained by waiting."""
        return self._many is None or len(self._waiting) >= MOST_SESSIONS or self._events >= MOST_EVENTS

    def flush(self) -> None:
        """Commit all that waits; a session that is refused hears why, what is wrong with the store is raised."""
        waiting, self._waiting, self._events = list(self._waiting.values()), {}, 0
        if self._many is None or not waiting:
            return
        answers = self._many.append_all([request for _, request in waiting])
        for (writer, _), answer in zip(waiting, answers, strict=True):
            if isinstance(answer, OF_THE_STORE):
                raise answer
            writer.answered(answer)


class Writer:
    """Appends to one session; `added` counts the events, `error` says why the last ones were refused."""

    def __init__(self, outbox: Outbox, session_id: str, sequence: int) -> None:
        self.added = 0
        self.error: LedgerError | None = None
        self._outbox = outbox
        self._session_id = session_id
        self._sequence = sequence
        self._drafts: list[Draft] = []
        self._size = 0
        self._calls: dict[str, Call] = {}

    def add(self, event: Event) -> None:
        """Take in the next event; raises `IllegalTransition`, and `JsonRejected` for what JSON cannot hold."""
        call_id = event.call_id
        if call_id is not None:
            place = self._sequence + len(self._drafts) + 1
            before = NEW_CALL if isinstance(event.body, CallProposed) else self._call(call_id)
            if before.call_id and _whose(before) != _whose(event):  # it was imported for somebody, and stays theirs
                event = replace(event, **_whose(before))
            self._calls[call_id] = evolve(before, event, place)
        draft = encode(event)
        self._drafts.append(draft)
        self._size += len(draft.head)

    def settle(self) -> None:
        """Commit if there is enough; called where nothing would be torn apart. Raises what the store raises."""
        if len(self._drafts) >= MOST_EVENTS or self._size >= MOST_BYTES:
            self.answered(self._outbox.store.append(self._request()))

    def finish(self) -> None:
        """Commit what is left, with that of others if the store can do that; raises what the store raises."""
        if self._drafts:
            self._outbox.put(self, self._request())

    def answered(self, answer: Appended | LedgerError) -> None:
        """Take in what became of the last commit."""
        if isinstance(answer, LedgerError):
            self.error = answer
            return
        self._sequence = answer.sequences[-1]
        self.added += 0 if answer.repeated else len(answer.sequences)

    def _request(self) -> Append:
        drafts, rows = tuple(self._drafts), tuple(map(call_row, self._calls.values()))
        self._drafts, self._size, self._calls = [], 0, {}
        return Append(session_id=self._session_id, drafts=drafts, calls=rows, expected=self._sequence or "none")

    def _call(self, call_id: str) -> Call:
        """Return a call as it stands: of this commit, or as it is recorded."""
        known = self._calls.get(call_id)
        if known is not None:
            return known
        events = []
        where = EventFilter(session_id=self._session_id, call_id=call_id)
        after = 0
        while page := self._outbox.store.events(where, after=after, limit=_PAGE):
            events += [read_event(stored.record, stored) for stored in page]
            after = page[-1].position
        return fold(events)


def _whose(of: Call | Event) -> dict[str, Any]:
    return {"principal": of.principal, "tenant": of.tenant, "on_behalf_of": of.on_behalf_of}
