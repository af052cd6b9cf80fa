"""A person who wrote a bad JSON file is told the place and what to do; nobody asks them to send anything again."""

from __future__ import annotations

import pytest

from ledger.errors import JsonRejected
from ledger.strictjson import Json, Limits, check, decode, to_a_person
from ledger.strictjson.person import HINTS

SMALL = Limits(max_bytes=60, max_depth=3, max_digits=5, max_items=9)
BAD: dict[str, tuple[str | bytes, str, str]] = {
    "cut off": (
        '{\n "a": [1,',
        "line 2, column 10: the text ends before the JSON value does: something is not",
        "comma",
    ),
    "a comma too many": ('{\n "a": 1,\n}', "line 3, column 1: invalid JSON", "one too many"),
    "empty": ("", "line 1, column 1: the text is empty", "Write a JSON value."),
    "marked": ("\ufeff{}", "byte order mark", "Save it without"),
    "two values": ("{}\n{}", "line 2, column 1: another text follows the JSON value", "Keep one JSON value"),
    "a key twice": ('{"a. b": 1,\n "a. b": 2}', 'line 2, column 2: the key "a. b" stands twice', "Keep one of the two"),
    "no number": ('{"a": NaN}', "line 1, column 7: NaN is no JSON", "Write null"),
    "beyond a double": ('{"a": 1e999}', "beyond a double's range", "Write it as a text"),
    "many digits": ("123456", "more than 5 digits", "Write it as a text"),
    "half a pair": ('"\\ud800"', "it is no character", "Take it out"),
    "other letters": (b'"\xff"', "The JSON text is not UTF-8 (byte 1)", "Save it as UTF-8"),
    "deep": ("[[[[]]]]", "more than 3 arrays and objects are nested", "flatter"),
    "large": ('"' + "x" * 60 + '"', "60 are allowed", "smaller"),
    "many values": ("[1,1,1,1,1,1,1,1,1,1]", "9 are allowed", "fewer"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_text_is_told_to_its_writer(name: str) -> None:
    """Line and column, what is wrong, and what its writer can do."""
    text, what, hint = BAD[name]
    with pytest.raises(JsonRejected) as rejected:
        decode(text, SMALL)
    message, advice = to_a_person(rejected.value)
    assert what in message
    assert hint in advice
    assert not message.endswith(".")
    for word in ("Send", "send", "whole", "Correct it and"):
        assert word not in f"{message} {advice}"


@pytest.mark.parametrize("value", [{"a": {1}}, {"a": float("nan")}, {1: 2}, {"a": "\ud800"}], ids=repr)
def test_a_bad_value_is_told_too(value: Json) -> None:
    """Each code of a rejection has its advice."""
    with pytest.raises(JsonRejected) as rejected:
        check(value)
    message, advice = to_a_person(rejected.value)
    assert advice == HINTS[rejected.value.code]
    assert message.removesuffix(".") == message
