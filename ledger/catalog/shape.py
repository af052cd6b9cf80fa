"""
The canonical shape of a schema: what it accepts and means, without the words for people. Its digest is the version.

Two schemas with one shape are one version: titles, descriptions, examples, comments, the order of `required` and
`enum`, the names of definitions and whether a part stands in place or behind a reference do not matter. `default`,
`format`, `contentEncoding`, `contentMediaType`, `writeOnly` and the significant annotations do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.catalog.guard import guard
from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import CHECKS, LIST, MAP, ONE, STORES, WORDS, Dialect, children
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, canonical, digest, to_pointer

SIGNIFICANT: Final = frozenset({"x-sensitive", "x-unit"})
"""Annotations that change the meaning everywhere; a catalog may list more."""

MAX_SHAPE: Final = 20_000
"""Schemas in a shape with its references written out."""
MAX_NESTING: Final = 100
"""Schemas inside one another, references written out."""

_DROPPED: Final = (WORDS | STORES | {"$schema", "$id", "deprecated", "readOnly"}) - {"$ref"}
_EMPTY: Final = frozenset({"patternProperties", "properties", "required", "uniqueItems"})
"""Keywords that say nothing where they are empty or false."""
_SETS: Final = frozenset({"allOf", "anyOf", "enum", "oneOf", "required"})
"""Lists whose order means nothing, nor how often one entry stands there: but in `oneOf`, where two equal ones match
nothing."""


def shape(schema: Json, *, significant: frozenset[str] = frozenset(), dialect: Dialect = "2020-12") -> JsonObject:
    """Return the canonical shape of *schema*; raises CatalogFault where the schema itself is refused."""
    guarded = guard(schema, dialect=dialect)
    return shape_of(guarded.nodes, guarded.dialect, significant)


def shape_digest(schema: Json, *, significant: frozenset[str] = frozenset(), dialect: Dialect = "2020-12") -> str:
    """Return the SHA-256 (hex) of the shape's canonical JSON: the identity of a schema's version."""
    return digest(shape(schema, significant=significant, dialect=dialect))


def shape_of(nodes: Mapping[str, Json], dialect: Dialect, significant: frozenset[str] = frozenset()) -> JsonObject:
    """Return the shape of a schema that passed the guard, given as its schemas by pointer."""
    shaper = _Shaper(nodes, dialect, significant | SIGNIFICANT)
    root = shaper.at("")
    result: JsonObject = root if isinstance(root, dict) else {"allOf": [root]}
    return {**result, "$defs": shaper.definitions} if shaper.definitions else result


def shape_at(nodes: Mapping[str, Json], pointer: str, dialect: Dialect, significant: frozenset[str]) -> Json:
    """Return the shape of one schema inside a schema that passed the guard; what it refers to is written out."""
    shaper = _Shaper(nodes, dialect, significant)
    written = shaper.at(pointer)
    return {"allOf": [written], "$defs": shaper.definitions} if shaper.definitions else written


class _Shaper:
    """Writes references out, except those of schemas that contain themselves: they get names in order of appearance."""

    def __init__(self, nodes: Mapping[str, Json], dialect: Dialect, significant: frozenset[str]) -> None:
        self.nodes = nodes
        self.dialect = dialect
        self.significant = significant
        self.recursive = _recursive(nodes)
        self.names: dict[str, str] = {}
        self.definitions: JsonObject = {}
        self.room = MAX_SHAPE
        self.depth = 0

    def at(self, pointer: str) -> Json:
        """Return the shape of the schema at *pointer*, or a reference to it if it contains itself."""
        if pointer not in self.recursive:
            return self.written_out(pointer)
        name = self.names.get(pointer)
        if name is None:
            name = self.names[pointer] = f"r{len(self.names)}"
            self.definitions[name] = self.written_out(pointer)
        return {"$ref": f"#/$defs/{name}"}

    def written_out(self, pointer: str) -> Json:
        self.room -= 1
        self.depth += 1
        if self.room < 0 or self.depth > MAX_NESTING:
            message = f"written out, the schema has more than {MAX_SHAPE:,} parts or {MAX_NESTING} levels"
            raise CatalogFault(message, pointer=pointer, hint="Refer to fewer schemas inside one another.")
        written = self.spelled(pointer, self.nodes[pointer])
        self.depth -= 1
        return written

    def spelled(self, pointer: str, node: Json) -> Json:
        if not isinstance(node, dict):
            return node
        if "$ref" not in node:
            return self.beside(pointer, node)
        target = self.at(target_of(node["$ref"]))
        rest = {} if self.dialect == "draft-07" else self.beside(pointer, node)
        return {"allOf": _ordered([target, rest])} if rest else target

    def beside(self, pointer: str, node: JsonObject) -> JsonObject:
        """Return the shape of every keyword but `$ref`."""
        result: JsonObject = {}
        for keyword in sorted(node):
            value = node[keyword]
            if keyword == "$ref" or (keyword in _EMPTY and not value):
                continue
            if keyword in self.significant or (keyword in CHECKS and keyword not in _DROPPED):
                result[keyword] = self.value(f"{pointer}/{keyword}", keyword, value)
        return result

    def value(self, pointer: str, keyword: str, value: Json) -> Json:
        if keyword in LIST or (keyword == "items" and isinstance(value, list)):
            shapes = [self.at(f"{pointer}/{index}") for index in range(len(value))]
            if keyword == "oneOf":
                return sorted(shapes, key=canonical)
            return _ordered(shapes) if keyword in _SETS else shapes
        if keyword in MAP or keyword == "dependencies":
            return {
                name: sorted(each) if isinstance(each, list) else self.at(pointer + to_pointer([name]))
                for name, each in sorted(value.items())
            }
        if keyword in ONE:
            return self.at(pointer)
        if keyword == "dependentRequired":
            return {name: sorted(each) for name, each in value.items()}
        if keyword == "type":
            types = sorted(value) if isinstance(value, list) else [value]
            return types[0] if len(types) == 1 else types
        return _ordered(value) if keyword in _SETS else value


def _ordered(values: list[Json]) -> list[Json]:
    """Return *values* in the order of their canonical bytes, equal ones once."""
    return list({canonical(value): value for value in sorted(values, key=canonical)}.values())


def _recursive(nodes: Mapping[str, Json]) -> frozenset[str]:
    """Return the pointers of all targets of references that can reach themselves."""
    targets = {target_of(node["$ref"]) for node in nodes.values() if isinstance(node, dict) and "$ref" in node}
    if not targets:
        return frozenset()
    after = {
        pointer: [pointer + to_pointer(path) for path, _ in children(node) if path[0] not in STORES]
        + ([target_of(node["$ref"])] if "$ref" in node else [])
        for pointer, node in nodes.items()
        if isinstance(node, dict)
    }
    return frozenset(target for target in targets if _reaches(target, after))


def _reaches(target: str, after: Mapping[str, list[str]]) -> bool:
    seen: set[str] = set()
    waiting = list(after.get(target, ()))
    while waiting:
        pointer = waiting.pop()
        if pointer == target:
            return True
        if pointer not in seen:
            seen.add(pointer)
            waiting.extend(after.get(pointer, ()))
    return False


def description_digest(words: Mapping[str, str | None], schema: Json, *, dialect: Dialect = "2020-12") -> str:
    """
    Return the SHA-256 (hex) of all that a model reads to choose and fill in the tool.

    *words* are title, description, useWhen and notWhen; of the schema, each title, description and list of examples by
    its place. Another wording changes which tool a model picks, even where the shape stays.
    """
    return words_digest(words, guard(schema, dialect=dialect).nodes)


def words_digest(words: Mapping[str, str | None], nodes: Mapping[str, Json]) -> str:
    """Do the same for a schema that passed the guard, given as its schemas by pointer."""
    read = {
        pointer: {word: node[word] for word in ("title", "description", "examples") if word in node}
        for pointer, node in nodes.items()
        if isinstance(node, dict)
    }
    return digest({"tool": dict(words), "schema": {pointer: each for pointer, each in read.items() if each}})
