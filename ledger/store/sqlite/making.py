"""
A new file's tables in one step: what all migrations lead to, written down in `tables.sql`.

Alembic and SQLAlchemy take half a second to load, and each revision its transactions; a file that holds nothing has no
use for its history. `make docs` writes `tables.sql` from the migrations, and a test compares both to the word.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from importlib.resources import files

from ledger.store.schema import HEAD

_NAME = "tables.sql"
_MARKS = ("application_id", "user_version")


def make(connect: Callable[[], sqlite3.Connection]) -> None:
    """Make the tables of the newest revision in one transaction; the caller holds the writers' lock."""
    connection = connect()
    try:
        make_tables(connection)
    finally:
        connection.close()


def make_tables(connection: sqlite3.Connection) -> None:
    """Make them in an empty database."""
    script = files("ledger.store.sqlite").joinpath(_NAME).read_text(encoding="utf-8")
    connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nCOMMIT;")


def dump(connection: sqlite3.Connection) -> str:
    """Return the script that makes the tables of this database; their order is that of their making."""
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
    words = [row[0] for row in rows]
    marks = [f"PRAGMA {mark} = {connection.execute(f'PRAGMA {mark}').fetchone()[0]}" for mark in _MARKS]
    statements = [*words, f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')", *marks]  # noqa: S608 - ours
    return ";\n\n".join(statements) + ";\n"
