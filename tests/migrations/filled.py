"""Databases as older releases left them: their tables, filled with what is odd."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config

from ledger.store.migrate import engine
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock
from tests.audit.world import everything
from tests.migrations.test_look_ups import odd

RELEASED: Final = ("0001", "0002", "0003")
"""Revisions that a ledger out there may have."""

TORN: Final = (
    "INSERT INTO event (session_id, sequence, event_id, type, format, tenant, recorded_at, record, digest)"
    " VALUES ('torn', 1, 'e', 'session.opened', 1, 't', '2026', x'ff', x'')"
)


def at_revision(path: Path, revision: str) -> None:
    """Make a ledger with the tables of a revision."""
    config, files = Config(), Files(path)
    config.set_main_option("script_location", "ledger:migrations")
    with SideLock(files.lock).held(60), engine(lambda: files.writer("rwc")) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def fill(path: Path, revision: str, folder: Path) -> None:
    """Make a ledger of a revision with calls of every kind, odd texts, and an event whose record is none."""
    new = folder / "ledger.db"
    if not new.exists():
        everything(folder)
        odd(new, notes=20)
    at_revision(path, revision)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS new", (str(new),))
        tables = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            if not table.startswith(("sqlite_", "alembic_")):
                _copy(connection, table)
        connection.execute(TORN)


def _copy(connection: sqlite3.Connection, table: str) -> None:
    there = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
    columns = ", ".join(name for name in there if (table, name) != ("event", "position"))
    order = "ORDER BY position" if "position" in there else ""
    connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table} {order}")


def contents(path: Path) -> dict[str, list[Any]]:
    """Return every row of the tables that each release has, with the columns that each has."""
    told = {
        "event": "SELECT * FROM event ORDER BY position",
        "session_head": "SELECT * FROM session_head ORDER BY session_id",
        "tool_version": "SELECT * FROM tool_version ORDER BY tool, version, schema_digest, description_digest",
        "call": "SELECT call_id, position, session_id, state, effect, code, sequence FROM call ORDER BY call_id",
    }
    with closing(sqlite3.connect(path)) as connection:
        return {table: connection.execute(statement).fetchall() for table, statement in told.items()}


def replay(path: Path, writer: str) -> int:
    """Let the writer of an older release record a session as it did; return how many events that were."""
    text = (Path(__file__).parents[1] / "suite/old_writers.json").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (before,) = connection.execute("SELECT max(position) FROM event").fetchone()
        for statement, values in json.loads(text)[writer]:
            given = [bytes.fromhex(value["hex"]) if isinstance(value, dict) else value for value in values]
            if statement.startswith("INSERT INTO call "):
                given[0] += before - 1  # it learns the position from the database; one event was there in the recording
            connection.execute(statement, given).fetchall()
        (after,) = connection.execute("SELECT max(position) FROM event").fetchone()
    return int(after - before)
