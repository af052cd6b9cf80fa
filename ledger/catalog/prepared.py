"""A checked schema made ready for the validator: references linked, patterns compiled, choices hashed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from ledger.catalog.equality import key_of
from ledger.catalog.guard import Guarded
from ledger.catalog.patterns import compile_pattern
from ledger.catalog.references import target_of
from ledger.catalog.vocabulary import LIST, MAP, ONE
from ledger.strictjson import Json, JsonObject, to_pointer


class Node(dict[str, Any]):
    """One schema; `bound` is its validator once it was needed."""

    __slots__ = ("bound",)

    def __init__(self) -> None:
        super().__init__()
        self.bound: Any = None


Schema: TypeAlias = Node | bool


class Reference(str):
    """A `$ref` that knows its target."""

    __slots__ = ("node",)

    node: Schema


@dataclass(frozen=True, slots=True)
class Choice:
    """The values of an `enum` or `const`, and their keys under JSON Schema's equality."""

    values: tuple[Json, ...]
    keys: frozenset[str]


def prepare(guarded: Guarded, formats: frozenset[str]) -> Node:
    """
    Return the schema as linked nodes.

    `$schema` and `$id` go (a validator would look another class up by them, or another base address), and every
    `format` that does not assert.
    """
    nodes = {pointer: Node() if isinstance(node, dict) else bool(node) for pointer, node in guarded.nodes.items()}
    for pointer, node in nodes.items():
        if isinstance(node, Node):
            _fill(node, pointer, guarded.nodes[pointer], nodes, formats)
    return cast("Node", nodes[""])  # the guard lets only an object be the root


def _fill(node: Node, pointer: str, schema: JsonObject, nodes: Mapping[str, Schema], formats: frozenset[str]) -> None:
    for keyword, value in sorted(schema.items(), key=lambda entry: entry[0] != "uniqueItems"):
        # What is too long to be compared is known before each of its items is looked at.
        if keyword in ("$schema", "$id") or (keyword == "format" and value not in formats):
            continue
        node[keyword] = _linked(f"{pointer}/{keyword}", keyword, value, nodes)


def _linked(pointer: str, keyword: str, value: Json, nodes: Mapping[str, Schema]) -> Any:
    if keyword in LIST or (keyword == "items" and isinstance(value, list)):
        return [nodes[f"{pointer}/{index}"] for index in range(len(value))]
    if keyword in MAP or keyword == "dependencies":
        return {name: nodes.get(pointer + to_pointer([name]), each) for name, each in value.items()}
    if keyword in ONE:
        return nodes[pointer]
    if keyword == "$ref":
        reference = Reference(value)
        reference.node = nodes[target_of(value)]
        return reference
    if keyword == "pattern":
        return compile_pattern(value)
    if keyword in ("enum", "const"):
        values = tuple(value) if keyword == "enum" else (value,)
        return Choice(values, frozenset(map(key_of, values)))
    return value
