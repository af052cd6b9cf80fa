"""A process killed before and after every append and every effect: nothing is lost, nothing happens twice."""

from typing import Any

import pytest

from tests.crash.figures import Figures
from tests.crash.scenarios import SCENARIOS
from tests.crash.server import Killers


@pytest.mark.parametrize("asked", [{"scenario": name} for name in SCENARIOS], ids=list(SCENARIOS))
def test_no_kill_point_breaks_a_promise(asked: dict[str, Any], killers: Killers, figures: Figures) -> None:
    """Killed at every point there is, a session recovers: no event lost, no second effect, doubts before a person."""
    found = killers.verdicts(**asked)
    for verdict in found:
        figures.count(verdict, at_random=False)
    assert [f"{verdict.point}: {problem}" for verdict in found for problem in verdict.problems] == []
    assert len(found) >= 4
