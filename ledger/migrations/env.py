"""Alembic's environment: runs the migrations on the connection it is given, or on the URL of alembic.ini."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from ledger.store.migrate import engine, server
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock
from ledger.store.tables import Table
from ledger.store.urls import POSTGRES, sqlite_path

PATIENCE = 60.0
"""Seconds to wait for other writers."""


def migrate(connection: Connection) -> None:
    """Run what is to be run, each migration and its version row in one transaction."""
    context.configure(
        connection=connection,
        target_metadata=Table.metadata,
        transactional_ddl=True,  # true of PostgreSQL, and of SQLite as long as nobody commits behind its back
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


def migrate_url(url: str) -> None:
    """Do the same to the database of a URL, alone: behind the writers' lock of a file, or the lock of a server."""
    if POSTGRES.match(url):
        from ledger.store.postgres.door import Server

        there = Server(url)
        with server(there.engine) as connection:
            migrate(connection)
        there.close()
        return
    files = Files(sqlite_path(url))
    with SideLock(files.lock).held(PATIENCE), engine(lambda: files.writer("rwc")) as connection:
        migrate(connection)


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    migrate_url(context.config.get_main_option("sqlalchemy.url") or "")
