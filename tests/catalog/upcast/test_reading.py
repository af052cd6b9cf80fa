"""The closed reading: silence is read as a refusal, references are written out, what contains itself stays."""

from typing import Any

import pytest

from ledger.catalog import compile_schema
from ledger.catalog.upcast import reading
from ledger.catalog.upcast.reading import closed
from ledger.errors import CatalogFault
from tests.catalog.upcast.scenes import step

TEXT = {"type": "string"}
DRAFT_07 = "http://json-schema.org/draft-07/schema#"


def silent(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_silent_object_takes_nothing_undeclared() -> None:
    """Objects with properties are closed wherever they stand: in properties, items and places of a tuple."""
    inner = silent(a=TEXT)
    schema = silent(o=inner, l={"type": "array", "items": inner}, t={"type": "array", "prefixItems": [inner, True]})
    is_closed = {**inner, "additionalProperties": False}
    assert closed(schema) == {
        **silent(
            o=is_closed,
            l={"type": "array", "items": is_closed},
            t={"type": "array", "prefixItems": [is_closed, True]},
        ),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "more",
    [
        {"additionalProperties": True},
        {"additionalProperties": TEXT},
        {"patternProperties": {"^x": TEXT}},
        {"propertyNames": {"maxLength": 3}},
        {"anyOf": [{"required": ["a"]}]},
        {"dependentSchemas": {"a": {}}},
        {"unevaluatedProperties": False},
    ],
)
def test_an_object_that_speaks_of_other_names_stays_as_it_is(more: dict[str, Any]) -> None:
    """Nothing is added to what its author decided."""
    schema = {**silent(a=TEXT), **more}
    assert closed(schema) == schema


def test_a_free_map_stays_free_and_arguments_do_not() -> None:
    """An object without properties is data; the arguments themselves are closed."""
    assert closed({"type": "object"}) == {"type": "object", "additionalProperties": False}
    assert closed(silent(o={"type": "object"}))["properties"]["o"] == {"type": "object"}


def test_references_are_written_out() -> None:
    """With the words beside them; in place, so that one path leads to one schema; the definitions stay."""
    schema = {
        **silent(a={"$ref": "#/$defs/p", "description": "It.", "deprecated": True}),
        "$defs": {"p": silent(b=TEXT)},
    }
    found = closed(schema)
    assert found["properties"]["a"] == {
        **silent(b=TEXT),
        "additionalProperties": False,
        "description": "It.",
        "deprecated": True,
    }
    assert found["$defs"] == schema["$defs"]
    root = closed({"$ref": "#/$defs/p", "$defs": {"p": silent(b=TEXT)}})
    assert (root["properties"], root["additionalProperties"]) == ({"b": TEXT}, False)


def test_a_reference_with_more_beside_it_stays() -> None:
    """What stands beside a reference looks at the value too; draft-07 does not read it, its author did."""
    for schema in (
        {**silent(a={"$ref": "#/$defs/p", "default": "x"}), "$defs": {"p": TEXT}},
        {**silent(a={"$ref": "#/definitions/p", "default": "x"}), "definitions": {"p": TEXT}, "$schema": DRAFT_07},
        {**silent(a={"$ref": "#/$defs/p"}), "$defs": {"p": True}},
    ):
        assert closed(schema)["properties"] == schema["properties"]


def test_what_contains_itself_keeps_its_reference() -> None:
    """The outermost is written out and closed, below that everything is as it was."""
    tree = silent(v=TEXT, kids={"type": "array", "items": {"$ref": "#/$defs/n"}})
    found = closed({**silent(t={"$ref": "#/$defs/n"}), "$defs": {"n": tree}})
    assert found["properties"]["t"] == {**tree, "additionalProperties": False}
    value = {"t": {"v": "1", "kids": [{"v": "2", "kids": [{"zz": 1}]}]}}
    assert compile_schema(found).violations(value) == ()


def test_names_are_escaped_as_pointers_are() -> None:
    """Properties called a/b or ~1 are found again."""
    found = closed(silent(**{"a/b": silent(x=TEXT), "~1": silent(x=TEXT)}))
    assert all(each["additionalProperties"] is False for each in found["properties"].values())


def test_a_draft_07_tuple_is_read_place_by_place() -> None:
    """`items` with a list holds places."""
    schema = {**silent(a={"type": "array", "items": [silent(x=TEXT)]}), "$schema": DRAFT_07}
    assert closed(schema)["properties"]["a"]["items"][0]["additionalProperties"] is False


def test_an_explosion_is_refused_and_carries_nothing() -> None:
    """References that double at each level, or are deeper than any value, make neither proof nor carry raise."""
    wide = {f"d{i}": silent(**{name: {"$ref": f"#/$defs/d{i + 1}"} for name in "wxyz"}) for i in range(8)}
    deep = {f"d{i}": silent(x={"$ref": f"#/$defs/d{i + 1}"}) for i in range(150)}
    for parts in (wide, deep):
        schema = {**silent(a={"$ref": "#/$defs/d0"}), "$defs": {**parts, f"d{len(parts)}": TEXT}}
        with pytest.raises(CatalogFault, match=f"{reading.MAX_NODES:,}"):
            closed(schema)
    assert getattr(step([], schema, schema).carry({}), "code", None) == "schema_refused"
