"""Opening a file: make it, know it as a ledger, bring its tables up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ledger.errors import NoDatabase, StoreUnavailable
from ledger.ids import Clock
from ledger.store.schema import Migrate, Tables, outdated
from ledger.store.sqlite import sql
from ledger.store.sqlite.anchor import Anchor
from ledger.store.sqlite.faults import FAULTS, translated
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.lock import SideLock
from ledger.store.sqlite.making import make
from ledger.store.sqlite.reader import open_reader
from ledger.store.sqlite.store import ReadOnlySqliteStore, SqliteStore

_VERSION: Final = "alembic_version"
_OURS: Final = frozenset({"event", "session_head", _VERSION})
_HOW_TO_MAKE: Final = "`ledger init` makes one, and so does Ledger.open."


def tables_of(connection: sqlite3.Connection) -> Tables:
    """Look at what a file holds. Raises `sqlite3.Error`."""
    names = {name for (name,) in sql.fetched(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not names >= _OURS:
        return Tables(None, 0, foreign=bool(names - {_VERSION}), empty=not names)
    (epoch,) = connection.execute("PRAGMA user_version").fetchone()
    row = connection.execute(f"SELECT version_num FROM {_VERSION}").fetchone()  # noqa: S608 - our own name
    return Tables(row[0] if row else None, epoch, foreign=False)


def open_file(
    path: Path, *, create: bool, migrate: Migrate, clock: Clock, read_only: bool, patience: float
) -> SqliteStore | ReadOnlySqliteStore:
    """Open the ledger in a file; see `ledger.store.urls.open_store`."""
    files = Files(path)
    if read_only:
        check(files, migrate)
        return ReadOnlySqliteStore(files)
    prepare(files, create=create, migrate=migrate, patience=patience)
    return SqliteStore(files, clock=clock, patience=patience)


def check(files: Files, migrate: Migrate) -> Tables:
    """
    Return what the file's tables are; nothing is made or changed.

    Raises `NoDatabase`, `SchemaOutdated` (unless `migrate` is "off") and `StoreUnavailable`.
    """
    with reading(files) as connection:
        tables = tables_of(connection)
    _refuse(files, tables, create=False)
    if migrate != "off" and not tables.current:
        raise outdated(files.database, tables)
    return tables


@contextmanager
def reading(files: Files) -> Iterator[sqlite3.Connection]:
    """Lend a connection that cannot write, and leave no trace of it; SQLite's errors become the ledger's."""
    _refuse_missing(files)
    files.refuse_odd()
    files.refuse_network()
    anchor = Anchor(files)
    try:
        connection = open_reader(files)
        try:
            yield connection
        finally:
            connection.close()
    except FAULTS as error:
        raise translated(error, files.database, doing="read") from error
    finally:
        anchor.close()


def prepare(files: Files, *, create: bool, migrate: Migrate, patience: float) -> str | None:
    """
    Make sure that the tables are there, under the writers' lock: of many starters one does the work.

    Returns which revision there was. Raises `NoDatabase`, `SchemaOutdated`, `StoreBusy`, `StoreUnavailable`.
    """
    if not create:
        _refuse_missing(files)
    refuse_missing_folder(files.database, "the ledger")
    files.refuse_odd()
    files.refuse_network()
    try:
        with SideLock(files.lock).held(patience):
            return _prepare(files, create=create, migrate=migrate)
    except FAULTS as error:
        raise translated(error, files.database, doing="open") from error


def _prepare(files: Files, *, create: bool, migrate: Migrate) -> str | None:
    connection = files.writer("rwc" if create else "rw")
    try:
        tables = tables_of(connection)
    finally:
        connection.close()
    _refuse(files, tables, create=create)
    if tables.current or (migrate == "off" and tables.revision is not None):
        return tables.revision
    if tables.newer or (migrate != "auto" and tables.revision is not None):
        raise outdated(files.database, tables)
    if tables.empty:
        make(files.writer)
        return None
    from ledger.store.migrate import upgrade

    upgrade(files.writer)
    return tables.revision


def _refuse_missing(files: Files) -> None:
    if not files.exists():
        raise NoDatabase(f"there is no ledger at {files.database}", hint=_HOW_TO_MAKE)


def refuse_missing_folder(path: Path, what: str) -> None:
    """A slip of the pen in a path shall not begin a second ledger: SQLite makes no folder either."""
    folder = path.parent
    if not folder.is_dir():
        why = "is no folder" if folder.exists() else "does not exist"
        raise StoreUnavailable(f"{what}'s folder {folder} {why}", hint="Make it first, or name another place.")


def _refuse(files: Files, tables: Tables, *, create: bool) -> None:
    if tables.foreign:
        raise NoDatabase(f"{files.database} is a database, but not a ledger", hint="Give the ledger a file of its own.")
    if tables.revision is None and not create:
        raise NoDatabase(f"{files.database} holds no ledger", hint=_HOW_TO_MAKE)
