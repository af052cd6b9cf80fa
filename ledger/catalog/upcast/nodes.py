"""Operations on the schema of one value: what it becomes where the value itself changes its form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ledger.catalog.diff import contained
from ledger.catalog.steps import Op
from ledger.catalog.upcast.reading import QUIET
from ledger.catalog.upcast.stops import Unprovable
from ledger.catalog.upcast.values import CANONICAL_INTEGER, is_canonical, is_whole
from ledger.catalog.vocabulary import Dialect
from ledger.strictjson import Json, JsonObject

_STRING_KEYS: Final = QUIET | {"type", "pattern", "enum"}
_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_OBJECT_KEYS: Final = QUIET | {"type", "properties", "required", "additionalProperties"}
_ARRAY_KEYS: Final = QUIET | {"type", "items", "minItems", "maxItems", "prefixItems", "additionalItems", "uniqueItems"}


@dataclass(frozen=True, slots=True)
class Became:
    """
    The schema afterwards.

    `exact`: it accepts nothing but images. `partial`: some values that the schema before accepts have no image.
    """

    schema: JsonObject
    exact: bool = True
    partial: bool = False


_STORED: Final = ("$schema", "$id", "$defs", "definitions")
"""What stays where it is when the schema around it becomes another one."""


def became(op: Op, node: JsonObject, dialect: Dialect) -> Became:
    """Return what a value's schema becomes. Raises `Unprovable`."""
    return _OPS[op.op](op, node, dialect)


def _only(op: Op, node: JsonObject, keys: frozenset[str]) -> None:
    for key in sorted(node.keys() - keys):
        raise Unprovable("keyword_there", op.path, f"`{key}` looks at the form that changes")


_TOLD: Final = ("title", "description", "markdownDescription")


def _told(node: JsonObject) -> JsonObject:
    """Return the words that say what a value is: whatever form it gets, they are held to what the new form says."""
    return {word: node[word] for word in _TOLD if isinstance(node.get(word), str)}


def _also_told(inner: JsonObject, node: JsonObject) -> JsonObject:
    """Return the schema of a value that is left of another one with that one's words before its own."""
    own, above = _told(inner), _told(node)
    return inner | {word: f"{text}\n{own[word]}" if word in own else text for word, text in above.items()}


def _wrap_object(op: Op, node: JsonObject, _dialect: Dialect) -> Became:
    [key] = op.keys
    inner = {word: value for word, value in node.items() if word not in (*_STORED, "default")}
    outer = {word: value for word, value in node.items() if word in _STORED}
    if "default" in node:  # it says what the absence of the whole means
        outer["default"] = {key: node["default"]}
    return Became(outer | _told(node) | _object({key: inner}))


def _unwrap_object(op: Op, node: JsonObject, _dialect: Dialect) -> Became:
    [key] = op.keys
    _only(op, node, _OBJECT_KEYS)
    alone = list(node.get("properties", {})) == [key] and list(node.get("required", ())) == [key]
    if node.get("type") != "object" or not alone or node.get("additionalProperties") is not False:
        raise Unprovable(
            "not_one_key", op.path, f"its schema is no closed object with exactly the required key {key!r}"
        )
    inner = node["properties"][key]
    if not isinstance(inner, dict):
        raise Unprovable("no_schema_there", op.path, "the schema says nothing about the value inside")
    if "default" in inner:
        raise Unprovable("default_there", op.path, "the default inside says nothing of the absence of the whole")
    return Became({word: value for word, value in node.items() if word in _STORED} | _also_told(inner, node))


def _wrap_array(_op: Op, node: JsonObject, _dialect: Dialect) -> Became:
    inner = {word: value for word, value in node.items() if word != "default"}
    found: JsonObject = {**_told(node), "type": "array", "items": inner, "minItems": 1, "maxItems": 1}
    if "default" in node:  # it says what the absence of the whole means
        found["default"] = [node["default"]]
    return Became(found)


def _unwrap_array(op: Op, node: JsonObject, _dialect: Dialect) -> Became:
    _only(op, node, _ARRAY_KEYS)
    inner = node.get("items")
    one = node.get("minItems") == node.get("maxItems") == 1
    if node.get("type") != "array" or not isinstance(inner, dict) or "prefixItems" in node:
        raise Unprovable("not_one_item", op.path, "its schema is no array of items that are described alike")
    if "default" in inner:
        raise Unprovable("default_there", op.path, "the default inside says nothing of the absence of the whole")
    return Became(_also_told(inner, node), partial=not one)


