"""One scenario killed at every point of every process that works on it, recovered, and resumed once more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

from ledger.testing import crash
from tests.crash import checks
from tests.crash.forking import run
from tests.crash.host import answer
from tests.crash.scenarios import SCENARIOS, Scenario
from tests.crash.world import Kill, What, World

MOMENTS: Final[list[tuple[What, crash.When]]] = [
    ("append", "before"),
    ("append", "after"),
    ("effect", "before"),
    ("effect", "after"),
]
FIRST: Final = [Kill(what, when, nth) for what, when in MOMENTS for nth in range(1, 5 if what == "append" else 2)]
"""What is tried where not all points are taken: most processes come to most of them."""


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


def killed(folder: Path, ground: World, name: str, most: int | None = None) -> Iterator[Verdict]:
    """
    Kill the scenario at every point, one after the other, and say what came of each.

    `ground` is what it begins with; `most`: take so many points of one of its processes, always the same.
    """
    scenario = SCENARIOS[name]
    mortal = range(scenario.crashed is not None, len(scenario.jobs))
    if most is not None:
        mortal = range(only := Random(name).choice(mortal), only + 1)
    with ExitStack() as copies:
        ready = ground
        for number, job in enumerate(scenario.jobs[: mortal.stop]):
            kill = None if number else scenario.crashed
            if number in mortal:
                for verdict in _everywhere(folder / f"{name}, {number}", ready, scenario, number, most):
                    verdict.point = f"{name}, process {number + 1}, {verdict.point}"
                    yield verdict
            if number + 1 < mortal.stop:
                ready = ready if number else copies.enter_context(ground.copy(folder / name))
                run(partial(job, replace(ready, kill=kill), scenario.script), ready.folder)


def _everywhere(folder: Path, ready: World, scenario: Scenario, number: int, most: int | None) -> Iterator[Verdict]:
    """Kill one of the processes at its points, each time in a copy of what it begins with."""
    if most is None:
        with ready.copy(folder) as whole:
            points = _points(whole, partial(scenario.jobs[number], whole, scenario.script), scenario.spare)
    else:
        points = Random(folder.name).sample(FIRST, len(FIRST))
    verdicts = filter(None, (_in_a_copy(folder, ready, scenario, number, kill) for kill in points))
    yield from islice(verdicts, most)


def _in_a_copy(folder: Path, ready: World, scenario: Scenario, number: int, kill: Kill) -> Verdict | None:
    with ready.copy(folder.with_name(f"{folder.name}, {kill}")) as there:
        return _at(there, scenario, number, kill)


def _points(world: World, job: Callable[[], None], spare: int) -> list[Kill]:
    """Return all the points at which a process can be killed, counted by one that is not; `spare` appends more."""
    notes = world.folder / "counts"

    def work() -> None:
        job()
        notes.write_text(json.dumps(world.counts()))

    run(work, world.folder)
    counts = json.loads(notes.read_text())
    counts["append"] += spare
    return [Kill(what, when, nth) for what, when in MOMENTS for nth in range(1, counts[what] + 1)]


def _at(there: World, scenario: Scenario, number: int, kill: Kill) -> Verdict | None:
    """Kill one process at one point; None where it never comes to that point."""
    jobs = scenario.jobs[number:]
    if run(partial(jobs[0], replace(there, kill=kill), scenario.script), there.folder):
        return None

    def recover() -> None:
        for job in jobs:
            run(partial(job, there, scenario.script), there.folder)

    last = next(job for job in reversed(scenario.jobs) if job is not answer)
    return after_a_crash(there, str(kill), recover, partial(last, there, scenario.script))


def after_a_crash(world: World, point: str, recover: Callable[[], None], resume: Callable[[], None]) -> Verdict:
    """Let `recover` run processes to the session's end, `resume` in one more; check the promises in between."""
    verdict = Verdict(point)
    world.place.quiet()
    crashed = checks.look(world)
    verdict.problems += crashed.problems
    verdict.acknowledged = len(checks.acknowledged(world))
    recover()
    recovered = checks.look(world)
    verdict.problems += [*recovered.problems, *checks.settled(crashed, recovered), *checks.told(world)]
    run(resume, world.folder)
    again = checks.look(world)
    verdict.problems += [*again.problems, *checks.unchanged(recovered, again), *checks.told(world)]
    _count(verdict, crashed, again)
    return verdict


def _count(verdict: Verdict, crashed: checks.Snapshot, again: checks.Snapshot) -> None:
    verdict.doubts = len(crashed.doubts)
    ends: list[Any] = [again.calls[call_id].state for call_id in crashed.doubts]
    verdict.queued = ends.count("needs-review")
    verdict.settled = ends.count("succeeded")
