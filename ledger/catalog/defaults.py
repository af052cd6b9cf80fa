"""Fills in the defaults of a schema, for tools whose contract says `applyDefaults`. The intent is never altered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeGuard

from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import DIALECTS
from ledger.strictjson import Json, JsonObject, copied, resolve, to_pointer

MAX_NESTED: Final = 64
"""So many defaults may be filled in inside of one another."""
MAX_INSIDE: Final = 10_000
"""So many defaults may be filled in inside of others, in all."""


class DefaultsWithoutEnd(ValueError):
    """A default leads to further ones, and those to it again (or to more than anybody means)."""


def with_defaults(schema: JsonObject, arguments: JsonObject) -> JsonObject:
    """
    Return a copy of *arguments* in which each absent field with a `default` has it, in nested objects too.

    Only `properties`, `prefixItems` and `items` count, behind local references as well; not the alternatives of a
    union, for which of them is meant is not known. *schema* passed the guard, *arguments* the schema; whether what is
    returned fits it too, nobody has looked. In draft-07 a reference stands alone: what is beside it says nothing.
    Raises DefaultsWithoutEnd where the schema contains itself by its defaults.
    """
    filled: JsonObject = copied(arguments)
    _Filler(schema).fill(schema, filled, 0)
    return filled


def fillings(schema: JsonObject, nodes: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """
    Yield the place of each field that has a default, and what would be filled in there, with the defaults inside of it.

    *nodes* are the schemas in *schema* by their pointers. What has no end is yielded as DefaultsWithoutEnd.
    """
    reads = _Filler(schema).reads
    for pointer, node in nodes.items():
        for name, field in node.get("properties", {}).items() if reads(node) else ():
            if not reads(field) or "default" not in field:
                continue
            value = copied(field["default"])
            try:
                _Filler(schema).fill(field, value, 1)
            except DefaultsWithoutEnd as endless:
                value = endless
            yield f"{pointer}/properties{to_pointer([name])}", value


class _Filler:
    """One filling: how many defaults it put inside of others so far."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._alone = DIALECTS.get(str(root.get("$schema")).removesuffix("#")) == "draft-07"
        self._inside = 0

    def reads(self, schema: Json) -> TypeGuard[JsonObject]:
        """Whether the words of a schema say something: in draft-07 those beside a reference do not."""
        return isinstance(schema, dict) and not (self._alone and "$ref" in schema)

    def fill(self, schema: Json, value: Json, nested: int) -> None:
        """Fill in a value; `nested`: inside of how many defaults it stands."""
        while isinstance(schema, dict) and "$ref" in schema:
            if self.reads(schema) and ("properties" in schema or "items" in schema):
                break
            schema = resolve(self._root, target_of(schema["$ref"]))
        if not isinstance(schema, dict):
            return
        if isinstance(value, dict):
            for name, field in schema.get("properties", {}).items():
                absent = name not in value
                if absent and self.reads(field) and "default" in field:
                    self._count(nested)
                    value[name] = copied(field["default"])
                if name in value:
                    self.fill(field, value[name], nested + absent)
        elif isinstance(value, list):
            for item, each in zip(_of_items(schema), value, strict=False):
                self.fill(item, each, nested)

    def _count(self, nested: int) -> None:
        self._inside += nested > 0
        if nested > MAX_NESTED or self._inside > MAX_INSIDE:
            raise DefaultsWithoutEnd("the schema's defaults lead to more defaults without an end")


def _of_items(schema: JsonObject) -> Iterator[Json]:
    """Yield the schema of each place of a list; the first ones may have their own (draft 7: `items` is their list)."""
    first, rest = schema.get("prefixItems", ()), schema.get("items", True)
    if isinstance(rest, list):
        first, rest = rest, schema.get("additionalItems", True)
    yield from first
    while True:
        yield rest
