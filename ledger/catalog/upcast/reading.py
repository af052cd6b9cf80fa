"""The closed reading of a schema: where it is silent about undeclared properties, it is read as refusing them."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from ledger.catalog.compile import CompiledSchema, compile_guarded
from ledger.catalog.definition import ToolVersion
from ledger.catalog.diff.space import read
from ledger.catalog.guard import CAPS, Guarded, guard
from ledger.catalog.guarding import guarded_of
from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import OTHER_ANNOTATIONS, WORDS, Dialect
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject

MAX_NODES: Final = 20_000
"""Schemas in a closed reading, references written out."""
MAX_DEPTH: Final = 100
"""Schemas inside one another, references written out; a value is 64 deep at most."""

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
    refuses, and for one that is too large when its references are written out.
    """
    return _closed(guard(schema, limits=CAPS, dialect=dialect))


def _closed(guarded: Guarded) -> JsonObject:
    found: JsonObject = _Reading(guarded).at("", ("",))
    return found  # an object: the guard lets nothing else be the root, and what it refers to


class Closed:
    """
    The closed reading of a version: made, read and compiled once, when somebody asks.

    All of it raises CatalogFault where `closed` does, and where the reading is too large.
    """

    def __init__(self, version: ToolVersion, dialect: Dialect = "2020-12") -> None:
        self.version = version
        self.dialect = dialect
        self._validators: dict[frozenset[str], CompiledSchema] = {}

    @cached_property
    def schema(self) -> JsonObject:
        """The reading itself; nobody changes it."""
        return _closed(guarded_of(self.version, self.dialect))

    @cached_property
    def guarded(self) -> Guarded:
        """The reading as the difference reads it."""
        return read(self.schema, self.dialect)

    def validator(self, formats: frozenset[str] = frozenset()) -> CompiledSchema:
        """Return what checks values; *formats* are those that assert."""
        if formats not in self._validators:
            self._validators[formats] = compile_guarded(self.guarded, formats)
        return self._validators[formats]


class _Reading:
    """Writes the closed reading down; what contains itself keeps its reference, and then nothing below it is closed."""

    def __init__(self, guarded: Guarded) -> None:
        self._nodes = guarded.nodes
        self._left = MAX_NODES
        self._depth = 0
        self._kept = {key: guarded.schema[key] for key in ("$schema", "$defs", "definitions") if key in guarded.schema}

    def at(self, pointer: str, above: tuple[str, ...]) -> Json:
        self._left -= 1
        self._depth += 1
        if self._left < 0 or self._depth > MAX_DEPTH:
            message = f"written out, the schema has more than {MAX_NODES:,} parts, or is deeper than {MAX_DEPTH}"
            raise CatalogFault(message, pointer=pointer)
        node = self._nodes[pointer]
        if isinstance(node, dict):
            node = self._written_out(pointer, node, above)
            if not pointer:
                node = self._kept | node
        self._depth -= 1
        return node

    def _written_out(self, pointer: str, node: JsonObject, above: tuple[str, ...]) -> JsonObject:
        if "$ref" in node:
            target = target_of(node["$ref"])
            beside = {key: value for key, value in node.items() if key != "$ref"}
            if target in above or beside.keys() - QUIET:
                return dict(node)  # draft-07 ignores what stands beside; the people who wrote it there did not
            inner = self.at(target, (*above, target))
            if not isinstance(inner, dict):
                return dict(node)
            quiet = {key: value for key, value in beside.items() if key in WORDS | OTHER_ANNOTATIONS}
            return {**{key: value for key, value in inner.items() if key not in self._kept}, **quiet}
        found = {key: value for key, value in node.items() if key not in ("$defs", "definitions")}
        if isinstance(node.get("properties"), dict):
            names = node["properties"]
            found["properties"] = {name: self.at(f"{pointer}/properties/{_escaped(name)}", above) for name in names}
        if isinstance(node.get("items"), dict):
            found["items"] = self.at(f"{pointer}/items", above)
        for key in ("items", "prefixItems"):
            if isinstance(node.get(key), list):
                found[key] = [self.at(f"{pointer}/{key}/{index}", above) for index in range(len(node[key]))]
        if _is_silent(node) and (node.get("properties") or not pointer):
            found["additionalProperties"] = False
        return found


def _is_silent(node: JsonObject) -> bool:
    is_object = node.get("type") == "object" or "properties" in node
    return is_object and "additionalProperties" not in node and not node.keys() & SPEAKS_OF_NAMES


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
