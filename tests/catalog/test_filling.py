"""The defaults that a catalog lets the ledger fill in: those with which no call could run are found."""

from typing import Any

import pytest

from tests.catalog.shelf import SCHEMA, Shelf

LINE = {"type": "object", "properties": {"n": {"type": "integer", "default": "1"}}, "additionalProperties": False}
ENDLESS = {"$defs": {"in": {"type": "object", "properties": {"in": {"$ref": "#/$defs/in", "default": {}}}}}}


@pytest.mark.parametrize(
    ("field", "more", "said"),
    [
        ({"type": "integer", "default": 5}, {}, None),
        ({"type": "integer", "default": "5"}, {}, "the schema refuses this default: expected integer"),
        ({"$ref": "#/$defs/cents", "default": 51}, {"$defs": {"cents": {"maximum": 50}}}, "the schema refuses"),
        ({"items": {"enum": ["a"]}, "default": ["a", "b"]}, {}, "the schema refuses this default: /1: "),
        ({"$ref": "#/$defs/line", "default": {}}, {"$defs": {"line": LINE}}, "the schema refuses this default: /n: "),
        ({"$ref": "#/$defs/in", "default": {}}, ENDLESS, "this default leads to more defaults without an end"),
    ],
    ids=str,
)
@pytest.mark.parametrize("applied", [True, False])
def test_a_default_that_the_schema_refuses_is_found(
    shelf: Shelf, field: Any, more: Any, said: Any, applied: bool
) -> None:
    """With its place, also by a reference and with the defaults inside of it; of those that nobody fills in nothing."""
    schema = {**SCHEMA, **more, "properties": {**SCHEMA["properties"], "fee": field}}
    contract = {"contract": {"effect": "read", "applyDefaults": applied}}
    shelf.tool(schemas=(schema,), versions={"1": contract})
    found = [note for note in shelf.report().findings if note.pointer.endswith("properties/fee/default")]
    assert [(note.code, note.version) for note in found] == [("default_refused", 1)] * (applied and said is not None)
    assert all(note.message.startswith(said) for note in found)
