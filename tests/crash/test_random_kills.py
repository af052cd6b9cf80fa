"""Processes killed from outside at random moments, not only at the borders of an append."""

from typing import Any

import pytest

from tests.crash.figures import Figures
from tests.crash.server import Killers


@pytest.mark.parametrize("asked", [{"seed": seed, "kills": 12} for seed in (1, 2)], ids=["seed 1", "seed 2"])
def test_no_random_kill_breaks_a_promise(asked: dict[str, Any], killers: Killers, figures: Figures) -> None:
    """A loop over turns killed again and again at random: each time it recovers, and goes on to the next kill."""
    found = killers.verdicts(**asked)
    for verdict in found:
        figures.count(verdict, at_random=True)
    assert [f"{verdict.point}: {problem}" for verdict in found for problem in verdict.problems] == []
    assert len(found) == asked["kills"]
