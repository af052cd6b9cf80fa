"""By which index each filter is answered, as SQLite itself tells."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine

from ledger.store import columns, tables
from ledger.store.port import CallFilter, EventFilter
from ledger.store.sqlite.filters import call_where, event_where
from ledger.store.sqlite.where import NO_HINTS, Hints


@pytest.fixture(scope="module")
def store() -> Iterator[sqlite3.Connection]:
    """The declared tables, empty: SQLite has no statistics, so it chooses as it does in a full ledger."""
    engine = create_engine("sqlite://")
    tables.Table.metadata.create_all(engine)
    raw = engine.raw_connection()
    assert isinstance(raw.driver_connection, sqlite3.Connection)
    yield raw.driver_connection
    raw.close()
    engine.dispose()


def plan(store: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> str:
    """What SQLite says that it will do."""
    rows = store.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
    return " / ".join(row[3] for row in rows)


TAGGED = Hints(tag=("tenant", "t"))
BY_TAG = "session_tag USING PRIMARY KEY (name=? AND value=?)"


@pytest.mark.parametrize(
    ("asked", "hints", "index"),
    [
        (EventFilter(), NO_HINTS, "INTEGER PRIMARY KEY (rowid>?)"),
        (EventFilter(session_id="s"), NO_HINTS, "(session_id=? AND sequence>?)"),
        (EventFilter(session_id="s", types=("call.flagged",)), NO_HINTS, "(session_id=? AND sequence>?)"),
        (EventFilter(session_id="s", of=CallFilter(code="c")), NO_HINTS, "(session_id=? AND sequence>?)"),
        (EventFilter(call_id="c"), NO_HINTS, "event_call (call_id=? AND position>?)"),
        (EventFilter(tool="t"), NO_HINTS, "event_tool (tool=? AND position>?)"),
        (EventFilter(tool="t", schema_version=1), NO_HINTS, "event_tool (tool=? AND position>?)"),
        (EventFilter(types=("call.flagged",)), NO_HINTS, "event_type (type=? AND position>?)"),
        (EventFilter(types=("call.flagged", "session.resumed")), NO_HINTS, "event_type"),
        (EventFilter(tenant="t"), TAGGED, BY_TAG),
        (EventFilter(principal="p"), TAGGED, BY_TAG),
        (EventFilter(actor="a"), TAGGED, BY_TAG),
        (EventFilter(labels=(("k", "v"),)), TAGGED, BY_TAG),
        (EventFilter(labels=(("k", "v"),)), NO_HINTS, "USING PRIMARY KEY (name=? AND value=? AND session_id=?)"),
        (EventFilter(of=CallFilter(states=("denied",))), NO_HINTS, "call_end (state=?)"),
        (EventFilter(of=CallFilter(states=("started",))), NO_HINTS, "call_open"),
        (EventFilter(of=CallFilter(gate="schema")), NO_HINTS, "call_gate (gate=?)"),
        (EventFilter(of=CallFilter(code="c")), NO_HINTS, "event_call (call_id=?)"),
        (EventFilter(of=CallFilter(error_class="tool")), NO_HINTS, "call_class (error_class=?)"),
        (EventFilter(of=CallFilter(stage="compat")), NO_HINTS, "call_stage (stage=?)"),
        (EventFilter(of=CallFilter(reasons=("duplicate",))), NO_HINTS, "call_reason (reason=?)"),
        (EventFilter(of=CallFilter(idempotency_key="k")), NO_HINTS, "call_key (idempotency_key=?)"),
        (EventFilter(of=CallFilter(resource="r")), NO_HINTS, "call_resource USING PRIMARY KEY (resource=?"),
        (EventFilter(of=CallFilter(states=("succeeded",))), NO_HINTS, "event USING INTEGER PRIMARY KEY (rowid>?)"),
    ],
)
def test_events_are_looked_up_in_an_index(
    store: sqlite3.Connection, asked: EventFilter, hints: Hints, index: str
) -> None:
    """A page of events reads an index, not the table from end to end; so does the search for their calls."""
    where = event_where(asked, 0, hints)
    found = plan(store, where.select(columns.STORED), (*where.values, 5))
    assert index in found
    assert "SCAN event" not in found


@pytest.mark.parametrize(
    ("asked", "hints", "index"),
    [
        (CallFilter(), NO_HINTS, "call_position (position>?)"),
        (CallFilter(states=("needs-review", "awaiting-approval")), NO_HINTS, "call_open"),
        (CallFilter(states=("denied",)), NO_HINTS, "call_end (state=? AND position>?)"),
        (CallFilter(states=("denied", "failed")), NO_HINTS, "call_end (state=? AND position>?)"),
        (CallFilter(session_id="s", states=("started",)), NO_HINTS, "call_open (session_id=? AND state=?)"),
        (CallFilter(session_id="s", states=("denied",)), NO_HINTS, "(session_id=?)"),
        (CallFilter(session_id="s", tool="t", code="c"), NO_HINTS, "(session_id=?)"),
        (CallFilter(session_id="s"), NO_HINTS, "(session_id=?)"),
        (CallFilter(tool="t"), NO_HINTS, "call_tool (tool=? AND position>?)"),
        (CallFilter(tool="t", schema_version=1), NO_HINTS, "call_tool (tool=? AND position>?)"),
        (CallFilter(tool="t", carried=(("u", 2),)), NO_HINTS, "call_tool (tool=? AND position>?)"),
        (CallFilter(session_id="s", tool="t", carried=(("u", 2),)), NO_HINTS, "(session_id=?)"),
        (CallFilter(gate="schema"), NO_HINTS, "call_gate (gate=? AND position>?)"),
        (CallFilter(code="c", tool="t"), NO_HINTS, "call_code (code=? AND position>?)"),
        (CallFilter(error_class="tool"), NO_HINTS, "call_class (error_class=? AND position>?)"),
        (CallFilter(reasons=("duplicate",)), NO_HINTS, "call_reason (reason=? AND position>?)"),
        (CallFilter(stage="compat"), NO_HINTS, "call_stage (stage=? AND position>?)"),
        (CallFilter(duplicate_of="c"), NO_HINTS, "call_copy (duplicate_of=?)"),
        (CallFilter(idempotency_key="k"), NO_HINTS, "call_key (idempotency_key=?)"),
        (CallFilter(tenant="t", idempotency_key="k"), NO_HINTS, "call_key (idempotency_key=? AND tenant=?)"),
        (CallFilter(resource="r"), NO_HINTS, "call_resource USING PRIMARY KEY (resource=? AND position>?)"),
        (CallFilter(call_id="c"), NO_HINTS, "(call_id=?)"),
        (CallFilter(call_id="c", code="c"), NO_HINTS, "(call_id=?)"),
        (CallFilter(call_id_part="abcd"), NO_HINTS, "SCAN call USING COVERING INDEX sqlite_autoindex_call_1"),
        (CallFilter(types=("call.failed",)), NO_HINTS, "event_type (type=?)"),
        (CallFilter(types=("call.started",)), NO_HINTS, "event_call (call_id=?)"),
        (CallFilter(tenant="t"), TAGGED, BY_TAG),
        (CallFilter(principal="p"), TAGGED, BY_TAG),
        (CallFilter(actor="a"), TAGGED, BY_TAG),
        (CallFilter(labels=(("k", "v"),)), TAGGED, BY_TAG),
    ],
)
def test_calls_are_looked_up_in_an_index(
    store: sqlite3.Connection, asked: CallFilter, hints: Hints, index: str
) -> None:
    """A page of calls reads an index, not the table from end to end; a part of an id only the index of the ids."""
    where = call_where(asked, 0, hints)
    assert index in plan(store, where.select(columns.PLACED), (*where.values, 5))
