"""The projection and the look-ups compared with the events, and made again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, TypeAlias

from ledger.calls import CallRow
from ledger.events import read_event
from ledger.store import tags
from ledger.store.columns import STORED, Row
from ledger.store.paging import paged
from ledger.store.port import StoredEvent
from ledger.store.postgres import sql
from ledger.store.postgres.door import Connection, pipeline, send_rows
from ledger.store.postgres.texts import bindable, kept, short

Difference: TypeAlias = tuple[str, CallRow | None, CallRow | None]

PAGE: Final = 500
"""Rows that are fetched, or looked up, at a time."""

ALONE: Final = "LOCK TABLE call, session_tag, call_resource IN SHARE ROW EXCLUSIVE MODE"
"""Readers go on; writers wait."""

_EVENTS: Final = f"SELECT {STORED} FROM event WHERE position > %s ORDER BY position LIMIT %s"  # noqa: S608 - our own names
_FIRSTS: Final = "SELECT call_id, min(position) FROM event WHERE call_id = ANY(%s) GROUP BY call_id"
_SELECTS: Final = {
    "session_tag": "SELECT name, value, session_id FROM session_tag",
    "call_resource": "SELECT resource, position, call_id FROM call_resource",
}
_INSERTS: Final = {
    "session_tag": "INSERT INTO session_tag (name, value, session_id) VALUES (%s, %s, %s)",
    "call_resource": "INSERT INTO call_resource (resource, position, call_id) VALUES (%s, %s, %s)",
}


def differences(connection: Connection, rows: Iterator[CallRow]) -> list[Difference]:
    """Return where the stored calls and the folded ones differ: (call id, stored, folded), by call id."""
    found: list[Difference] = []
    seen: set[str] = set()
    while some := list(islice(rows, PAGE)):
        ids = [kept(row.call_id) for row in some]
        firsts = dict(connection.execute(_FIRSTS, (ids,)).fetchall())
        stored = {row[1]: row for row in connection.execute(sql.CALLS, (ids,)).fetchall()}
        for call_id, row in zip(ids, some, strict=True):
            there = stored.get(call_id)
            if there != (firsts.get(call_id), *bindable(row)):  # as it is stored: what only reads alike nobody finds
                found.append((row.call_id, sql.placed_call(there).row if there else None, row))
        seen |= {row.call_id for row in some}

    def page(after: str, size: int) -> list[CallRow]:
        return _calls(connection, sql.CALLS_AFTER, after, size)

    every = paged(page, lambda row: kept(row.call_id), "", PAGE)
    found += [(row.call_id, row, None) for row in every if row.call_id not in seen]
    return sorted(found, key=lambda difference: difference[0])


def _calls(connection: Connection, statement: str, *values: Any) -> list[CallRow]:
    return [sql.placed_call(row).row for row in connection.execute(statement, values).fetchall()]


def rewrite(connection: Connection, found: Iterable[Difference]) -> None:
    """Write the folded rows where they differ; of two with one call id (in two sessions) the last."""
    latest = {call_id: row for call_id, _, row in found}
    with pipeline(connection):
        for call_id in latest:
            connection.execute(sql.DROP_CALL, (kept(call_id),))
        send_rows(connection, sql.put_calls, [sql.call_row(row) for row in latest.values() if row is not None])


def compare(connection: Connection, *, write: bool) -> list[tuple[str, int]]:
    """Return the tables that differ from the events, with how many rows do; with `write` they are made again."""
    expected = _expected(connection)
    found = []
    for name, rows in expected.items():
        stored = set(connection.execute(_SELECTS[name]).fetchall())
        wrong, missing = stored - rows, rows - stored
        if wrong or missing:
            found.append((name, len(wrong) + len(missing)))
        if write and (wrong or missing):
            connection.execute(f"DELETE FROM {name}")  # noqa: S608 - our own names
            connection.cursor().executemany(_INSERTS[name], sorted(rows))
    return found


def _expected(connection: Connection) -> dict[str, set[Row]]:
    """Return the rows that the events lead to, as they are written."""
    found: dict[str, set[Row]] = {"session_tag": set(), "call_resource": set()}

    def page(after: int, size: int) -> list[StoredEvent]:
        return [sql.stored_event(row) for row in connection.execute(_EVENTS, (after, size)).fetchall()]

    touched: dict[str, set[str]] = {}
    for stored in paged(page, lambda event: event.position, 0, PAGE):
        event = read_event(stored.record, stored)
        found["session_tag"] |= {(short(name), short(value), kept(where)) for name, value, where in tags.tags_of(event)}
        if resources := tags.resources_of(event):
            touched.setdefault(kept(event.call_id or ""), set()).update(map(short, resources))
    for call_id, first in connection.execute(_FIRSTS, (list(touched),)).fetchall():
        found["call_resource"] |= {(resource, first, call_id) for resource in touched[call_id]}
    return found
