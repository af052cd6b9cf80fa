"""How many of what, in words."""

from __future__ import annotations

import pytest

from ledger.counting import counted


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("call",), "0 calls"),
        (1, ("call",), "1 call"),
        (1204, ("call",), "1,204 calls"),
        (1, ("was left", "were left"), "1 was left"),
        (2, ("was left", "were left"), "2 were left"),
    ],
)
def test_one_is_told_as_one(number: int, words: tuple[str, ...], told: str) -> None:
    """One is told in the singular, any other number in the plural, large ones with commas."""
    assert counted(number, *words) == told
