"""
A program that strace watches from outside: `python -m tests.faults.outside recorded|retried FOLDER`.

`recorded` says, line by line, what its disk saw. `retried` says of each try whether it was acknowledged or refused,
and at last which events are there.
"""
# ruff: noqa: T201 - it talks to its test

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from ledger.errors import StoreError
from ledger.store.urls import open_store
from ledger.testing.contract.building import add, everything, ids
from tests.faults.disk import Disk, Link, Sync, Truncate, Unlink, Write
from tests.faults.power import settings

T = TypeVar("T")

TRIES = 8


def recorded(folder: Path) -> None:
    """Make a ledger and append on a disk that remembers; print what it saw."""
    disk, names = Disk(folder), dict[int, str]()
    with settings(log=8 * 4120), disk.spinning():
        store = open_store(str(folder / "ledger.db"), create=True)
        for number in range(12):
            add(store, "s1", f"e{number}", f"f{number}")
        store.close()
    for step in disk.steps:
        match step:
            case Link(name, file):
                names[file] = name
            case Write(file, offset, data):
                print("write", names[file], len(data), offset)
            case Truncate(file, size):
                print("truncate", names[file], size)
            case Sync(file):
                print("sync", names[file])
            case Unlink(name):
                print("unlink", name)


def retried(folder: Path) -> None:
    """Append where the system reports errors now and then; what was refused is handed in again."""
    url = f"sqlite:///{folder}/ledger.db"
    store = _tried(lambda: open_store(url, create=False))
    for number in range(12):
        _tried(partial(add, store, "s1", f"e{number}"))
        print("acknowledged", flush=True)
    store.close()
    again = _tried(lambda: open_store(url, create=False, read_only=True))
    print(" ".join(_tried(lambda: ids(everything(again, "s1")))))
    again.close()


def _tried(work: Callable[[], T]) -> T:
    for _ in range(TRIES):
        try:
            return work()
        except StoreError:
            print("refused", flush=True)
    return work()


if __name__ == "__main__":
    {"recorded": recorded, "retried": retried}[sys.argv[1]](Path(sys.argv[2]))
