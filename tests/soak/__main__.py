"""
The long run: every kill point and hundreds of random kills on each back end, counted; every real transcript
(LEDGER_CORPUS); and 10,000 round trips for each operation of an upcast.

    python -m tests.soak                     the matrix, 320 random kills on SQLite and 100 on PostgreSQL
    python -m tests.soak --kills 2000 --server-kills 500 --seed 7

Prints the figures, and writes them to benchmarks/results/soak.json together with the commit that was measured. Ends
with 1 where a promise was broken; each case is named, and its seed makes the same script again (a random moment is
random all the same: the machine decides where a process is after so many milliseconds).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ledger.version import VERSION
from tests.crash.figures import Figures
from tests.crash.places import BACKENDS, Backend
from tests.crash.scenarios import SCENARIOS
from tests.crash.server import Killers, Request
from tests.helpers import server_place
from tests.soak import upcasts
from tests.soak.transcripts import counted

RESULT = Path(__file__).parents[2] / "benchmarks/results/soak.json"
KILLS_A_SEED = 40


def asked_of(backend: Backend, kills: int, seed: int) -> list[Request]:
    """Return what is asked of a back end: every kill point, and so many random kills."""
    matrix: list[Request] = [{"backend": backend, "scenario": name} for name in SCENARIOS]
    return matrix + [
        {"backend": backend, "seed": seed + number, "kills": min(KILLS_A_SEED, kills - number * KILLS_A_SEED)}
        for number in range(-(-kills // KILLS_A_SEED))
    ]


def killed(requests: list[Request]) -> dict[Backend, Figures]:
    """Do all requests, both back ends beside each other, and count; every broken promise is told at once."""
    figures, killers = {backend: Figures() for backend in BACKENDS}, Killers(requests)
    try:
        for request in requests:
            verdicts = killers.verdicts(**request)
            for verdict in verdicts:
                figures[request["backend"]].count(verdict, at_random="seed" in request)
                for problem in verdict.problems:
                    say(f"BROKEN on {request['backend']}: {verdict.point}: {problem}")
            what = request.get("scenario") or "seed {seed}".format(**request)
            say(f"{len(verdicts):4} kills on {request['backend']}: {what}")
    finally:
        killers.close()
    return figures


def read_transcripts(broken: list[str]) -> dict[str, Any]:
    """Take every real transcript on all its journeys, where there are some; return what was counted."""
    corpus = os.environ.get("LEDGER_CORPUS")
    if not corpus:
        return {}
    try:
        return {"transcripts": counted(Path(corpus))}
    except AssertionError as error:
        traceback.print_exc()
        broken.append(f"transcripts: {error}")
        return {}


def say(line: str) -> None:
    """Tell a person how it goes."""
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Run, print, write."""
    options = argparse.ArgumentParser(prog="python -m tests.soak", description="Kill, recover, count.")
    options.add_argument("--kills", type=int, default=320, help="random kills on SQLite (default 320)")
    options.add_argument("--server-kills", type=int, default=100, help="random kills on PostgreSQL (default 100)")
    options.add_argument("--seed", type=int, default=int(time.time()), help="the first seed (default: the time)")
    options.add_argument("--out", type=Path, default=RESULT, help="where the figures go")
    asked = options.parse_args()
    requests = asked_of("sqlite", asked.kills, asked.seed) + asked_of("postgres", asked.server_kills, asked.seed)
    measured, begun = about(asked.seed), time.monotonic()
    with server_place.announced():
        figures = killed(requests)
    broken = [f"{backend}: {problem}" for backend, counted in figures.items() for problem in counted.problems]
    transcripts = read_transcripts(broken)
    carried = upcasts.counted(asked.seed)
    broken.extend(carried["broken"])
    result = {
        **measured,
        "seconds": round(time.monotonic() - begun, 1),
        "kills": {backend: counted.values for backend, counted in figures.items()},
        **transcripts,
        "upcasts": carried,
        "broken": broken,
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(result, indent=2) + "\n")
    sys.stdout.write("".join(f"{name.replace('_', ' '):34} {value}\n" for name, value in result.items()))
    return 1 if broken else 0


def about(seed: int) -> dict[str, Any]:
    """Return what was measured, when and on what."""
    return {
        "commit": git("rev-parse", "HEAD"),
        "changed_since": bool(git("status", "--porcelain", "--", "ledger", "tests/crash", "tests/helpers")),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "ledger": VERSION,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "seed": seed,
    }


def git(*words: str) -> str:
    """Return what git says, nothing where there is none."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=RESULT.parents[2])
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
