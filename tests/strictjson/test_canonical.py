"""The canonical form: one value, one sequence of bytes, and back."""

import hashlib
import json
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.errors import JsonRejected
from ledger.strictjson import canonical, digest, loads
from ledger.strictjson.canonical import _writer
from tests.strictjson.described import nested, same
from tests.strictjson.hostile import Faceless

ANY_TEXT = st.text(st.characters(exclude_categories=()))
SURROGATES = st.text(st.sampled_from("\ud83d\ude00\udbff\udfff\U0001f600\\ud8D0\n"))
TEXT = ANY_TEXT | SURROGATES
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=25,
)


class Colour(IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


def shuffled(value: Any) -> Any:
    """Return an equal value whose objects were filled the other way round."""
    if isinstance(value, dict):
        return {key: shuffled(item) for key, item in reversed(value.items())}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def rejection(value: Any) -> JsonRejected:
    with pytest.raises(JsonRejected) as caught:
        canonical(value)
    return caught.value


@given(JSON)
@example({"\ud83d\ude00": 1, "\U0001f600": 2})
@example("\\ud83d\\uDe00")
@example("\ud83d\ud83d\ude00\ude00")
def test_reading_back_gives_the_same_value(value: Any) -> None:
    """`loads` gives back exactly what `canonical` was given: types, big integers, U+0000, surrogates joined or not."""
    assert same(loads(canonical(value)), value)
    assert same(loads(canonical(value).decode()), value)


@given(JSON)
def test_the_bytes_depend_on_the_value_only(value: Any) -> None:
    """The order in which keys were put in does not matter, and the bytes are valid UTF-8 and valid JSON."""
    data = canonical(value)
    assert canonical(shuffled(value)) == data
    json.loads(data.decode("utf-8"))
    assert digest(value) == hashlib.sha256(data).hexdigest()


@given(JSON, JSON)
def test_two_values_that_differ_have_other_bytes(left: Any, right: Any) -> None:
    """Equal bytes mean equal values, types included."""
    assert (canonical(left) == canonical(right)) == same(left, right)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"b": 1, "a": [1, 1.0, -0.0, 1e16, True, None]}, b'{"a":[1,1.0,-0.0,1e+16,true,null],"b":1}'),
        ({"\U0001f600": 1, "\uffff": 2, "\ud800": 3}, '{"\\ud800":3,"\uffff":2,"\U0001f600":1}'.encode()),
        ("caf\udce9.txt", b'"caf\\udce9.txt"'),
        ("\ud83d\ude00", b'"\\ud83d\\uDe00"'),
        ('a\0\x1f\x7f\u2028/"\\', '"a\\u0000\\u001f\x7f\u2028/\\"\\\\"'.encode()),
        (2**70, b"1180591620717411303424"),
        (((1, ()), []), b"[[1,[]],[]]"),
    ],
)
def test_the_form_itself(value: Any, wanted: bytes) -> None:
    """The bytes never change: digests of old records depend on them."""
    assert canonical(value) == wanted


@pytest.mark.parametrize(
    ("value", "code", "pointer"),
    [
        (float("nan"), "nan_or_infinity", ""),
        ({"a": [1.0, float("-inf")]}, "nan_or_infinity", "/a/1"),
        ({"a": {1: 2}}, "not_json", "/a"),
        ({"a": {True: 2, "True": 1}}, "not_json", "/a"),
        ({"a": (1, {None: 2})}, "not_json", "/a/1"),
        ([{"a": {Text("b"): 1}}], "not_json", "/0/a"),
        ([Colour.RED], "not_json", "/0"),
        (Colour.RED, "not_json", ""),
        ([b"a"], "not_json", "/0"),
        ([Faceless()], "not_json", "/0"),
        ({Faceless(): 1}, "not_json", ""),
        ([10**4300], "number_too_long", "/0"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(value: Any, code: str, pointer: str) -> None:
    """NaN, keys that are no text, subclasses, other types and endless integers are refused, and nothing is coerced."""
    error = rejection(value)
    assert (error.code, error.pointer) == (code, pointer)


def test_a_value_deeper_than_the_stack_is_refused() -> None:
    """200,000 nested arrays, and an array that holds itself, are too_deep."""
    assert rejection(nested(200_000)).code == "too_deep"
    cycle: list[Any] = []
    cycle.append(cycle)
    assert rejection(cycle).code == "too_deep"


def test_foreign_escapes_are_read_as_json_says() -> None:
    """A pair in escapes, as other writers make it, is its character, whatever the case of its digits."""
    assert loads(rb'["\ud83d\ude00","\uD83D\uDE00","\\uDe00"]') == ["\U0001f600", "\U0001f600", "\\uDe00"]


@pytest.mark.parametrize("data", [b"", b"{", b"NaN", b"[1]x", b'"\xff"', b"9" * 5000])
def test_damaged_records_raise_value_errors(data: bytes) -> None:
    """What is no record raises ValueError, so that a reader can show the row and go on."""
    with pytest.raises(ValueError, match=r"\w"):
        loads(data)


@given(JSON)
def test_the_public_encoder_writes_the_same(value: Any) -> None:
    """Where there is no C encoder the standard library's public one writes the same text."""
    with_c = _writer(json.encoder.c_make_encoder)  # type: ignore[attr-defined]  # the test looks inside
    assert "".join(_writer(None)(value, 0)) == "".join(with_c(value, 0))
