"""Processes killed from outside at random moments, not only at the borders of an append."""

import pytest

from tests.crash.figures import Figures
from tests.crash.server import Killer


@pytest.mark.parametrize("seed", [1, 2])
def test_no_random_kill_breaks_a_promise(seed: int, killer: Killer, figures: Figures) -> None:
    """A loop over turns killed again and again at random: each time it recovers, and goes on to the next kill."""
    problems = []
    kills = 0
    for verdict in killer.ask(seed=seed, kills=20):
        figures.count(verdict, at_random=True)
        problems += [f"{verdict.point}: {problem}" for problem in verdict.problems]
        kills += 1
    assert problems == []
    assert kills == 20
