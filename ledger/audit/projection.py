"""Every call folded again from its events, to compare the projection with; what cannot be folded is counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.audit.reading import events_of_session, sessions
from ledger.calls import Call, CallRow, call_row, evolve
from ledger.errors import IllegalTransition
from ledger.events import Event, Unreadable, read_event
from ledger.store.port import Reader

MOST_SHOWN: Final = 20
"""Places that are named; all are counted."""


class Folded:
    """
    Folds the calls of a ledger, session by session, in the memory of one session's calls.

    Behind the last row `unreadable` counts the events that cannot be read (`newer` of them by a newer release's
    writing), `broken` those that do not follow their call's state; `places` names the first of them.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.unreadable = 0
        self.newer = 0
        self.broken = 0
        self.places: list[tuple[str, int, str]] = []

    def rows(self) -> Iterator[CallRow]:
        """Yield a row a call. One that cannot be folded to its end comes as it is stored: nothing is known better."""
        for row in sessions(self._reader):
            yield from self._session(row.session_id)

    def _session(self, session_id: str) -> Iterator[CallRow]:
        calls: dict[str, Call] = {}
        lost: set[str] = set()
        for stored in events_of_session(self._reader, session_id):
            event = read_event(stored.record, stored)
            call_id = event.call_id
            if isinstance(event.body, Unreadable):
                self.unreadable += 1
                self.newer += event.body.newer
                self._note(event, event.body.reason)
                lost.update([call_id] if call_id is not None else [])
            elif call_id is not None and call_id not in lost:
                try:
                    calls[call_id] = evolve(calls.get(call_id) or Call(), event)
                except IllegalTransition as error:
                    self.broken += 1
                    self._note(event, error.message)
                    lost.add(call_id)
        for call_id in calls | dict.fromkeys(lost):
            row = self._reader.call(call_id) if call_id in lost else call_row(calls[call_id])
            if row is not None:
                yield row

    def _note(self, event: Event, why: str) -> None:
        if len(self.places) < MOST_SHOWN:
            self.places.append((event.session_id, event.sequence, why))
