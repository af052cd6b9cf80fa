"""A schema is input too: what is wrong with it is named by pointer, before any validator sees it."""

import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ledger.catalog.guard import CAPS, DRAFT_07, SchemaLimits, guard, guard_input
from ledger.errors import CatalogFault

FAULTS = json.loads((Path(__file__).parents[1] / "suite/schema_faults.json").read_text(encoding="utf-8"))
DRAFTS = {"2020-12": jsonschema.Draft202012Validator, "draft-07": jsonschema.Draft7Validator}


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case["fact"])
def test_a_fault_is_named_by_its_pointer(case: dict[str, Any]) -> None:
    """Each faulty schema of the suite is refused where the fault stands, in words that say what to do."""
    with pytest.raises(CatalogFault) as fault:
        guard(case["schema"], path="v1.json")
    assert case["because"] in str(fault.value)
    assert fault.value.path == "v1.json"
    assert case["pointer"] in (None, fault.value.pointer)


@pytest.mark.parametrize(
    ("limits", "schema", "pointer"),
    [
        (SchemaLimits(max_depth=2), {"type": "object", "properties": {"a": {"type": "string"}}}, "/properties/a"),
        (SchemaLimits(max_subschemas=2), {"type": "object", "properties": {"a": {}, "b": {}}}, ""),
        (SchemaLimits(max_items=2), {"type": "object", "properties": {"a": {"enum": [1, 2, 3]}}}, "/properties/a/enum"),
        (SchemaLimits(max_text=9), {"type": "object", "properties": {"a": {"title": "x" * 10}}}, "/properties/a/title"),
        (SchemaLimits(max_bytes=20), {"type": "object", "title": "x" * 20}, ""),
    ],
)
def test_a_schema_beyond_a_limit_is_refused(limits: SchemaLimits, schema: Any, pointer: str) -> None:
    """Depth, number of schemas, lists, texts and bytes are bounded, and each bound can be set."""
    assert guard(schema).schema == schema
    with pytest.raises(CatalogFault) as fault:
        guard(schema, limits=limits)
    assert fault.value.pointer == pointer


def test_values_that_are_no_json_are_refused_with_their_place() -> None:
    """A schema given as a Python dict is held to JSON: no set, no NaN, no key that is no text."""
    for value in ({"enum": [float("nan")]}, {"enum": {1}}, {"enum": [{1: 2}]}):
        with pytest.raises(CatalogFault, match="properties/a"):
            guard({"type": "object", "properties": {"a": value}})


def test_the_guard_keeps_a_copy() -> None:
    """What the caller does to its schema afterwards changes nothing."""
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    guarded = guard(schema)
    schema["properties"]["a"]["type"] = "integer"
    assert guarded.schema["properties"]["a"] == {"type": "string"}
    assert sorted(guarded.nodes) == ["", "/properties/a"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "x-anything": 1, "nullable": True, "discriminator": {}, "$id": "urn:x"},
        {
            "$schema": DRAFT_07,
            "type": "object",
            "items": [{}, True],
            "additionalItems": False,
            "dependencies": {"a": ["b"]},
        },
        {"$ref": "#/$defs/a/%24defs/b", "$defs": {"a": {"$defs": {"b": {"type": "object"}}}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/a"}}},
        {
            "$schema": DRAFT_07,
            "type": "object",
            "properties": {"a": {"$ref": "#/definitions/x", "allOf": [{"$ref": "#/properties/a"}]}},
            "definitions": {"x": {"type": "string"}},
        },
        {"type": "object", "minProperties": 1.0, "multipleOf": 0.1, "const": None, "default": {}},
        {"type": "object", "unevaluatedProperties": False, "allOf": [True, {"properties": {"a": {}}}]},
    ],
)
def test_a_sound_schema_passes(schema: Any) -> None:
    """Annotations, both dialects, local references, recursion with progress: all fine."""
    assert guard_input(schema).schema == schema


@pytest.mark.parametrize(
    "schema",
    [{"properties": {}}, {"type": "string"}, {"type": ["object", "null"]}, {"$ref": "#/$defs/a", "$defs": {"a": True}}],
)
def test_arguments_are_an_object_and_the_schema_says_so(schema: Any) -> None:
    """A tool's input schema without `"type": "object"` at its root is refused."""
    assert guard(schema).schema == schema
    with pytest.raises(CatalogFault, match="must say so"):
        guard_input(schema)


def test_a_default_dialect_goes_with_the_schema() -> None:
    """A schema of a draft-07 catalog that names no dialect names it afterwards, wherever it goes."""
    assert guard({"type": "object", "items": [True]}, dialect="draft-07").schema["$schema"] == DRAFT_07


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case["fact"])
def test_the_guard_refuses_whatever_the_meta_schema_refuses(case: dict[str, Any]) -> None:
    """The guard never lets a schema pass that the published meta-schema of its dialect refuses."""
    for name, draft in DRAFTS.items():
        try:
            draft.check_schema(case["schema"])
        except jsonschema.SchemaError:
            with pytest.raises(CatalogFault):
                guard(case["schema"], dialect=name)  # type: ignore[arg-type]  # one of the two names


def test_real_schemas_pass_or_are_refused_by_the_meta_schema_too(corpus: Path) -> None:
    """Of the published MCP tools, the guard refuses the one that is invalid, at its pointer, and no other."""
    refused = []
    for line in gzip.decompress((corpus / "mcp_tools.jsonl.gz").read_bytes()).splitlines():
        tool = json.loads(line)
        try:
            guard_input(tool["inputSchema"], limits=CAPS)
        except CatalogFault as fault:
            refused.append((tool["name"], fault.pointer.rpartition("/")[2]))
    assert refused == [("read_pdf", "exclusiveMinimum")]
