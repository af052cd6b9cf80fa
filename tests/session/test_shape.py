"""What of a proposal counts for sameness."""

import pytest

from ledger.calls import Call
from ledger.session.identity import Shape


@pytest.mark.parametrize(
    ("arguments", "same"), [({"a": 1, "b": 2}, True), ({"a": 1.0, "b": 2}, False), ({"a": 1}, False)]
)
def test_arguments_are_compared_with_their_types(arguments: dict[str, object], same: bool) -> None:
    """The order of keys means nothing; 1 and 1.0 are two things."""
    assert Shape("act", arguments, None).equals(Call(tool="act", arguments={"b": 2, "a": 1})) is same
