"""Fills in the defaults of a schema, for tools whose contract says `applyDefaults`. The intent is never altered."""

from __future__ import annotations

from ledger.catalog.references import target_of
from ledger.strictjson import Json, JsonObject, copied, resolve


def with_defaults(schema: JsonObject, arguments: JsonObject) -> JsonObject:
    """
    Return a copy of *arguments* in which each absent field with a `default` has it, in nested objects too.

    Only `properties` count, behind local references as well; not the alternatives of a union, for which of them is
    meant is not known. *schema* passed the guard, *arguments* the schema.
    """
    filled: JsonObject = copied(arguments)
    _fill(schema, schema, filled)
    return filled


def _fill(root: JsonObject, schema: Json, value: Json) -> None:
    while isinstance(schema, dict) and "$ref" in schema and "properties" not in schema and "items" not in schema:
        schema = resolve(root, target_of(schema["$ref"]))
    if not isinstance(schema, dict):
        return
    if isinstance(value, dict):
        for name, field in schema.get("properties", {}).items():
            if name not in value and isinstance(field, dict) and "default" in field:
                value[name] = copied(field["default"])
            if name in value:
                _fill(root, field, value[name])
    elif isinstance(value, list):
        for each in value:
            _fill(root, schema.get("items", True), each)
