"""A draft from recorded arguments says what was there, and guesses nothing."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.catalog.compile import compile_guarded
from ledger.catalog.guard import guard
from ledger.catalog.infer import MAX_FIELDS, Inference
from ledger.strictjson import Json, JsonObject


def drafted(*arguments: JsonObject, **options: Json) -> JsonObject:
    """Return the draft without what all have, from one session a call."""
    inference = Inference()
    for number, each in enumerate(arguments):
        inference.add(each, session=f"s{number}", **options)
    schema = inference.schema()
    assert schema.pop("$schema") == "https://json-schema.org/draft/2020-12/schema"
    assert schema.pop("type") == "object"
    return schema


@pytest.mark.parametrize(
    ("arguments", "properties", "required"),
    [
        ([{"a": 1}, {"a": 2}], {"a": {"type": "integer"}}, ["a"]),
        ([{"a": 1}, {"a": 2.5}], {"a": {"type": "number"}}, ["a"]),
        ([{"a": True}, {"a": 1}], {"a": {"type": ["boolean", "integer"]}}, ["a"]),
        ([{"a": None}, {"a": "x"}], {"a": {"type": ["null", "string"]}}, ["a"]),
        ([{"a": 1}, {"b": 1}], {"a": {"type": "integer"}, "b": {"type": "integer"}}, None),
        ([{"a": []}], {"a": {"type": "array"}}, ["a"]),
        ([{"a": [1, "x"]}], {"a": {"type": "array", "items": {"type": ["integer", "string"]}}}, ["a"]),
        (
            [{"a": {"b": 1, "c": 1}}, {"a": {"c": 2}}],
            {
                "a": {
                    "type": "object",
                    "properties": {"b": {"type": "integer"}, "c": {"type": "integer"}},
                    "required": ["c"],
                }
            },
            ["a"],
        ),
        ([{"a": {}}], {"a": {"type": "object"}}, ["a"]),
    ],
)
def test_types_and_what_is_required(arguments: list[JsonObject], properties: Json, required: list[str] | None) -> None:
    """The types that were seen; required is what was always there; no bound, no pattern, nothing closed."""
    assert drafted(*arguments) == {"properties": properties, **({"required": required} if required else {})}


def test_calls_without_arguments() -> None:
    """Nothing seen is nothing said."""
    assert drafted({}, {}) == {}
    assert Inference().calls == 0


def test_few_values_that_come_again_and_again_are_an_enum() -> None:
    """Two values, each in ten sessions."""
    calls = [{"unit": "c" if number % 2 else "f"} for number in range(20)]
    assert drafted(*calls)["properties"]["unit"] == {"type": "string", "enum": ["c", "f"]}


@pytest.mark.parametrize(
    "texts",
    [
        ["c"] * 100,  # one value only: who knows
        ["c", "f"] * 9,  # too seldom
        ["c"] * 20 + ["f"] * 2,  # one of them in two sessions only
        ["abcdefghi"[number % 9] for number in range(180)],  # too many values
        ["L1001", "L1002"] * 20,  # ids
        ["c" * 101, "f"] * 20,  # texts, not names
    ],
)
def test_what_passes_for_no_enum(texts: list[str]) -> None:
    """A list of allowed values is a promise; the draft makes none that it can avoid."""
    assert drafted(*({"unit": text} for text in texts))["properties"]["unit"] == {"type": "string"}


def test_one_session_repeats_itself() -> None:
    """Values of one session are no evidence, however often it sent them."""
    inference = Inference()
    for number in range(100):
        inference.add({"unit": "c" if number % 2 else "f"}, session="s")
    assert inference.calls == 100
    assert inference.schema()["properties"]["unit"] == {"type": "string"}


def test_a_text_that_may_be_absent_is_no_enum_with_null() -> None:
    """Beside another type the values stay open."""
    calls: list[JsonObject] = [{"unit": ["c", "f", None][number % 3]} for number in range(60)]
    assert drafted(*calls)["properties"]["unit"] == {"type": ["null", "string"]}


def test_keys_that_are_data() -> None:
    """An object with hundreds of different keys is a map, and takes no more memory for more of them."""
    calls: list[JsonObject] = [{"map": {f"k{number}": number}} for number in range(MAX_FIELDS + 2)]
    assert drafted(*calls)["properties"]["map"] == {"type": "object"}


def test_masked_values() -> None:
    """Of a masked value only its place is known."""
    schema = drafted({"a": "[redacted]", "b": "x"}, hidden="[redacted]")
    assert schema == {"properties": {"a": {}, "b": {"type": "string"}}, "required": ["a", "b"]}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30)
@given(st.lists(st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4), min_size=1, max_size=5))
def test_a_draft_takes_each_call_it_was_drafted_from(calls: list[JsonObject]) -> None:
    """Whatever was sent passes the draft: nothing was guessed that a record contradicts."""
    inference = Inference()
    for number, arguments in enumerate(calls):
        inference.add(arguments, session=str(number))
    compiled = compile_guarded(guard(inference.schema()))
    assert [compiled.violations(arguments) for arguments in calls] == [()] * len(calls)


def test_real_calls(corpus: Path) -> None:
    """Drafts of real tools take each call they were drafted from; types and enums are those that were published."""
    toolsets = json.loads((corpus / "toolsets.json").read_text(encoding="utf-8"))
    seen: dict[tuple[str, str], Inference] = defaultdict(Inference)
    calls: dict[tuple[str, str], list[Any]] = defaultdict(list)
    with gzip.open(corpus / "sessions.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            session = json.loads(line)
            for message in session["messages"]:
                for call in message.get("tool_calls") or () if session["tools"] else ():
                    arguments = json.loads(call["function"]["arguments"])
                    key = (session["tools"], call["function"]["name"])
                    seen[key].add(arguments, session=session["session"])
                    calls[key].append(arguments)
    assert sum(map(len, calls.values())) > 1_000
    types, enums = [], []
    for key, inference in seen.items():
        schema = inference.schema()
        compiled = compile_guarded(guard(schema))
        assert not any(compiled.violations(arguments) for arguments in calls[key][:50])
        published = _published(toolsets[key[0]], key[1])
        for name, drafted in schema.get("properties", {}).items():
            wanted = published.get(name, {})
            types.append(_wider(drafted["type"]) == _wider(wanted.get("type", drafted["type"])))
            if "enum" in drafted:
                enums.append({*drafted["enum"]} <= {*wanted.get("enum", ())})
    assert len(types) > 100
    assert all(types)
    assert (
        enums.count(False) <= 1 < enums.count(True)
    )  # one is no enum where it was published, and all values are words


def _wider(kind: Any) -> Any:
    """An integer is a number: whether fractions are allowed no call can show."""
    return "number" if kind == "integer" else kind


def _published(tools: Any, name: str) -> Any:
    for tool in tools:
        function = tool.get("function", tool)
        if function["name"] == name:
            return function["parameters"].get("properties", {})
    return {}
