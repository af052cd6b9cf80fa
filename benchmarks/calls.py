"""Whole calls through the public API against the floor: one session, with a policy, several sessions at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.floor import Floor, Measured
from ledger import Allow, Ledger

TEXT = "x" * 200
SESSIONS = (1, 8, 32)
SLICE = 100
"""Calls of each side in turn: noise of the machine hits both alike."""


def opened(path: Path, *, policy: bool = False) -> Ledger:
    """A ledger with one tool that does nothing."""
    ledger = Ledger.open(f"sqlite:///{path}")

    @ledger.tool("noop", effect="write")
    def noop(text: str) -> dict[str, Any]:
        """Do nothing."""
        return {"ok": True, "text": text}

    if policy:
        ledger.authorize(_allow)
    return ledger


def _allow(_call: Any, _principal: Any) -> Allow:
    return Allow()


def run(session: Any, calls: int) -> Measured:
    """Make so many calls in one session."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(calls):
        session.call("noop", {"text": TEXT})
    return Measured(calls, time.perf_counter() - wall, time.process_time() - cpu)


def record_sizes(ledger: Ledger) -> tuple[int, ...]:
    """The sizes of the five records of one call, so that the floor writes the same payload."""
    rows = ledger.reader.read("warm", limit=100)
    return tuple(len(row.record) for row in rows if row.type.startswith("call."))[-5:]


def ratios(folder: Path, rounds: int) -> dict[str, Any]:
    """
    Compare the API with the floor, slice by slice.

    Returns calls/s, the median ratio with and without a policy, and microseconds of CPU a call above the floor's own.
    """
    with opened(folder / "plain.db") as plain, opened(folder / "policy.db", policy=True) as policy:
        for ledger in (plain, policy):
            run(ledger.session("warm"), SLICE)
        sizes = record_sizes(plain)
        sessions = plain.session("s"), policy.session("s")
        with Floor(folder / "floor.db", sizes) as floor:
            floor.run(SLICE)
            found = [(floor.run(SLICE), run(sessions[0], SLICE), run(sessions[1], SLICE)) for _ in range(rounds)]
    below, above, asked = (sum(column[1:], start=column[0]) for column in zip(*found, strict=True))
    return {
        "floorCallsPerSecond": round(below.rate),
        "callsPerSecond": round(above.rate),
        "callsPerSecondWithPolicy": round(asked.rate),
        "ratio": round(median(a.rate / f.rate for f, a, _ in found), 3),
        "ratioWithPolicy": round(median(p.rate / f.rate for f, _, p in found), 3),
        "cpuMicrosecondsAboveFloor": round((above.cpu - below.cpu) / above.calls * 1e6),
    }


def concurrent(path: Path, sessions: int, calls: int) -> Measured:
    """Make calls in so many sessions at once, one thread each, in a new ledger."""
    with opened(path) as ledger:
        handles = [ledger.session(f"s{n}") for n in range(sessions)]
        for handle in handles:
            handle.call("noop", {"text": TEXT})
        each = max(1, calls // sessions)
        threads = [threading.Thread(target=run, args=(handle, each)) for handle in handles]
        cpu, wall = time.process_time(), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Measured(each * sessions, time.perf_counter() - wall, time.process_time() - cpu)


def sessions_at_once(folder: Path, rounds: int, calls: int = 640) -> dict[str, Any]:
    """Compare 1, 8 and 32 sessions in one process, in turns; the ratio is the median of those of the rounds."""
    found: dict[int, list[Measured]] = {count: [] for count in SESSIONS}
    for nth in range(rounds):
        for count, measured in found.items():
            measured.append(concurrent(folder / f"many-{count}-{nth}.db", count, calls))
    ones = found[1]
    return {
        str(count): {
            "callsPerSecond": round(median(each.rate for each in measured)),
            "ratioToOne": round(median(each.rate / one.rate for each, one in zip(measured, ones, strict=True)), 2),
            "cpuMicroseconds": round(median(each.cpu / each.calls for each in measured) * 1e6),
        }
        for count, measured in found.items()
    }
