"""What a long history costs: appends beside it, replay of it, its size on disk."""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.calls import opened
from ledger.events import Event, MessageRecorded, encode
from ledger.ids import Clock
from ledger.replay import replay_rows
from ledger.store.port import Append, Store
from ledger.store.urls import open_store

BATCH = 500
REPLAYS = 3


def filled(store: Store, session_id: str, events: int) -> None:
    """Record so many events in one session."""
    clock = Clock()
    for start in range(0, events, BATCH):
        drafts = tuple(encode(_message(clock, session_id, n)) for n in range(start, min(start + BATCH, events)))
        store.append(Append(session_id=session_id, drafts=drafts))


def _message(clock: Clock, session_id: str, number: int) -> Event:
    body = MessageRecorded(
        role="user", provider="openai", message={"role": "user", "content": f"{number} " + "x" * 200}
    )
    return Event(session_id=session_id, event_id=clock.new_id(), recorded_at=clock.stamp(), body=body)


def appenders(store: Store, session_id: str, threads: int, each: int) -> float:
    """Append from several threads to one session; returns seconds an append."""
    clock = Clock()

    def work() -> None:
        for number in range(each):
            store.append(Append(session_id=session_id, drafts=(encode(_message(clock, session_id, number)),)))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    wall = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return (time.perf_counter() - wall) / (threads * each)


def append_cost(folder: Path, rounds: int) -> dict[str, Any]:
    """
    Compare appends to a session of 20,000 events with appends to one of 200, 1 and 20 callers.

    https://github.com/google/adk-js/pull/831 is the report: convoys of 150 s, because each append read the history.
    """
    store = open_store(f"sqlite:///{folder}/append.db", create=True)
    sizes = {"short": 200, "long": 20_000}
    for name, events in sizes.items():
        filled(store, name, events)
    found: dict[str, Any] = {}
    for callers, each in ((1, 100), (20, 20)):
        pairs = [[appenders(store, name, callers, each) for name in sizes] for _ in range(rounds)]
        found[f"{callers}Callers"] = {
            "microsecondsAt200": round(median(short for short, _ in pairs) * 1e6),
            "microsecondsAt20000": round(median(long for _, long in pairs) * 1e6),
            "ratio": round(median(long / short for short, long in pairs), 2),
        }
    store.close()
    return found


def replay_child(path: str) -> None:
    """Replay a session; prints how much the memory grew behind its first tenth, and seconds beside a raw reading."""
    store = open_store(f"sqlite:///{path}", create=False, read_only=True)
    count, early = 0, 0
    for _ in replay_rows(store, "s"):
        count += 1
        if count == 10_000:
            early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - early
    raw = sqlite3.connect(path)
    pairs = []
    for _ in range(REPLAYS):  # in turns, both with warm pages
        begun = time.perf_counter()
        rows = sum(1 for (record,) in raw.execute("SELECT record FROM event ORDER BY position") if json.loads(record))
        between = time.perf_counter()
        deque(replay_rows(store, "s"), maxlen=0)
        pairs.append(((between - begun) / rows, (time.perf_counter() - between) / count))
    print(json.dumps({"events": count, "secondsAnEvent": pairs, "grownKiB": grown}))


def replay(folder: Path, events: int) -> dict[str, Any]:
    """Compare replay with a raw SELECT and JSON decode of the same rows, in a process of its own."""
    path = folder / "replay.db"
    store = open_store(f"sqlite:///{path}", create=True)
    filled(store, "s", events)
    store.close()
    code = f"from benchmarks.histories import replay_child; replay_child({str(path)!r})"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    found = json.loads(ran.stdout)
    pairs = found["secondsAnEvent"]
    return {
        "events": found["events"],
        "eventsPerSecond": round(1 / median(ours for _, ours in pairs)),
        "ratioToRawDecode": round(median(raw / ours for raw, ours in pairs), 3),
        "memoryGrownMiB": round(found["grownKiB"] / 1024, 1),
    }


def size_on_disk(folder: Path) -> dict[str, Any]:
    """
    Compare the database with its payloads (calls with 20 KB results), and replay of 10 times more.

    https://github.com/google/adk-python/issues/7102 and https://github.com/openai/codex/issues/38349 are the reports:
    each checkpoint held all earlier results, and a resume took the history in twice.
    """
    result = "y" * 20_000
    timed: dict[int, tuple[float, float]] = {}
    sizes: dict[int, float] = {}
    for calls in (200, 2_000):
        path = folder / f"size-{calls}.db"
        with opened(path) as ledger:
            ledger.tool("big", effect="read")(_big)
            session = ledger.session("s")
            for _ in range(calls):
                session.call("big", {"text": result})
            timed[calls] = _replayed(ledger)
        sizes[calls] = path.stat().st_size / (calls * len(result) * 2)
    return {
        "databaseToPayload": round(sizes[2_000], 3),
        "replayTimeRatio2000to200": round(timed[2_000][1] / timed[200][1], 1),
        "firstPageSeconds": round(timed[2_000][0], 3),
    }


def _big(text: str) -> str:
    """Return what was given."""
    return text


def _replayed(ledger: Any) -> tuple[float, float]:
    """Return the seconds to the first page and to the end: medians, the first replay left out."""
    found = [_once(ledger) for _ in range(REPLAYS + 1)][1:]
    return median(first for first, _ in found), median(whole for _, whole in found)


def _once(ledger: Any) -> tuple[float, float]:
    wall = time.perf_counter()
    rows = replay_rows(ledger.reader, "s")
    for _ in range(100):
        next(rows, None)
    first = time.perf_counter() - wall
    for _ in rows:
        pass
    return first, time.perf_counter() - wall
