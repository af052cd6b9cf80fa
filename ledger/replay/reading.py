"""A session's events read page by page: nothing is executed, nothing is written, no page is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.calls import Call, evolve
from ledger.errors import IllegalTransition, UnknownSession, UsageError
from ledger.events import Event, Unreadable, read_event
from ledger.history import History, fold_session
from ledger.store.port import EventFilter, Reader

PAGE: Final = 500


def last_sequence(reader: Reader, session_id: str, at: int | None = None) -> int:
    """
    Return where a session is looked at: `at`, or its last event now.

    Raises `UnknownSession`, and `UsageError` where the session has no such event.
    """
    head = reader.head(session_id)
    if head is None or not head.sequence:
        raise UnknownSession(session_id)
    if at is None:
        return head.sequence
    if not 1 <= at <= head.sequence:
        raise UsageError(f"session {session_id!r} has no event {at}.", hint=f"Its events are 1 to {head.sequence}.")
    return at


def session_events(reader: Reader, session_id: str, at: int | None = None) -> Iterator[Event]:
    """Yield a session's events up to `at`, in order; raises as `last_sequence` does, at the first of them."""
    until = last_sequence(reader, session_id, at)
    after = 0
    while page := reader.read(session_id, after=after, until=until, limit=PAGE):
        for stored in page:
            yield read_event(stored.record, stored)
        after = page[-1].sequence


def session_at(reader: Reader, session_id: str, at: int | None = None) -> History:
    """Return the session as it was after the event `at` (from 1; None: now). Raises as `last_sequence` does."""
    return fold_session(session_id, session_events(reader, session_id, at))


def call_at(reader: Reader, session_id: str, call_id: str, at: int) -> Call:
    """Return one call as it was after the event `at` of its session; what cannot be read or follow is passed over."""
    call = Call()
    where = EventFilter(session_id=session_id, call_id=call_id)
    after = 0
    while page := reader.events(where, after=after, limit=PAGE):
        for stored in page:
            event = read_event(stored.record, stored)
            if event.sequence > at or isinstance(event.body, Unreadable):
                return call
            try:
                call = evolve(call, event)
            except IllegalTransition:
                return call
        after = page[-1].position
    return call
