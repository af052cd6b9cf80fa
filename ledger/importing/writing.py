"""Planned events into a store: many in one commit, a turn never torn apart, each checked against the legal order."""

from __future__ import annotations

from typing import Final

from ledger.calls import NEW_CALL, Call, call_row, evolve, fold
from ledger.events import Draft, Event, encode, read_event
from ledger.store.port import Append, EventFilter, Store

MOST_EVENTS: Final = 1000
MOST_BYTES: Final = 4 * 2**20
"""Of one commit, roughly: what is asked for together is never torn apart."""

_PAGE: Final = 500


class Writer:
    """Appends to one session; `added` counts the events."""

    def __init__(self, store: Store, session_id: str, sequence: int) -> None:
        self.added = 0
        self._store = store
        self._session_id = session_id
        self._sequence = sequence
        self._drafts: list[Draft] = []
        self._size = 0
        self._calls: dict[str, Call] = {}

    def add(self, event: Event) -> None:
        """Take in the next event; raises `IllegalTransition`, and `JsonRejected` for what JSON cannot hold."""
        if event.call_id is not None:
            place = self._sequence + len(self._drafts) + 1
            self._calls[event.call_id] = evolve(self._call(event.call_id), event, place)
        draft = encode(event)
        self._drafts.append(draft)
        self._size += len(draft.head)

    def settle(self) -> None:
        """Commit if there is enough; called where nothing would be torn apart."""
        if len(self._drafts) >= MOST_EVENTS or self._size >= MOST_BYTES:
            self.flush()

    def flush(self) -> None:
        """Commit what there is; raises what the store raises."""
        if not self._drafts:
            return
        rows = tuple(map(call_row, self._calls.values()))
        request = Append(
            session_id=self._session_id, drafts=tuple(self._drafts), calls=rows, expected=self._sequence or "none"
        )
        appended = self._store.append(request)
        self._sequence = appended.head.sequence
        self.added += 0 if appended.repeated else len(self._drafts)
        self._drafts, self._size, self._calls = [], 0, {}

    def _call(self, call_id: str) -> Call:
        """Return a call as it stands: of this commit, or as it is recorded."""
        known = self._calls.get(call_id)
        if known is not None or not self._sequence:
            return known or NEW_CALL
        events = []
        where = EventFilter(session_id=self._session_id, call_id=call_id)
        after = 0
        while page := self._store.events(where, after=after, limit=_PAGE):
            events += [read_event(stored.record, stored) for stored in page]
            after = page[-1].position
        return fold(events)
