"""The tables that audit looks up beside the calls: written with each append, compared and made again from events."""

from __future__ import annotations

import sqlite3
from collections.abc import Container
from typing import Final, TypeAlias

from ledger.events import SessionOpened, read_event
from ledger.store import tags
from ledger.store.columns import STORED, Row
from ledger.store.port import Append
from ledger.store.sqlite import sql

About: TypeAlias = tuple[str, str | None, str | None, str | None]
"""What of an event makes tags: session, tenant, principal, actor."""

MOST_KNOWN: Final = 20_000
"""Sessions' facts that a writer remembers to have tagged; then it begins anew."""

NEW_TAG: Final = "INSERT OR IGNORE INTO session_tag (name, value, session_id) VALUES (?, ?, ?)"
NEW_RESOURCE: Final = (
    "INSERT OR IGNORE INTO call_resource (resource, position, call_id)"
    " SELECT ?, min(position), call_id FROM event WHERE call_id = ?"
)
NEW_SPAN: Final = (
    "INSERT OR IGNORE INTO event_span (position, earliest, latest)"
    " SELECT max(position), min(recorded_at), max(recorded_at)"
    " FROM event WHERE position > ifnull((SELECT max(position) FROM event_span), 0)"
)
"""Ignored where no event is behind the last span: another append of the group has closed it at the group's end."""

_EVENTS: Final = f"SELECT {STORED} FROM event ORDER BY position"  # noqa: S608 - our own names
_TIMES: Final = "SELECT position, recorded_at FROM event ORDER BY position"
_FIRSTS: Final = "SELECT min(position) FROM event WHERE call_id = ?"
_TAGS: Final = "SELECT name, value, session_id FROM session_tag"
_RESOURCES: Final = "SELECT resource, position, call_id FROM call_resource"
_SPANS: Final = "SELECT position, earliest, latest FROM event_span ORDER BY position"


class LookUps:
    """Writes them in an open transaction; `fresh` is what became known in it, to be kept once it is committed."""

    def __init__(self, connection: sqlite3.Connection, known: Container[About]) -> None:
        self._connection = connection
        self._known = known
        self.fresh: set[About] = set()

    def note(self, request: Append, positions: tuple[int, ...]) -> None:
        """Take in an append, whose events are written already."""
        fresh: set[About] = set()
        for draft in request.drafts:
            event = draft.event
            about = event.session_id, event.tenant, event.principal, event.actor
            if (about not in self._known and about not in fresh) or isinstance(event.body, SessionOpened):
                fresh.add(about)
                for tag in tags.tags_of(event):
                    sql.run(self._connection, NEW_TAG, tag)
            for resource in tags.resources_of(event):
                sql.run(self._connection, NEW_RESOURCE, (resource, event.call_id))
        if tags.closes_span(positions[0], positions[-1]):
            self._connection.execute(NEW_SPAN)
        self.fresh |= fresh


def compare(connection: sqlite3.Connection, *, write: bool) -> list[tuple[str, int]]:
    """Return the tables that differ from the events, with how many rows do; with `write` they are made again."""
    expected = _expected(connection)
    stored = {name: set(connection.execute(select)) for name, select in _SELECTS.items()}
    different = {name: len(set(map(sql.bindable, expected[name])) ^ stored[name]) for name in expected}
    different["event_span"] = _wrong_spans(connection)
    found = [(name, count) for name, count in different.items() if count]
    if write:
        for name, _ in found:
            _write(connection, name, expected)
    return found


_SELECTS: Final = {"session_tag": _TAGS, "call_resource": _RESOURCES}


def _expected(connection: sqlite3.Connection) -> dict[str, set[Row]]:
    """Return the rows that the events lead to."""
    found: dict[str, set[Row]] = {"session_tag": set(), "call_resource": set()}
    for row in connection.execute(_EVENTS):
        stored = sql.stored_event(row)
        event = read_event(stored.record, stored)
        found["session_tag"].update(tags.tags_of(event))
        for resource in tags.resources_of(event):
            (first,) = sql.run(connection, _FIRSTS, (event.call_id,)).fetchone()
            found["call_resource"].add((resource, first, event.call_id))
    return found


def _wrong_spans(connection: sqlite3.Connection) -> int:
    """Return how many spans do not hold the times of their events, or are missing at the end."""
    wrong, tail, earliest, latest = 0, 0, "", ""
    stored = iter(connection.execute(_SPANS).fetchall())
    span = next(stored, None)
    for position, moment in connection.execute(_TIMES):
        earliest, latest, tail = min(earliest or moment, moment), max(latest, moment), tail + 1
        if span is not None and position == span[0]:
            wrong += span[1:] != (earliest, latest)
            span, tail, earliest, latest = next(stored, None), 0, "", ""
    return wrong + (span is not None) + sum(1 for _ in stored) + (tail >= tags.SPAN)


def _write(connection: sqlite3.Connection, name: str, expected: dict[str, set[Row]]) -> None:
    connection.execute(f"DELETE FROM {name}")  # noqa: S608 - our own names
    again = tags.spans(connection.execute(_TIMES).fetchall()) if name == "event_span" else expected[name]
    for row in again:
        sql.run(connection, f"INSERT INTO {name} VALUES (?, ?, ?)", row)  # noqa: S608 - our own names
