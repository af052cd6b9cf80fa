"""The plain statements of the hot path name the columns of the declared tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import create_engine

from ledger.calls import TERMINAL, WAITING, CallRow
from ledger.store import tables
from ledger.store.columns import CALL_COLUMNS, EVENT_COLUMNS, FREQUENT, IDENTITY, IS_BAD_END, IS_OPEN, IS_RARE, STORED
from ledger.store.port import PlacedCall, StoredEvent
from ledger.store.sqlite import inspect, reader, sql

STATEMENTS = {
    name: value
    for module in (sql, reader, inspect)
    for name, value in vars(module).items()
    if isinstance(value, str) and value.split(" ")[0].strip() in ("SELECT", "INSERT", "UPDATE", "DELETE", "")
}


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    """A database made from the declared tables alone."""
    engine = create_engine("sqlite://")
    tables.Table.metadata.create_all(engine)
    raw = engine.raw_connection()
    assert isinstance(raw.driver_connection, sqlite3.Connection)
    yield raw.driver_connection
    raw.close()
    engine.dispose()


def columns(table: type[tables.Table]) -> tuple[str, ...]:
    """Return the names of a declared table's columns, in order."""
    return tuple(column.name for column in table.metadata.tables[str(table.__tablename__)].columns)


@pytest.mark.parametrize("name", [name for name, value in STATEMENTS.items() if value.strip()])
def test_a_statement_fits_the_declared_tables(connection: sqlite3.Connection, name: str) -> None:
    """SQLite compiles each statement over tables made from the declarations."""
    statement = STATEMENTS[name]
    assert connection.execute(f"EXPLAIN {statement}", [None] * statement.count("?")).fetchall()


@pytest.mark.parametrize("statement", [sql.insert_events(3), sql.select_events_by_id(3)])
def test_a_made_statement_fits_too(connection: sqlite3.Connection, statement: str) -> None:
    """So do those that are made for a number of rows."""
    assert connection.execute(f"EXPLAIN {statement}", [None] * statement.count("?")).fetchall()


def test_every_column_of_an_event_is_written() -> None:
    """An INSERT names each column but the position, which the database gives."""
    assert ("position", *EVENT_COLUMNS) == columns(tables.EventRow)
    assert set(StoredEvent._fields) <= set(columns(tables.EventRow))
    assert ", ".join(StoredEvent._fields) == STORED


def test_every_column_of_a_call_is_written() -> None:
    """The table of calls is a call's row, and the position of its proposal."""
    declared = columns(tables.CallTableRow)
    assert sorted(declared) == sorted(("position", *CallRow._fields))
    assert CALL_COLUMNS[:IDENTITY] == ("call_id", "session_id", "turn", "idx", "revision", "tool")
    assert PlacedCall._fields == ("position", "row")


def test_partial_indexes_are_asked_for_in_their_own_words(connection: sqlite3.Connection) -> None:
    """SQLite uses a partial index only for the same condition: filters and the indexes of a real file say the same."""
    made = [str(index) for (index,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index'")]
    for condition in (IS_OPEN, IS_RARE, IS_BAD_END):
        assert any(index.endswith(f"WHERE {condition}") for index in made)
    assert not FREQUENT.isdisjoint({"call.started"})
    assert not WAITING & TERMINAL


def test_the_hosts_own_tables_are_left_alone() -> None:
    """Our tables are not in SQLModel's shared metadata, where a host keeps its own."""
    from sqlmodel import SQLModel

    assert not SQLModel.metadata.tables.keys() & {"event", "call"}


def test_only_a_text_that_is_none_is_read_once_more() -> None:
    """Any other error is raised as it is, by the first reading; none changes the connection."""
    with closing(sqlite3.connect(":memory:")) as connection:
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            sql.fetched(connection, "SELECT * FROM nowhere")
        assert sql.fetched(connection, "SELECT CAST(X'61FF' AS TEXT), X'61FF', 'é'") == [("a\\xff", b"a\xff", "é")]
        assert connection.text_factory is str
