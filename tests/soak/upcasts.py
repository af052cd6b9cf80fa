"""
Round trips of every operation of an upcast, and proofs held to values by chance: in numbers, not in a slice.

    python -m tests.soak.upcasts             10,000 round trips for each operation, 4,000 wild upcasts
    python -m tests.soak.upcasts --trips 500 --claims 200 --seed 7

Ends with 1 where something was lost or a proof was contradicted. `python -m tests.soak` runs it too.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from ledger.catalog.steps import OPS
from tests.catalog.upcast.fuzz import Claims, claim
from tests.catalog.upcast.rounds import Rounds, play

TRIPS = 10_000
CLAIMS = 4_000
VALUES_A_SCHEMA = 20


def counted(seed: int, trips: int = TRIPS, claims: int = CLAIMS) -> dict[str, Any]:
    """Carry so many records with each operation and back, prove so many wild upcasts; return what was seen."""
    rounds, seen = Rounds(), Claims()
    for op in OPS:
        for number in range(-(-trips // VALUES_A_SCHEMA)):
            play(op, seed + number, VALUES_A_SCHEMA, rounds)
    for number in range(claims):
        claim(seed + number, seen)
    return {
        "schemas": rounds.schemas,
        "round_trips": rounds.carried,
        "lost": rounds.lost,
        "wild_upcasts": seen.pairs,
        "proofs": dict(sorted(seen.statuses.items())),
        "records_carried": seen.carried,
        "values_that_came_back": seen.came_back,
        "counterexamples": seen.counterexamples,
        "broken": rounds.broken + seen.broken,
    }


def main() -> int:
    """Run and print."""
    options = argparse.ArgumentParser(prog="python -m tests.soak.upcasts", description="Carry, come back, count.")
    options.add_argument("--trips", type=int, default=TRIPS, help="round trips for each operation")
    options.add_argument("--claims", type=int, default=CLAIMS, help="wild upcasts")
    options.add_argument("--seed", type=int, default=0, help="the first seed")
    asked = options.parse_args()
    found = counted(asked.seed, asked.trips, asked.claims)
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 1 if found["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
