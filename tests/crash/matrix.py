"""One scenario killed at every point of every process that works on it, recovered, and resumed once more."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from ledger.store.urls import open_store
from ledger.testing import crash
from tests.crash import checks
from tests.crash.forking import run
from tests.crash.host import answer
from tests.crash.scenarios import SCENARIOS, Scenario
from tests.crash.world import Kill, World, register

MOMENTS: Final[list[tuple[Literal["append", "effect"], crash.When]]] = [
    ("append", "before"),
    ("append", "after"),
    ("effect", "before"),
    ("effect", "after"),
]


@dataclass(slots=True)
class Verdict:
    """What came out of one kill point."""

    point: str
    problems: list[str] = field(default_factory=list)
    acknowledged: int = 0
    doubts: int = 0
    """Side-effecting calls that were started and had no outcome when the process died."""
    queued: int = 0
    """Those of them that a person is asked about after the recovery."""
    settled: int = 0
    """Those of them that reconcile, or the same idempotency key, settled."""


def template(folder: Path, *, published: bool) -> Path:
    """Make a ledger to start from: tables, and the tools' versions if wanted."""
    path = folder / ("published" if published else "empty")
    if not path.exists():
        path.mkdir()
        run(partial(_make, World(path), published=published), path)  # its libraries stay out of those that are forked
    return path


def _make(world: World, *, published: bool) -> None:
    open_store(world.url, create=True).close()
    if published:
        with world.open() as ledger:
            register(ledger, world)


def killed(folder: Path, name: str) -> Iterator[Verdict]:
    """Kill the scenario at every point, one after the other, and say what came of each."""
    scenario = SCENARIOS[name]
    ready = folder / name
    shutil.copytree(template(folder, published=scenario.published), ready)
    for number, job in enumerate(scenario.jobs):
        if number or scenario.crashed is None:
            for verdict in _everywhere(ready, scenario, number):
                verdict.point = f"{name}, process {number + 1}, {verdict.point}"
                yield verdict
        kill = None if number else scenario.crashed
        run(partial(job, World(ready, kill), scenario.script), ready)


def _everywhere(ready: Path, scenario: Scenario, number: int) -> Iterator[Verdict]:
    for what, when in MOMENTS:
        for nth in itertools.count(1):
            there = ready.with_name(f"{ready.name}, {number}, {when} {what} {nth}")
            shutil.copytree(ready, there)
            verdict = _at(there, scenario, number, Kill(what, when, nth))
            shutil.rmtree(there)
            if verdict is None:
                break
            yield verdict


def _at(there: Path, scenario: Scenario, number: int, kill: Kill) -> Verdict | None:
    """Kill one process at one point; None where it never comes to that point."""
    jobs = scenario.jobs[number:]
    if run(partial(jobs[0], World(there, kill), scenario.script), there):
        return None

    def recover() -> None:
        for job in jobs:
            run(partial(job, World(there), scenario.script), there)

    last = next(job for job in reversed(scenario.jobs) if job is not answer)
    return after_a_crash(there, str(kill), recover, partial(last, World(there), scenario.script))


def after_a_crash(there: Path, point: str, recover: Callable[[], None], resume: Callable[[], None]) -> Verdict:
    """Let `recover` run processes to the session's end, `resume` in one more; check the promises in between."""
    world, verdict = World(there), Verdict(point)
    crashed = checks.look(world)
    verdict.problems += crashed.problems
    verdict.acknowledged = len(checks.acknowledged(world))
    recover()
    recovered = checks.look(world)
    verdict.problems += [*recovered.problems, *checks.settled(crashed, recovered), *checks.told(world)]
    run(resume, there)
    again = checks.look(world)
    verdict.problems += [*again.problems, *checks.unchanged(recovered, again), *checks.told(world)]
    _count(verdict, crashed, again)
    return verdict


def _count(verdict: Verdict, crashed: checks.Snapshot, again: checks.Snapshot) -> None:
    verdict.doubts = len(crashed.doubts)
    ends: list[Any] = [again.calls[call_id].state for call_id in crashed.doubts]
    verdict.queued = ends.count("needs-review")
    verdict.settled = ends.count("succeeded")
