"""The raw floor: what the same durability costs with the standard library's sqlite3 and nothing else."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

EVENTS_BEFORE, EVENTS_AFTER = 4, 1
"""Five chained events a call, in two commits: up to the start, and the outcome."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of wall clock and of CPU (this process) for so many calls."""

    calls: int
    wall: float
    cpu: float

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.calls / self.wall

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.calls + other.calls, self.wall + other.wall, self.cpu + other.cpu)


class Floor:
    """WAL + synchronous=FULL, one table, a digest chain, records of the given sizes (bytes)."""

    def __init__(self, path: Path, sizes: tuple[int, ...]) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA wal_autocheckpoint=0")
        self._db.execute(
            "CREATE TABLE event (position INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, sequence INTEGER,"
            " record BLOB, digest BLOB, UNIQUE (session, sequence))"
        )
        self._records = [b"x" * size for size in sizes]
        self._digest = b""
        self._sequence = 0

    def run(self, calls: int) -> Measured:
        """Record so many calls."""
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(calls):
            self._commit(self._records[:EVENTS_BEFORE])
            self._commit(self._records[EVENTS_BEFORE:])
        return Measured(calls, time.perf_counter() - wall, time.process_time() - cpu)

    def _commit(self, records: list[bytes]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        for record in records:
            self._sequence += 1
            self._digest = hashlib.sha256(self._digest + record).digest()
            row = ("s", self._sequence, record, self._digest)
            self._db.execute("INSERT INTO event (session, sequence, record, digest) VALUES (?, ?, ?, ?)", row)
        self._db.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
