"""Operations on a schema: the image of all arguments that it accepts. What cannot be followed exactly is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from ledger.catalog.compile import compile_schema
from ledger.catalog.steps import EACH, Op, Steps
from ledger.catalog.upcast.nodes import CHANGES_THE_VALUE, became
from ledger.catalog.upcast.reading import QUIET
from ledger.catalog.upcast.stops import Unprovable
from ledger.catalog.upcast.values import same
from ledger.catalog.vocabulary import TYPES, Dialect
from ledger.strictjson import Json, JsonObject

ON_THE_WAY: Final = QUIET | {
    "additionalProperties",
    "dependentRequired",
    "deprecated",
    "items",
    "maxItems",
    "maxProperties",
    "minItems",
    "minProperties",
    "properties",
    "readOnly",
    "required",
    "type",
    "uniqueItems",
    "writeOnly",
}
"""Keywords that a schema above the changed place may have: none of them looks at what is changed below."""

_COUNTS: Final = ("maxProperties", "minProperties")


@dataclass(slots=True)
class Image:
    """
    A schema while operations work on it.

    `exact`: it accepts exactly the images of what the old schema accepts, and nothing beside. `partial` are the places
    of operations that carry only some of what the old schema accepts there.
    """

    schema: JsonObject
    dialect: Dialect
    exact: bool = True
    partial: list[str] = field(default_factory=list)

    def apply(self, op: Op) -> None:
        """Do one operation. Raises `Unprovable`."""
        if op.op in CHANGES_THE_VALUE:
            self.schema = _at(self.schema, op.path, lambda node: self._became(op, node))
        elif op.op == "move":
            _move(self, op)
        elif op.op in _BESIDE:
            self.schema = _at(self.schema, op.path[:-1], lambda node: _BESIDE[op.op](op, _closed(node, op)))

    def _became(self, op: Op, node: JsonObject) -> JsonObject:
        found = became(op, node, self.dialect)
        self.exact = self.exact and found.exact
        if found.partial:
            self.partial.append(op.pointer)
        return found.schema


def _at(node: Json, path: Steps, change: Callable[[JsonObject], JsonObject], done: Steps = ()) -> JsonObject:
    """Return the schema with what describes *path* changed."""
    if not isinstance(node, dict):
        raise Unprovable("no_schema_there", done, "the schema says nothing about this place")
    if not path:
        return change(node)
    _plain(node, done)
    step, rest = path[0], path[1:]
    if step == EACH:
        if not isinstance(node.get("items"), dict):
            raise Unprovable("path_missing", (*done, step), "there are no items, or they are not all described alike")
        return {**node, "items": _at(node["items"], rest, change, (*done, step))}
    properties = node.get("properties", {})
    if step not in properties:
        raise Unprovable("path_missing", (*done, step), f"the schema has no property {step!r} there")
    return {**node, "properties": {**properties, step: _at(properties[step], rest, change, (*done, step))}}


def _plain(node: JsonObject, place: Steps) -> None:
    for key in sorted(node):
        if key not in ON_THE_WAY and not key.startswith("x-"):
            raise Unprovable("keyword_above", place, f"`{key}` may look at what the operation changes")


def _closed(node: JsonObject, op: Op) -> JsonObject:
    """Return the object's schema where it takes no property that it does not declare."""
    place = op.path[:-1]
    _plain(node, place)
    if node.get("additionalProperties") is not False:
        raise Unprovable("parent_open", place, "the object lets undeclared properties through")
    fields = node.get("properties", {})
    needed = {name for names in node.get("dependentRequired", {}).values() for name in names}
    for name in sorted({*node.get("required", ()), *node.get("dependentRequired", {}), *needed} - fields.keys()):
        raise Unprovable("undeclared_needed", (*place, name), f"{name!r} is asked for, and nothing may be called so")
    return node


