"""A compiled schema says exactly what is wrong, in bounded words and bounded time, and never raises."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.catalog import GATE_ERROR, Violation, compile_schema, engine
from ledger.catalog.equality import key_of
from ledger.errors import CatalogFault

SUITE = json.loads((Path(__file__).parents[1] / "suite/violations.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case["fact"])
def test_a_fault_is_named_by_pointer_keyword_and_words(case: dict[str, Any]) -> None:
    """Each value of the suite has just the violations it should, in the order of their places."""
    found = compile_schema(case["schema"]).violations(case["value"])
    assert [[each.pointer, each.keyword] for each in found] == [each[:2] for each in case["violations"]]
    for each, (_, _, words) in zip(found, case["violations"], strict=True):
        assert words in each.message
        assert each.message.isprintable()
        assert len(each.message) < 250


DRAFTS = {"2020-12": jsonschema.Draft202012Validator, "draft-07": jsonschema.Draft7Validator}


@pytest.mark.parametrize("case", SUITE, ids=lambda case: case["fact"])
def test_the_verdict_is_that_of_the_stock_validator(case: dict[str, Any]) -> None:
    """Where the stock validator is exact, ours gives the same verdict."""
    stock = DRAFTS["draft-07" if "draft-07" in case["schema"].get("$schema", "") else "2020-12"]
    inexact = {"multiples are exact", "a pattern"}
    assert case["fact"] in inexact or stock(case["schema"]).is_valid(case["value"]) == (not case["violations"])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5, "", "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
LEAVES = st.one_of(
    st.sampled_from(["null", "integer", "number", "string", "array", "object", "boolean"]).map(
        lambda name: {"type": name}
    ),
    st.lists(VALUES, min_size=1, max_size=3).map(lambda values: {"enum": values}),
    VALUES.map(lambda value: {"const": value}),
    st.sampled_from(
        [{}, True, False, {"minimum": 1}, {"exclusiveMaximum": 1}, {"minLength": 1}, {"uniqueItems": True}]
    ),
    st.sampled_from([{"required": ["a"]}, {"minItems": 2}, {"maxProperties": 1}, {"$ref": "#/$defs/list"}]),
)


def _under(keyword: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return inner.map(lambda each: {keyword: each})


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    many = st.lists(inner, min_size=1, max_size=3)
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.one_of(
        *(_under(keyword, many) for keyword in ("allOf", "anyOf", "oneOf", "prefixItems")),
        *(_under(keyword, inner) for keyword in ("not", "items", "contains", "additionalProperties")),
        st.tuples(fields, inner).map(lambda pair: {"properties": pair[0], "additionalProperties": pair[1]}),
        st.tuples(fields, inner).map(lambda pair: {"properties": pair[0], "unevaluatedProperties": pair[1]}),
        st.tuples(inner, inner, inner).map(lambda three: dict(zip(("if", "then", "else"), three, strict=True))),
        _under("dependentSchemas", fields),
    )


LIST = {"type": "object", "properties": {"a": {"$ref": "#/$defs/list"}}, "additionalProperties": {"type": "string"}}


@given(st.recursive(LEAVES, _combined, max_leaves=6), VALUES)
def test_any_verdict_is_that_of_the_stock_validator(schema: Any, value: Any) -> None:
    """For any schema and value both validators agree whether it is valid, and ours names some fault if not."""
    whole = {"allOf": [schema], "$defs": {"list": LIST}}
    compiled = compile_schema(whole)
    found = compiled.violations(value)
    assert jsonschema.Draft202012Validator(whole).is_valid(value) == (not found)
    assert all(each.keyword != GATE_ERROR for each in found)
    assert found == compiled.violations(value)


@given(VALUES, VALUES)
def test_equality_is_that_of_json_schema(one: Any, two: Any) -> None:
    """Two values have one key exactly if JSON Schema calls them equal."""
    assert (key_of(one) == key_of(two)) == jsonschema.Draft202012Validator({"const": one}).is_valid(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [(2**70, 2.0**70), (0, -0.0), (10**400, 10**400), ("1", "1"), (5e-324, 5e-324)],
)
def test_numbers_are_equal_whatever_their_spelling(one: Any, two: Any) -> None:
    """1 and 1.0 are one number, also beyond 2^53 and beyond the interpreter's limit of digits."""
    assert key_of(one) == key_of(two)
    assert key_of([one]) != key_of([one, one])


