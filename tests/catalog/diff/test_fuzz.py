"""A slice of the fuzz: what a verdict promises holds for values by chance. The long run is in tests/soak."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalog.diff.fuzz import Tally, annotated, compare


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_no_verdict_is_contradicted(seed: int) -> None:
    """No value that the old schema takes is lost under a verdict that says it stays; no proof, no witness is wrong."""
    tally = Tally()
    compare(seed, tally)
    assert tally.broken == []


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_no_change_of_meaning_is_missed(seed: int) -> None:
    """A unit, a default, a format or a secret that came at any place of the arguments asks a person."""
    tally = Tally()
    annotated(seed, tally)
    assert tally.broken == []


def test_the_fuzz_meets_every_verdict() -> None:
    """It would see something: most verdicts and every relation appear among the first seeds."""
    tally = Tally()
    for seed in range(24):
        compare(seed, tally)
    assert tally.broken == []
    assert {"dialect", "widening", "semantic", "incompatible"} <= tally.verdicts.keys()
    assert {"equal", "contained", "unknown", "refuted"} == tally.relations.keys()
    assert tally.shown > 4
    assert tally.values > 200
