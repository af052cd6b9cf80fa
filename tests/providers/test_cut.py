"""Values cut so that what is left is valid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.providers.cut import clip, cut, pageable, size
from ledger.strictjson import canonical, resolve, to_pointer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=20), inner, max_size=8),
    max_leaves=40,
)


@given(JSON, st.integers(64, 2_000))
def test_a_cut_value_fits_and_goes_on_where_it_was_cut(value: Any, budget: int) -> None:
    """What is left fits into the budget, and with the rest from the pointer it is the place's whole."""
    found = cut(value, budget)
    if found is None:
        assert size(value) <= budget
        return
    assert size(found.value) <= budget < size(value)
    whole = pageable(resolve(value, to_pointer(found.path)))
    left = resolve(found.value, to_pointer(found.path))
    assert len(left) == found.returned < found.total == len(whole)
    assert left == whole[: found.returned]
    assert found.unit == ("items" if isinstance(whole, list) else "characters")
    text = whole if isinstance(whole, str) else canonical(whole).decode()
    shown = left if isinstance(left, str) else canonical(left).decode()[:-1] if left else ""
    assert text[: found.offset] == shown


@pytest.mark.parametrize(
    ("value", "budget", "place", "unit"),
    [
        ({"a": "x" * 1_000, "b": "y" * 600}, 1_000, (), "characters"),
        ({"a": ["x" * 500], "b": 1}, 100, ("a", 0), "characters"),
        ({"a": "x" * 500, "b": "y" * 30}, 100, (), "characters"),
        ([1, {"k": list(range(500))}], 100, (1, "k"), "items"),
        (["x" * 200, "y" * 200], 100, (), "items"),
        (10**200, 100, (), "characters"),
        ([[[[[[["x" * 9]]]]]]] * 9, 100, (), "items"),
    ],
    ids=["two long parts", "one long part", "no room", "a long list in a part", "no item fits", "a number", "nested"],
)
def test_the_place_that_is_cut_is_the_one_that_makes_it_long(
    value: Any, budget: int, place: tuple[Any, ...], unit: str
) -> None:
    """One part that outweighs the rest is cut alone, else the whole."""
    found = cut(value, budget)
    assert found is not None
    assert (found.path, found.unit) == (place, unit)


def test_cutting_leaves_the_value_alone() -> None:
    """The value that was cut is not changed."""
    value = {"a": {"b": "x" * 1_000}}
    cut(value, 100)
    assert value == {"a": {"b": "x" * 1_000}}


@given(st.text(max_size=200), st.integers(10, 100))
def test_a_clipped_text_fits(text: str, budget: int) -> None:
    """A text is whole or ends with a mark, and its JSON fits."""
    found = clip(text, budget)
    assert len(canonical(found)) <= budget
    assert found == text or (found.endswith("…") and text.startswith(found[:-1]))