def test_texts_that_look_alike_as_keys_differ() -> None:
    """No text can be made up that has another value's key."""
    assert (
        len({key_of(value) for value in ("1;", 1, ["1;"], [1], {"1": 1}, "s1:1", "", [], {}, None, "None;", True)})
        == 12
    )


def test_at_most_twenty_faults_are_listed() -> None:
    """A value that is wrong everywhere gives a bounded answer."""
    assert len(compile_schema({"items": {"type": "string"}}).violations([1] * 1_000)) == 20


def test_a_long_name_is_not_echoed() -> None:
    """An unknown field with a name as long as a book is told at its parent's place, its name cut."""
    (found,) = compile_schema({"properties": {"a": {"additionalProperties": False}}}).violations(
        {"a": {"x" * 10_000: 1}}
    )
    assert found.pointer == "/a"
    assert len(found.message) < 250


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_json_number_never_passes(value: float) -> None:
    """NaN and infinity pass no schema, not even one that allows anything, wherever they stand."""
    found = compile_schema({"type": "object"}).violations({"a": [1.5, {"b": value}]})
    assert found == (Violation("/a/1/b", "finite", "NaN and Infinity are no JSON numbers"),)
    assert not engine.is_number(value)
    (alone,) = compile_schema({"type": "number"}).violations(value)
    assert (alone.pointer, alone.keyword) == ("", "finite")


def test_a_value_too_deep_never_reaches_the_validator() -> None:
    """Depth is bounded before anything recurses."""
    value: Any = "x"
    for _ in range(100_000):
        value = [value]
    (found,) = compile_schema({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}).violations(value)
    assert found.keyword == "depth"


