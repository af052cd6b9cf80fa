"""Where the PostgreSQL server of a test run is; light, since every run loads it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.helpers import memory

FOLDER = "LEDGER_TEST_POSTGRES_FOLDER"
ROOM = 2_000_000_000
"""Bytes: a log of some hundred megabytes, and 8 for each database."""


def announce() -> None:
    """Say where the run's server will be; called by the process that all workers descend from."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="ledger-pg-", dir=memory.folder(ROOM))
        Path(os.environ[FOLDER], "owner").write_text(str(os.getpid()))


def finish() -> None:
    """Stop the server, if any test needed it; only the process that announced it does."""
    folder = Path(os.environ.get(FOLDER, ""))
    with suppress(OSError):
        if (folder / "owner").read_text() == str(os.getpid()):
            stop(folder / "data")
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def announced() -> Iterator[None]:
    """Do both around a block."""
    announce()
    try:
        yield
    finally:
        finish()


def stop(data: Path, signal_: int = signal.SIGQUIT) -> None:
    """End a server at once, if there is one."""
    with suppress(OSError):
        os.kill(int((data / "postmaster.pid").read_text().splitlines()[0]), signal_)
