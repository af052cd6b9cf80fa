"""The server's door: URLs, connections through SQLAlchemy, and the settings that a ledger relies on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import psycopg
from sqlalchemy import URL, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from ledger.errors import NoDatabase, StoreError, StoreUnavailable, UsageError
from ledger.store.masking import mask_url
from ledger.store.postgres.faults import MAKE, translated

Connection: TypeAlias = psycopg.Connection[Any]
Cursor: TypeAlias = psycopg.Cursor[Any]

OLDEST: Final = 130000
"""PostgreSQL 13, as the server counts; `pg_current_xact_id` and `pg_snapshot_xmin` came with it."""

LOCK_SECONDS: Final = 5
"""How long a statement waits for a lock at a time; below the time of a lease."""

IDLE_SECONDS: Final = 15
"""After this long the server ends a transaction whose process stands still: others wait for its locks."""

READERS: Final = 8
"""Connections for reading that are kept."""

MOST_ROWS: Final = 64
"""Rows of one statement; 65,535 parameters are the most that the protocol takes."""

_DRIVER: Final = "postgresql+psycopg"
_SETTINGS: Final = "SELECT current_setting('synchronous_commit')"


def parse(url: str) -> URL:
    """Return a URL as SQLAlchemy has it, for psycopg. Raises `UsageError` for one that cannot be read."""
    try:
        found = make_url(f"postgresql{url[len('postgres') :]}" if url.startswith("postgres:") else url)
        if found.drivername not in ("postgresql", _DRIVER):
            raise UsageError(f"{mask_url(url)}: the ledger talks to PostgreSQL by psycopg", hint="Use postgresql://.")
        return found.set(drivername=_DRIVER)
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise UsageError(f"{mask_url(url)} is not a URL", hint="Use postgresql://user@host:5432/database.") from None


class Server:
    """One database on a server, or a schema of it: its connections. `shown` is its URL without the password."""

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        self._read_only = read_only
        self.url = parse(url)
        self.shown = mask_url(self.url.set(drivername="postgresql").render_as_string(hide_password=True))
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The pool of connections; each commits every statement by itself unless it is told to begin."""
        if self._engine is None:
            self._engine = self._make()
        return self._engine

    def _make(self) -> Engine:
        settings = {
            "lock_timeout": f"{LOCK_SECONDS * 1000:.0f}ms",
            "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
            "timezone": "UTC",
        } | ({"default_transaction_read_only": "on"} if self._read_only else {})
        given = self.url.query.get("options", "")
        options = " ".join([*(f"-c {name}={value}" for name, value in settings.items()), str(given)])
        engine = create_engine(
            self.url.difference_update_query(["options"]),
            pool_size=READERS,
            max_overflow=-1,
            use_native_hstore=False,
            isolation_level="AUTOCOMMIT",
            connect_args={"options": options.strip(), "client_encoding": "utf-8", **self._defaults()},
        )
        event.listen(engine, "connect", self._check)
        return engine

    def _defaults(self) -> dict[str, Any]:
        wanted = {"application_name": "ledger", "connect_timeout": 10}
        return {name: value for name, value in wanted.items() if name not in self.url.query}

    def _check(self, connection: Connection, _record: object) -> None:
        """Refuse a server whose answers a ledger could not rely on."""
        if connection.info.server_version < OLDEST:
            raise StoreUnavailable(f"{self.shown} runs PostgreSQL before 13", hint="Upgrade the server.")
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StoreUnavailable(f"{self.shown} is encoded as {encoding}, not UTF8", hint=f"Make another: {MAKE}.")
        ((synchronous,),) = connection.execute(_SETTINGS).fetchall()
        if synchronous == "off":
            raise StoreUnavailable(
                f"{self.shown} acknowledges commits before they are on disk (synchronous_commit = off)",
                hint="ALTER DATABASE … SET synchronous_commit = on.",
            )

    def take(self) -> PoolProxiedConnection:
        """Take a connection out of the pool. Raises `StoreError`, `NoDatabase`."""
        try:
            return self.engine.raw_connection()
        except (DBAPIError, psycopg.Error) as error:
            raise self.fault(getattr(error, "orig", error), doing="connect to") from error

    @contextlib.contextmanager
    def lent(self) -> Iterator[Connection]:
        """Lend a connection; PostgreSQL's errors become the ledger's, and a broken connection is not used again."""
        taken = self.take()
        try:
            yield driver(taken)
        except psycopg.Error as error:
            taken.invalidate()
            raise self.fault(error, doing="read") from error
        except BaseException:
            taken.invalidate()
            raise
        taken.close()

    def fault(self, error: object, *, doing: str) -> StoreError | NoDatabase:
        """Return what to raise instead of an error of the driver."""
        assert isinstance(error, psycopg.Error)  # noqa: S101 - there is only one driver here
        return translated(error, self.shown, doing=doing)

    def close(self) -> None:
        """Close what is idle; what is in use is closed when it comes back."""
        if self._engine is not None:
            self._engine.dispose()

    def forget(self) -> None:
        """Start anew in a forked child: nothing inherited is used or closed."""
        if self._engine is not None:
            leak(self._engine.pool)
            self._engine.dispose(close=False)


@contextlib.contextmanager
def pipeline(connection: Connection) -> Iterator[None]:
    """
    Send what is executed inside in one go; raises the first error.

    psycopg's own writes a warning into the program's log for each error inside that also ends the pipeline, and so for
    each append that the server refuses: a repeat, a key that is taken.
    """
    first: psycopg.Error | None = None
    try:
        with connection.pipeline():
            try:
                yield
            except psycopg.Error as error:
                first = error
    except psycopg.Error as error:
        raise first or error from None
    if first is not None:
        raise first


def numbered(connection: Connection, statement: str, values: Sequence[Any]) -> Cursor:
    """Execute a statement whose parameters are `$1`, `$2` and so on."""
    return psycopg.RawCursor(connection).execute(statement, values)


def send_rows(connection: Connection, statement: Callable[[int], str], rows: Sequence[Sequence[Any]]) -> list[Cursor]:
    """Execute a statement for many rows, in a pipeline; `statement` returns that which takes so many at once."""
    sent, start = [], 0
    for count in parts(len(rows)):
        values = [value for row in rows[start : start + count] for value in row]
        sent.append(numbered(connection, statement(count), values))
        start += count
    return sent


def parts(count: int) -> Iterator[int]:
    """Yield how many rows each statement takes: powers of two, so that few statements are prepared."""
    while count:
        part = min(MOST_ROWS, 1 << (count.bit_length() - 1))
        yield part
        count -= part


def driver(taken: PoolProxiedConnection) -> Connection:
    """Return psycopg's own connection."""
    found = taken.driver_connection
    assert isinstance(found, psycopg.Connection)  # noqa: S101 - there is only one driver here
    return found


def leak(thing: object) -> None:
    """Keep a thing alive for ever: a forked child must not say good-bye on its parent's connection."""
    _LEAKED.append(thing)


_LEAKED: Final[list[object]] = []
