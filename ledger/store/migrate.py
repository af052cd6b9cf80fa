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
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from ledger.errors import SchemaOutdated

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
