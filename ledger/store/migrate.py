"""Runs Alembic; loaded only when a database has no tables yet, or older ones."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ledger.errors import SchemaOutdated, StoreUnavailable

LOCK = 0x6C6564676572
"""The advisory lock of upgrades ("ledger")."""

_GUARD = threading.Lock()
"""Alembic keeps its context in module globals: two threads would mix theirs up."""


def upgrade(connect: Callable[[], sqlite3.Connection]) -> None:
    """
    Bring a database to the newest revision; the caller holds the writers' lock.

    Raises `sqlite3.Error`, and `SchemaOutdated` where its revision is unknown.
    """
    try:
        with _GUARD, engine(connect) as connection:
            config = Config()
            config.set_main_option("script_location", "ledger:migrations")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except DBAPIError as error:
        raise cast("sqlite3.Error", error.orig) from error  # there is only one driver here
    except CommandError as error:
        raise SchemaOutdated(f"the tables cannot be upgraded: {error}") from error


def upgrade_server(pool: Engine) -> None:
    """
    Bring a server's tables to the newest revision; of many who try at once one does the work, the others find it done.

    Raises `StoreUnavailable`, and `SchemaOutdated` where the revision is unknown.
    """
    try:
        with _GUARD, server(pool) as connection:
            config = Config()
            config.set_main_option("script_location", "ledger:migrations")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except DBAPIError as error:
        raise StoreUnavailable(f"the tables cannot be upgraded: {error.orig}") from error
    except CommandError as error:
        raise SchemaOutdated(f"the tables cannot be upgraded: {error}") from error


@contextmanager
def server(pool: Engine) -> Iterator[Connection]:
    """Lend a connection that no other process upgrades beside: each migration is one transaction, behind a lock."""
    with pool.connect() as connection:
        connection.exec_driver_sql("SET lock_timeout = 0")
        connection.exec_driver_sql("SET idle_in_transaction_session_timeout = 0")
        connection.exec_driver_sql(f"SELECT pg_advisory_lock({LOCK})")
        connection.commit()  # each of them was: it is SQLAlchemy that thinks otherwise
        try:
            yield connection.execution_options(isolation_level="READ COMMITTED")
        finally:
            connection.invalidate()  # the lock and the settings go with it


@contextmanager
def engine(connect: Callable[[], sqlite3.Connection]) -> Iterator[Connection]:
    """
    Wrap the driver's connection for SQLAlchemy, and begin each transaction with the write lock.

    The driver must not commit by itself before a CREATE or ALTER: `connect` opens it in autocommit mode, so that the
    only transaction there is, is ours (https://github.com/dgahagan/shelf/issues/24).
    """
    made = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    event.listen(made, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with made.connect() as connection:
        yield connection
