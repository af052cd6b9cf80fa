"""The statements of the hot path and the order of their columns; a test compares them with the declared tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from ledger.calls import CallRow
from ledger.errors import IntegrityFailure
from ledger.events import Event, ToolVersionPublished
from ledger.store.columns import CALL_COLUMNS, CALL_LIST, EVENT_COLUMNS, IDENTITY, PLACED, PLACES, RUNS, STORED, Row
from ledger.store.port import Head, PlacedCall, StoredEvent
from ledger.store.rules import Link
from ledger.strictjson import canonical

_Found = TypeVar("_Found")

_HIGHEST: Final = 2**62  # no head comes near it, and what an append adds fits in 64 bits

MOST_ROWS: Final = 50
"""Rows of one INSERT: below 999 parameters, which every SQLite takes."""

MOST_CALLS: Final = 25
"""Calls of one INSERT, for the same reason."""

BEGIN: Final = "BEGIN IMMEDIATE"
COMMIT: Final = "COMMIT"
ROLLBACK: Final = "ROLLBACK"

_HEAD: Final = "sequence, digest, owner, token, expires_at"
HEAD: Final = f"SELECT {_HEAD} FROM session_head WHERE session_id = ?"  # noqa: S608 - our own names
NEW_HEAD: Final = f"INSERT INTO session_head ({_HEAD}, session_id) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 - our names
MOVE_HEAD: Final = (
    "UPDATE session_head SET sequence = ?, digest = ?, owner = ?, token = ?, expires_at = ?"
    " WHERE session_id = ? AND sequence = ?"
)
_REST: Final = CALL_COLUMNS[IDENTITY:]
NEW_CALL: Final = (
    f"INSERT INTO call (position, {CALL_LIST}) VALUES (?{', ?' * len(CALL_COLUMNS)})"  # noqa: S608 - our own names
    f" ON CONFLICT (call_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _REST)}"
)
MOVE_CALL: Final = f"UPDATE call SET {', '.join(f'{name} = ?' for name in _REST)} WHERE call_id = ?"  # noqa: S608 - our own names
FIRST_OF_CALL: Final = "SELECT ifnull(min(position), 0) FROM event WHERE call_id = ?"
KEY_HOLDER: Final = "SELECT call_id FROM call WHERE tenant = ? AND idempotency_key = ?"
FREE_KEY: Final = "UPDATE call SET idempotency_key = NULL WHERE call_id = ?"
NEW_TOOL_VERSION: Final = (
    "INSERT OR IGNORE INTO tool_version (tool, version, schema_digest, description_digest, schema, output_schema,"
    " contract, description, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

FREE_UNTIL: Final = "DELETE FROM limited_start WHERE limit_key = ? AND free_at <= ?"
FREE_ENDED: Final = f"DELETE FROM limited_start WHERE limit_key = ? AND NOT EXISTS {RUNS}"  # noqa: S608 - our own words
NOT_AFTER: Final = "UPDATE OR REPLACE limited_start SET free_at = ? WHERE limit_key = ? AND free_at > ?"
TAKEN: Final = "SELECT count(*) FROM limited_start WHERE limit_key = ?"
FREE_AT: Final = "SELECT free_at FROM limited_start WHERE limit_key = ? ORDER BY free_at LIMIT 1 OFFSET ?"
TAKE_PLACE: Final = "INSERT OR IGNORE INTO limited_start (limit_key, free_at, call_id) VALUES (?, ?, ?)"
SWEEP_TIMED: Final = (
    "DELETE FROM limited_start WHERE (limit_key, free_at, call_id) IN"  # noqa: S608 - our own words
    f" ({PLACES} WHERE free_at > '' AND free_at <= ? LIMIT 16)"
)
SWEEP_RUNNING: Final = (
    "DELETE FROM limited_start WHERE (limit_key, free_at, call_id) IN"  # noqa: S608 - our own words
    f" ({PLACES} WHERE free_at = '' AND NOT EXISTS {RUNS} LIMIT 16)"
)

CALL: Final = f"SELECT {PLACED} FROM call WHERE call_id = ?"  # noqa: S608 - our own names
CALL_AND_FIRST: Final = (
    "SELECT (SELECT ifnull(min(position), 0) FROM event WHERE event.call_id = call.call_id),"  # noqa: S608 - our names
    f" {PLACED} FROM call WHERE call_id = ?"
)
ALL_CALLS: Final = f"SELECT {PLACED} FROM call"  # noqa: S608 - our own names
CALL_IDS: Final = "SELECT rowid, call_id FROM call"
DROP_CALL: Final = "DELETE FROM call WHERE rowid = ?"


@cache
def insert_events(count: int) -> str:
    """Return the INSERT of so many events."""
    row = f"(?{', ?' * (len(EVENT_COLUMNS) - 1)})"
    return f"INSERT INTO event ({', '.join(EVENT_COLUMNS)}) VALUES {', '.join([row] * count)}"  # noqa: S608 - our names


@cache
def select_heads(count: int) -> str:
    """Return the SELECT of so many sessions' heads."""
    return f"SELECT session_id, {_HEAD} FROM session_head WHERE session_id IN ({marks(count)})"  # noqa: S608 - our names


@cache
def put_heads(count: int) -> str:
    """Return the statement that writes so many heads, new and old ones, in the order of `head_row`."""
    columns = _HEAD.split(", ")
    return (
        f"INSERT INTO session_head ({_HEAD}, session_id)"  # noqa: S608 - our own names
        f" VALUES {', '.join([f'({marks(len(columns) + 1)})'] * count)}"
        f" ON CONFLICT (session_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in columns)}"
    )


