"""Defaults are filled in on a copy, in nested objects too, and nowhere else."""

from typing import Any

import pytest

from ledger.catalog import DefaultsWithoutEnd, with_defaults
from ledger.catalog.defaults import fillings


@pytest.mark.parametrize(
    ("schema", "arguments", "filled"),
    [
        ({"properties": {"a": {"default": 1}, "b": {}, "c": True}}, {}, {"a": 1}),
        ({"properties": {"a": {"default": 1}}}, {"a": None}, {"a": None}),
        ({"properties": {"a": {"default": {}, "properties": {"b": {"default": 2}}}}}, {}, {"a": {"b": 2}}),
        ({"properties": {"a": {"properties": {"b": {"default": 2}}}}}, {}, {}),
        ({"properties": {"a": {"properties": {"b": {"default": 2}}}}}, {"a": {}}, {"a": {"b": 2}}),
        ({"properties": {"a": {"properties": {"b": {"default": 2}}}}}, {"a": 5}, {"a": 5}),
        ({"properties": {"a": {"items": {"properties": {"b": {"default": 2}}}}}}, {"a": [{}, 1]}, {"a": [{"b": 2}, 1]}),
        ({"properties": {"a": {"type": "array"}}}, {"a": [{}]}, {"a": [{}]}),
        (
            {"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {"$ref": "#/$defs/x"}, "b": {"default": 1}}}}},
            {"a": {}},
            {"a": {"b": 1}, "b": 1},
        ),
        (
            {
                "properties": {
                    "a": {"prefixItems": [{"properties": {"b": {}}}], "items": {"properties": {"b": {"default": 2}}}}
                }
            },
            {"a": [{}, {}]},
            {"a": [{}, {"b": 2}]},
        ),
        (
            {"properties": {"a": {"prefixItems": [{"properties": {"b": {"default": 2}}}]}}},
            {"a": [{}, {}]},
            {"a": [{"b": 2}, {}]},
        ),
        (
            {
                "properties": {
                    "a": {
                        "items": [{"properties": {"b": {"default": 2}}}],
                        "additionalItems": {"properties": {"c": {"default": 3}}},
                    }
                }
            },
            {"a": [{}, {}]},
            {"a": [{"b": 2}, {"c": 3}]},
        ),
        ({"anyOf": [{"properties": {"a": {"default": 1}}}]}, {}, {}),
    ],
)
def test_absent_fields_get_their_default(schema: Any, arguments: Any, filled: Any) -> None:
    """Absent is filled, null is kept; references are followed, unions are not."""
    assert with_defaults(schema, arguments) == filled


def test_nothing_is_shared() -> None:
    """Neither the arguments nor the schema's default change with what runs."""
    schema: Any = {"properties": {"a": {"default": []}}}
    arguments: Any = {"b": []}
    filled = with_defaults(schema, arguments)
    filled["a"].append(1)
    filled["b"].append(1)
    assert schema["properties"]["a"]["default"] == arguments["b"] == []


def test_what_has_no_end_is_given_up() -> None:
    """Neither depth nor number of defaults inside of defaults grows without bound; beside one another they may."""
    inner: Any = {"properties": {"a": {"$ref": "#/$defs/in", "default": {}}}}
    with pytest.raises(DefaultsWithoutEnd):
        with_defaults({"$defs": {"in": inner}, **inner}, {})
    wide: Any = {
        f"d{n}": {"properties": {name: {"$ref": f"#/$defs/d{n + 1}", "default": {}} for name in "ab"}}
        for n in range(20)
    }
    with pytest.raises(DefaultsWithoutEnd):
        with_defaults({"$defs": {**wide, "d20": {}}, "$ref": "#/$defs/d0"}, {})
    items: Any = {"properties": {"a": {"items": {"properties": {"b": {"default": 1}}}}}}
    assert with_defaults(items, {"a": [{}] * 20_000})["a"][-1] == {"b": 1}


@pytest.mark.parametrize("draft", ["draft-07", "2020-12"])
def test_what_stands_beside_a_reference_is_read_where_the_dialect_reads_it(draft: str) -> None:
    """In draft-07 validators and digests ignore it, so nothing is filled in that no version says."""
    old = draft == "draft-07"
    named = "http://json-schema.org/draft-07/schema#" if old else "https://json-schema.org/draft/2020-12/schema"
    money: Any = {"properties": {"bank": {"default": "A"}}}
    schema: Any = {
        "$schema": named,
        "definitions": {"money": money},
        "properties": {
            "currency": {"$ref": "#/definitions/money", "default": "USD"},
            "to": {"$ref": "#/definitions/money", "properties": {"iban": {"default": "B"}}},
        },
    }
    filled = {"to": {"bank": "A"}} if old else {"currency": "USD", "to": {"iban": "B"}}
    assert with_defaults(schema, {"to": {}}) == filled
    found = [place for place, _ in fillings(schema, {"": schema, "/properties/to": schema["properties"]["to"]})]
    assert found == ([] if old else ["/properties/currency", "/properties/to/properties/iban"])
