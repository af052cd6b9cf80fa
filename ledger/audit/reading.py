"""Rows of the store, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import Final

from ledger.store.paging import paged
from ledger.store.port import CallFilter, EventFilter, PlacedCall, Reader, SessionRow, StoredEvent

PAGE: Final = 500
"""Rows that are read at a time."""

_POSITION: Final = attrgetter("position")
_SEQUENCE: Final = attrgetter("sequence")
_SESSION: Final = attrgetter("session_id")


def placed_calls(
    reader: Reader, where: CallFilter, *, after: int = 0, limit: int | None = None
) -> Iterator[PlacedCall]:
    """Yield calls by the positions of their proposals, at most `limit`."""
    found = paged(lambda last, size: reader.calls(where, after=last, limit=size), _POSITION, after, _size(limit))
    return islice(found, limit)


def stored_events(
    reader: Reader, where: EventFilter, *, after: int = 0, limit: int | None = None
) -> Iterator[StoredEvent]:
    """Yield events over all sessions by position, at most `limit`."""
    found = paged(lambda last, size: reader.events(where, after=last, limit=size), _POSITION, after, _size(limit))
    return islice(found, limit)


def events_of_session(reader: Reader, session_id: str) -> Iterator[StoredEvent]:
    """Yield the events of one session in order."""
    return paged(lambda last, size: reader.read(session_id, after=last, limit=size), _SEQUENCE, 0, PAGE)


def sessions(reader: Reader) -> Iterator[SessionRow]:
    """Yield the sessions by id."""
    return paged(lambda last, size: reader.sessions(after=last, limit=size), _SESSION, "", PAGE)


def _size(limit: int | None) -> int:
    return PAGE if limit is None else min(PAGE, max(limit, 1))
