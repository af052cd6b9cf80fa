"""Operations on arguments, forth and back: the suite says what is right."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog.steps import OPS, Op
from ledger.catalog.upcast.stops import Stop
from ledger.catalog.upcast.values import MAX_DIGITS, back, forth, is_canonical, is_whole, same
from tests.catalog.upcast.rounds import typed_equal
from tests.catalog.upcast.scenes import upcast

SUITE = json.loads((Path(__file__).parents[2] / "suite/upcast_ops.json").read_text(encoding="utf-8"))["operations"]


@pytest.mark.parametrize("each", SUITE, ids=lambda each: each["fact"])
def test_operations_go_forth_and_back_or_stop(each: dict[str, Any]) -> None:
    """What is carried comes back with its types, nothing that was given changes; what is not stops with its code."""
    ops = upcast(each["ops"]).ops
    for case in each["cases"]:
        given = deepcopy(case["before"])
        if "code" in case:
            with pytest.raises(Stop) as stopped:
                forth(ops, given)
            assert (stopped.value.code, stopped.value.pointer) == (case["code"], case["pointer"])
            assert stopped.value.message
        else:
            image = forth(ops, given)
            assert typed_equal(image, case["after"])
            assert typed_equal(back(ops, image), case["before"])
        assert typed_equal(given, case["before"])


def test_every_operation_is_in_the_suite() -> None:
    """No operation without a case."""
    assert {op["op"] for each in SUITE for op in each["ops"]} == set(OPS)


def test_integers_have_as_many_digits_as_python_reads() -> None:
    """4300 digits go both ways, with a sign or without; one more has no text, and stops."""
    to_text, to_number = Op(op="cast", path=("a",), kind="string"), Op(op="cast", path=("a",), kind="integer")
    for sign in (1, -1):
        longest = sign * (10**MAX_DIGITS - 1)
        text = forth((to_text,), {"a": longest})
        assert len(text["a"].lstrip("-")) == MAX_DIGITS
        assert forth((to_number,), text) == {"a": longest}
        with pytest.raises(Stop, match="no integer"):
            forth((to_text,), {"a": sign * 10**MAX_DIGITS})
        with pytest.raises(Stop, match="only spelling"):
            forth((to_number,), {"a": text["a"] + "0"})
    assert (is_canonical("-0"), is_canonical("0"), is_whole(True), is_whole(1)) == (False, True, False, True)


def test_a_constant_is_not_shared() -> None:
    """Two records that get the same constant hold two values."""
    add = (Op(op="add_const", path=("a",), value={"x": []}),)
    one, two = forth(add, {}), forth(add, {})
    one["a"]["x"].append(1)
    assert two == {"a": {"x": []}}


def test_equality_is_that_of_types() -> None:
    """1 is neither 1.0 nor true, null is not absent; the order of keys is none."""
    assert same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not any(same(1, other) for other in (1.0, True, "1"))
    assert not same({"a": None}, {})
    assert not same([1, 2], [2, 1])