def _declared(node: JsonObject, op: Op) -> Json:
    name = op.path[-1]
    if name not in node.get("properties", {}):
        raise Unprovable("path_missing", op.path, f"the schema has no property {name!r} there")
    return node["properties"][name]


def _free(node: JsonObject, place: Steps) -> None:
    if place[-1] in node.get("properties", {}):
        message = f"the schema has a property {place[-1]!r} there already"
        raise Unprovable("collision", place, message, refuted=True)


def _required(node: JsonObject, name: str) -> bool:
    return name in node.get("required", ())


def _with(node: JsonObject, name: str, schema: Json | None, *, required: bool) -> JsonObject:
    """Return the object's schema with a property described anew (None: gone), required or not."""
    properties = {key: each for key, each in node.get("properties", {}).items() if key != name}
    names = [key for key in node.get("required", ()) if key != name]
    if schema is not None:
        properties[name] = schema
        names += [name] if required else []
    found = {**node, "properties": properties, "required": names}
    if not names:
        del found["required"]
    return found


def _no_counts(node: JsonObject, op: Op) -> None:
    if any(key in node for key in _COUNTS) or "dependentRequired" in node:
        raise Unprovable("keyword_above", op.path[:-1], "the number of properties, or one by another, is checked there")


# -- beside the value


def _rename(op: Op, node: JsonObject) -> JsonObject:
    old, new = op.path[-1], op.to[-1]
    described = _declared(node, op)
    _free(node, op.to)
    found = _with(_with(node, old, None, required=False), new, described, required=_required(node, old))
    if "dependentRequired" in node:
        name = {old: new}
        found["dependentRequired"] = {
            name.get(key, key): [name.get(each, each) for each in needed]
            for key, needed in node["dependentRequired"].items()
        }
    return found


def _move(image: Image, op: Op) -> None:
    taken: list[tuple[Json, bool]] = []

    def take(node: JsonObject) -> JsonObject:
        _closed(node, op)
        _no_counts(node, op)
        taken.append((_declared(node, op), _required(node, op.path[-1])))
        return _with(node, op.path[-1], None, required=False)

    def put(node: JsonObject) -> JsonObject:
        there = Op(op=op.op, path=op.to)
        _closed(node, there)
        _no_counts(node, there)
        _free(node, op.to)
        return _with(node, op.to[-1], taken[0][0], required=taken[0][1])

    for path in (op.path, op.to):
        _always_there(image.schema, path[:-1])
    image.schema = _at(image.schema, op.path[:-1], take)
    image.schema = _at(image.schema, op.to[:-1], put)


def _always_there(node: Json, path: Steps, done: Steps = ()) -> None:
    """Every object on the way is there in every value: else "absent" and "empty" would become one."""
    for step in path:
        if not isinstance(node, dict) or step not in node.get("properties", {}):
            raise Unprovable("path_missing", (*done, step), f"the schema has no property {step!r} there")
        below = node["properties"][step]
        if not _required(node, step) or not isinstance(below, dict) or below.get("type") != "object":
            raise Unprovable("parent_optional", (*done, step), "the object that holds it need not be there")
        node, done = below, (*done, step)


def _null_to_absent(op: Op, node: JsonObject) -> JsonObject:
    name = op.path[-1]
    described = _declared(node, op)
    if not _required(node, name):
        raise Unprovable("null_and_absent", op.path, "it may be absent already: null and absent would become one")
    _no_counts(node, op)
    return _with(node, name, _without_null(described, op.path), required=False)


def _absent_to_null(op: Op, node: JsonObject) -> JsonObject:
    name = op.path[-1]
    described = _declared(node, op)
    if _required(node, name):
        raise Unprovable("never_absent", op.path, "it is always there")
    _no_counts(node, op)
    return _with(node, name, _with_null(described, op.path), required=True)


_LOOKS_ON: Final = frozenset({"$ref", "allOf", "anyOf", "const", "default", "else", "if", "not", "oneOf", "then"})
"""Keywords that may take or refuse null beside `type`; a default would say something else of the absence."""


