"""Hosts that loop over turns of a random script and are killed from outside at random moments, seeded."""

from __future__ import annotations

import itertools
import random
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.crash.forking import killed_after, run
from tests.crash.host import answer, converse, keep
from tests.crash.matrix import Verdict, after_a_crash, template
from tests.crash.world import World

TOOLS: Final = ("look", "send", "pay", "buy", "charge", "wire", "put", "move")
TURNS: Final = 10
PAUSE: Final = 0.004
"""Seconds that a tool takes before and after its effect."""


def random_kills(folder: Path, seed: int, kills: int) -> Iterator[Verdict]:
    """Kill so many times; after each kill a copy is recovered to its end, and the original goes on to the next kill."""
    chance = random.Random(seed)
    made = template(folder, published=True)
    left = kills
    for number in itertools.count(1):
        there = folder / f"random {number}"
        shutil.copytree(made, there)
        for verdict in _one_ledger(there, chance):
            verdict.point = f"seed {seed}, ledger {number}, {verdict.point}"
            yield verdict
            left -= 1
            if not left:
                return
        shutil.rmtree(there)


def _one_ledger(there: Path, chance: random.Random) -> Iterator[Verdict]:
    """Kill the host again and again until a run comes to its end."""
    script = _script(chance)
    job = chance.choice((converse, keep))
    longest = 0.2
    for number in itertools.count(1):
        delay = chance.uniform(0, longest)
        begun = time.monotonic()
        if killed_after(partial(job, World(there, pause=PAUSE), script), there, delay):
            longest += 0.02
            copy = there.with_name(f"{there.name} copy")
            shutil.copytree(there, copy)
            again = partial(job, World(copy), script)
            yield after_a_crash(copy, f"kill {number} after {delay:.4f} s", partial(_to_the_end, copy, again), again)
            shutil.rmtree(copy)
        elif _over(there):
            return
        else:
            longest = min(longest, time.monotonic() - begun)


def _to_the_end(there: Path, job: Callable[[], None]) -> None:
    run(job, there)
    while not _over(there):
        run(job, there)


def _over(there: Path) -> bool:
    """Answer what waits; return whether nothing did, so that the conversation is at its end."""
    world = World(there)
    before = world.acknowledged.stat().st_size
    run(partial(answer, world), there)
    return world.acknowledged.stat().st_size == before


def _script(chance: random.Random) -> list[list[tuple[str, dict[str, Any]]]]:
    numbers = itertools.count(1)
    return [
        [(chance.choice(TOOLS), {"number": next(numbers), "path": chance.choice("abc")}) for _ in range(size)]
        for size in (chance.choice((1, 1, 1, 2, 3)) for _ in range(TURNS))
    ]
