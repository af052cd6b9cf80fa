"""A look at the side tables before a page is read: which sessions have a tag, and where a time can be."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from ledger.store.port import CallFilter, EventFilter
from ledger.store.sqlite import sql
from ledger.store.sqlite.filters import tags_asked
from ledger.store.sqlite.where import Hints

MOST_SESSIONS: Final = 4096
"""Sessions of a tag that are counted; a tag of more leads nowhere."""

_LAST: Final = "SELECT ifnull(max(position), 0) FROM event"
_EVENTS_OF_TAG: Final = (
    "SELECT count(*), ifnull(sum(sequence), 0) FROM (SELECT h.sequence AS sequence FROM session_tag t"
    " JOIN session_head h ON h.session_id = t.session_id WHERE t.name = ? AND t.value = ? LIMIT ?)"
)
_LOW: Final = (
    "SELECT ifnull(max(position), 0) FROM event_span"
    " WHERE position < ifnull((SELECT min(position) FROM event_span WHERE latest >= ?), 9223372036854775807)"
)
_TAIL: Final = (
    "SELECT 1 FROM event WHERE position > ifnull((SELECT max(position) FROM event_span), 0) AND recorded_at < ? LIMIT 1"
)
_HIGH: Final = "SELECT ifnull(max(position), 0) FROM event_span WHERE earliest < ?"


def look(connection: sqlite3.Connection, where: CallFilter | EventFilter, limit: int) -> Hints:
    """Return what the side tables tell of a filter, for a page of so many rows."""
    if where.session_id is not None or where.call_id is not None:
        return Hints()
    high = None
    if where.until is not None and connection.execute(_TAIL, (where.until,)).fetchone() is None:
        high = int(connection.execute(_HIGH, (where.until,)).fetchone()[0])
    low = 0 if where.since is None else int(connection.execute(_LOW, (where.since,)).fetchone()[0])
    return Hints(tag=_leading(connection, tags_asked(where), limit), low=low, high=high)


def _leading(connection: sqlite3.Connection, tags: Sequence[tuple[str, str]], limit: int) -> tuple[str, str] | None:
    """
    Return the tag whose sessions have the fewest events, if to sort those costs less than to walk for a page.

    Of N events M are in sessions of the tag. A page of `limit` rows by the tag looks at all M of them; by position it
    looks at about `limit` * N / M.
    """
    found = []
    for tag in tags:
        sessions, events = sql.run(connection, _EVENTS_OF_TAG, (*tag, MOST_SESSIONS)).fetchone()
        if sessions < MOST_SESSIONS:
            found.append((events, tag))
    if not found:
        return None
    events, tag = min(found)
    (last,) = connection.execute(_LAST).fetchone()
    return tag if events * events <= limit * last else None
