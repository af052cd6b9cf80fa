"""Decoding: what is accepted is exact, what is rejected names its place, and nothing else ever comes out."""

import json
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledger.errors import JsonRejected
from ledger.strictjson import ARGUMENTS, Limits, canonical, decode
from tests.strictjson.described import cases, limits, same, text_of

CODES = {
    "invalid_json",
    "trailing_data",
    "duplicate_key",
    "nan_or_infinity",
    "number_out_of_range",
    "number_rounded",
    "number_too_long",
    "lone_surrogate",
    "invalid_utf8",
    "too_deep",
    "too_large",
    "too_many_items",
}
CASES = cases("decode")
ANY_TEXT = st.text(st.characters(exclude_categories=()))
PIECES = [*'[]{}:,"\\ -+.019eEtrufalsn\n', "NaN", "Infinity", "\\u", "\\ud83d", '"a":', "1e999"]
JSON_LIKE = st.lists(st.sampled_from(PIECES)).map("".join)


def rejection(text: str | bytes, most: Limits = ARGUMENTS) -> JsonRejected:
    with pytest.raises(JsonRejected) as caught:
        decode(text, most)
    return caught.value


def check_message(error: JsonRejected) -> None:
    assert error.code in CODES
    assert str(error).isprintable()
    assert len(str(error)) < 300


@pytest.mark.parametrize("name", CASES)
def test_the_border_suite(name: str) -> None:
    """Every decode case of the suite gets its verdict, at its place, in a short message without control characters."""
    case = CASES[name]
    text, most = text_of(case), limits(case, ARGUMENTS)
    if "accept" in case:
        accepted = text if case["accept"] is True else case["accept"]
        assert canonical(decode(text, most)).decode() == accepted
        return
    error, wanted = rejection(text, most), case["reject"]
    check_message(error)
    assert wanted.get("says", "") in str(error)
    found = {"code": error.code, "line": error.line, "column": error.column, "offset": error.offset}
    assert {key: found[key] for key in wanted if key != "says"} == {k: v for k, v in wanted.items() if k != "says"}


def test_integers_and_floats_keep_their_types() -> None:
    """1 is decoded as an int, 1.0 and -0.0 as floats, U+0000 as itself."""
    value = decode('[1, 1.0, -0.0, true, null, "a\\u0000b"]')
    assert same(value, [1, 1.0, -0.0, True, None, "a\0b"])


@given(st.one_of(ANY_TEXT, JSON_LIKE, st.binary(), JSON_LIKE.map(lambda text: text.encode("utf-8", "surrogatepass"))))
@example('\\"[' + "[" * 100)
@example('{"a":1,"a":2} x')
@example('{"a":{"b":1,"b":1},"a":1')
@example("[NaNx")
@example('["1e400", 1e400')
def test_nothing_but_a_rejection_is_raised(text: str | bytes) -> None:
    """Any text or bytes gives a value that survives the canonical form, or a JsonRejected with a known code."""
    try:
        value = decode(text)
    except JsonRejected as error:
        check_message(error)
    else:
        assert same(decode(canonical(value)), value)


@given(st.lists(st.sampled_from([*'[]{}:,"\\1 ', '"a":', "[]"]), max_size=40).map("".join), st.integers(1, 4))
def test_the_guard_never_lets_a_deeper_value_through(text: str, depth: int) -> None:
    """What is accepted is no deeper than the limit, and what is valid but deeper is too_deep."""

    def levels(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(levels, inner), default=0)

    try:
        reference = json.loads(text)
    except ValueError:
        rejection(text, Limits(1000, max_depth=depth))
        return
    if levels(reference) > depth:
        assert rejection(text, Limits(1000, max_depth=depth)).code == "too_deep"


def test_repeated_key_of_any_length_is_named_briefly() -> None:
    """A repeated key of 100,000 characters does not fill the message."""
    key = "k" * 100_000
    error = rejection(f'{{"{key}":1,"{key}":2}}')
    assert error.code == "duplicate_key"
    check_message(error)


def test_a_number_of_any_length_is_named_briefly() -> None:
    """A float of 10,000 digits that is out of range does not fill the message."""
    error = rejection("1" * 10_000 + ".0")
    assert error.code == "number_out_of_range"
    check_message(error)


def test_items_are_counted_without_keys_and_strings() -> None:
    """Commas and brackets in strings are no items."""
    text = '{"a,[":"[,,,{}\\",", "b":[ ], "c":{ } }'
    assert decode(text, Limits(100, max_items=4)) == {"a,[": '[,,,{}",', "b": [], "c": {}}
    assert rejection(text, Limits(100, max_items=3)).code == "too_many_items"


@pytest.fixture(params=[0, 640, 5000])
def interpreter_limit(request: pytest.FixtureRequest) -> Iterator[int]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(request.param)
    yield request.param
    sys.set_int_max_str_digits(before)


def test_digits_are_limited_whatever_the_interpreter_allows(interpreter_limit: int) -> None:
    """The limit of digits is the smaller of ours and the interpreter's, and never a ValueError."""
    allowed = min(4300, interpreter_limit or 4300)
    assert decode("9" * allowed) == 10**allowed - 1
    error = rejection("[" + "9" * (allowed + 1) + "]")
    assert error.code == "number_too_long"
    assert str(allowed) in str(error)


def test_a_stack_that_is_nearly_used_up_is_a_rejection() -> None:
    """Where the limit allows more than the interpreter's stack, the answer is too_deep, not RecursionError."""
    error = rejection("[" * 100_000 + "]" * 100_000, Limits(2**20, max_depth=10**6))
    assert error.code == "too_deep"
    check_message(error)


@pytest.mark.uncounted
@pytest.mark.parametrize(
    "unit",
    [
        "[",
        '{"a":',
        '"',
        '\\"',
        "\\",
        '"\\ud800',
        "1",
        "1.",
        "[],",
        '{"a":1},',
        "\n",
        "-",
        '"a",',
        '"\\u0041",',
        "\u00e9",
        '""',
    ],
)
@pytest.mark.parametrize("opening", ["", "[", '["', '{"a":"'])
def test_a_megabyte_of_anything_takes_bounded_memory(unit: str, opening: str) -> None:
    """One mebibyte of any repeated piece is decided with memory in proportion to it."""
    text = (opening + unit * 2**20)[: 2**20 // len(unit.encode()) * len(unit)][: 2**20]
    tracemalloc.start()
    try:
        try:
            decode(text)
        except JsonRejected as error:
            check_message(error)
        assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
    finally:
        tracemalloc.stop()
