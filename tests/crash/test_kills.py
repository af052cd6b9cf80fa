"""Processes killed at every append and effect, at random moments, and while others go on: nothing is lost or twice."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.crash.figures import Figures
from tests.crash.matrix import Verdict
from tests.crash.places import Backend
from tests.crash.scenarios import SCENARIOS
from tests.crash.server import Killers

MOST: dict[Backend, int | None] = {"sqlite": None, "postgres": 1}
"""So many points of a scenario are taken here, None: all; the long run (`make soak`) takes all of both."""

MATRIX = [{"backend": backend, "scenario": name, "most": most} for backend, most in MOST.items() for name in SCENARIOS]
RANDOM = [
    {"backend": "sqlite", "seed": 1, "kills": 12},
    {"backend": "sqlite", "seed": 2, "kills": 12},
    {"backend": "postgres", "seed": 3, "kills": 3},
]
STORMS = [
    {"backend": "sqlite", "storm": 1, "kills": 15, "sessions": 5},
    {"backend": "postgres", "storm": 2, "kills": 6, "sessions": 3},
]


def name(asked: Mapping[str, Any]) -> str:
    """Return how a test is called."""
    what = asked.get("scenario") or f"seed {asked.get('seed') or asked.get('storm')}"
    return f"{asked['backend']}: {what}"


@pytest.mark.parametrize("asked", MATRIX, ids=name)
def test_no_kill_point_breaks_a_promise(
    asked: dict[str, Any], killers: Killers, figures: dict[Backend, Figures]
) -> None:
    """Killed at each point that is asked for, a session recovers: nothing lost or twice, doubts before a person."""
    found = unbroken(asked, killers, figures, at_random=False)
    assert len(found) >= (asked["most"] or 4)


@pytest.mark.parametrize("asked", RANDOM, ids=name)
def test_no_random_kill_breaks_a_promise(
    asked: dict[str, Any], killers: Killers, figures: dict[Backend, Figures]
) -> None:
    """A loop over turns killed again and again, not only at an append: each time it recovers, and goes on."""
    found = unbroken(asked, killers, figures, at_random=True)
    assert len(found) == asked["kills"]


@pytest.mark.parametrize("asked", STORMS, ids=name)
def test_workers_share_sessions_while_they_are_killed(
    asked: dict[str, Any], killers: Killers, figures: dict[Backend, Figures]
) -> None:
    """Kills of 3 workers: no acknowledged event lost, no second effect, every call ends or waits for a person."""
    found = unbroken(asked, killers, figures, at_random=True)
    assert len(found) == asked["kills"]
    assert found[-1].acknowledged > 6 * asked["kills"]


def unbroken(
    asked: dict[str, Any], killers: Killers, figures: dict[Backend, Figures], *, at_random: bool
) -> list[Verdict]:
    """Return what came of the kills that are asked for, counted in for the end of the report; none broke a promise."""
    found = killers.verdicts(**asked)
    for verdict in found:
        figures[asked["backend"]].count(verdict, at_random=at_random)
    assert [f"{verdict.point}: {problem}" for verdict in found for problem in verdict.problems] == []
    return found
