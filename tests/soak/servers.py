"""
PostgreSQL under fire, in full numbers: lines cut behind commits and before requests, a server stopped at once, tails.

    python -m tests.soak.servers                 200 cuts, 20 immediate stops, 20 rounds of 8 writers and a tail

Prints the figures, and writes them to benchmarks/results/servers.json with the commit that was measured. Ends with 1
where a promise was broken: what was acknowledged is there once, at its place, and a tail gives each event once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ledger.store.port import EventFilter
from ledger.store.urls import open_store
from tests.helpers import postgres, server_place
from tests.soak.__main__ import RESULT as KILLS_RESULT
from tests.soak.__main__ import about, say
from tests.store.postgres.test_stops import stopped
from tests.store.postgres.test_watermark import tailing
from tests.store.postgres.test_writer import check, storm

RESULT = KILLS_RESULT.with_name("servers.json")


def cuts(wanted: int, seed: int) -> dict[str, int]:
    """Cut so many lines under four writers."""
    done = acknowledged = 0
    while done < wanted:
        seed += 1
        with postgres.database() as url:
            told, count = storm(url, seed=seed, appends=100)
            check(url, told)
        done, acknowledged = done + count, acknowledged + len(told)
        say(f"{done:4} lines cut, {acknowledged} appends acknowledged and there once")
    return {"cuts": done, "acknowledged": acknowledged}


def stops(wanted: int, seed: int) -> dict[str, int]:
    """Stop a server of our own, which syncs, at once under four writers, and start it again."""
    with postgres.own(quick=False) as (url, data):
        told = stopped(url, data, stops=wanted, seed=seed, most=300, tell=_stopped)
        check(url, told)
    return {"stops": wanted, "acknowledged": len(told)}


def _stopped(number: int, acknowledged: int) -> None:
    say(f"{number:4} stops, {acknowledged} appends acknowledged")


def tails(rounds: int) -> dict[str, int]:
    """Follow eight writers; count what a reader by the largest position misses."""
    events = missed = naive = 0
    for _ in range(rounds):
        with postgres.database() as url:
            careless, careful = tailing(url, 100)
            store = open_store(url, create=False)
            stored = [event.position for event in store.events(EventFilter(), limit=100_000)]
            store.close()
        events += len(stored)
        missed += len(set(stored) - set(careful))
        naive += len(set(stored) - set(careless))
        assert careful == stored
    return {"events": events, "missed": missed, "missedByANaiveReader": naive}


def main() -> int:
    """Run, print, write."""
    options = argparse.ArgumentParser(prog="python -m tests.soak.servers", description="Cut, stop, follow, count.")
    options.add_argument("--cuts", type=int, default=200)
    options.add_argument("--stops", type=int, default=20)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--out", type=Path, default=RESULT)
    asked = options.parse_args()
    steps: dict[str, Callable[[], Any]] = {
        "cuts": lambda: cuts(asked.cuts, asked.seed),
        "stops": lambda: stops(asked.stops, asked.seed),
        "tails": lambda: tails(asked.rounds),
    }
    with server_place.announced():
        found = {name: step() for name, step in steps.items()}
    told = {**about(asked.seed), **found}
    asked.out.write_text(json.dumps(told, indent=2) + "\n")
    sys.stdout.write(json.dumps(told, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    raise SystemExit(main())
