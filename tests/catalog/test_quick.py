"""The second validator: it says "valid" only where the first one does, and never anything else."""

import sys
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from ledger.catalog import compile_schema
from ledger.catalog.compile import CompiledSchema
from ledger.catalog.guard import guard
from ledger.catalog.quick import _is_plain, quick_name, quick_of, says_valid
from ledger.errors import CatalogFault
from tests.catalog.diff.fuzz import root, value
from tests.providers.test_corpus import lines

TEXT = {"type": "string"}
DRAFT_07 = "http://json-schema.org/draft-07/schema#"


def open_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def compare(schema: Any, values: list[Any]) -> tuple[int, int]:
    """Ask jsonschema alone, jsonschema-rs and both together: how often all could be asked, how often it was valid."""
    try:
        both, quick = compile_schema(schema), quick_of(guard(schema))
    except CatalogFault:
        return 0, 0
    if quick is None:
        return 0, 0
    asked, valid, alone = 0, 0, CompiledSchema(guard(schema), frozenset())
    for each in values:
        first = not alone.violations(each)
        if _is_plain(each, 0):
            assert says_valid(quick, each) == first, (schema, each)
            asked, valid = asked + 1, valid + first
        else:
            assert not says_valid(quick, each)
        assert both.violations(each) == alone.violations(each)
    return asked, valid


def test_both_agree_on_schemas_by_chance() -> None:
    """Whatever keywords: where both may be asked they say the same, and the violations are those of the first one."""
    asked = valid = 0
    for seed in range(40):
        rng = Random(seed)
        schema = root(rng)
        found = compare(schema, [value(rng, schema, schema) for _ in range(6)])
        asked, valid = asked + found[0], valid + found[1]
    assert asked > 50
    assert valid > 20


def test_both_agree_on_published_tools(corpus: Path) -> None:
    """On every published tool that passes the guard; nearly all of them may be asked quickly."""
    tools = asked = valid = 0
    for tool in lines(corpus / "mcp_tools.jsonl.gz"):
        rng, schema = Random(tool["inputSchema"].get("title")), tool["inputSchema"]
        found = compare(schema, [value(rng, schema, schema) for _ in range(6)])
        tools, asked, valid = tools + bool(found[0]), asked + found[0], valid + found[1]
    assert tools > 300
    assert valid > 1_000


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": ["a", None, True]}, ["a", None, True, 1, "b"]),
        ({"const": "é"}, ["é", "e\u0301"]),
        ({"type": "string", "pattern": r"^\d$"}, ["5", "٥", "5\n", 5]),
        ({"type": "string", "pattern": r"\bé"}, ["é", "aé"]),
        ({"type": "string", "minLength": 2, "maxLength": 2}, ["𝔸𝔸", "𝔸", "ab", "abc"]),
        ({"type": "integer", "minimum": -3}, [-3, -4, True, 2**53, None]),
        ({"type": ["integer", "null"], "exclusiveMaximum": 5}, [5, 4, None]),
        ({"type": "array", "prefixItems": [TEXT], "items": False}, [[], ["a"], ["a", "b"], [1]]),
        ({"type": "array", "contains": TEXT, "minContains": 2}, [["a"], ["a", "b"], [1, "a", "b"]]),
        ({"anyOf": [TEXT, {"type": "null"}], "nullable": False}, ["a", None, 1]),
        ({"oneOf": [TEXT, {"enum": ["a"]}]}, ["a", "b"]),
        ({"if": TEXT, "then": {"maxLength": 1}, "else": {"type": "null"}}, ["a", "ab", None, 1]),
        ({"not": {"type": "object", "required": ["x"]}}, [{}, {"x": 1}, "x"]),
        ({"type": "object", "dependentRequired": {"a": ["b"]}}, [{"a": 1}, {"a": 1, "b": 1}, {}]),
        (
            {"type": "object", "propertyNames": {"maxLength": 1}, "additionalProperties": TEXT},
            [{"a": "x"}, {"ab": "x"}],
        ),
        ({"type": "string", "format": "date"}, ["no date"]),
        (True, [1, {}, [None]]),
    ],
    ids=lambda each: str(each)[:40] if isinstance(each, dict | bool) else "",
)
def test_both_agree_on_each_keyword(schema: Any, values: list[Any]) -> None:
    """The traps of each keyword: equality, code points, other digits, the end of a text, true and 1."""
    assert compare(open_object(a=schema), [{"a": each} for each in values])[0] == len(values)


@pytest.mark.parametrize("each", [1.0, 2**53 + 1, b"x", ("a",), {1: "a"}, float("nan")], ids=repr)
def test_values_that_it_may_read_otherwise_go_to_the_first_one(each: Any) -> None:
    """Floats, long integers and what is no JSON: it never speaks of them."""
    schema = open_object(a=True)
    quick = quick_of(guard(schema))
    assert quick is not None
    assert not says_valid(quick, {"a": each})
    assert compile_schema(schema).name_for({"a": each}).split()[0] == "jsonschema"


