"""The whole story of one call: its events, and where they lead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.calls import Call, evolve
from ledger.errors import IllegalTransition
from ledger.events import Event, Unreadable, read_event
from ledger.store.port import EventFilter, Reader, StoredEvent

_PAGE: Final = 500


def call_events(reader: Reader, session_id: str, call_id: str) -> Iterator[tuple[StoredEvent, Event]]:
    """Yield a call's events in order, as they are stored and as they are read."""
    where = EventFilter(session_id=session_id, call_id=call_id)
    after = 0
    while page := reader.events(where, after=after, limit=_PAGE):
        for stored in page:
            yield stored, read_event(stored.record, stored)
        after = page[-1].position


def call_of(reader: Reader, session_id: str, call_id: str) -> Call:
    """Return a call as it stands; from an event on that cannot be read, or does not follow, it stays where it was."""
    call = Call()
    for _, event in call_events(reader, session_id, call_id):
        if isinstance(event.body, Unreadable):
            return call
        try:
            call = evolve(call, event)
        except IllegalTransition:
            return call
    return call
