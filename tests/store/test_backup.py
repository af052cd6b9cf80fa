"""A copy of a ledger that is being written: whole, checked, never over something else."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from ledger.errors import NoDatabase, StoreUnavailable, UsageError
from ledger.store import backup as module
from ledger.store.backup import backup
from ledger.store.maintenance import check
from ledger.store.urls import open_store
from ledger.testing.contract.building import add, everything, ids


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A closed ledger of one session."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    store = open_store(url, create=True)
    add(store, "s1", *(f"e{number}" for number in range(20)))
    store.close()
    return url


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_copy_holds_everything(url: str, tmp_path: Path) -> None:
    """Also what is only in the log yet; it belongs to its owner alone, and can be written on as a ledger."""
    store = open_store(url, create=False)
    add(store, "s1", "in the log")
    done = backup(url, tmp_path / "copy.db")
    store.close()
    assert (done.source, done.path, done.health.path) == (tmp_path / "ledger.db", *[tmp_path / "copy.db"] * 2)
    assert (done.health.sound, done.health.chains.events, done.health.mode) == (True, 21, "0600")
    assert done.health.journal_mode == "wal"
    assert names(tmp_path) == ["copy.db", "ledger.db", "ledger.db.lock"]
    copied = open_store(str(tmp_path / "copy.db"), create=False)
    assert ids(everything(copied, "s1"))[-1] == "in the log"
    assert add(copied, "s1", "more").sequences == (22,)
    copied.close()


def test_a_copy_may_have_any_name(url: str, tmp_path: Path) -> None:
    """A path is no URL: what would begin an option there is a part of the name."""
    done = backup(url, tmp_path / "a?b#%41.db")
    assert (done.path.name, done.health.sound) == ("a?b#%41.db", True)
    assert names(tmp_path) == ["a?b#%41.db", "ledger.db", "ledger.db.lock"]


def test_a_copy_is_one_moment_while_writers_write(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many copies of a ledger under a writer is sound, and holds what was acknowledged before it began."""
    monkeypatch.setattr(module, "_PAGES", 1)
    acknowledged, stop = [0], threading.Event()

    def write() -> None:
        store = open_store(url, create=False)
        while not stop.is_set():
            acknowledged[0] = add(store, "s2", f"n{acknowledged[0]}").sequences[0]
        store.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(8):
            before = acknowledged[0]
            done = backup(url, tmp_path / f"copy{number}.db")
            assert done.health.sound
            assert done.health.chains.events - 20 >= before
    finally:
        stop.set()
        writer.join()
    assert check(url).chains.events == 20 + acknowledged[0]
    assert done.health.chains.events > 20


@pytest.mark.parametrize("taken", ["copy.db", "copy.db-wal", "copy.db.lock"])
def test_a_copy_overwrites_nothing(url: str, tmp_path: Path, taken: str) -> None:
    """Nor does it take a name whose log or lock is somebody else's."""
    (tmp_path / taken).write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        backup(url, tmp_path / "copy.db")
    assert (tmp_path / taken).read_text() == "mine"
    assert names(tmp_path) == sorted(["ledger.db", "ledger.db.lock", taken])


def test_a_name_that_is_taken_meanwhile_stays(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's file that appears while the copy is made is not overwritten, nor is the ledger itself."""
    with pytest.raises(UsageError):
        backup(url, tmp_path / "ledger.db")

    def checked(copy: str) -> object:
        (tmp_path / "copy.db").write_text("mine")
        return check(copy)

    monkeypatch.setattr(module, "check", checked)
    with pytest.raises(UsageError, match="is there already"):
        backup(url, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"


def test_a_half_made_copy_of_another_run_stays(url: str, tmp_path: Path) -> None:
    """What a killed process of this number left behind is told, not written over."""
    left = tmp_path / f"copy.db.{os.getpid()}.partial"
    left.write_text("half")
    with pytest.raises(StoreUnavailable, match=r"partial is in the way\. A backup that was killed left it"):
        backup(url, tmp_path / "copy.db")
    assert left.read_text() == "half"


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device", "copy.db.7.partial"), sqlite3.OperationalError("disk is full")]
)
def test_a_copy_that_fails_leaves_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A full disk ends the copy with an error, and no part of it stays."""

    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, "check", full)
    with pytest.raises(StoreUnavailable, match="cannot copy the ledger to") as failed:
        backup(url, tmp_path / "copy.db")
    assert ".partial" not in str(failed.value)
    assert names(tmp_path) == ["ledger.db", "ledger.db.lock"]


def test_a_copy_needs_a_folder(url: str, tmp_path: Path) -> None:
    """A folder that is missing, or is none, is named, and what to do; never a file that the copy would have been."""
    for folder, what in ((tmp_path / "nowhere", "does not exist"), (tmp_path / "ledger.db", "is no folder")):
        with pytest.raises(StoreUnavailable) as refused:
            backup(url, folder / "copy.db")
        assert refused.value.message == f"the copy's folder {folder} {what}"
        assert refused.value.hint == "Make it first, or name another place."


def test_only_a_file_can_be_copied(tmp_path: Path) -> None:
    """A ledger in memory, one on a server, and one that is not there are refused."""
    for url in ("memory://", "postgresql://me:secret@host/db"):
        with pytest.raises(UsageError, match="no file that can be copied") as refused:
            backup(url, tmp_path / "copy.db")
        assert "secret" not in str(refused.value)
    with pytest.raises(NoDatabase):
        backup(str(tmp_path / "none.db"), tmp_path / "copy.db")
    assert names(tmp_path) == []
