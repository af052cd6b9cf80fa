"""Opening: what is made, what is refused, what is brought up to date, what is left alone."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import IntegrityFailure, NoDatabase, SchemaOutdated, StoreUnavailable
from ledger.store.maintenance import upgrade
from ledger.store.schema import EPOCH, HEAD, Migrate
from ledger.store.urls import open_store
from ledger.testing.contract.building import add


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def change(path: Path, *statements: str) -> None:
    """Change a closed ledger behind its back."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("options", [{}, {"read_only": True}, {"create": True, "read_only": True}])
def test_a_missing_ledger_is_not_made(path: Path, options: dict[str, Any]) -> None:
    """Who only looks creates neither file nor folder, and hears where it looked."""
    deep = path.parent / "new" / "folder" / "ledger.db"
    with pytest.raises(NoDatabase, match=r"new/folder/ledger\.db"):
        open_store(f"sqlite:///{deep}", **({"create": False} | options))
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(("name", "words"), [("missing", "does not exist"), ("file", "is no folder")])
def test_a_folder_is_not_made(path: Path, name: str, words: str) -> None:
    """A slip of the pen in a path begins no second ledger: the folder that is missing is named."""
    (path.parent / "file").touch()
    with pytest.raises(StoreUnavailable, match=f"the ledger's folder {path.parent}/{name} {words}"):
        open_store(str(path.parent / name / "ledger.db"), create=True)
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_a_new_ledger_is_made(path: Path) -> None:
    """Who creates gets the tables of this release."""
    store = open_store(f"sqlite:///{path}", create=True)
    assert add(store, "s1", "a").sequences == (1,)
    store.close()
    assert path.exists()


@pytest.mark.parametrize("options", [{"create": False}, {"create": False, "read_only": True}])
@pytest.mark.parametrize("content", [(), ("CREATE TABLE alembic_version (version_num TEXT)",)], ids=["empty", "begun"])
def test_an_empty_database_holds_no_ledger(path: Path, content: tuple[str, ...], options: dict[str, Any]) -> None:
    """A file without our tables is not a ledger until somebody creates one in it."""
    path.touch()
    change(path, *content)
    with pytest.raises(NoDatabase, match="holds no ledger"):
        open_store(str(path), **options)
    open_store(str(path), create=True).close()
    open_store(str(path), **options).close()


@pytest.mark.parametrize("options", [{"create": False}, {"create": True}, {"create": False, "read_only": True}])
def test_somebody_elses_database_is_left_alone(path: Path, options: dict[str, Any]) -> None:
    """A database with other tables is never written to, whoever asks."""
    change(path, "CREATE TABLE users (name TEXT)")
    with pytest.raises(NoDatabase, match="not a ledger"):
        open_store(str(path), **options)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("users",)]


@pytest.mark.parametrize("options", [{"create": False}, {"create": False, "read_only": True}])
def test_tables_that_a_newer_release_only_added_to_are_fine(path: Path, options: dict[str, Any]) -> None:
    """This release works beside the next one, as long as that did not raise the epoch."""
    open_store(str(path), create=True).close()
    change(path, "UPDATE alembic_version SET version_num = '9999'", "ALTER TABLE event ADD COLUMN later TEXT")
    store = open_store(str(path), **options)
    if "read_only" not in options:
        assert add(store, "s1", "a").sequences == (1,)
    assert store.read("s1", limit=1) is not None
    store.close()


@pytest.mark.parametrize("options", [{"create": True}, {"create": False, "read_only": True}])
def test_tables_that_are_too_new_are_refused(path: Path, options: dict[str, Any]) -> None:
    """Tables that this release would damage are refused, with what to do."""
    open_store(str(path), create=True).close()
    change(path, "UPDATE alembic_version SET version_num = '9999'", f"PRAGMA user_version = {EPOCH + 1}")
    with pytest.raises(SchemaOutdated, match="newer release"):
        open_store(str(path), **options)


def test_older_tables_are_brought_up_to_date_or_refused(path: Path) -> None:
    """Readers and "check" refuse older tables, "off" does not look; "auto" tries, and names what it does not know."""
    open_store(str(path), create=True).close()
    change(path, "UPDATE alembic_version SET version_num = '0000'", "PRAGMA user_version = 0")
    for options in ({"migrate": "check"}, {"read_only": True}):
        with pytest.raises(SchemaOutdated, match="ledger db upgrade"):
            open_store(str(path), create=False, **options)
    open_store(str(path), create=False, migrate="off").close()
    open_store(str(path), create=False, migrate="off", read_only=True).close()
    with pytest.raises(SchemaOutdated, match="0000"):
        open_store(str(path), create=False)
    with pytest.raises(SchemaOutdated, match="0000"):
        upgrade(str(path))


def test_tables_are_made_whatever_migrate_says(path: Path) -> None:
    """A new file has nothing to migrate: "check" and "off" make the tables too."""
    modes: tuple[Migrate, ...] = ("auto", "check", "off")
    for migrate in modes:
        made = path.with_name(f"{migrate}.db")
        open_store(str(made), create=True, migrate=migrate).close()
        with closing(sqlite3.connect(made)) as connection:
            assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    """A path that cannot be a database is unavailable, for writers and for readers."""
    for read_only in (True, False):
        with pytest.raises(StoreUnavailable):
            open_store(str(tmp_path), create=False, read_only=read_only)


def test_a_disk_that_is_full_while_tables_are_made_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the migration is SQLite's, in the ledger's words; the next try makes the tables."""
    from ledger.store.sqlite.files import Files

    real = Files.writer

    def full(files: Files, *mode: Any) -> sqlite3.Connection:
        connection = real(files, *mode)
        connection.execute("PRAGMA max_page_count = 5")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(Files, "writer", full)
        with pytest.raises(StoreUnavailable, match="make room"):
            open_store(str(path), create=True)
    open_store(str(path), create=True).close()


@pytest.mark.parametrize("options", [{"create": False}, {"create": True}, {"create": False, "read_only": True}])
@pytest.mark.parametrize("end", ["", "-wal", ".lock"])
def test_a_pipe_is_no_ledger(path: Path, options: dict[str, Any], end: str) -> None:
    """Something else than a file under one of the names is refused: to open it could wait for ever."""
    if end:
        open_store(str(path), create=True).close()
        Path(f"{path}{end}").unlink(missing_ok=True)
    os.mkfifo(f"{path}{end}")
    with pytest.raises(StoreUnavailable, match=rf"ledger\.db{end} is no file"):
        open_store(str(path), **options)


@pytest.mark.parametrize(
    "change",
    ["sequence = x'7b'", "expires_at = x'ff'", "token = 'x'", "token = 9223372036854775807", "digest = 5"],
)
def test_a_head_that_was_changed_is_told(path: Path, change: str) -> None:
    """A cell of a kind that the ledger never writes is an integrity failure, for readers and writers; lists go on."""
    store = open_store(str(path), create=True)
    add(store, "s1", "a")
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE session_head SET {change}, owner = x'ff'")
    store = open_store(str(path), create=False)
    with pytest.raises(IntegrityFailure, match="its head was damaged or changed"):
        store.head("s1")
    with pytest.raises(IntegrityFailure, match="its head was damaged or changed"):
        add(store, "s1", "b")
    assert [(row.session_id, row.owner) for row in store.sessions(limit=5)] == [("s1", "\\xff")]
    store.close()
