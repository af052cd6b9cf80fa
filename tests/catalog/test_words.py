"""Messages are short, printable, and say what was probably meant."""

from typing import Any

import pytest

from ledger.catalog.words import listed, meant, nearest, shown


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a", '"a"'),
        ("\x1b[31m", '"\\x1b[31m"'),
        ("x" * 99, f'"{"x" * 60}…"'),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (-(10**60), "an integer of 200 bits"),
        ([1, 2], "an array of 2"),
        ({}, "an object of 0"),
    ],
)
def test_a_value_is_shown_bounded(value: Any, words: str) -> None:
    """Texts are cut and escaped, large values only counted."""
    assert shown(value) == words


def test_a_long_list_is_cut() -> None:
    """Some entries, and how many there are."""
    assert listed(range(3)) == "0, 1, 2"
    assert listed(range(10), 2) == "0, 1 … (10 in all)"


def test_the_nearest_name_is_found() -> None:
    """Another case wins, then likeness; nothing far away, nothing in a very long list."""
    assert nearest("CITY", ["cty", "city"]) == "city"
    assert nearest("cty", ["town", "city"]) == "city"
    assert nearest("zzz", ["city"]) is None
    assert nearest("cty", ["city", *map(str, range(1_000))]) is None
    assert nearest("city", ["city"]) is None
    assert meant("cty", ["city"]) == '; did you mean "city"?'
    assert meant("zzz", ["city"]) == ""
