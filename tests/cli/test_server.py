"""The command line over a server: the same words, and no password anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import Ledger
from ledger.store.schema import HEAD
from ledger.store.urls import open_store
from ledger.testing.contract.building import add
from tests.cli.hosts import module
from tests.cli.running import data, ledger
from tests.helpers import postgres


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A ledger on a server, opened with a password."""
    with postgres.database() as url:
        store = open_store(url, create=False)
        add(store, "s1", "a", "b")
        store.close()
        yield url.replace("postgres:@", "postgres:secret@")


@pytest.fixture(autouse=True)
def _environment(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_DB", url)


def test_a_servers_ledger_is_looked_after(url: str) -> None:
    """Path, tables, upgrade and check tell of the server by its URL, without the password."""
    told = [
        ledger("db", "path"),
        ledger("db", "current"),
        ledger("db", "upgrade"),
        ledger("db", "check", "--ready"),
        ledger("db", "check"),
        ledger("db", "check", "--rebuild"),
    ]
    assert [result.exit_code for result in told] == [0] * 6
    assert not any("secret" in result.output for result in told)
    assert all("postgresql://postgres:" in told[n].stdout for n in (0, 1, 2, 4))
    assert f"Ready: tables {HEAD}" in told[3].stdout
    assert "Every chain of digests is whole." in told[4].stdout
    assert "synchronous_commit on" in told[4].stdout
    found = data("db", "check")
    assert (found["events"], found["sound"], found["damage"]) == (2, True, [])
    assert data("db", "path")["path"] is None


def test_audits_read_a_server() -> None:
    """Rows come from the server, to the end or as they are recorded."""
    assert [row["eventId"] for row in data("audit", "events")] == ["a", "b"]
    assert ledger("audit", "events", "--follow", "--limit", "2", "--json").stdout.count("\n") == 2


def test_roles_are_printed() -> None:
    """SQL that an administrator can run, also as one JSON value."""
    result = ledger("db", "roles", "--prefix", "agents", "--schema", "mine")
    assert result.exit_code == 0
    assert "CREATE ROLE agents_app" in result.stdout
    assert "search_path = mine" in result.stdout
    assert data("db", "roles")["sql"].startswith("BEGIN;")
    assert ledger("db", "roles", "--prefix", "a b").exit_code == 2


def test_roles_are_for_the_schema_of_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    """The schema need not be said twice; one that is no plain name must be."""
    monkeypatch.setenv("LEDGER_DB", "postgresql://me@db.example/app?options=-csearch_path%3Dmine")
    assert "GRANT USAGE ON SCHEMA mine TO" in ledger("db", "roles").stdout
    assert "GRANT USAGE ON SCHEMA yours TO" in ledger("db", "roles", "--schema", "yours").stdout
    monkeypatch.setenv("LEDGER_DB", "postgresql://me@db.example/app?options=-csearch_path%3D%22$user%22")
    refused = ledger("db", "roles")
    assert (refused.exit_code, "--schema" in refused.stderr) == (2, True)


def test_a_project_begins_with_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """`init` over a server makes nothing and says what does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEDGER_DB")
    refused = ledger("init", "agent", "--db", url)
    assert (refused.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "`ledger db upgrade --db 'postgresql://postgres@/" in refused.stderr
    assert "leave out --db and LEDGER_DB" in refused.stderr


def test_a_server_cannot_be_begun_by_a_slip(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """A database without tables is no ledger until somebody makes one."""
    with postgres.database(empty=True) as empty:
        monkeypatch.setenv("LEDGER_DB", empty)
        for asked in (["db", "check", "--ready"], ["db", "check"], ["db", "current"], ["audit", "events"]):
            refused = ledger(*asked, "--db", empty)
            assert refused.exit_code == 1
            assert "`ledger db upgrade` makes the tables" in refused.stderr
        assert ledger("db", "upgrade").exit_code == 0
        with Ledger.open(empty) as made:
            assert made.url
        assert ledger("db", "check", "--ready").exit_code == 0


def test_a_program_is_on_the_server_of_the_line(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger of --app is told without its password, and is the one that LEDGER_DB and --db name with it."""
    monkeypatch.chdir(tmp_path)
    source = f"from ledger import Ledger\nledger = Ledger.open({url!r})"
    same = url.replace("postgresql://", "postgres://")
    for options in ((), ("--db", url), ("--db", same), ("--db", same.replace(":secret@", "@"))):
        for name in module(tmp_path, source, monkeypatch):
            told = ledger("resume", "s1", "--app", f"{name}:ledger", *options)
            assert told.exit_code in (0, 3)
            assert "brings its own ledger" not in told.stderr
            assert "secret" not in told.output
    for name in module(tmp_path, source, monkeypatch):
        refused = ledger("resume", "s1", "--app", f"{name}:ledger", "--db", f"{url}x")
        assert (refused.exit_code, "--db names another" in refused.stderr, "secret" in refused.output) == (
            2,
            True,
            False,
        )
