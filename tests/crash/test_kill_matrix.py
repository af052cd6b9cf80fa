"""A process killed before and after every append and every effect: nothing is lost, nothing happens twice."""

import pytest

from tests.crash.figures import Figures
from tests.crash.scenarios import SCENARIOS
from tests.crash.server import Killer


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_kill_point_breaks_a_promise(name: str, killer: Killer, figures: Figures) -> None:
    """Killed at every point there is, a session recovers: no event lost, no second effect, doubts before a person."""
    problems = []
    points = 0
    for verdict in killer.ask(scenario=name):
        figures.count(verdict, at_random=False)
        problems += [f"{verdict.point}: {problem}" for problem in verdict.problems]
        points += 1
    assert problems == []
    assert points >= 4
