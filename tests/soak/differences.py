"""
Thousands of schemas, changed by chance: no verdict, proof, witness or counterexample may be contradicted by a value.

    python -m tests.soak.differences                        20,000 pairs, some minutes
    python -m tests.soak.differences --pairs 200000 --seed 7

Prints what was seen. Ends with 1 where a promise was broken; the seed of the pair makes the same pair again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from tests.catalog.diff.fuzz import Tally, annotated, compare


def main() -> int:
    """Compare and count."""
    options = argparse.ArgumentParser(prog="python -m tests.soak.differences", description="Differences by chance.")
    options.add_argument("--pairs", type=int, default=20_000, help="pairs of schemas (default 20,000)")
    options.add_argument("--seed", type=int, default=0, help="the first seed (default 0)")
    asked = options.parse_args()
    tally, begun = Tally(), time.monotonic()
    for done, seed in enumerate(range(asked.seed, asked.seed + asked.pairs), 1):
        compare(seed, tally)
        annotated(seed, tally)
        if done % 1_000 == 0:
            sys.stderr.write(f"{done:7} pairs, {tally.values} values, {len(tally.broken)} broken\n")
    found = {
        "pairs": tally.pairs,
        "values": tally.values,
        "verdicts": tally.verdicts,
        "relations": tally.relations,
        "counterexamples": tally.shown,
        "broken": len(tally.broken),
        "seconds": round(time.monotonic() - begun, 1),
    }
    sys.stdout.write(json.dumps(found, indent=2) + "\n" + "\n\n".join(tally.broken[:10]))
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
