"""The files of a ledger: permissions, settings, and files that are replaced under a live writer."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from ledger.errors import StoreReplaced, StoreUnavailable
from ledger.store.sqlite import door
from ledger.store.sqlite.files import WAL_BYTES, Files
from ledger.store.urls import open_store
from ledger.testing.contract.building import add, everything


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "folder with ? & # % ü"
    folder.mkdir()
    return folder / "led#ger?.db"


def test_files_are_the_owners_alone(path: Path) -> None:
    """Database, log, its index and side file get the permissions 0600, whatever the umask."""
    before = os.umask(0)
    try:
        store = open_store(str(path), create=True)
        add(store, "s1", "a")
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        store.close()
    finally:
        os.umask(before)
    names = ["led#ger?.db", "led#ger?.db-shm", "led#ger?.db-wal", "led#ger?.db.lock"]
    assert modes == dict.fromkeys(names, 0o600)


def test_a_closed_ledger_is_one_file(path: Path) -> None:
    """After the last close everything is in the database file; the side file of the lock stays."""
    store = open_store(str(path), create=True)
    add(store, "s1", "a")
    store.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["led#ger?.db", "led#ger?.db.lock"]


def test_a_writer_waits_for_the_disk(path: Path) -> None:
    """Commits are synchronous, checkpoints are our own, nothing is mapped into memory."""
    open_store(str(path), create=True).close()
    connection = Files(path).writer()
    wanted = {
        "journal_mode": "wal",
        "synchronous": 2,
        "wal_autocheckpoint": 0,
        "journal_size_limit": WAL_BYTES,
        "mmap_size": 0,
        "fullfsync": 0,
    }
    assert {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted
    connection.close()


def test_a_drive_that_lies_is_told_to_flush(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS `fsync` is not enough: commits and checkpoints flush the drive's cache too."""
    open_store(str(path), create=True).close()
    monkeypatch.setattr(sys, "platform", "darwin")
    connection = Files(path).writer()
    assert connection.execute("PRAGMA fullfsync").fetchone() == (1,)
    assert connection.execute("PRAGMA checkpoint_fullfsync").fetchone() == (1,)
    connection.close()


def test_a_disk_without_a_log_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SQLite cannot keep a write-ahead log (no shared memory) nothing is written in another mode."""
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda url, **options: real(f"{url}&vfs=unix-none", **options))
    with pytest.raises(StoreUnavailable, match="write-ahead log"):
        open_store(str(path), create=True)


def test_a_symbolic_link_is_the_file_it_names(path: Path, tmp_path: Path) -> None:
    """Two names of one ledger share one lock."""
    store = open_store(str(path), create=True)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    other = open_store(str(link), create=False)
    add(store, "s1", "a")
    add(other, "s1", "b")
    assert Files(link).lock == Files(path).lock
    other.close()
    store.close()


def replace_database(files: Files) -> None:
    shutil.copy(files.database, f"{files.database}.copy")
    Path(f"{files.database}.copy").replace(files.database)


def remove_database(files: Files) -> None:
    files.database.unlink()


def remove_log(files: Files) -> None:
    files.wal.unlink()


def replace_log(files: Files) -> None:
    shutil.copy(files.wal, f"{files.wal}.copy")
    Path(f"{files.wal}.copy").replace(files.wal)


@pytest.mark.parametrize("harm", [replace_database, remove_database, remove_log, replace_log])
def test_a_replaced_file_is_noticed(path: Path, harm: object) -> None:
    """A database or log that was replaced or removed under a live writer is refused: it would lose every event."""
    assert callable(harm)
    store = open_store(str(path), create=True)
    add(store, "s1", "a")
    harm(Files(path))
    for text in ("b", "c"):
        with pytest.raises(StoreReplaced, match="replaced or removed"):
            add(store, "s1", text)
    store.close()


def test_a_file_replaced_before_the_first_write_is_noticed(path: Path) -> None:
    """What was read so far is of the other file: no write of this process may build on it."""
    store = open_store(str(path), create=True)
    add(store, "s1", "a")
    store.close()
    store = open_store(str(path), create=False)
    assert len(everything(store, "s1")) == 1
    replace_database(Files(path))
    with pytest.raises(StoreReplaced):
        add(store, "s1", "b")
    store.close()


def test_a_file_moved_away_and_back_is_the_same(path: Path) -> None:
    """What counts is whether the name leads to the file that is written."""
    store = open_store(str(path), create=True)
    add(store, "s1", "a")
    files = Files(path)
    files.database.rename(f"{files.database}.away")
    with pytest.raises(StoreReplaced):
        add(store, "s1", "b")
    Path(f"{files.database}.away").rename(files.database)
    assert add(store, "s1", "c").sequences == (2,)
    assert len(everything(store, "s1")) == 2
    store.close()


def test_a_replacement_during_a_commit_is_not_acknowledged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written to a file that is no longer there is refused after the commit."""
    real = sqlite3.connect

    class Replacing(sqlite3.Connection):
        def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
            done = super().execute(statement, *values)  # type: ignore[arg-type]  # passed on as it comes
            if statement == "COMMIT":
                remove_database(Files(path))
            return done

    store = open_store(str(path), create=True)
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: real(*args, factory=Replacing, **options))
    with pytest.raises(StoreReplaced):
        add(store, "s1", "a")
    store.close()


def test_a_network_file_system_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger on NFS is refused by name, before anything is made there."""
    device = path.parent.stat().st_dev
    mounts = path.parent / "mounts"
    line = f"36 35 {os.major(device)}:{os.minor(device)} / /mnt rw,noatime shared:1 - nfs4 server:/export rw\n"
    mounts.write_text(line)
    monkeypatch.setattr(door, "MOUNTS", str(mounts))
    with pytest.raises(StoreUnavailable, match="nfs4"):
        open_store(str(path), create=True)
    assert not path.exists()


def test_a_file_that_is_not_there_has_no_place(path: Path) -> None:
    """Where it lies on the disk is told of what is there only."""
    assert Files(path).place() is None
    open_store(str(path), create=True).close()
    assert Files(path).place() == (path.stat().st_dev, path.stat().st_ino)