def _tuple_to_object(op: Op, node: JsonObject, dialect: Dialect) -> Became:
    _only(op, node, _ARRAY_KEYS)
    places = node.get("prefixItems") if dialect == "2020-12" else node.get("items")
    rest = node.get("items", True) if dialect == "2020-12" else node.get("additionalItems", True)
    size = len(op.keys)
    fixed = node.get("minItems") == size and node.get("maxItems", size if rest is False else None) == size
    if node.get("type") != "array" or not isinstance(places, list) or len(places) != size or not fixed:
        raise Unprovable("not_this_tuple", op.path, f"its schema is no array of exactly {size} places")
    if node.get("uniqueItems"):
        raise Unprovable("keyword_there", op.path, "`uniqueItems` compares the places with one another")
    named = dict(zip(op.keys, places, strict=True))
    return Became(_told(node) | _object(named))


def _object(properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _object_to_tuple(op: Op, node: JsonObject, dialect: Dialect) -> Became:
    _only(op, node, _OBJECT_KEYS)
    properties = node.get("properties", {})
    exact = properties.keys() == set(op.keys) == set(node.get("required", ()))
    if node.get("type") != "object" or not exact or node.get("additionalProperties") is not False:
        raise Unprovable("not_these_keys", op.path, "its schema is no closed object with exactly these required keys")
    places, size = [properties[key] for key in op.keys], len(op.keys)
    first, rest = ("prefixItems", "items") if dialect == "2020-12" else ("items", "additionalItems")
    array = {"type": "array", first: places, rest: False, "minItems": size, "maxItems": size}
    return Became(_told(node) | array)


def _cast(op: Op, node: JsonObject, _dialect: Dialect) -> Became:
    return _to_integer(op, node) if op.kind == "integer" else _to_string(op, node)


def _to_integer(op: Op, node: JsonObject) -> Became:
    _only(op, node, _STRING_KEYS)
    if node.get("type") != "string":
        raise Unprovable("not_a_string", op.path, "its schema does not say that it is a string")
    words = {word: value for word, value in node.items() if word in QUIET}
    if "enum" in node:
        numbers = [int(value) for value in node["enum"] if isinstance(value, str) and is_canonical(value)]
        partial = len(_some(op, numbers)) < len(node["enum"])
        return Became({**words, "type": "integer", "enum": numbers}, exact="pattern" not in node, partial=partial)
    if node.get("pattern") == CANONICAL_INTEGER:
        return Became({**words, "type": "integer"})
    total = "pattern" in node and _all_canonical(node["pattern"])
    return Became({**words, "type": "integer"}, exact=False, partial=not total)


def _some(op: Op, values: list[Json]) -> list[Json]:
    if not values:
        raise Unprovable("no_value_left", op.path, "no value of the choice has a place in the new form")
    return values


def _all_canonical(pattern: str) -> bool:
    """Whether every text of the pattern is an integer in its only spelling."""
    return contained(_text_of(pattern), _text_of(CANONICAL_INTEGER)).holds


def _text_of(pattern: str) -> JsonObject:
    return {"type": "string", "pattern": pattern}


def _to_string(op: Op, node: JsonObject) -> Became:
    _only(op, node, QUIET | _BOUNDS | {"type", "enum"})
    if node.get("type") != "integer":
        raise Unprovable("not_an_integer", op.path, "its schema does not say that it is an integer")
    words = {word: value for word, value in node.items() if word in QUIET}
    if "enum" in node:
        whole = [value for value in node["enum"] if is_whole(value)]
        texts = {**words, "type": "string", "enum": [str(value) for value in _some(op, whole)]}
        # JSON Schema takes 1.0 for an integer; it is none here.
        return Became(texts, exact=not node.keys() & _BOUNDS, partial=len(whole) < len(node["enum"]))
    return Became({**words, "type": "string", "pattern": CANONICAL_INTEGER}, exact=not node.keys() & _BOUNDS)


def _map_values(op: Op, node: JsonObject, _dialect: Dialect) -> Became:
    _only(op, node, QUIET | {"type", "enum", "default"})
    given = node.get("enum")
    if not isinstance(given, list) or not all(isinstance(value, str) for value in given):
        raise Unprovable("no_enum", op.path, "its schema lists no texts to choose from")
    left = [value for value in given if value not in op.values]
    found = {**node, "enum": _some(op, [op.values[value] for value in given if value in op.values])}
    if "default" in node:
        default = node["default"]
        if not isinstance(default, str) or default not in op.values:
            raise Unprovable("default_not_mapped", op.path, "its default is not among the values that are mapped")
        found["default"] = op.values[default]
    return Became(found, partial=bool(left))


_OPS: Final[dict[str, Callable[[Op, JsonObject, Dialect], Became]]] = {
    "wrap_object": _wrap_object,
    "unwrap_object": _unwrap_object,
    "wrap_array": _wrap_array,
    "unwrap_array": _unwrap_array,
    "tuple_to_object": _tuple_to_object,
    "object_to_tuple": _object_to_tuple,
    "cast": _cast,
    "map_values": _map_values,
}
"""Operations that change a value's own form."""

CHANGES_THE_VALUE: Final = frozenset(_OPS)
