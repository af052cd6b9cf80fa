"""Runs every benchmark, prints a table, and writes the figures with the machine's facts to benchmarks/results/."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import (
    audits,
    calls,
    catalogs,
    differences,
    histories,
    imports,
    long_sessions,
    plans,
    postgres,
    processes,
    syncs,
    upcasts,
)

RESULTS = Path(__file__).parent / "results" / "latest.json"

GOALS = {
    "differences.check": "< 1",
    "differences.diff": "< 1",
    "differences.prove": "< 1",
    "calls.ratio": ">= 0.4",
    "syncs.plain.perCall": "<= 2.0",
    "syncs.policy.perCall": "<= 3.0",
    "syncs.atOnce.perCall": "<= 0.2",
    "calls.cpuMicrosecondsAboveFloor": "<= 350",
    "append.1Callers.ratio": "<= 1.5",
    "append.20Callers.ratio": "<= 1.5",
    "postgres.1.ratio": ">= 0.5",
    "postgres.8.ratio": ">= 1.0",
    "postgres.32.ratio": ">= 1.6",
    "replay.ratioToRawDecode": ">= 0.4",
    "replay.memoryGrownMiB": "flat",
    "imports.callsPerSecond": ">= 2000",
    "imports.memoryGrownMiB": "flat",
    "sessions.32.ratioToOne": ">= 1.5",
    "processes.ledger.ratioToPlain": ">= 3",
    "processes.ledger.slowestToMean": ">= 0.5",
    "processes.ledger.busyErrors": "0",
    "processes.between1ms.ledger.slowestToMean": ">= 0.5",
    "processes.between1ms.ledger.busyErrors": "0",
    "processes.between5ms.ledger.slowestToMean": ">= 0.5",
    "processes.between5ms.ledger.busyErrors": "0",
    "processes.besideAudits.busyErrors": "0",
    "processes.besideAudits.slowestToMean": ">= 0.5",
    "longSession.sessionList.seconds": "< 0.5",
    "longSession.auditCalls.seconds": "< 0.5",
    "longSession.replayInPython.seconds": "< 1",
    "longSession.replayInPython.memoryAboveOneCallMiB": "< 60",
    "longSession.oneMoreCall.memoryAboveOneCallMiB": "< 60",
    "size.databaseToPayload": "<= 1.3",
    "size.replayTimeRatio2000to200": "<= 12",
    "size.firstPageSeconds": "< 0.3",
    "catalogs.checkSeconds": "< 1",
    "plans.history.planGrownMiB": "flat",
    "plans.history.allGrownMiB": "flat",
    "plans.deploy.someChanged.processorSeconds": "< 1",
    "upcasts.installed.certifiedPerSecond": ">= 45000",
    "upcasts.jsonschema.certifiedPerSecond": ">= 15000",
}
"""The figures that the project holds itself to."""


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip() or None,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": platform.system(),
        "cores": os.cpu_count(),
    }


def flat(found: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every figure with its dotted name."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from flat(value, f"{path}.{key}" if path else key)
    else:
        yield path, found


def main() -> None:
    """Run; `--quick` runs fewer rounds, `--json` prints the figures as JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer rounds")
    options.add_argument("--json", action="store_true", help="JSON on stdout instead of a table")
    options.add_argument("--folder", help="where to put the databases (default: beside this checkout)")
    chosen = options.parse_args()
    rounds = 3 if chosen.quick else 10
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=chosen.folder or Path.cwd()) as name:
        folder = Path(name)
        steps: dict[str, Callable[[], Any]] = {
            "calls": lambda: calls.ratios(folder, rounds),
            "syncs": lambda: syncs.syncs(folder),
            "sessions": lambda: calls.sessions_at_once(folder, rounds),
            "processes": lambda: processes.processes(folder, 3),
            "postgres": lambda: postgres.ratios(folder, rounds),
            "append": lambda: histories.append_cost(folder, rounds),
            "replay": lambda: histories.replay(folder, 100_000),
            "longSession": lambda: long_sessions.long_sessions(folder, rounds),
            "size": lambda: histories.size_on_disk(folder),
            "imports": lambda: imports.imports(folder, 100 * rounds, rounds),
            "differences": lambda: differences.differences(folder, rounds),
            "catalogs": lambda: catalogs.catalogs(folder, rounds),
            "upcasts": lambda: upcasts.upcasts(rounds),
            "plans": lambda: plans.plans(folder, rounds, 20_000 if chosen.quick else 1_000_000),
            "audits": lambda: audits.audits(folder, 100_000 if chosen.quick else 1_000_000),
        }
        found: dict[str, Any] = {"machine": machine()}
        for step, work in steps.items():
            print(f"{step} …", file=sys.stderr, flush=True)
            found[step] = work()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    if chosen.json:
        print(json.dumps(found, indent=2))
        return
    for figure, value in flat(found):
        print(f"{figure:<40} {value!s:>20}  {GOALS.get(figure, '')}")


if __name__ == "__main__":
    main()
