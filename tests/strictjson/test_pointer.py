"""JSON pointers: every place has one, and nothing else is found."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.strictjson import from_pointer, resolve, to_pointer
from tests.strictjson.described import SUITE
from tests.strictjson.test_canonical import JSON, TEXT

CASES = {case["pointer"]: case for case in SUITE["pointers"]}


@pytest.mark.parametrize("pointer", CASES)
def test_the_border_suite(pointer: str) -> None:
    """Every pointer of the suite (RFC 6901, section 5, and what is none) leads where it should."""
    case = CASES[pointer]
    if "value" in case:
        assert resolve(SUITE["document"], pointer) == case["value"]
        return
    with pytest.raises(LookupError) as caught:
        resolve(SUITE["document"], pointer)
    assert str(caught.value).isprintable()


@given(st.lists(TEXT | st.integers(0)))
def test_a_path_survives_the_pointer(path: list[str | int]) -> None:
    """Any path comes back from its pointer, indexes as text."""
    assert from_pointer(to_pointer(path)) == tuple(map(str, path))


@given(JSON)
def test_every_place_can_be_reached(value: Any) -> None:
    """The pointer of each place in a value resolves to what stands there."""

    def check(part: Any, path: tuple[str | int, ...]) -> None:
        assert resolve(value, to_pointer(path)) is part
        places = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for place, item in places:
            check(item, (*path, place))

    check(value, ())


def test_a_hostile_pointer_is_shown_briefly() -> None:
    """A long pointer full of control characters does not reach the message as it is."""
    for pointer in ("\x1b" * 10_000, "/" + "\x1b" * 10_000):
        with pytest.raises(LookupError) as caught:
            resolve({}, pointer)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1_500
