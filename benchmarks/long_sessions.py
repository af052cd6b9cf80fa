"""A session of 10,000 calls: listed, audited and replayed, as commands and from Python, with the memory that takes."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.calls import opened, run
from ledger.replay import replay_rows
from ledger.store.urls import open_store

CALLS = 10_000
COMMANDS = {
    "sessionList": ("session", "list"),
    "auditCalls": ("audit", "calls", "--session", "s", "--format", "jsonl"),
    "replaySession": ("replay", "session", "s", "--format", "jsonl"),
}


def filled(path: Path, calls: int) -> Path:
    """Make a ledger whose session `s` has so many calls."""
    with opened(path) as ledger:
        run(ledger.session("s"), calls)
    return path


def spent(work: Callable[[], object]) -> dict[str, float]:
    """Do something in a forked process; return its seconds of wall clock and processor, and the most MiB it held."""
    begun = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError("what was to be measured has failed")
    return {
        "seconds": time.perf_counter() - begun,
        "cpuSeconds": used.ru_utime + used.ru_stime,
        "mib": used.ru_maxrss / 1024,
    }


def command(path: Path, *words: str) -> Callable[[], object]:
    """Return what turns a forked process into a command, its answer thrown away; the start of Python is part of it."""

    def work() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.execv(sys.executable, [sys.executable, "-m", "ledger", "--db", f"sqlite:///{path}", *words])

    return work


def compared(long: Callable[[], object], short: Callable[[], object], rounds: int) -> dict[str, float]:
    """Return the medians of what the long session takes, and the memory it takes beyond a short one."""
    pairs = [(spent(long), spent(short)) for _ in range(rounds)]
    return {
        "seconds": round(median(one["seconds"] for one, _ in pairs), 2),
        "cpuSeconds": round(median(one["cpuSeconds"] for one, _ in pairs), 2),
        "secondsOfOneCall": round(median(other["seconds"] for _, other in pairs), 2),
        "memoryAboveOneCallMiB": round(median(one["mib"] - other["mib"] for one, other in pairs), 1),
    }


def replayed(path: Path) -> Callable[[], object]:
    """Return what replays the session in Python, event by event."""
    return lambda: deque(replay_rows(open_store(f"sqlite:///{path}", create=False, read_only=True), "s"), maxlen=0)


def one_more(path: Path) -> Callable[[], object]:
    """Return what opens the ledger and makes one more call in the session."""

    def work() -> None:
        with opened(path) as ledger:
            run(ledger.session("s"), 1)

    return work


def long_sessions(folder: Path, rounds: int, calls: int = CALLS) -> dict[str, Any]:
    """Measure a session of 10,000 calls against one of a single call; every measurement is a process of its own."""
    long, short = folder / "long.db", folder / "short.db"
    spent(lambda: (filled(long, calls), filled(short, 1)))  # nothing stays open here
    found: dict[str, Any] = {"calls": calls}
    for name, words in COMMANDS.items():
        found[name] = compared(command(long, *words), command(short, *words), rounds)
    found["replayInPython"] = compared(replayed(long), replayed(short), rounds)
    found["oneMoreCall"] = compared(one_more(long), one_more(short), rounds)
    return found
