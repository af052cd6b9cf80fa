"""Programs that tests start as processes of their own: `python -m tests.store.children NAME ARGUMENTS…`."""
# ruff: noqa: T201 - they talk to their test

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from ledger.errors import LedgerError
from ledger.store.port import EventFilter, Take
from ledger.store.urls import open_store
from ledger.testing.contract.building import add

ROOT = Path(__file__).parents[2]


def start(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a program of this module."""
    command = [sys.executable, "-m", "tests.store.children", name, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


def run(name: str, *arguments: object) -> list[str]:
    """Run a program of this module to its good end; return its lines."""
    with start(name, *arguments) as process:
        output, _ = process.communicate()
    assert process.returncode == 0, output
    return output.splitlines()


def append(url: str, session_id: str, prefix: str, count: str) -> None:
    """Append so many events, and print the sequence of each as it is acknowledged."""
    store = open_store(url, create=True)
    for number in range(int(count)):
        print(add(store, session_id, f"{prefix}{number}").sequences[0], flush=True)
    store.close()


def append_and_die(url: str, session_id: str, prefix: str) -> None:
    """Append and print until killed; the last line read says what was acknowledged."""
    store = open_store(url, create=True)
    number = 0
    while True:
        add(store, session_id, f"{prefix}{number}", f"{prefix}{number}b")
        print(number, flush=True)
        number += 1


def audit(url: str) -> None:
    """Read everything again and again, until a line comes in; print what went wrong."""
    stop = threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        stop.set()

    threading.Thread(target=listen, daemon=True).start()
    store = open_store(url, create=False, read_only=True)
    rounds = 0
    while not stop.is_set():
        after = 0
        while page := store.events(EventFilter(), after=after, limit=50):
            assert [event.position for event in page] == list(range(after + 1, after + 1 + len(page)))
            after = page[-1].position
        rounds += 1
    store.close()
    print(rounds)


def hold(url: str) -> None:
    """Take the writers' lock, say so, and hold it until a line comes in."""
    from ledger.store.sqlite.files import Files
    from ledger.store.sqlite.lock import SideLock
    from ledger.store.urls import sqlite_path

    with SideLock(Files(sqlite_path(url)).lock).held(None):
        print(os.getpid(), flush=True)
        sys.stdin.readline()


def open_once(url: str) -> None:
    """Open, say so; wait for a line, so that several start at once."""
    sys.stdin.readline()
    store = open_store(url, create=True, migrate="auto")
    add(store, f"s{os.getpid()}", "a")
    store.close()


def open_in_four_processes(url: str) -> None:
    """Open a ledger in four forked processes at once."""
    import ledger.store.migrate  # noqa: F401 - loaded once, for all of them

    gate, go = os.pipe()
    pids = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(go)
                os.read(gate, 1)  # ends when the parent closes it
                store = open_store(url, create=True)
                add(store, f"p{number}", "a")
                store.close()
                code = 0
            finally:
                os._exit(code)
        pids.append(pid)
    os.close(go)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * 4


def open_four_times(*urls: str) -> None:
    """Open new ledgers in four threads at once: all the same one, or each thread one of its own."""
    barrier = threading.Barrier(4)
    faults: list[BaseException] = []

    def work(number: int) -> None:
        barrier.wait()
        try:
            store = open_store(urls[number % len(urls)], create=True)
            add(store, f"t{number}", "a")
            store.close()
        except BaseException as fault:
            faults.append(fault)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def loaded(url: str) -> None:
    """Write to and read from a ledger that is up to date; print the heavy modules that were loaded for it."""
    store = open_store(url, create=True)
    add(store, "s1", "loaded", take=Take(owner="me", token=1, seconds=30))
    list(store.read("s1", limit=10))
    store.close()
    heavy = ("sqlalchemy", "sqlmodel", "alembic", "pydantic", "jsonschema", "click")
    print(" ".join(name for name in heavy if name in sys.modules))


def take(url: str, session_id: str, owner: str) -> None:
    """Try to take a session's lease; print the answer's class."""
    store = open_store(url, create=False)
    try:
        print(add(store, session_id, owner, take=Take(owner=owner, token=1, seconds=30)).head.owner)
    except LedgerError as refusal:
        print(type(refusal).__name__)
    store.close()


PROGRAMS: dict[str, Callable[..., None]] = {
    program.__name__: program
    for program in (
        append,
        append_and_die,
        audit,
        hold,
        loaded,
        open_four_times,
        open_in_four_processes,
        open_once,
        take,
    )
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
