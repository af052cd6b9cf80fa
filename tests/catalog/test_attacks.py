"""Schemas and arguments made to hang or crash a validator: refused with either validator, in the same words."""

import sys
from typing import Any

import pytest

from ledger.catalog import compile_schema, engine, equality
from ledger.catalog.equality import MAX_UNIQUE
from ledger.catalog.guard import guard
from ledger.errors import CatalogFault
from ledger.gates import decode, validate
from ledger.strictjson import JsonObject
from tests.catalog.hostile import DEEP, HOSTILE, TEXT, holding, nested

UNIQUE: dict[str, Any] = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
SCHEMAS: dict[str, tuple[Any, str, str]] = {
    **HOSTILE,
    "more items that differ than are compared": (
        holding(a={**UNIQUE, "maxItems": MAX_UNIQUE + 1}),
        "/properties/a/maxItems",
        "at most 10,000 items",
    ),
    "no fewer items that differ than are compared": (
        holding(a={**UNIQUE, "minItems": MAX_UNIQUE + 1}),
        "/properties/a/minItems",
        "at most 10,000 items",
    ),
}
ARGUMENTS: dict[str, tuple[Any, str | JsonObject, str, str]] = {
    "a text of 200,000 levels": (holding(a=True), '{"a": ' + "[" * DEEP + "]" * DEEP + "}", "too_deep", "64"),
    "a value of 200,000 levels": (holding(a=True), {"a": nested(DEEP)}, "too_deep", "64"),
    "10,001 items that must differ": (
        holding(a=UNIQUE),
        {"a": list(range(MAX_UNIQUE + 1))},
        "schema_validation",
        "/a: has 10001 items that must all differ; at most 10000 are allowed, send fewer at a time",
    ),
    "10,001 items that share a hash": (
        holding(a=UNIQUE),
        {"a": [n * (2**61 - 1) for n in range(MAX_UNIQUE + 1)]},
        "schema_validation",
        "/a: has 10001 items that must all differ; at most 10000 are allowed",
    ),
    "a text that a pattern could try in 2^40 ways": (
        holding(a={**TEXT, "pattern": "^a*$"}),
        {"a": "a" * 40 + "!"},
        "schema_validation",
        "/a: does not match the pattern",
    ),
    "a value that follows too many references": (
        {
            "type": "object",
            "$ref": "#/$defs/n",
            "$defs": {"n": {"allOf": [{"properties": {"a": {"$ref": "#/$defs/n"}}}] * 2}},
        },
        {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}}}}}}}}}},
        "gate_error",
        "could not be checked",
    ),
}


@pytest.fixture(params=["jsonschema", "jsonschema-rs"])
def validator(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the two validators; the second one speaks where it is installed, as it is for the tests."""
    if request.param == "jsonschema":
        monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    plain = compile_schema(holding(a=TEXT)).name_for({"a": "x"})
    assert plain.split()[0] == request.param
    return str(request.param)


@pytest.mark.usefixtures("validator")
@pytest.mark.parametrize("attack", [*SCHEMAS, *ARGUMENTS])
def test_every_attack_is_refused_with_either_validator(attack: str) -> None:
    """A hostile schema is a fault with its place; hostile arguments stop at a gate, in words that the model can use."""
    if attack in SCHEMAS:
        schema, pointer, why = SCHEMAS[attack]
        with pytest.raises(CatalogFault, match=why) as fault:
            compile_schema(schema)
        assert fault.value.pointer.startswith(pointer)
        return
    schema, given, code, words = ARGUMENTS[attack]
    raw = given if isinstance(given, str) else None
    arguments = decode(raw, given, needs_arguments=True)
    refused = validate(compile_schema(schema), arguments) if isinstance(arguments, dict) else arguments
    assert refused is not None
    assert (refused.code, refused.model_can_repair) == (code, code != "gate_error")
    assert words in refused.message


def test_no_item_is_looked_at_in_a_list_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many costs neither a comparison nor a look under `items`; as many as may be are compared once each."""
    looked: list[Any] = []

    def counting(function: Any) -> Any:
        def counted(value: Any) -> Any:
            looked.append(value)
            return function(value)

        return counted

    monkeypatch.setattr(equality, "key_of", counting(equality.key_of))
    monkeypatch.setitem(engine._TYPES, "integer", counting(engine.is_integer))
    compiled = compile_schema(holding(a=UNIQUE))
    (found,) = compiled.violations({"a": list(range(MAX_UNIQUE + 1))})
    assert (found.pointer, found.keyword, looked) == ("/a", "uniqueItems", [])
    assert compiled.violations({"a": list(range(MAX_UNIQUE))}) == ()
    assert len(looked) == 2 * MAX_UNIQUE


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        (holding(a={"not": {"uniqueItems": True}}), "/a"),
        (holding(a={"anyOf": [{"type": "null"}, UNIQUE]}), "/a"),
        (holding(a={"if": {"uniqueItems": True}, "then": {}}), "/a"),
        (holding(a={"$ref": "#/$defs/list"}) | {"$defs": {"list": UNIQUE}}, "/a"),
        ({"type": "object", "additionalProperties": UNIQUE}, "/a"),
        ({"type": "object", "properties": {"a": True}, "unevaluatedProperties": UNIQUE}, "/b"),
    ],
    ids=str,
)
def test_nobody_says_of_a_list_that_is_too_long_that_its_items_are_equal(schema: Any, at: str) -> None:
    """Under whichever keyword it would be compared, also where not being unique would be right, it is refused."""
    (found,) = compile_schema(schema).violations({at[1:]: list(range(MAX_UNIQUE + 1))})
    assert (found.pointer, found.keyword) == (at, "uniqueItems")


def test_the_place_of_the_list_is_told() -> None:
    """Deep inside of the arguments, beside lists that are as long and need not differ."""
    many = list(range(MAX_UNIQUE + 1))
    schema = holding(rows={"type": "array", "items": holding(free={}, ids=UNIQUE)})
    (found,) = compile_schema(schema).violations({"rows": [{"free": many}, {"free": list(many), "ids": list(many)}]})
    assert found.pointer == "/rows/1/ids"


def test_a_shorter_limit_of_the_schema_speaks_for_itself() -> None:
    """Where the schema allows 100, the model reads 100."""
    (found,) = compile_schema(holding(a={**UNIQUE, "maxItems": 100})).violations({"a": list(range(MAX_UNIQUE + 1))})
    assert (found.keyword, found.message) == ("maxItems", "must have at most 100 items, has 10001")


def test_a_list_that_need_not_differ_may_be_longer() -> None:
    """`uniqueItems: false` compares nothing, in the schema and in the arguments."""
    schema = holding(a={**UNIQUE, "uniqueItems": False, "maxItems": MAX_UNIQUE + 1})
    assert guard({**schema, "type": "object"}).schema == schema
    assert compile_schema(schema).violations({"a": [1] * (MAX_UNIQUE + 1)}) == ()
