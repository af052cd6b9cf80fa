"""The writers' lock: it queues, it can be given up, it names its holder, it is not inherited."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

from ledger.errors import StoreBusy, StoreUnavailable
from ledger.store.sqlite.lock import SideLock
from tests.store.children import start


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db.lock"


def open_descriptors(path: Path) -> int:
    """Count this process's descriptors of a file."""
    found = 0
    for descriptor in list(Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(FileNotFoundError):  # the folder's own
            found += str(descriptor.readlink()) in (str(path), f"{path} (deleted)")
    return found


@pytest.mark.parametrize("tries", [0, 1_000_000])
def test_a_held_lock_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch, tries: int) -> None:
    """A second holder gets the lock when the first gives it back, whether it looks again and again or waits."""
    monkeypatch.setattr("ledger.store.sqlite.lock._TRIES", tries)
    first, second = SideLock(path), SideLock(path)
    first.acquire(None)
    got = threading.Event()

    def wait() -> None:
        second.acquire(60)
        got.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert not got.is_set()
    first.release()
    waiter.join()
    assert got.is_set()
    monkeypatch.setattr("ledger.store.sqlite.lock._TRIES", 1)
    first.close()
    with pytest.raises(StoreBusy):
        first.acquire(0)
    second.close()
    first.acquire(0)
    first.close()


def test_a_wait_without_a_deadline_ends_with_the_holder(tmp_path: Path) -> None:
    """An outcome waits as long as it takes: here until the holder's process ends."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with start("hold", url) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        lock = SideLock(tmp_path / "ledger.db.lock")
        waiter = threading.Thread(target=lock.acquire, args=(None,))
        waiter.start()
        holder.stdin.write("end\n")
        holder.stdin.flush()
        waiter.join()
    lock.close()


def test_a_refusal_names_the_holder(tmp_path: Path) -> None:
    """Who waits too long is told which process has the lock."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    with start("hold", url) as holder:
        assert holder.stdout is not None
        pid = int(holder.stdout.readline())
        lock = SideLock(tmp_path / "ledger.db.lock")
        with pytest.raises(StoreBusy, match=f"process {pid} has held"):
            lock.acquire(0.01)
        lock.close()
        holder.communicate("end\n")


def test_a_given_up_wait_takes_nothing(path: Path) -> None:
    """A wait that was given up closes what it gets, when it gets it, and leaves later holders alone."""
    first, second, third = SideLock(path), SideLock(path), SideLock(path)
    first.acquire(None)
    with pytest.raises(StoreBusy):
        second.acquire(0)
    late = [thread for thread in threading.enumerate() if thread.name == "ledger-lock"]
    assert len(late) == 1
    first.release()
    late[0].join()
    third.acquire(60)
    with pytest.raises(StoreBusy):
        first.acquire(0)
    third.release()
    for lock in (first, second, third):
        lock.close()
    for thread in threading.enumerate():
        if thread.name == "ledger-lock":
            thread.join()
    assert open_descriptors(path) == 0


def test_a_removed_side_file_is_made_again(path: Path) -> None:
    """A lock on a file that somebody removed would keep nobody out: the new one is locked."""
    first, second = SideLock(path), SideLock(path)
    first.acquire(None)
    first.release()
    path.unlink()
    first.acquire(0)
    with pytest.raises(StoreBusy):
        second.acquire(0)
    first.close()
    second.close()


def test_a_side_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """Where the side file cannot be made, the refusal names it."""
    with pytest.raises(StoreUnavailable, match=r"nowhere/x\.lock"):
        SideLock(tmp_path / "nowhere" / "x.lock").acquire(None)


def test_a_holder_that_cannot_be_read_is_unknown(path: Path) -> None:
    """An empty or missing side file names nobody."""
    assert SideLock(path).holder() is None
    path.write_bytes(b"")
    assert SideLock(path).holder() is None


def test_an_inherited_descriptor_is_closed(path: Path) -> None:
    """A forked child closes the lock's descriptors: otherwise it would keep the lock of a parent that died."""
    first, second = SideLock(path), SideLock(path)
    first.acquire(None)
    with pytest.raises(StoreBusy):
        second.acquire(0)
    pid = os.fork()
    if pid == 0:
        first.forget()
        second.forget()
        os._exit(open_descriptors(path))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    first.forget()
    second.close()
    for thread in threading.enumerate():
        if thread.name == "ledger-lock":
            thread.join()


def test_a_lock_that_was_never_taken_closes(path: Path) -> None:
    """Closing and forgetting an unused lock does nothing."""
    lock = SideLock(path)
    lock.close()
    lock.forget()
    assert not path.exists()
