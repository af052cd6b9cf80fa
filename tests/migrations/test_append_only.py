"""The database itself keeps events: every way of SQLite to change, remove or overwrite one is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.store.urls import open_store
from ledger.testing.contract.building import add

COLUMNS = "session_id, sequence, event_id, type, format, tenant, recorded_at, record, digest"
REST = "'t', 1, '', 'now', x'00', x'00'"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "ledger.db"
    store = open_store(str(path), create=True)
    add(store, "s1", "a", "b", "c")
    add(store, "s2", "a")
    store.close()
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


def everything(connection: sqlite3.Connection) -> list[object]:
    return connection.execute("SELECT * FROM event ORDER BY position").fetchall()


CHANGES = {
    "update": "UPDATE event SET record = x'11'",
    "update or replace": "UPDATE OR REPLACE event SET sequence = 2 WHERE sequence = 1",
    "update or ignore": "UPDATE OR IGNORE event SET record = x'11'",
    "update from": "UPDATE event SET record = o.record FROM event AS o WHERE o.sequence = 2",
    "delete": "DELETE FROM event",
    "delete one": "DELETE FROM event WHERE sequence = 3",
    "a taken sequence": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 3, 'x', {REST})",
    "a gap": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 5, 'x', {REST})",
    "not the first": f"INSERT INTO event ({COLUMNS}) VALUES ('s3', 2, 'x', {REST})",
    "sequence zero": f"INSERT INTO event ({COLUMNS}) VALUES ('s3', 0, 'x', {REST})",
    "no sequence": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', NULL, 'x', {REST})",
    "a sequence between": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 3.5, 'x', {REST})",
    "a sequence in words": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 'four', 'x', {REST})",
    "a taken event id": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, 'b', {REST})",
    "no event id": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, NULL, {REST})",
    "no session": f"INSERT INTO event ({COLUMNS}) VALUES (NULL, 1, 'x', {REST})",
    "or replace a sequence": f"INSERT OR REPLACE INTO event ({COLUMNS}) VALUES ('s1', 2, 'x', {REST})",
    "or replace an event id": f"INSERT OR REPLACE INTO event ({COLUMNS}) VALUES ('s1', 4, 'b', {REST})",
    "replace": f"REPLACE INTO event ({COLUMNS}) VALUES ('s1', 3, 'c', {REST})",
    "or replace a position": f"INSERT OR REPLACE INTO event (position, {COLUMNS}) VALUES (2, 's1', 4, 'x', {REST})",
    "or replace a rowid": f"INSERT OR REPLACE INTO event (rowid, {COLUMNS}) VALUES (2, 's1', 4, 'x', {REST})",
    "a position": f"INSERT INTO event (position, {COLUMNS}) VALUES (77, 's1', 4, 'x', {REST})",
    "the last position": f"INSERT INTO event (position, {COLUMNS}) VALUES (9223372036854775807, 's1', 4, 'x', {REST})",
    "position minus one": f"INSERT INTO event (position, {COLUMNS}) VALUES (-1, 's1', 4, 'x', {REST})",
    "position minus two": f"INSERT INTO event (position, {COLUMNS}) VALUES (-2, 's1', 4, 'x', {REST})",
    "position zero": f"INSERT INTO event (position, {COLUMNS}) VALUES (0, 's1', 4, 'x', {REST})",
    "or replace at minus one": f"INSERT OR REPLACE INTO event (position, {COLUMNS}) VALUES (-1, 's1', 4, 'x', {REST})",
    "a position as text": f"INSERT INTO event (position, {COLUMNS}) VALUES ('2', 's1', 4, 'x', {REST})",
    "an oid": f"INSERT INTO event (oid, {COLUMNS}) VALUES (2, 's1', 4, 'x', {REST})",
    "upsert": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 2, 'b', {REST}) ON CONFLICT DO UPDATE SET record = x'11'",
    "upsert nothing": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 2, 'b', {REST}) ON CONFLICT DO NOTHING",
    "upsert a later one": (
        f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, 'b', {REST})"
        " ON CONFLICT (session_id, event_id) DO UPDATE SET record = x'11'"
    ),
    "or ignore": f"INSERT OR IGNORE INTO event ({COLUMNS}) VALUES ('s1', 2, 'b', {REST})",
    "or fail": f"INSERT OR FAIL INTO event ({COLUMNS}) VALUES ('s1', 4, 'x', {REST}), ('s1', 9, 'y', {REST})",
    "from another session": f"INSERT INTO event ({COLUMNS}) SELECT 's1', sequence, 'x', {REST} FROM event",
    "twice at once": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, 'x', {REST}), ('s1', 4, 'y', {REST})",
    "one id twice": f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, 'x', {REST}), ('s1', 5, 'x', {REST})",
}


@pytest.mark.parametrize("recursive", ["OFF", "ON"])
@pytest.mark.parametrize("name", CHANGES)
def test_an_event_is_only_ever_appended(connection: sqlite3.Connection, name: str, recursive: str) -> None:
    """The statement is refused, and every event is as it was; appending still works."""
    connection.execute(f"PRAGMA recursive_triggers = {recursive}")
    before = everything(connection)
    connection.execute("BEGIN")
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(CHANGES[name])
    connection.execute("ROLLBACK")
    assert everything(connection) == before
    connection.execute(f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, 'd', {REST})")
    assert everything(connection)[:-1] == before


def test_an_ignored_position_stores_nothing(connection: sqlite3.Connection) -> None:
    """OR IGNORE with a position of -1, which reads like none at all, adds no row either."""
    before = everything(connection)
    connection.execute(f"INSERT OR IGNORE INTO event (position, {COLUMNS}) VALUES (-1, 's1', 4, 'x', {REST})")
    assert everything(connection) == before


def test_positions_are_never_used_again(connection: sqlite3.Connection) -> None:
    """A rolled back append may leave a gap or not; no position is ever given twice to what is there."""
    last = connection.execute("SELECT max(position) FROM event").fetchone()[0]
    connection.execute("BEGIN")
    connection.execute(f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, 'd', {REST})")
    connection.execute("ROLLBACK")
    row = connection.execute(f"INSERT INTO event ({COLUMNS}) VALUES ('s1', 4, 'e', {REST})").lastrowid
    assert row is not None
    assert row > last


def test_the_guard_looks_places_up(connection: sqlite3.Connection) -> None:
    """What the trigger asks for each event is answered by an index: its cost does not grow with the history."""
    asked = {
        "SELECT max(sequence) FROM event WHERE session_id = 's1'": "COVERING INDEX sqlite_autoindex_event_1",
        "SELECT 1 FROM event WHERE session_id = 's1' AND event_id = 'x'": "COVERING INDEX sqlite_autoindex_event_2",
    }
    for statement, index in asked.items():
        (row,) = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        assert index in row[3]
