"""Several processes on one file: the ledger's lock against plain `busy_timeout` in the same run; audits beside it."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from ledger.errors import StoreBusy
from ledger.ids import Clock
from ledger.store.backup import backup
from ledger.store.port import Append, EventFilter
from ledger.store.sqlite.changes import Changes
from ledger.store.sqlite.files import BUSY_SECONDS, Files
from ledger.store.sqlite.lookups import About
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add, note

WRITERS = 8
RAW_RECORD = b"x" * 400

Job: TypeAlias = Callable[[Callable[[], bool]], dict[str, Any]]
"""What a process does until it is told that time is up; what it counted."""


def at_once(jobs: dict[str, Job], seconds: float) -> dict[str, dict[str, Any]]:
    """
    Run each job in a forked process, all from the same moment on, for so many seconds; return what each counted.

    Nothing is open when it forks, and what the jobs need is imported: nobody's start is measured.
    """
    pipes: dict[str, int] = {}
    gates: list[int] = []
    pids: list[int] = []
    for name, job in jobs.items():
        (said, say), (gate, go) = os.pipe(), os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            _child(job, say, gate, seconds)
        os.close(say)
        os.close(gate)
        pipes[name] = said
        pids.append(pid)
        gates.append(go)
    for said in pipes.values():
        os.read(said, 1)  # it is ready
    for go in gates:
        os.write(go, b".")
        os.close(go)
    found = {}
    for name, said in pipes.items():
        with os.fdopen(said, "rb") as told:
            found[name] = json.loads(told.read())
    for pid in pids:
        os.waitpid(pid, 0)
    return found


def _child(job: Job, say: int, gate: int, seconds: float) -> None:
    try:
        signal.alarm(int(seconds * 10) + 60)
        until: list[float] = []

        def over() -> bool:
            if not until:  # asked for the first time: everything is open
                os.write(say, b".")
                os.read(gate, 1)
                until.append(time.monotonic() + seconds)
            return time.monotonic() >= until[0]

        os.write(say, json.dumps(job(over)).encode())
    finally:
        os._exit(0)


# -- the two sides: the same rows, one event a commit


def timed(over: Callable[[], bool], between: float, commit: Callable[[int], bool]) -> dict[str, Any]:
    """Commit until time is up, with so many seconds of something else between; `commit` says whether it could."""
    waits, commits, busy = [], 0, 0
    while not over():
        begun = time.monotonic()
        done = commit(commits)
        waits.append(round((time.monotonic() - begun) * 1000, 2))
        commits, busy = commits + done, busy + (not done)
        if between:
            time.sleep(between)
    return {"commits": commits, "busy": busy, "waitsMs": waits}


def ledger_writer(path: Path, number: int, between: float = 0) -> Job:
    """Append an event at a time through the ledger's store, to a session of one's own."""

    def work(over: Callable[[], bool]) -> dict[str, Any]:
        store = open_store(str(path), create=False)
        add(store, f"w{number}", "first")

        def commit(nth: int) -> bool:
            try:
                add(store, f"w{number}", f"e{nth}")
            except StoreBusy:
                return False
            return True

        return timed(over, between, commit)

    return work


def plain_writer(path: Path, number: int, between: float = 0) -> Job:
    """Make the same rows in the same tables without the ledger's lock: BEGIN IMMEDIATE and a busy timeout of 5 s."""

    def work(over: Callable[[], bool]) -> dict[str, Any]:
        connection, clock, known = Files(path).connect("rw"), Clock(), set[About]()
        connection.execute("PRAGMA synchronous=FULL")
        session = f"w{number}"

        def commit(nth: int) -> bool:
            request = Append(session_id=session, drafts=(Story(session).event(note("e"), event_id=f"e{nth}"),))
            try:
                connection.execute("BEGIN IMMEDIATE")
                changes = Changes(connection, clock.now(), known)
                changes.apply(request, alone=True)
                connection.execute("COMMIT")
            except sqlite3.OperationalError:
                with suppress(sqlite3.OperationalError):
                    connection.execute("ROLLBACK")
                return False
            known.update(changes.looked_up.fresh)
            return True

        commit(-1)  # its session is there, as the other side's is
        return timed(over, between, commit)

    return work


def raw_writer(path: Path, number: int, *, locked: bool) -> Job:
    """Insert a row a commit by `sqlite3` alone, with a file lock in front or without: what a lock can do at best."""

    def work(over: Callable[[], bool]) -> dict[str, Any]:
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        connection.execute("PRAGMA synchronous=FULL")
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)

        def commit(nth: int) -> bool:
            try:
                if locked:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO event VALUES (?, ?, ?)", (number, nth, RAW_RECORD))
                connection.execute("COMMIT")
            except sqlite3.OperationalError:
                with suppress(sqlite3.OperationalError):
                    connection.execute("ROLLBACK")
                return False
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)
            return True

        return timed(over, 0, commit)

    return work


def raw(folder: Path, rounds: int, seconds: float, writers: int) -> dict[str, Any]:
    """Compare a file lock in front of SQLite's with plain `busy_timeout` for the smallest commit there is."""
    found: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for nth in range(rounds):
        for locked, sides in found.items():
            path = folder / f"raw-{nth}-{locked}.db"
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("CREATE TABLE event (session, sequence, record, PRIMARY KEY (session, sequence))")
            jobs = {f"w{n}": raw_writer(path, n, locked=locked) for n in range(writers)}
            sides.append(summed(at_once(jobs, seconds), seconds))
    ratios = [
        a["commitsPerSecond"] / (b["commitsPerSecond"] or 1) for a, b in zip(found[True], found[False], strict=True)
    ]
    return {"lock": middle(found[True]) | {"ratioToPlain": round(median(ratios), 2)}, "plain": middle(found[False])}


