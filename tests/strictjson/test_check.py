"""Checking Python values: exact JSON types only, copied, and the first fault named by pointer."""

from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import JsonRejected
from ledger.strictjson import ARGUMENTS, Limits, canonical, check, decode, resolve
from ledger.strictjson.plain import Rules, fault_of
from tests.strictjson.described import build, cases, limits, nested, same
from tests.strictjson.hostile import Faceless

CASES = cases("check")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Colour(IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


class HidesItsName(type):
    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError("no name")


class Nameless(metaclass=HidesItsName):
    pass


def rejection(value: object, most: Limits = ARGUMENTS) -> JsonRejected:
    with pytest.raises(JsonRejected) as caught:
        check(value, most)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400
    return caught.value


@pytest.mark.parametrize("name", CASES)
def test_the_border_suite(name: str) -> None:
    """Every check case of the suite gets its verdict with its pointer."""
    case = CASES[name]
    value, most = build(case["value"]), limits(case, ARGUMENTS)
    if "accept" in case:
        assert canonical(check(value, most)).decode() == case["accept"]
        return
    error = rejection(value, most)
    assert {"code": error.code, "pointer": error.pointer} == case["reject"]


@given(JSON)
def test_the_copy_is_equal_and_shares_nothing(value: Any) -> None:
    """A checked value is equal to what was given, types included, and none of its containers is the given one."""

    def containers(part: Any) -> set[int]:
        if not isinstance(part, dict | list):
            return set()
        return {id(part)}.union(*map(containers, part.values() if isinstance(part, dict) else part))

    copy = check(value)
    assert same(copy, value)
    assert containers(copy) & containers(value) == set()


@given(JSON)
def test_checking_and_decoding_agree(value: Any) -> None:
    """What is checked is what comes out of the text of the same value."""
    assert same(check(value), decode(canonical(value)))


@pytest.mark.parametrize(
    "value",
    [Colour.RED, OrderedDict(a=1), Text("a"), (1,), b"a", {1}, object(), Nameless(), Faceless(), 1j],
    ids=lambda value: type.__repr__(type(value)),
)
def test_subclasses_and_other_types_are_refused(value: object) -> None:
    """Whatever is not exactly a JSON type is refused, not turned into one, at the root and inside."""
    assert rejection(value).code == "not_json"
    assert rejection({"a": [value]}).pointer == "/a/0"


def test_a_key_that_is_a_subclass_of_text_is_refused() -> None:
    """A key must be exactly text."""
    assert rejection({"a": {Text("b"): 1}}).pointer == "/a"


def test_a_lone_surrogate_in_a_key_is_named() -> None:
    """The pointer of a key with a lone surrogate leads to it."""
    value = {"a": {"\udce9": 1}}
    error = rejection(value)
    assert error.code == "lone_surrogate"
    assert resolve(value, error.pointer or "") == 1


def test_the_first_fault_in_the_order_of_the_text_is_named() -> None:
    """Of several faults the first is reported."""
    assert rejection([None, True, 1.5, float("nan"), "\udce9", {1: 2}]).pointer == "/3"


def test_a_part_that_is_held_many_times_is_too_large_in_bounded_time() -> None:
    """A value of 10^30 items in a few dozen objects is refused before it is spread out."""
    value: list[Any] = [1]
    for _ in range(30):
        value = [value] * 10
    assert rejection(value).code == "too_large"


def test_a_long_text_held_many_times_is_too_large() -> None:
    """Texts count each time they stand in the value."""
    assert rejection([["x" * 2**19] * 2, "y" * 100]).code == "too_large"
    assert rejection("x" * (2**20 + 1)).code == "too_large"
    assert "more than" in str(rejection([{"k" * 2**19: 1}] * 3))


@pytest.mark.parametrize("part", [[], {}, [0], {"": 0}, [[]], 0, "", [{"": []}, 1]], ids=str)
def test_a_value_that_fits_is_never_too_large(part: Any) -> None:
    """However small its parts are, a value of just as many bytes as allowed is accepted, one byte more is not."""
    value = [part] * 500
    size = len(canonical(value))
    assert check(value, Limits(size)) == value
    assert rejection(value, Limits(size - 1)).code == "too_large"


def test_a_value_deeper_than_the_stack_is_a_rejection() -> None:
    """Where the limit allows more than the interpreter's stack, the answer is too_deep, not RecursionError."""
    error = rejection(nested(100_000), Limits(2**20, max_depth=10**6))
    assert (error.code, error.pointer) == ("too_deep", "")


def test_a_smaller_limit_of_digits_holds_for_values() -> None:
    """The limit of digits is checked without writing the number."""
    most = Limits(100, max_digits=3)
    assert check([999, -999], most) == [999, -999]
    assert rejection([1, -1000], most).pointer == "/1"
    assert rejection(1000, most).code == "number_too_long"


def test_a_value_that_changes_while_it_is_read_is_refused() -> None:
    """If the second look finds no fault, the value must have changed, and the message says so."""
    error = fault_of({"a": 1}, Rules(max_depth=64, digits=4300))
    assert error.code == "not_json"
    assert "changed" in str(error)