def test_a_schema_that_doubles_its_work_at_each_level_is_stopped() -> None:
    """Two ways into itself at each level of the value end as an error of the gate, in bounded time."""
    twice = [{"properties": {"a": {"$ref": "#/$defs/n"}}}] * 2
    compiled = compile_schema({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": twice}}})
    value: Any = {}
    for _ in range(60):
        value = {"a": value}
    (found,) = compiled.violations(value)
    assert found.keyword == GATE_ERROR
    assert "ReferencesExhausted" in found.message
    assert compiled.violations({"a": {"a": {}}}) == ()


def test_an_exception_of_the_validator_is_a_fault_of_the_gate() -> None:
    """What the validator itself raises is one violation, never an exception: a key that is no text breaks sorting."""
    (found,) = compile_schema({"propertyNames": {"pattern": "a"}, "uniqueItems": True}).violations([{1: 2, "a": 1}])
    assert found.keyword == GATE_ERROR
    assert found.to_wire() == {"pointer": "", "keyword": GATE_ERROR, "message": found.message}


def test_many_items_that_collide_as_numbers_are_compared_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """`uniqueItems` looks at each item once: integers chosen to share a hash cost no more than others."""
    looked: list[Any] = []

    def counting(value: Any) -> str:
        looked.append(value)
        return key_of(value)

    monkeypatch.setattr(engine, "key_of", counting)
    items = [n * (2**61 - 1) for n in range(2_000)]
    assert compile_schema({"uniqueItems": True}).violations(items) == ()
    assert len(looked) <= len(items)


def test_deep_unions_are_explained_up_to_a_point() -> None:
    """The alternative that was meant is followed through unions in unions; far below the message is general."""
    schema: Any = {"type": "object", "required": ["x"]}
    for level in range(15):
        schema = {"anyOf": [{"type": "null"}, schema]}
        (found,) = compile_schema(schema).violations({})
        assert found.keyword == ("required" if level < 10 else "anyOf")


def test_the_schema_can_change_without_changing_what_was_compiled() -> None:
    """A compiled schema keeps nothing of the caller's."""
    schema: dict[str, Any] = {"properties": {"a": {"enum": [1]}}}
    compiled = compile_schema(schema)
    schema["properties"]["a"]["enum"].append(2)
    assert [each.keyword for each in compiled.violations({"a": 2})] == ["enum"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", ["2026-02-28"], ["2026-02-31", "20260228", "2026-2-1", "x", "2026-02-28\n", "٢٠٢٦-٠٢-٢٨"]),
        ("time", ["10:00:00Z", "23:59:59.123+02:00"], ["10:00:00", "24:00:00Z", "10:00Z", "10:00:00+99:00"]),
        (
            "date-time",
            ["2026-02-28T10:00:00z", "2026-02-28 10:00:00.5-03:00"],
            ["2026-02-28", "2026-02-30T10:00:00Z", "2026-02-28X10:00:00Z", "2026-02-28T10:00:00"],
        ),
        ("email", ["a@b.c"], ["a", "a@", "a b@c", "a@b@c"]),
        ("ipv4", ["1.2.3.4"], ["1.2.3", "256.1.1.1", "01.2.3.4"]),
        ("ipv6", ["::1"], [":::", "1.2.3.4", "fe80::1%eth0"]),
        (
            "uuid",
            ["123e4567-e89b-12d3-a456-426614174000"],
            ["123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}"],
        ),
    ],
)
def test_a_format_asserts_where_the_catalog_opts_in(name: str, good: list[str], bad: list[str]) -> None:
    """A format that is listed refuses what it does not fit; a value that is no text is not its business."""
    compiled = compile_schema({"format": name}, formats=frozenset({name}))
    assert [text for text in good if compiled.violations(text)] == []
    assert [text for text in bad if not compiled.violations(text)] == []
    assert compiled.violations(5) == ()
    assert compile_schema({"format": name}).violations(bad[0]) == ()


def test_a_format_that_cannot_assert_is_refused() -> None:
    """To opt in to a format that nothing here checks would be a promise that nobody keeps."""
    with pytest.raises(CatalogFault, match="hostname"):
        compile_schema({"format": "hostname"}, formats=frozenset({"hostname"}), path="x")


def test_the_published_meta_schema_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the guard miss something, the meta-schema of the dialect refuses it, with its pointer."""
    with pytest.raises(CatalogFault) as fault:
        engine.check_meta_schema({"properties": {"a": {"type": "int"}}}, "2020-12")
    assert fault.value.pointer == "/properties/a/type"


def test_the_validator_is_named_with_its_version() -> None:
    """Events can say which validator judged."""
    name, version = compile_schema({"type": "object"}).name_for([]).split(" ")
    assert name == "jsonschema"
    assert version.split(".")[0].isdigit()


def test_importing_the_catalog_loads_no_validator() -> None:
    """The validator comes with the first compiled schema, pydantic only with a function that uses it."""
    code = (
        "import sys, ledger.catalog as catalog\n"
        "heavy = {'jsonschema', 'referencing', 'pydantic', 'sqlalchemy', 'sqlmodel'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "def f(a: int) -> None: ...\n"
        "tool = catalog.build_tool(f)\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert tool.validator.violations({'a': 1}) == ()\n"
        "assert 'jsonschema' in sys.modules and 'pydantic' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


DEPENDENT = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
}


def test_draft_07_dependencies_that_are_met_are_fine() -> None:
    """By jsonschema alone, as where nothing quicker is installed."""
    schema = compile_schema(DEPENDENT)
    schema._quick = None
    assert schema.violations({"a": 1, "b": 2, "c": 3, "d": 4}) == ()
    assert len(schema.violations({"a": 1, "c": 3})) == 2
    free = compile_schema({key: value for key, value in DEPENDENT.items() if key != "type"})
    free._quick = None
    assert free.violations("a text has no properties") == ()