def _types(node: Json, place: Steps) -> list[str]:
    """Return the types of a schema in which `type` and `enum` alone decide about null."""
    if not isinstance(node, dict) or not node.keys() & {"type", "enum"}:
        raise Unprovable("no_type", place, "its schema names no type, so nobody can say whether it takes null")
    for key in sorted(node.keys() & _LOOKS_ON):
        raise Unprovable("keyword_there", place, f"`{key}` may look at null, or at its absence")
    given = node.get("type", list(TYPES))
    return [given] if isinstance(given, str) else list(given)


def _without_null(node: Json, place: Steps) -> JsonObject:
    union = _union(node)
    if union is not None:
        if "null" in _types(union, place):
            raise Unprovable("null_twice", place, "the other alternative takes null too")
        return union
    names = _types(node, place)
    left = [name for name in names if name != "null"]
    if len(left) == len(names) or not left or None not in node.get("enum", [None]):
        raise Unprovable("not_nullable", place, "its schema does not take null, or nothing else")
    found = {**node, "type": left[0] if len(left) == 1 else left}
    if "enum" in node:  # which says it alone, where there is no type
        found = {**node} if "type" not in node else found
        found["enum"] = [value for value in node["enum"] if value is not None]
        if not found["enum"]:
            raise Unprovable("not_nullable", place, "its schema takes nothing but null")
    return found


def _union(node: Json) -> JsonObject | None:
    """Return what is left of `anyOf: [schema, null]`, another spelling of a nullable schema."""
    for key in ("anyOf", "oneOf"):
        if not isinstance(node, dict) or key not in node or node.keys() - QUIET - {key}:
            continue
        left = [each for each in node[key] if not _is_null(each)]
        if len(left) == 1 and len(node[key]) == 2 and isinstance(left[0], dict):  # noqa: PLR2004 - it and null
            return {**left[0], **{word: value for word, value in node.items() if word in QUIET}}
    return None


def _is_null(node: Json) -> bool:
    return isinstance(node, dict) and node.get("type") == "null" and node.keys() - QUIET == {"type"}


def _with_null(node: Json, place: Steps) -> JsonObject:
    names = _types(node, place)
    if "null" in names and None in node.get("enum", [None]):
        raise Unprovable("null_already", place, "it takes null already")
    found = {**node, "type": [*(name for name in names if name != "null"), "null"]}
    if "enum" in node:
        found = {**node} if "type" not in node else found
        found["enum"] = [*(value for value in node["enum"] if value is not None), None]
    return found


def _add_const(op: Op, node: JsonObject) -> JsonObject:
    _free(node, op.path)
    _no_counts(node, op)
    return _with(node, op.path[-1], {"const": op.value}, required=True)


def _drop_const(op: Op, node: JsonObject) -> JsonObject:
    if not _is_constant(_declared(node, op), op.value) or not _required(node, op.path[-1]):
        raise Unprovable("no_constant", op.path, "its schema does not require exactly this constant")
    _no_counts(node, op)
    return _with(node, op.path[-1], None, required=False)


def _is_constant(node: Json, value: Json) -> bool:
    """Whether a schema takes this value, and no other one."""
    if not isinstance(node, dict) or node.keys() - QUIET - {"const", "enum", "type", "default"}:
        return False
    only = [*([node["const"]] if "const" in node else []), *node.get("enum", ())]
    return bool(only) and all(same(each, value) for each in only) and not compile_schema(node).violations(value)


def _introduce_optional(op: Op, node: JsonObject) -> JsonObject:
    _free(node, op.path)
    return node


_BESIDE: Final[dict[str, Callable[[Op, JsonObject], JsonObject]]] = {
    "rename": _rename,
    "null_to_absent": _null_to_absent,
    "absent_to_null": _absent_to_null,
    "add_const": _add_const,
    "drop_const": _drop_const,
    "introduce_optional": _introduce_optional,
}
