"""The server's door: URLs, settings that a ledger relies on, connections that are not used twice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from ledger.errors import StoreUnavailable, UsageError
from ledger.store.postgres import door
from ledger.store.postgres.door import IDLE_SECONDS, LOCK_SECONDS, Server
from ledger.store.postgres.faults import lost, translated
from ledger.store.urls import open_store
from tests.helpers import postgres


@pytest.mark.parametrize("url", ["postgresql+psycopg2://h/db", "postgresql://h:port/db", "postgresql+nope://h/db"])
def test_a_url_that_cannot_be_read_is_refused(url: str) -> None:
    """Another driver, and what is no URL, is told as a slip of the user."""
    with pytest.raises(UsageError):
        Server(url)


def test_a_url_is_shown_without_its_passwords() -> None:
    """Neither the user's nor that of a parameter."""
    shown = Server("postgres://me:secret@host:5433/db?password=other&sslpassword=third").shown
    assert shown.startswith("postgresql://me:***@host:5433/db")
    assert not any(word in shown for word in ("secret", "other", "third"))


def test_what_a_session_is_set_to(url: str) -> None:
    """Waits for locks and idle transactions end below the time of a lease; the host's own options are kept."""
    own = make_url(url).update_query_dict({"options": "-c work_mem=5MB", "application_name": "mine"})
    server = Server(own.render_as_string(hide_password=False))
    with server.lent() as connection:
        found = {
            name: connection.execute(f"SHOW {name}").fetchall()[0][0]
            for name in (
                *("lock_timeout", "idle_in_transaction_session_timeout", "work_mem", "application_name"),
                *("client_encoding", "TimeZone", "default_transaction_read_only"),
            )
        }
    server.close()
    assert found == {
        "lock_timeout": f"{LOCK_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
        "work_mem": "5MB",
        "application_name": "mine",
        "client_encoding": "UTF8",
        "TimeZone": "UTC",
        "default_transaction_read_only": "off",
    }
    assert max(LOCK_SECONDS, IDLE_SECONDS) < 60


def test_a_server_that_acknowledges_early_is_refused(own_url: str) -> None:
    """With synchronous_commit = off a crash of the server would take acknowledged events."""
    with postgres.connect(own_url) as connection:
        connection.execute(f'ALTER DATABASE "{connection.info.dbname}" SET synchronous_commit = off')
    with pytest.raises(StoreUnavailable, match="synchronous_commit"):
        open_store(own_url, create=True)


def test_another_encoding_is_refused(url: str) -> None:
    """A database that is not UTF-8 cannot keep every text."""
    name = make_url(url).database
    with postgres.connect(url) as connection:
        connection.execute(f"CREATE DATABASE {name}_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
        try:
            other = make_url(url).set(database=f"{name}_ascii").render_as_string(hide_password=False)
            with pytest.raises(StoreUnavailable, match="SQL_ASCII") as refusal:
                open_store(other, create=True)
            assert "createdb -E UTF8 -T template0" in str(refusal.value.hint)
        finally:
            connection.execute(f"DROP DATABASE {name}_ascii")


def test_an_old_server_is_refused() -> None:
    """Before PostgreSQL 13 nobody could know when a position is final."""
    old: Any = SimpleNamespace(info=SimpleNamespace(server_version=120022))
    with pytest.raises(StoreUnavailable, match="before 13"):
        Server("postgresql://h/db")._check(old, None)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    """The words of the driver are passed on, with what to look at."""
    with pytest.raises(StoreUnavailable, match="cannot connect") as refusal:
        open_store("postgresql://nobody@127.0.0.1:1/db?connect_timeout=2", create=True)
    assert refusal.value.hint == "Is the server running, and are the URL's host and port right?"


def test_a_broken_statement_spoils_no_connection(url: str) -> None:
    """After an error, of the server or of the caller, the connection is not lent again."""
    server = Server(url)
    with server.lent() as connection:
        first = connection.info.backend_pid
    with pytest.raises(StoreUnavailable, match="nothing_of_the_kind"), server.lent() as connection:
        connection.execute("SELECT nothing_of_the_kind")
    with pytest.raises(ZeroDivisionError), server.lent() as connection:
        raise ZeroDivisionError(second := connection.info.backend_pid)
    with server.lent() as connection:
        assert len({first, second, connection.info.backend_pid}) == 3
    server.close()
    server.close()


def test_a_server_nobody_asked_has_nothing_to_close() -> None:
    """Connections are made when they are needed: before that there is nothing to close, nor to forget."""
    server = Server("postgresql://h/db")
    server.close()
    server.forget()
    assert server._engine is None


def test_faults_are_told_apart() -> None:
    """What is gone, what is taken, what is damaged, what is full."""
    assert lost(psycopg.errors.AdminShutdown())
    assert lost(psycopg.OperationalError("server closed the connection unexpectedly"))
    assert not lost(psycopg.errors.PipelineAborted())
    assert not lost(psycopg.errors.DiskFull())
    assert "full" in (translated(psycopg.errors.DiskFull("x"), "u", doing="write to").hint or "")
    assert type(translated(psycopg.errors.IndexCorrupted("x"), "u", doing="read")).__name__ == "IntegrityFailure"
    assert type(translated(psycopg.errors.DeadlockDetected("x"), "u", doing="read")).__name__ == "StoreBusy"
    assert type(translated(psycopg.errors.InvalidCatalogName("x"), "u", doing="read")).__name__ == "NoDatabase"


def test_a_refusal_writes_nothing_into_the_programs_log(url: str, caplog: pytest.LogCaptureFixture) -> None:
    """What the server refuses is raised, and no log is warned of it; the line is as good as before."""

    def refused(connection: door.Connection) -> None:
        with door.pipeline(connection):
            connection.execute("SELECT 1 / %s", (0,))
            for _ in range(10_000):  # until one of them finds the answer to the first
                connection.execute("SELECT 1")

    with postgres.connect(url) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            refused(connection)
        assert not caplog.records
        assert connection.execute("SELECT 2").fetchall() == [(2,)]


def test_an_error_that_a_statement_inside_finds_is_raised(url: str) -> None:
    """Whoever reads inside gets the refusal there, and nothing is left for the end of the pipeline to find."""

    def refused(connection: door.Connection) -> None:
        with door.pipeline(connection):
            connection.execute("SELECT 1 / %s", (0,)).fetchall()

    with postgres.connect(url) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            refused(connection)
        assert connection.execute("SELECT 2").fetchall() == [(2,)]


def test_an_error_that_nobody_reads_inside_is_raised_at_the_end(url: str) -> None:
    """One statement alone is not waited for: its refusal comes with the end of the pipeline."""

    def refused(connection: door.Connection) -> None:
        with door.pipeline(connection):
            connection.execute("SELECT 1 / %s", (0,))

    with postgres.connect(url) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            refused(connection)
        assert connection.execute("SELECT 2").fetchall() == [(2,)]
