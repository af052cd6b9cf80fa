"""The writers' lock: one side file, held around each transaction, so that writers queue in the kernel."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import StoreBusy, StoreUnavailable
from ledger.store.sqlite import door

_DIGITS = 20
_TRIES = 20
_PAUSE = 0.0002
"""Most locks are free again within milliseconds: looking a few times, for 12 ms in all, spares the thread that waits
in the kernel and its two switches (a quarter more commits a second from 8 processes)."""


class SideLock:
    """
    An exclusive lock between processes, and between the stores of one process; one thread at a time uses it.

    With plain `busy_timeout` one of 8 writers may keep the file while others wait for seconds, and fail; with this lock
    in front each gets its share and waits some ten milliseconds (docs/benchmarks.md).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1
        self._waiting: set[int] = set()

    def acquire(self, patience: float | None) -> None:
        """
        Take the lock; wait up to `patience` seconds (None: as long as it takes).

        Raises `StoreBusy` naming the holder, `StoreUnavailable` where the side file cannot be opened.
        """
        while True:
            if self._descriptor < 0:
                self._descriptor = self._open()
            if not door.try_lock(self._descriptor):
                self._wait(patience)
            if os.fstat(self._descriptor).st_nlink:
                break
            self.close()  # somebody took it for a leftover and removed it: others lock a new one
        door.write_start(self._descriptor, b"%-*d\n" % (_DIGITS, os.getpid()))

    def release(self) -> None:
        """Give the lock back."""
        door.unlock(self._descriptor)

    @contextmanager
    def held(self, patience: float | None) -> Iterator[None]:
        """Hold the lock for a block, and close the side file after it."""
        try:
            self.acquire(patience)
            try:
                yield
            finally:
                self.release()
        finally:
            self.close()

    def holder(self) -> int | None:
        """Return the pid that took the lock last, or None."""
        try:
            return int(self.path.read_bytes()[:_DIGITS])
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Close the side file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def forget(self) -> None:
        """Close every inherited descriptor in a forked child: the parent's lock must end with the parent."""
        for descriptor in self._waiting | {self._descriptor} - {-1}:
            os.close(descriptor)
        self._waiting = set()
        self._descriptor = -1

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise StoreUnavailable(f"cannot open the lock file {self.path}: {error.strerror}") from error

    def _wait(self, patience: float | None) -> None:
        if patience is None:
            door.wait_lock(self._descriptor)
            return
        for attempt in range(_TRIES):
            time.sleep(_PAUSE * (1 + attempt % 5))
            if door.try_lock(self._descriptor):
                return
        waiter = _Waiter(self._open(), self._waiting)
        if not waiter.within(patience):
            raise StoreBusy(
                f"process {self.holder()} has held the writers' lock {self.path} for more than {patience:g} s",
                hint="Wait for that process, or stop it.",
            )
        os.close(self._descriptor)
        self._descriptor = waiter.descriptor
        self._waiting.discard(waiter.descriptor)


class _Waiter:
    """
    A wait for the lock that can be given up: no system has a file lock with a timeout.

    A thread waits in the kernel, on a descriptor of its own: when it comes too late it closes that, and nobody else's
    lock with it.
    """

    def __init__(self, descriptor: int, open_descriptors: set[int]) -> None:
        self.descriptor = descriptor
        self._open = open_descriptors
        self._guard = threading.Lock()
        self._got = threading.Event()
        self._late = False
        self._open.add(descriptor)

    def within(self, patience: float) -> bool:
        threading.Thread(target=self._run, name="ledger-lock", daemon=True).start()
        self._got.wait(patience)
        with self._guard:
            self._late = not self._got.is_set()
            return not self._late

    def _run(self) -> None:
        door.wait_lock(self.descriptor)
        with self._guard:
            if self._late:
                self._open.discard(self.descriptor)
                os.close(self.descriptor)
            else:
                self._got.set()
