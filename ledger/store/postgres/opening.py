"""Opening a server's ledger: know it as one, bring its tables up to date."""

from __future__ import annotations

from typing import Final

from ledger.errors import NoDatabase
from ledger.ids import Clock
from ledger.store.postgres.door import Connection, Server
from ledger.store.postgres.store import PostgresStore, ReadOnlyPostgresStore
from ledger.store.schema import Migrate, Tables, outdated

_HOW_TO_MAKE: Final = '`ledger db upgrade` makes the tables, and so does Ledger.open(migrate="auto").'
_THERE: Final = (
    "SELECT to_regclass('event') IS NOT NULL, to_regclass('session_head') IS NOT NULL,"
    " to_regclass('alembic_version') IS NOT NULL"
)


def tables_of(connection: Connection) -> Tables:
    """Look at what the schema holds. Raises `psycopg.Error`."""
    (there,) = connection.execute(_THERE).fetchall()
    if not all(there):
        return Tables(None, 0, foreign=any(there[:1]) or (there[2] and _versions(connection) > 0))
    ((epoch,),) = connection.execute("SELECT ledger_epoch()").fetchall()
    rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    return Tables(rows[0][0] if rows else None, epoch, foreign=False)


def _versions(connection: Connection) -> int:
    """Count the revisions of another program's tables; a killed first upgrade leaves none."""
    return len(connection.execute("SELECT 1 FROM alembic_version").fetchall())


def open_server(
    url: str, *, create: bool, migrate: Migrate, clock: Clock | None, read_only: bool, patience: float
) -> PostgresStore | ReadOnlyPostgresStore:
    """Open the ledger of a server; see `ledger.store.urls.open_store`."""
    server = Server(url, read_only=read_only)
    try:
        if read_only:
            check(server, migrate)
            return ReadOnlyPostgresStore(server)
        prepare(server, create=create, migrate=migrate)
        return PostgresStore(server, clock=clock, patience=patience)
    except BaseException:
        server.close()
        raise


def check(server: Server, migrate: Migrate) -> Tables:
    """
    Return what the tables are; nothing is made or changed.

    Raises `NoDatabase`, `SchemaOutdated` (unless `migrate` is "off") and `StoreUnavailable`.
    """
    with server.lent() as connection:
        tables = tables_of(connection)
    _refuse(server, tables, create=False)
    if migrate != "off" and not tables.current:
        raise outdated(server.shown, tables)
    return tables


def prepare(server: Server, *, create: bool, migrate: Migrate) -> str | None:
    """
    Make sure that the tables are there: of many starters one does the work, and the others wait for it.

    Returns which revision there was. Raises `NoDatabase`, `SchemaOutdated`, `StoreUnavailable`.
    """
    with server.lent() as connection:
        tables = tables_of(connection)
    _refuse(server, tables, create=create and migrate == "auto")
    if tables.current or (migrate == "off" and tables.revision is not None):
        return tables.revision
    if tables.newer or migrate != "auto":
        raise outdated(server.shown, tables)
    from ledger.store.migrate import upgrade_server

    upgrade_server(server.engine)
    return tables.revision


def current(url: str) -> tuple[str, str]:
    """Return where a ledger is, and which revision its tables have. Raises as `check` does."""
    server = Server(url, read_only=True)
    try:
        return server.shown, check(server, "off").revision or ""
    finally:
        server.close()


def upgrade(url: str) -> tuple[str, str | None]:
    """Make the tables, or bring them to this release; return where, and which revision there was."""
    server = Server(url)
    try:
        return server.shown, prepare(server, create=True, migrate="auto")
    finally:
        server.close()


def _refuse(server: Server, tables: Tables, *, create: bool) -> None:
    if tables.foreign:
        raise NoDatabase(
            f"{server.shown} has tables of somebody else under the ledger's names",
            hint="Give the ledger a schema of its own: …?options=-csearch_path%3Dledger",
        )
    if tables.revision is None and not create:
        raise NoDatabase(f"{server.shown} holds no ledger", hint=_HOW_TO_MAKE)
