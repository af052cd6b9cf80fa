"""The roles of a ledger on a server: each may do its work, and none may change an event."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy.engine import make_url

from ledger.errors import StoreUnavailable, UsageError
from ledger.store.maintenance import check_server, ready
from ledger.store.port import Append
from ledger.store.postgres.health import lacking
from ledger.store.roles import NEEDED, roles, schema_of
from ledger.store.schema import HEAD
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add
from ledger.testing.contract.limits import guard, start
from tests.helpers import postgres

TABLES = (
    "SELECT c.relname, min(a.attname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND a.attidentity = ''"
    " GROUP BY 1"
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A ledger with its roles, made twice, and a user of each."""
    with postgres.database() as url, postgres.connect(url) as connection:
        prefix = connection.info.dbname
        sql = "\n".join(roles(prefix))
        connection.execute(sql)
        connection.execute(sql)
        for what in ("app", "reviewer", "reader"):
            connection.execute(f"CREATE ROLE {prefix}_{what}_user LOGIN IN ROLE {prefix}_{what}")
        yield url
        connection.execute("; ".join(f"DROP ROLE {prefix}_{what}_user" for what in ("app", "reviewer", "reader")))
        connection.execute("; ".join(f"DROP OWNED BY {prefix}_{what}" for what in ("app", "reviewer", "reader")))
        connection.execute("; ".join(f"DROP ROLE {prefix}_{what}" for what in ("app", "reviewer", "reader")))


def of(url: str, what: str) -> str:
    """Return the URL of a role's user."""
    there = make_url(url)
    return there.set(username=f"{there.database}_{what}_user", password=None).render_as_string(hide_password=False)


def test_hosts_and_reviewers_can_work(url: str) -> None:
    """They append, take leases, and keep to limits as far as they start calls."""
    store = open_store(of(url, "app"), create=False)
    story = Story("worked")
    drafts = (story.propose("w1"), *story.run("w1"))
    assert store.append(Append(session_id="worked", drafts=drafts, calls=story.rows("w1"))).sequences
    assert start(store, "limited", guard("limited", most=1)).sequences
    assert list(store.reindex(write=False)) == []
    store.close()
    reviewer = open_store(of(url, "reviewer"), create=False)
    assert add(reviewer, "worked", "verdict").sequences == (6,)
    reviewer.close()
    reader = open_store(of(url, "reader"), create=False, read_only=True)
    assert len(reader.read("worked", limit=10)) == 6
    assert reader.settled().held_by is None
    reader.close()


@pytest.mark.parametrize("what", ["app", "reviewer", "reader"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET record = 'x'",
        "DELETE FROM event",
        "TRUNCATE event",
        "INSERT INTO event (position) OVERRIDING SYSTEM VALUE VALUES (9223372036854775807)",
        "ALTER TABLE event DISABLE TRIGGER ALL",
        "DROP TABLE event",
        "DELETE FROM call",
        "DELETE FROM session_head",
        "UPDATE tool_version SET tool = 'x'",
    ],
)
def test_no_role_may_change_the_record(url: str, what: str, statement: str) -> None:
    """The server refuses for want of permission."""
    with postgres.connect(of(url, what)) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement", ["INSERT INTO {} DEFAULT VALUES", "DELETE FROM {}", "TRUNCATE {}", "UPDATE {} SET {} = NULL"]
)
def test_a_reader_may_read_and_nothing_else(url: str, statement: str) -> None:
    """A login in the reader's role can change no table and make none, and it is by its rights alone."""
    with postgres.connect(of(url, "reader")) as connection:
        assert connection.execute("SHOW transaction_read_only").fetchall() == [("off",)]
        tables = connection.execute(TABLES).fetchall()
        assert len(tables) >= 9
        for table in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.format(*table))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE mine (a int)")


def test_a_probe_is_of_a_host(url: str) -> None:
    """Who may only read or give verdicts is not ready, and hears which rights are missing; a reader may check."""
    assert ready(of(url, "app")) == HEAD
    for what, missing in (("reader", "INSERT on event, INSERT on session_head"), ("reviewer", "INSERT on limited_st")):
        with pytest.raises(StoreUnavailable, match=f"lacks rights at .*: {missing}") as refusal:
            ready(of(url, what))
        assert f"{what}_user the role of hosts: `ledger db roles`" in str(refusal.value.hint)
    assert check_server(of(url, "reader")).sound


@pytest.mark.parametrize(("table", "right"), NEEDED)
def test_a_host_needs_each_of_its_rights(url: str, table: str, right: str) -> None:
    """Take one away, and it is named."""
    with postgres.connect(url) as connection:
        connection.execute("BEGIN")
        role = f"{connection.info.dbname}_app"
        connection.execute(f"REVOKE {right} ON {table} FROM {role}")
        connection.execute(f"SET LOCAL ROLE {role}")
        found = lacking(connection)
        connection.execute("ROLLBACK")
    assert found == (role, [f"{right} on {table}"])


@pytest.mark.parametrize("statement", ["UPDATE event SET record = 'x'", "DELETE FROM event", "TRUNCATE event"])
def test_not_even_the_owner_changes_an_event(url: str, statement: str) -> None:
    """The triggers refuse the owner too, also in the mode in which usual triggers sleep."""
    with postgres.connect(url) as connection:
        connection.execute("SET session_replication_role = replica")
        with pytest.raises(psycopg.errors.RestrictViolation, match="never changed or deleted"):
            connection.execute(statement)


def test_a_position_is_nobodys_to_give(url: str) -> None:
    """It is always generated."""
    with postgres.connect(url) as connection, pytest.raises(psycopg.errors.GeneratedAlways):
        connection.execute("INSERT INTO event (position) VALUES (7)")


@pytest.mark.parametrize("name", ["", "a b", "x; DROP TABLE event", "A", "a" * 60])
def test_names_are_plain(name: str) -> None:
    """A name that would have to be quoted is refused."""
    with pytest.raises(UsageError):
        roles(name)
    with pytest.raises(UsageError):
        roles(schema=name)


@pytest.mark.parametrize(
    ("url", "schema"),
    [
        ("sqlite:///ledger.db", "public"),
        ("postgresql://me@host/app", "public"),
        ("postgresql://me@host/app?options=-c%20lock_timeout%3D1", "public"),
        ("postgresql://me@host/app?options=-csearch_path%3Dledger", "ledger"),
        ("postgresql://me@host/app?connect_timeout=3&options=-c+search_path%3Done,public+--search-path%3Dtwo", "two"),
    ],
)
def test_a_url_names_the_schema(url: str, schema: str) -> None:
    """The first of its search path; the last of several settings holds, as on the server."""
    assert schema_of(url) == schema
