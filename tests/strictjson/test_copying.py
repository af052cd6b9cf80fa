"""Copies of JSON values."""

from hypothesis import given
from hypothesis import strategies as st

from ledger.strictjson import copied

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_a_copy_is_equal_and_shares_nothing(value: object) -> None:
    """A copy is the same value, and what is done to it does not show in the original."""
    before, copy = repr(value), copied(value)
    assert repr(copy) == before
    _emptied(copy)
    assert repr(value) == before


def _emptied(value: object) -> None:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _emptied(each)
        value.clear()
