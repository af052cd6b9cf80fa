"""
Power losses, failing disks and killed workers in full numbers; see tests/faults and tests/crash/storm.py.

    python -m tests.soak.faults                          3,000 images, every step failing, 300 and 100 kills: minutes
    python -m tests.soak.faults --images 10000 --seed 7

Prints the figures, and writes them to benchmarks/results/faults.json with the commit that was measured. Ends with 1
where a promise was broken, and where the weaker setting was not found out; each case is named.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.crash.places import Backend
from tests.crash.server import Killers, Request
from tests.faults.failing import WAYS, Life, everywhere
from tests.faults.power import lived, losses, scratch, settings
from tests.helpers import server_place
from tests.soak.__main__ import RESULT as KILLS_RESULT
from tests.soak.__main__ import about, say

RESULT = KILLS_RESULT.with_name("faults.json")
IMAGES_A_LIFE = 100
KILLS_A_STORM = 100
SESSIONS = 50


def power(images: int, seed: int, *, synchronous: str = "FULL") -> tuple[int, list[str]]:
    """Cut the power so many times, in one life after the other; return how many images were bad, and all problems."""
    bad, problems = 0, []
    for number in range(-(-images // IMAGES_A_LIFE)):
        with scratch() as folder, settings(synchronous=synchronous):
            life = lived(folder, seed + number, 8)
        for name, wrong in losses(life, min(IMAGES_A_LIFE, images - number * IMAGES_A_LIFE), seed + number):
            bad += bool(wrong)
            problems += [f"life {seed + number}, {name}: {problem}" for problem in wrong]
        say(f"{number + 1:4} lives under {synchronous}: {bad} bad images")
    return bad, problems


def failing(step: int) -> tuple[dict[str, int], list[str]]:
    """Let every step of a life fail, in every way; return how many faults were met, and all problems."""
    met: dict[str, int] = {}
    problems = []
    lives: tuple[Life, ...] = ("appends", "calls")
    for life in lives:
        for error, lasts in WAYS:
            name = f"{life}, {error} {lasts}"
            met[name] = 0
            for nth, wrong in everywhere(life, error, lasts, step=step):
                met[name] += 1
                problems += [f"{name}, step {nth}: {problem}" for problem in wrong]
            say(f"{met[name]:4} faults: {name}")
    return met, problems


def storms(backend: Backend, kills: int, seed: int) -> tuple[dict[str, int], list[str]]:
    """Kill so many workers; return what was counted, and all problems."""
    requests: list[Request] = [
        {"backend": backend, "storm": seed + done, "kills": min(KILLS_A_STORM, kills - done), "sessions": SESSIONS}
        for done in range(0, kills, KILLS_A_STORM)
    ]
    killers = Killers(requests)
    counted = {"kills": 0, "workers": 3, "sessions": SESSIONS, "acknowledgedEvents": 0, "inTheReviewQueue": 0}
    problems = []
    try:
        for request in requests:
            verdicts = killers.verdicts(**request)
            counted["kills"] += len(verdicts)
            for verdict in verdicts:
                counted["acknowledgedEvents"] += verdict.acknowledged
                counted["inTheReviewQueue"] += verdict.queued
                problems += [f"{backend}: {verdict.point}: {problem}" for problem in verdict.problems]
            say(f"{len(verdicts):4} kills of 3 workers on {SESSIONS} sessions on {backend}")
    finally:
        killers.close()
    counted["secondEffects"] = sum("second effect" in problem for problem in problems)
    return counted, problems


def main() -> int:
    """Run, print, write."""
    options = argparse.ArgumentParser(prog="python -m tests.soak.faults", description="Break what is under the ledger.")
    options.add_argument("--images", type=int, default=3000, help="power losses (default 3000)")
    options.add_argument("--kills", type=int, default=300, help="killed workers on SQLite (default 300)")
    options.add_argument("--server-kills", type=int, default=100, help="killed workers on PostgreSQL (default 100)")
    options.add_argument("--step", type=int, default=1, help="let every n-th step fail (default 1: each)")
    options.add_argument("--seed", type=int, default=int(time.time()), help="the first seed (default: the time)")
    options.add_argument("--out", type=Path, default=RESULT, help="where the figures go")
    asked = options.parse_args()
    measured, begun = about(asked.seed), time.monotonic()
    bad, broken = power(asked.images, asked.seed)
    weak, _ = power(max(60, asked.images // 20), asked.seed, synchronous="NORMAL")
    met, also = failing(asked.step)
    with server_place.announced():
        told = {
            "sqlite": storms("sqlite", asked.kills, asked.seed),
            "postgres": storms("postgres", asked.server_kills, asked.seed),
        }
    more = [problem for _, problems in told.values() for problem in problems]
    broken = [*broken, *also, *more] + ([] if weak else ["synchronous=NORMAL was not found out"])
    result: dict[str, Any] = {
        **measured,
        "seconds": round(time.monotonic() - begun, 1),
        "powerLosses": {"images": asked.images, "bad": bad},
        "powerLossesUnderNormal": {"images": max(60, asked.images // 20), "bad": weak},
        "faultsMet": met,
        "storm": {backend: counted for backend, (counted, _) in told.items()},
        "broken": broken,
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(result, indent=2) + "\n")
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
