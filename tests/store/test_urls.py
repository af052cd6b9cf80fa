"""From a URL to a store, and to a text that may be shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ledger.errors import NoDatabase, StoreUnavailable, UsageError
from ledger.store.memory import MemoryStore
from ledger.store.sqlite.store import SqliteStore
from ledger.store.urls import mask_url, open_store, sqlite_path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///ledger.db", "ledger.db"),
        ("sqlite:///a/b.db", "a/b.db"),
        ("sqlite:////var/ledger.db", "/var/ledger.db"),
        ("sqlite:///with space%20.db", "with space%20.db"),
        ("ledger.db", "ledger.db"),
        ("/var/ledger.db", "/var/ledger.db"),
        ("odd?name.db", "odd?name.db"),
    ],
)
def test_a_url_names_a_path(url: str, path: str) -> None:
    """Three slashes are relative, four absolute; a plain path is itself, to the letter."""
    assert sqlite_path(url) == Path(path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        ":memory:",
        "sqlite:///a.db?mode=ro",
        "sqlite+pysqlite:///a.db",
        "file:a.db",
        "mysql://host/db",
        "http://example.com/ledger.db",
        "a\0b.db",
    ],
)
def test_what_names_no_file_is_refused(url: str) -> None:
    """Other databases, options and SQLite's private in-memory databases are refused in words."""
    with pytest.raises(UsageError) as refusal:
        open_store(url, create=True)
    assert refusal.value.hint


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_a_server_needs_its_driver(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where psycopg is not installed, the refusal of a PostgreSQL URL says what to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match="psycopg") as refusal:
        open_store(f"{scheme}://me:secret@host/db", create=True)
    assert refusal.value.hint == "pip install 'toolcall-ledger[postgres]'"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_a_server_that_is_not_there_is_unavailable(scheme: str) -> None:
    """The refusal names the server, and shows no password."""
    with pytest.raises(StoreUnavailable, match="localhost:1/db") as refusal:
        open_store(f"{scheme}://me:secret@localhost:1/db", create=True)
    assert "secret" not in f"{refusal.value} {refusal.value.__cause__}"


def test_a_url_opens_its_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """memory:// is a new ledger each time, sqlite:/// a file where this process works."""
    first, second = open_store("memory://", create=False), open_store("memory://", create=True)
    assert isinstance(first, MemoryStore)
    assert first is not second
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///here.db", create=True)
    assert isinstance(store, SqliteStore)
    store.close()
    assert (tmp_path / "here.db").exists()
    with pytest.raises(NoDatabase):
        open_store("sqlite:///there.db", create=False)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:p@ss:w@host/db", "postgresql://me:***@host/db"),
        ("postgresql://:secret@host/db", "postgresql://:***@host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://host/db?user=me&password=secret&x=1", "postgresql://host/db?user=me&password=***&x=1"),
        ("postgresql://host/db?PASSWORD=secret", "postgresql://host/db?PASSWORD=***"),
        ("sqlite:///a@b:c.db", "sqlite:///a@b:c.db"),
        ("memory://", "memory://"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    """A URL is shown without its password, wherever it stands in it."""
    assert mask_url(url) == shown
