"""
The long run: every kill point and hundreds of random kills, counted; every real transcript (LEDGER_CORPUS); and 10,000
round trips for each operation of an upcast.

    python -m tests.soak                     the matrix and 320 random kills, as `make soak` does
    python -m tests.soak --kills 2000 --seed 7

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
from tests.crash.scenarios import SCENARIOS
from tests.crash.server import Killers, Request
from tests.soak import upcasts
from tests.soak.transcripts import counted

RESULT = Path(__file__).parents[2] / "benchmarks/results/soak.json"
KILLS_A_SEED = 40


def killed(requests: list[Request]) -> Figures:
    """Do all requests and count; every broken promise is told at once."""
    figures, killers = Figures(), Killers(requests)
    try:
        for request in requests:
            verdicts = killers.verdicts(**request)
            for verdict in verdicts:
                figures.count(verdict, at_random="seed" in request)
                for problem in verdict.problems:
                    say(f"BROKEN: {verdict.point}: {problem}")
            say(f"{len(verdicts):4} kills: {request.get('scenario') or 'seed {seed}'.format(**request)}")
    finally:
        killers.close()
    return figures


def read_transcripts(figures: Figures) -> dict[str, Any]:
    """Take every real transcript on all its journeys, where there are some; return what was counted."""
    corpus = os.environ.get("LEDGER_CORPUS")
    if not corpus:
        return {}
    try:
        return {"transcripts": counted(Path(corpus))}
    except AssertionError as error:
        traceback.print_exc()
        figures.problems.append(f"transcripts: {error}")
        return {}


def say(line: str) -> None:
    """Tell a person how it goes."""
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Run, print, write."""
    options = argparse.ArgumentParser(prog="python -m tests.soak", description="Kill, recover, count.")
    options.add_argument("--kills", type=int, default=320, help="random kills (default 320)")
    options.add_argument("--seed", type=int, default=int(time.time()), help="the first seed (default: the time)")
    options.add_argument("--out", type=Path, default=RESULT, help="where the figures go")
    asked = options.parse_args()
    requests: list[Request] = [{"scenario": name} for name in SCENARIOS]
    left, seed = asked.kills, asked.seed
    while left > 0:
        requests.append({"seed": seed, "kills": min(left, KILLS_A_SEED)})
        left, seed = left - KILLS_A_SEED, seed + 1
    measured, begun = about(asked.seed), time.monotonic()
    figures = killed(requests)
    transcripts = read_transcripts(figures)
    carried = upcasts.counted(asked.seed)
    figures.problems.extend(carried["broken"])
    result = {
        **measured,
        "seconds": round(time.monotonic() - begun, 1),
        **figures.values,
        **transcripts,
        "upcasts": carried,
        "broken": figures.problems,
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(result, indent=2) + "\n")
    sys.stdout.write("".join(f"{name.replace('_', ' '):34} {value}\n" for name, value in result.items()))
    return 1 if figures.problems else 0


def about(seed: int) -> dict[str, Any]:
    """Return what was measured, when and on what."""
    return {
        "commit": git("rev-parse", "HEAD"),
        "changed_since": bool(git("status", "--porcelain", "--", "ledger", "tests/crash")),
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
