"""The roles of a ledger on a server: each may do its work, and none may change an event."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy.engine import make_url

from ledger.errors import UsageError
from ledger.store.port import Append
from ledger.store.roles import roles
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add
from ledger.testing.contract.limits import guard, start
from tests.helpers import postgres


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
    with postgres.connect(of(url, what)) as connection:
        connection.execute("SET default_transaction_read_only = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)


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
