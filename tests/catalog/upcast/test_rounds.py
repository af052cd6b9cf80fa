"""A slice of the round trips: each operation, on schemas that fit it by chance. The long run is in tests/soak."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.catalog.steps import OPS, OpName
from tests.catalog.upcast.rounds import Rounds, play


@pytest.mark.parametrize("op", OPS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32))
def test_nothing_is_lost_on_the_way_there_and_back(op: OpName, seed: int) -> None:
    """What fits is proved with its grade; each value becomes what a person would write, and comes back."""
    rounds = Rounds()
    play(op, seed, 5, rounds)
    assert rounds.broken == []
    assert rounds.carried[op] == 5
