"""The closed reading of a schema: where it is silent about undeclared properties, it is read as refusing them."""

from __future__ import annotations

from typing import Final

from ledger.catalog.guard import Guarded, guard
from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import OTHER_ANNOTATIONS, WORDS, Dialect
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject

MAX_NODES: Final = 20_000
"""Schemas in a closed reading, references written out."""

SPEAKS_OF_NAMES: Final = frozenset(
    [
        "allOf",
        "anyOf",
        "dependencies",
        "dependentSchemas",
        "else",
        "if",
        "not",
        "oneOf",
        "patternProperties",
        "propertyNames",
        "then",
        "unevaluatedProperties",
    ]
)
"""Keywords that may name, or take in, a property that `properties` does not declare."""

QUIET: Final = WORDS | OTHER_ANNOTATIONS | {"$schema", "$id", "$defs", "definitions"}


def closed(schema: Json, dialect: Dialect = "2020-12") -> JsonObject:
    """
    Return the schema with references written out and every silent object closed.

    Real tools hardly ever say `additionalProperties`: of 322 published MCP tools most leave it out. What a model sends
    beside the declared properties is ignored by them, so nobody knows what it would mean in another form: a record that
    holds some is valid under the schema and not under its closed reading, and goes to a person. An object that says
    `additionalProperties` itself, or has a keyword that may take names in, is left as it is; so is a free map (an
    object without `properties`), except for the arguments themselves. Raises CatalogFault for a schema that a catalog
    refuses.
    """
    found = _Reading(guard(schema, dialect=dialect)).at("", ("",))
    if isinstance(found, dict):
        return found
    return {"allOf": [found]}  # a schema that is true or false


class _Reading:
    """Writes the closed reading down; what contains itself keeps its reference, and then nothing below it is closed."""

    def __init__(self, guarded: Guarded) -> None:
        self._nodes = guarded.nodes
        self._dialect = guarded.dialect
        self._left = MAX_NODES
        self._kept = {key: guarded.schema[key] for key in ("$schema", "$defs", "definitions") if key in guarded.schema}

    def at(self, pointer: str, above: tuple[str, ...]) -> Json:
        self._left -= 1
        if self._left < 0:
            raise CatalogFault(f"written out, the schema has more than {MAX_NODES:,} parts", pointer=pointer)
        node = self._nodes[pointer]
        if not isinstance(node, dict):
            return node
        written = self._written_out(pointer, node, above)
        if not pointer:
            written = self._kept | written
        return written

    def _written_out(self, pointer: str, node: JsonObject, above: tuple[str, ...]) -> JsonObject:
        if "$ref" in node:
            target = target_of(node["$ref"])
            beside = {key: value for key, value in node.items() if key != "$ref"}
            if target in above or (self._dialect != "draft-07" and beside.keys() - QUIET):
                return dict(node)
            inner = self.at(target, (*above, target))
            if not isinstance(inner, dict):
                return dict(node)
            quiet = {key: value for key, value in beside.items() if key in WORDS}
            return {**{key: value for key, value in inner.items() if key not in self._kept}, **quiet}
        found = {key: value for key, value in node.items() if key not in ("$defs", "definitions")}
        if isinstance(node.get("properties"), dict):
            names = node["properties"]
            found["properties"] = {name: self.at(f"{pointer}/properties/{_escaped(name)}", above) for name in names}
        if isinstance(node.get("items"), dict):
            found["items"] = self.at(f"{pointer}/items", above)
        if _is_silent(node) and (node.get("properties") or not pointer):
            found["additionalProperties"] = False
        return found


def _is_silent(node: JsonObject) -> bool:
    is_object = node.get("type") == "object" or "properties" in node
    return is_object and "additionalProperties" not in node and not node.keys() & SPEAKS_OF_NAMES


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