@cache
def put_calls(count: int) -> str:
    """Return the statement that writes so many calls: the position of the proposal or NULL, the call's id, its row."""
    position = "ifnull(?, (SELECT ifnull(min(position), 0) FROM event WHERE call_id = ?))"
    row = f"({position}, {marks(len(CALL_COLUMNS))})"
    return (
        f"INSERT INTO call (position, {CALL_LIST}) VALUES {', '.join([row] * count)}"  # noqa: S608 - our own names
        f" ON CONFLICT (call_id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _REST)}"
    )


@cache
def select_events_by_id(count: int) -> str:
    """Return the SELECT of a session's events that have one of so many event ids."""
    return f"SELECT {STORED} FROM event WHERE session_id = ? AND event_id IN ({marks(count)})"  # noqa: S608 - our names


def version_row(event: Event, body: ToolVersionPublished) -> Row:
    """Return the columns of a published tool version."""
    return (
        event.tool or "",
        event.schema_version or 0,
        event.schema_digest or "",
        body.description_digest,
        canonical(body.schema),
        canonical(body.output_schema),
        canonical(body.contract),
        canonical(body.description),
        event.recorded_at,
    )


def marks(count: int) -> str:
    """Return so many parameter marks."""
    return ", ".join("?" * count)


def event_row(link: Link) -> Row:
    """Return an event's columns."""
    event = link.draft.event
    return (
        event.session_id,
        link.sequence,
        event.event_id,
        link.draft.type,
        event.format,
        event.call_id,
        event.tool,
        event.schema_version,
        event.turn,
        event.index,
        event.revision,
        event.attempt,
        event.tenant or "",
        event.principal,
        event.recorded_at,
        link.record,
        link.digest,
    )


def bindable(row: Sequence[Any]) -> Row:
    """
    Return the row with texts that UTF-8 cannot hold (lone surrogates) as bytes; `readable` turns them back.

    SQLite keeps bytes in a text column as they are, so what a model called a tool survives, and can be looked up.
    """
    return tuple(value.encode("utf-8", "surrogatepass") if is_odd(value) else value for value in row)


def readable(row: Row) -> Row:
    """Return a row without binary columns as it was before `bindable`."""
    if bytes in map(type, row):
        return tuple(text(value) if isinstance(value, bytes) else value for value in row)
    return row


def text(value: bytes) -> str:
    """Return the text that bytes hold, those of no text as escapes; for a connection's `text_factory`, too."""
    try:
        return value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # not of our making: the check names it
        return value.decode("utf-8", "backslashreplace")


def head_row(session_id: str, head: Head) -> Row:
    """Return the columns of a head, its session last."""
    return head.sequence, head.digest, head.owner, head.token, head.expires_at, session_id


def head_of(row: Row, session_id: str) -> Head:
    """Return where a session stands. Raises `IntegrityFailure` for a row that was not written by the ledger."""
    sequence, digest, owner, token, expires_at = row
    owner = readable((owner,))[0]
    kinds = (type(sequence), type(digest), type(token), type(expires_at))
    sound = kinds == (int, bytes, int, str) and isinstance(owner, str | None)
    if not sound or not 0 <= sequence < _HIGHEST or not 0 <= token < _HIGHEST:
        why = f"session {session_id!r}: its head was damaged or changed"
        raise IntegrityFailure(why, hint="Run `ledger db check`.")
    return Head(sequence=sequence, digest=digest, owner=owner, token=token, expires_at=expires_at)


def is_odd(value: Any) -> bool:
    """Return whether a value is a text with a lone surrogate."""
    if not isinstance(value, str) or value.isascii():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def run(connection: sqlite3.Connection, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
    """Execute a statement; texts that UTF-8 cannot hold are bound as bytes (see `bindable`)."""
    try:
        return connection.execute(statement, values)
    except (UnicodeEncodeError, sqlite3.Error):  # CPython may tell of the statement before instead, where it failed
        if not any(map(is_odd, values)):
            raise
    return connection.execute(statement, bindable(values))


def tolerant(connection: sqlite3.Connection, read: Callable[[], _Found]) -> _Found:
    """
    Return what `read` reads by this connection; where a text is no UTF-8 (a flipped bit), by reading it once more.

    sqlite3 refuses such a text and all rows with it; with the escapes of `text` the rest can be read, and the row be
    named. Only then, as a factory costs a call for each text.
    """
    try:
        return read()
    except sqlite3.OperationalError as error:
        if not str(error).startswith("Could not decode to UTF-8"):  # the driver's own words; it has no code for it
            raise
    before, connection.text_factory = connection.text_factory, text
    try:
        return read()
    finally:
        connection.text_factory = before


def fetched(connection: sqlite3.Connection, statement: str, values: Sequence[Any] = ()) -> list[Row]:
    """Return all rows of a statement, however their texts are (see `tolerant`)."""
    return tolerant(connection, lambda: run(connection, statement, values).fetchall())


def stored_event(row: Row) -> StoredEvent:
    """Return a row of the `STORED` columns as an event."""
    if bytes in map(type, row[:-2]):
        return StoredEvent(*readable(row[:-2]), *row[-2:])
    return StoredEvent._make(row)


def placed_call(row: Row) -> PlacedCall:
    """Return a row of the `PLACED` columns as a call."""
    return PlacedCall(row[0], CallRow._make(readable(row[1:])))
