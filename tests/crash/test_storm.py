"""Several workers on many sessions, killed one after the other: the others carry on, and nothing happens twice."""

from typing import Any

import pytest

from tests.crash.figures import Figures
from tests.crash.server import Killers


@pytest.mark.parametrize("asked", [{"storm": 1, "kills": 15, "sessions": 5}], ids=["storm 1"])
def test_workers_share_sessions_while_they_are_killed(
    asked: dict[str, Any], killers: Killers, figures: Figures
) -> None:
    """15 kills of 3 workers: no acknowledged event lost, no second effect, every call ends or waits for a person."""
    found = killers.verdicts(**asked)
    for verdict in found:
        figures.count(verdict, at_random=True)
    assert [f"{verdict.point}: {problem}" for verdict in found for problem in verdict.problems] == []
    assert len(found) == asked["kills"]
    assert found[-1].acknowledged > 100
