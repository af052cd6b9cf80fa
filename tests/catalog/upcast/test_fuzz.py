"""A slice of the fuzz: no proof is contradicted by a value. The long run is in tests/soak."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.catalog.upcast.fuzz import Claims, claim


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_no_proof_is_contradicted(seed: int) -> None:
    """What is called iso or embed carries every old value, what is called iso every new one back."""
    claims = Claims()
    claim(seed, claims)
    assert claims.broken == []


def test_the_fuzz_meets_every_answer() -> None:
    """It would see something: every status appears among the first seeds, and records are carried."""
    claims = Claims()
    for seed in range(24):
        claim(seed, claims)
    assert claims.broken == []
    assert {"proved iso", "refuted None", "unknown None"} <= claims.statuses.keys()
    assert claims.carried > 20
    assert claims.came_back > 20
