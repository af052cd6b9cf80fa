"""Several processes on one file: the ledger's lock against plain `busy_timeout` in the same run; audits beside it."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from ledger.errors import LedgerError
from ledger.ids import Clock
from ledger.store.backup import backup
from ledger.store.port import Append, EventFilter
from ledger.store.sqlite.changes import Changes
from ledger.store.sqlite.files import Files
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add, note

WRITERS = 8

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


def ledger_writer(path: Path, number: int) -> Job:
    """Append an event at a time through the ledger's store, to a session of one's own."""

    def work(over: Callable[[], bool]) -> dict[str, Any]:
        store = open_store(str(path), create=False)
        add(store, f"w{number}", "first")
        commits, busy, slowest = 0, 0, 0.0
        while not over():
            begun = time.monotonic()
            try:
                add(store, f"w{number}", f"e{commits}")
                commits += 1
            except LedgerError:
                busy += 1
            slowest = max(slowest, time.monotonic() - begun)
        return {"commits": commits, "busy": busy, "slowestMs": round(slowest * 1000, 1)}

    return work


def plain_writer(path: Path, number: int) -> Job:
    """Make the same rows in the same tables without the ledger's lock: BEGIN IMMEDIATE and a busy timeout of 5 s."""

    def work(over: Callable[[], bool]) -> dict[str, Any]:
        connection, clock = Files(path).connect("rw"), Clock()
        connection.execute("PRAGMA synchronous=FULL")
        commits, busy = 0, 0
        while not over():
            story = Story(f"w{number}")
            request = Append(session_id=f"w{number}", drafts=(story.event(note("e"), event_id=f"e{commits}"),))
            try:
                connection.execute("BEGIN IMMEDIATE")
                Changes(connection, clock.now()).apply(request, alone=True)
                connection.execute("COMMIT")
                commits += 1
            except sqlite3.OperationalError:
                busy += 1
                with suppress(sqlite3.OperationalError):
                    connection.execute("ROLLBACK")
        return {"commits": commits, "busy": busy}

    return work


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
        return {"audits": audits, "gaps": gaps, "longestMs": round(longest * 1000)}

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


def made(folder: Path) -> tuple[Path, Path]:
    """Make two ledgers; in a process of its own, so that none is open here when it forks."""
    paths = folder / "processes.db", folder / "plain-processes.db"
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
    """Return commits a second, the slowest writer against the mean, and how often a caller was told "busy"."""
    commits = [each["commits"] for each in found.values() if "commits" in each]
    mean = sum(commits) / len(commits)
    return {
        "commits": sum(commits),
        "commitsPerSecond": round(sum(commits) / seconds),
        "slowestToMean": round(min(commits) / mean, 2) if mean else 0.0,
        "busyErrors": sum(each.get("busy", 0) for each in found.values()),
    }


def processes(folder: Path, seconds: float, writers: int = WRITERS) -> dict[str, Any]:
    """Compare: so many writers through the ledger, with plain `busy_timeout`, and beside audits and backups."""
    path, plain = made(folder)
    ours = at_once({f"w{n}": ledger_writer(path, n) for n in range(writers)}, seconds)
    theirs = at_once({f"w{n}": plain_writer(plain, n) for n in range(writers)}, seconds)
    jobs = {f"w{n}": ledger_writer(path, writers + n) for n in range(writers)} | {"audit": auditor(path)}
    jobs["keeper"] = keeper(path)
    beside = at_once(jobs, seconds)
    counted = beside.pop("audit") | beside.pop("keeper")
    found = {"ledger": summed(ours, seconds), "plain": summed(theirs, seconds), "besideAudits": summed(beside, seconds)}
    found["besideAudits"] |= counted | {"slowestCommitMs": max(each["slowestMs"] for each in beside.values())}
    rate = found["plain"]["commitsPerSecond"]
    found["ledger"]["ratioToPlain"] = round(found["ledger"]["commitsPerSecond"] / rate, 1) if rate else None
    return found
