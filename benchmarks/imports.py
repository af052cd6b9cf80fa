"""Transcripts imported a second, against reading the same file and writing as many bytes with the standard library."""

from __future__ import annotations

import hashlib
import json
import resource
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any, Final

from ledger.importing import import_file
from ledger.store.urls import open_store

CALLS: Final = 10
"""Calls of a session, in turns of one; real ones have 9.5."""

TOGETHER: Final = 32
"""Sessions of one commit, as imports do it."""


def session(number: int) -> dict[str, Any]:
    """Return a session as chat logs have it, with ids of its own."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You help with orders. " * 40},
        {"role": "user", "content": f"Look at the orders of customer {number}."},
    ]
    for call in range(CALLS):
        given = f"call_{number}_{call}"
        arguments = json.dumps({"order": number * CALLS + call, "fields": ["state", "lines"]}, indent=1)
        asked = {"id": given, "type": "function", "function": {"name": "find_order", "arguments": arguments}}
        answer = json.dumps({"state": "open", "lines": "y" * 300})
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": given, "content": answer},
        ]
    messages.append({"role": "assistant", "content": "All of them are open."})
    return {"session": f"s{number}", "messages": messages}


def write(path: Path, sessions: int) -> None:
    """Write so many sessions, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(sessions):
            file.write(json.dumps(session(number)) + "\n")


def imported(path: Path, database: Path) -> float:
    """Import a file into a new ledger; return calls a second."""
    store = open_store(f"sqlite:///{database}", create=True)
    begun = time.perf_counter()
    report = import_file(path, store, format="openai")
    rate = sum(each.calls for each in report.sessions) / (time.perf_counter() - begun)
    store.close()
    return rate


def floor(path: Path, database: Path, sizes: tuple[int, ...]) -> float:
    """Read the same file and write as many records of these sizes, chained; return calls a second."""
    db = sqlite3.connect(database, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute(
        "CREATE TABLE event (position INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, sequence INTEGER,"
        " record BLOB, digest BLOB, UNIQUE (session, sequence))"
    )
    records = [b"x" * size for size in sizes]
    begun, sessions = time.perf_counter(), 0
    with path.open("rb") as file:
        for line in file:
            name = json.loads(line)["session"]
            if sessions % TOGETHER == 0:
                db.execute("BEGIN IMMEDIATE")
            digest, rows = b"", []
            for sequence, record in enumerate(records, 1):
                digest = hashlib.sha256(digest + record).digest()
                rows.append((name, sequence, record, digest))
            db.executemany("INSERT INTO event (session, sequence, record, digest) VALUES (?, ?, ?, ?)", rows)
            sessions += 1
            if sessions % TOGETHER == 0:
                db.execute("COMMIT")
    if db.in_transaction:
        db.execute("COMMIT")
    rate = sessions * CALLS / (time.perf_counter() - begun)
    db.close()
    return rate


def sizes_of(database: Path) -> tuple[int, ...]:
    """Return the sizes of one session's records."""
    store = open_store(f"sqlite:///{database}", create=False, read_only=True)
    sizes = tuple(len(row.record) for row in store.read("s0", limit=1000))
    store.close()
    return sizes


def memory_child(path: str, database: str) -> None:
    """Import and print the peak of this process' memory in KiB."""
    import_file(Path(path), f"sqlite:///{database}", format="openai")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def peak(path: Path, database: Path) -> int:
    """Return the peak memory of a process that imports a file, in KiB."""
    code = f"from benchmarks.imports import memory_child; memory_child({str(path)!r}, {str(database)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def imports(folder: Path, sessions: int, rounds: int) -> dict[str, Any]:
    """
    Import a file of so many sessions, floor and ledger in turn; and a file ten times as long, for its memory.

    Returns calls a second of both, the median ratio, and how much more memory ten times the file takes (MiB).
    """
    small, large = folder / "small.jsonl", folder / "large.jsonl"
    write(small, sessions)
    write(large, sessions * 10)
    imported(small, folder / "warm.db")
    sizes = sizes_of(folder / "warm.db")
    found = [
        (floor(small, folder / f"floor{n}.db", sizes), imported(small, folder / f"import{n}.db")) for n in range(rounds)
    ]
    grown = peak(large, folder / "large.db") - peak(small, folder / "small.db")
    return {
        "floorCallsPerSecond": round(median(below for below, _ in found)),
        "callsPerSecond": round(median(above for _, above in found)),
        "ratio": round(median(above / below for below, above in found), 3),
        "againCallsPerSecond": round(imported(small, folder / "warm.db")),
        "memoryGrownMiB": round(grown / 1024, 1),
    }
