"""The statements and the order of their columns; a test compares them with the declared tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from ledger.calls import CallRow
from ledger.events import Event, ToolVersionPublished
from ledger.store.columns import CALL_COLUMNS, CALL_LIST, EVENT_COLUMNS, IDENTITY, PLACED, PLACES, RUNS, STORED, Row
from ledger.store.port import Head, PlacedCall, StoredEvent
from ledger.store.postgres.texts import kept, meant, readable
from ledger.store.rules import Link
from ledger.strictjson import canonical

BEGIN: Final = "BEGIN"
COMMIT: Final = "COMMIT"
ROLLBACK: Final = "ROLLBACK"
NOW: Final = "SELECT clock_timestamp()"

_HEAD: Final = "sequence, digest, owner, token, expires_at"
HEAD: Final = f"SELECT {_HEAD} FROM session_head WHERE session_id = %s"  # noqa: S608 - our own names
HEADS: Final = (
    f"SELECT session_id, {_HEAD} FROM session_head WHERE session_id = ANY(%s)"  # noqa: S608 - our own names
    " ORDER BY session_id FOR NO KEY UPDATE"
)
"""Locks the heads in one order for all: whoever takes several never waits for one who waits for it."""
NEW_HEAD: Final = f"INSERT INTO session_head ({_HEAD}, session_id) VALUES (%s, %s, %s, %s, %s, %s)"  # noqa: S608 - our names
KEY_HOLDER: Final = "SELECT call_id FROM call WHERE tenant = %s AND idempotency_key = %s"
AT_PLACE: Final = (
    "SELECT call_id FROM call WHERE session_id = %s AND turn = %s AND idx = %s AND revision = %s AND call_id <> %s"
)
FREE_KEY: Final = "UPDATE call SET idempotency_key = NULL WHERE call_id = %s"
BY_EVENT_ID: Final = f"SELECT {STORED} FROM event WHERE session_id = %s AND event_id = ANY(%s)"  # noqa: S608 - our names
NEW_TOOL_VERSION: Final = (
    "INSERT INTO tool_version (tool, version, schema_digest, description_digest, schema, output_schema, contract,"
    " description, recorded_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
)
NEW_TAG: Final = "INSERT INTO session_tag (name, value, session_id) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
NEW_RESOURCE: Final = (
    "INSERT INTO call_resource (resource, position, call_id)"
    " SELECT %s, min(position), call_id FROM event WHERE call_id = %s GROUP BY call_id ON CONFLICT DO NOTHING"
)

ONE_AT_A_TIME: Final = "SELECT pg_advisory_xact_lock(%s)"
FREE_UNTIL: Final = "DELETE FROM limited_start WHERE limit_key = %s AND free_at <= %s"
FREE_ENDED: Final = f"DELETE FROM limited_start WHERE limit_key = %s AND NOT EXISTS {RUNS}"  # noqa: S608 - our own words
NOT_AFTER: Final = (
    "WITH late AS (DELETE FROM limited_start WHERE limit_key = %s AND free_at > %s RETURNING call_id)"
    " INSERT INTO limited_start (limit_key, free_at, call_id) SELECT %s, %s, call_id FROM late ON CONFLICT DO NOTHING"
    " RETURNING 1"
)
TAKEN: Final = "SELECT count(*) FROM limited_start WHERE limit_key = %s"
FREE_AT: Final = "SELECT free_at FROM limited_start WHERE limit_key = %s ORDER BY free_at LIMIT 1 OFFSET %s"
TAKE_PLACE: Final = "INSERT INTO limited_start (limit_key, free_at, call_id) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
SWEEP_TIMED: Final = (
    "DELETE FROM limited_start WHERE (limit_key, free_at, call_id) IN"  # noqa: S608 - our own words
    f" ({PLACES} WHERE free_at > '' AND free_at <= %s LIMIT 16 FOR UPDATE SKIP LOCKED)"
)
SWEEP_RUNNING: Final = (
    "DELETE FROM limited_start WHERE (limit_key, free_at, call_id) IN"  # noqa: S608 - our own words
    f" ({PLACES} WHERE free_at = '' AND NOT EXISTS {RUNS} LIMIT 16 FOR UPDATE SKIP LOCKED)"
)

CALL: Final = f"SELECT {PLACED} FROM call WHERE call_id = %s"  # noqa: S608 - our own names
CALLS: Final = f"SELECT {PLACED} FROM call WHERE call_id = ANY(%s)"  # noqa: S608 - our own names
CALLS_AFTER: Final = f"SELECT {PLACED} FROM call WHERE call_id > %s ORDER BY call_id LIMIT %s"  # noqa: S608 - our own names
DROP_CALL: Final = "DELETE FROM call WHERE call_id = %s"


@cache
def insert_events(count: int) -> str:
    """Return the INSERT of so many events."""
    values = ", ".join(f"({row})" for row in _numbered(count, len(EVENT_COLUMNS)))
    return f"INSERT INTO event ({', '.join(EVENT_COLUMNS)}) VALUES {values} RETURNING position"  # noqa: S608 - our names


@cache
def move_heads(count: int) -> str:
    """Return the UPDATE of so many heads, which this transaction has locked."""
    columns = _HEAD.split(", ")
    kinds = ("bigint", "bytea", "text", "bigint", "text", "text")
    rows = (", ".join(map("::".join, zip(row.split(", "), kinds, strict=True))) for row in _numbered(count, len(kinds)))
    return (
        f"UPDATE session_head AS head SET ({_HEAD}) = ({', '.join(f'moved.{name}' for name in columns)})"  # noqa: S608 - our names
        f" FROM (VALUES {', '.join(f'({row})' for row in rows)}) AS moved ({_HEAD}, session_id)"
        " WHERE head.session_id = moved.session_id"
    )


@cache
def put_calls(count: int) -> str:
    """Return the statement that writes so many calls, none twice, each at the position of its proposal."""
    rows = (
        f"(coalesce((SELECT min(position) FROM event WHERE call_id = {row.partition(', ')[0]}), 0), {row})"  # noqa: S608 - our names
        for row in _numbered(count, len(CALL_COLUMNS))
    )
    return (
        f"INSERT INTO call (position, {CALL_LIST}) VALUES {', '.join(rows)} ON CONFLICT (call_id) DO UPDATE SET"  # noqa: S608 - our names
        f" {', '.join(f'{name} = excluded.{name}' for name in CALL_COLUMNS[IDENTITY:])}"
    )


def _numbered(rows: int, width: int) -> Iterator[str]:
    """Yield the parameters of so many rows, numbered: psycopg parses `%s` anew in each long statement."""
    for first in range(1, rows * width, width):
        yield ", ".join(f"${number}" for number in range(first, first + width))


def version_row(event: Event, body: ToolVersionPublished) -> Row:
    """Return the columns of a published tool version."""
    return (
        kept(event.tool or ""),
        event.schema_version or 0,
        kept(event.schema_digest or ""),
        kept(body.description_digest),
        canonical(body.schema),
        canonical(body.output_schema),
        canonical(body.contract),
        canonical(body.description),
        event.recorded_at,
    )


def event_row(link: Link) -> list[Any]:
    """
    Return an event's columns, the numbers as texts.

    psycopg gives a number the smallest type that holds it, and null none: each mixture would be a statement of its own,
    parsed anew by the server.
    """
    event = link.draft.event
    return [
        kept(event.session_id),
        str(link.sequence),
        kept(event.event_id),
        link.draft.type,
        str(event.format),
        event.call_id and kept(event.call_id),
        event.tool and kept(event.tool),
        *(
            None if number is None else str(number)
            for number in (event.schema_version, event.turn, event.index, event.revision, event.attempt)
        ),
        kept(event.tenant or ""),
        event.principal and kept(event.principal),
        kept(event.recorded_at),
        link.record,
        link.digest,
    ]


def call_row(row: CallRow) -> list[Any]:
    """Return a call's columns, the numbers as texts, as in `event_row`."""
    return [value if value is None else kept(str(value)) for value in row]


def head_row(session_id: str, head: Head) -> list[Any]:
    """Return the columns of a head, its session last; the numbers as texts, as in `event_row`."""
    owner = None if head.owner is None else kept(head.owner)
    return [str(head.sequence), head.digest, owner, str(head.token), head.expires_at, kept(session_id)]


def head_of(row: Row) -> Head:
    """Return where a session stands."""
    sequence, digest, owner, token, expires_at = row
    owner = None if owner is None else meant(owner)
    return Head(sequence=sequence, digest=digest, owner=owner, token=token, expires_at=expires_at)


def stored_event(row: Sequence[Any]) -> StoredEvent:
    """Return a row of the `STORED` columns as an event."""
    return StoredEvent(*readable(row[:-2]), *row[-2:])


def placed_call(row: Sequence[Any]) -> PlacedCall:
    """Return a row of the `PLACED` columns as a call."""
    return PlacedCall(row[0], CallRow._make(readable(row[1:])))
