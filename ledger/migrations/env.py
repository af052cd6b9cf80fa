"""Alembic's environment: runs the migrations on the connection it is given, or on the URL of alembic.ini."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from ledger.store.migrate import engine
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock
from ledger.store.tables import Table
from ledger.store.urls import sqlite_path

PATIENCE = 60.0
"""Seconds to wait for other writers."""


def migrate(connection: Connection) -> None:
    """Run what is to be run, each migration and its version row in one transaction."""
    context.configure(
        connection=connection,
        target_metadata=Table.metadata,
        transactional_ddl=True,  # true of SQLite, as long as nobody commits behind its back
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    files = Files(sqlite_path(context.config.get_main_option("sqlalchemy.url") or ""))
    with SideLock(files.lock).held(PATIENCE), engine(lambda: files.writer("rwc")) as connection:
        migrate(connection)