def auditor(path: Path) -> Job:
    """Read everything again and again in one long query, as an audit of a large ledger does."""

    def work(over: Callable[[], bool]) -> dict[str, Any]:
        store = open_store(str(path), create=False, read_only=True)
        audits, gaps, longest = 0, 0, 0.0
        while not over():
            begun, seen = time.monotonic(), 0
            reader: Any = store
            with reader._pool.snapshot():  # noqa: SLF001 - one snapshot for all pages: the longest that a log may have to wait
                while page := store.events(EventFilter(), after=seen, limit=1000):
                    gaps += [event.position for event in page] != list(range(seen + 1, seen + 1 + len(page)))
                    seen = page[-1].position
                select.select([], [], [], 0.05)  # and it takes its time over what it read
            audits += 1
            longest = max(longest, time.monotonic() - begun)
        store.close()
        return {"audits": audits, "gaps": gaps, "longestAuditMs": round(longest * 1000)}

    return work


def keeper(path: Path) -> Job:
    """Keep house beside the writers: copy the ledger, and check the copy, again and again."""

    def work(over: Callable[[], bool]) -> dict[str, Any]:
        copies, bad = 0, 0
        while not over():
            copy = path.with_name(f"copy-{copies}.db")
            bad += not backup(f"sqlite:///{path}", copy).health.sound
            copy.unlink()
            copies += 1
        return {"copies": copies, "badCopies": bad}

    return work


def made(folder: Path, name: str) -> tuple[Path, Path]:
    """Make two ledgers; in a process of its own, so that none is open here when it forks."""
    paths = folder / f"processes-{name}.db", folder / f"plain-{name}.db"
    pid = os.fork()
    if pid == 0:
        try:
            for path in paths:
                open_store(str(path), create=True).close()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    return paths


def summed(found: dict[str, dict[str, Any]], seconds: float) -> dict[str, Any]:
    """
    Return commits a second, the slowest writer against the mean, how long callers waited, how many were told "busy".

    `p99Ms` is that of the writer with the longest waits: one that hogs the file would hide the others.
    """
    commits = [each["commits"] for each in found.values()]
    waits = [sorted(each["waitsMs"]) for each in found.values()]
    mean = sum(commits) / len(commits)
    return {
        "commits": sum(commits),
        "commitsPerSecond": round(sum(commits) / seconds),
        "slowestToMean": round(min(commits) / mean, 2) if mean else 0.0,
        "p99Ms": max(own[len(own) * 99 // 100] for own in waits),
        "longestMs": max(own[-1] for own in waits),
        "busyErrors": sum(each["busy"] for each in found.values()),
    }


def middle(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the medians of some rounds; errors are added up, and the longest wait of all is told."""
    found = {name: round(median(each[name] for each in rounds), 2) for name in rounds[0]}
    found["longestMs"] = max(each["longestMs"] for each in rounds)
    return found | {"busyErrors": sum(each["busyErrors"] for each in rounds)}


def compared(folder: Path, rounds: int, seconds: float, writers: int, between: float) -> dict[str, Any]:
    """Let both sides write in turns, on new files each; the ratio is the median of those of the rounds."""
    ours: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    for nth in range(rounds):
        path, plain = made(folder, f"{between * 1000:g}-{nth}")
        for side, make, file in ((ours, ledger_writer, path), (theirs, plain_writer, plain)):
            side.append(summed(at_once({f"w{n}": make(file, n, between) for n in range(writers)}, seconds), seconds))
    ratios = [a["commitsPerSecond"] / (b["commitsPerSecond"] or 1) for a, b in zip(ours, theirs, strict=True)]
    return {"ledger": middle(ours) | {"ratioToPlain": round(median(ratios), 2)}, "plain": middle(theirs)}


def beside_audits(folder: Path, seconds: float, writers: int) -> dict[str, Any]:
    """Write through the ledger beside audits and backups."""
    path, _ = made(folder, "beside")
    jobs = {f"w{n}": ledger_writer(path, n) for n in range(writers)} | {"audit": auditor(path), "keeper": keeper(path)}
    found = at_once(jobs, seconds)
    counted = found.pop("audit") | found.pop("keeper")
    return summed(found, seconds) | counted


def processes(folder: Path, rounds: int, writers: int = WRITERS) -> dict[str, Any]:
    """
    Compare so many writers through the ledger with plain `busy_timeout`, and see them beside audits and backups.

    First each commits as fast as it can, for longer than the timeout; then each does something else for a millisecond
    between two commits, as the program around a ledger does.
    """
    at_full_speed = compared(folder, rounds, BUSY_SECONDS + 1, writers, 0)
    return at_full_speed | {
        "between1ms": compared(folder, rounds, 2, writers, 0.001),
        "between5ms": compared(folder, rounds, 2, writers, 0.005),
        "rawRows": raw(folder, rounds, BUSY_SECONDS + 1, writers),
        "besideAudits": beside_audits(folder, 3, writers),
    }