def test_it_speaks_of_what_it_finds_valid_only() -> None:
    """A valid value is its own; an invalid one, and its words, are the first one's; so it is recorded."""
    schema = compile_schema(open_object(a=TEXT))
    assert schema.name_for({"a": "x"}) == quick_name()
    assert quick_name().startswith("jsonschema-rs ")
    assert schema.name_for({"a": 1}).split()[0] == "jsonschema"
    assert [each.keyword for each in schema.violations({"a": 1})] == ["type"]


def test_depth_is_limited_as_everywhere() -> None:
    """64 containers inside one another pass, one more does not."""
    deep: Any = "x"
    for _ in range(63):
        deep = [deep]
    schema = compile_schema(open_object(a=True))
    assert schema.name_for({"a": deep}) == quick_name()
    assert [each.keyword for each in schema.violations({"a": [deep]})] == ["depth"]


@pytest.mark.parametrize(
    "schema",
    [
        open_object(a={"type": "number", "multipleOf": 0.01}),
        open_object(a={"type": "array", "uniqueItems": True}),
        open_object(a={"enum": [1]}),
        open_object(a={"const": [1]}),
        open_object(a={"type": "number", "minimum": 0.5}),
        open_object(a={"type": "integer", "maximum": 2**60}),
        {**open_object(), "patternProperties": {"^a": TEXT}},
        {**open_object(a=TEXT), "unevaluatedProperties": False},
        open_object(a={"type": "string", "contentMediaType": "application/json"}),
        {**open_object(a={"$ref": "#/$defs/a%20b"}), "$defs": {"a b": TEXT}},
        open_object(kids={"type": "array", "items": {"$ref": "#"}}),
        {
            **open_object(a={"$ref": "#/$defs/d0"}),
            "$defs": {
                f"d{i}": {"allOf": [open_object(x={"$ref": f"#/$defs/d{i + 1}"}) for _ in "ab"]} for i in range(20)
            }
            | {"d20": TEXT},
        },
    ],
    ids=lambda schema: str(schema)[-40:],
)
def test_schemas_that_it_may_read_otherwise_are_not_its_own(schema: Any) -> None:
    """Other arithmetic, other equality, no limits on references: jsonschema alone looks."""
    assert quick_of(guard(schema)) is None
    assert compile_schema(schema).name_for({}).split()[0] == "jsonschema"


def test_a_format_that_asserts_is_not_its_own() -> None:
    """One that does not is no matter."""
    schema = guard(open_object(a={"type": "string", "format": "date"}))
    assert quick_of(schema) is not None
    assert quick_of(schema, frozenset({"date"})) is None


def test_draft_07_is_read_as_draft_07() -> None:
    """Tuples, dependencies, and a reference that hides what stands beside it."""
    schema = {
        "$schema": DRAFT_07,
        **open_object(
            t={"type": "array", "items": [TEXT], "additionalItems": False},
            r={"$ref": "#/definitions/s", "maxLength": 1},
        ),
        "dependencies": {"t": ["r"], "r": {"required": ["t"]}},
        "definitions": {"s": TEXT},
    }
    values = [
        {"t": ["a"], "r": "long"},
        {"t": ["a"]},
        {"r": "long"},
        {"t": [1], "r": "x"},
        {"t": ["a", "b"], "r": "x"},
        {},
    ]
    assert compare(schema, values) == (6, 2)


def test_a_shared_part_is_its_own_and_a_hostile_one_is_refused() -> None:
    """References that end are followed; nothing is fetched, since the guard lets no other reference be."""
    schema = {**open_object(a={"$ref": "#/$defs/p"}, b={"$ref": "#/$defs/p"}), "$defs": {"p": open_object(x=TEXT)}}
    assert compare(schema, [{"a": {"x": "1"}, "b": {}}, {"a": {"x": 1}}]) == (2, 1)
    for reference in ("https://example.org/x", "file:///etc/passwd", "other.json"):
        with pytest.raises(CatalogFault, match="leaves this schema"):
            compile_schema(open_object(a={"$ref": reference}))


def test_what_it_does_not_take_goes_to_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a lone surrogate, which it does not read; and a schema that a version of it may refuse to compile."""
    schema = open_object(a={"type": "string", "minLength": 2})
    assert compile_schema(schema).name_for({"a": "ab", "\ud83d": 1}).split()[0] == "jsonschema"
    assert compile_schema(schema).violations({"a": "ab", "\ud83d": 1}) == ()
    monkeypatch.setitem(sys.modules, "jsonschema_rs", SimpleNamespace(Draft202012Validator=int))
    assert quick_of(guard(schema)) is None


def test_without_the_extra_everything_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not installed jsonschema alone looks, with the same answers."""
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    schema = compile_schema(open_object(a=TEXT))
    assert (schema.violations({"a": "x"}), schema.name_for({"a": "x"}).split()[0]) == ((), "jsonschema")
    assert [each.keyword for each in schema.violations({"a": 1})] == ["type"]
