"""Hosts that loop over turns of a random script and are killed from outside at random moments, seeded."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.crash.forking import killed_after, run
from tests.crash.host import answer, converse, keep
from tests.crash.matrix import Verdict, after_a_crash
from tests.crash.world import World

TOOLS: Final = ("look", "send", "pay", "buy", "charge", "wire", "put", "move")
TURNS: Final = 10
PAUSE: Final = 0.004
"""Seconds that a tool takes before and after its effect."""
BUSY: Final = 0.85
"""How many are killed behind the opening of the ledger: a machine with other things to do takes long to come there."""


def random_kills(folder: Path, ground: World, seed: int, kills: int) -> Iterator[Verdict]:
    """Kill so many times; after each kill a copy is recovered to its end, and the original goes on to the next kill."""
    chance = random.Random(seed)
    left = kills
    for number in itertools.count(1):
        with ground.copy(folder / f"random {number}") as world:
            for verdict in _one_ledger(world, chance):
                verdict.point = f"seed {seed}, ledger {number}, {verdict.point}"
                yield verdict
                left -= 1
                if not left:
                    return


def _one_ledger(world: World, chance: random.Random) -> Iterator[Verdict]:
    """Kill the host again and again until a run comes to its end."""
    script = _script(chance)
    job = chance.choice((converse, keep))
    longest = 0.2
    for number in itertools.count(1):
        delay, busy = chance.uniform(0, longest), chance.random() < BUSY
        begun = time.monotonic()

        def work(at_work: Callable[[], None]) -> None:
            job(replace(world, pause=PAUSE, begun=at_work), script)

        if killed_after(work, world.folder, delay, busy=busy):
            longest += 0.02
            with world.copy(world.folder.with_name(f"{world.folder.name} copy")) as copy:
                again = partial(job, copy, script)
                point = f"kill {number} after {delay:.4f} s"
                yield after_a_crash(copy, point, partial(_to_the_end, copy, again), again)
        elif _over(world):
            return
        else:
            longest = min(longest, time.monotonic() - begun)


def _to_the_end(world: World, job: Callable[[], None]) -> None:
    run(job, world.folder)
    while not _over(world):
        run(job, world.folder)


def _over(world: World) -> bool:
    """Answer what waits; return whether nothing did, so that the conversation is at its end."""
    before = world.acknowledged.stat().st_size
    run(partial(answer, world), world.folder)
    return world.acknowledged.stat().st_size == before


def _script(chance: random.Random) -> list[list[tuple[str, dict[str, Any]]]]:
    numbers = itertools.count(1)
    return [
        [(chance.choice(TOOLS), {"number": next(numbers), "path": chance.choice("abc")}) for _ in range(size)]
        for size in (chance.choice((1, 1, 1, 2, 3)) for _ in range(TURNS))
    ]
