"""
Where each place of the new form comes from, so that nothing stands where the old form had something else.

No schema tells two texts apart: after payer and payee exchanged their names, or EUR and USD their places in a choice,
each record still fits, and says the opposite. Whoever asserts that every leaf keeps its meaning overlooks that too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ledger.catalog.diff.wording import turned
from ledger.catalog.steps import EACH, Op, Steps
from ledger.catalog.upcast.stops import Unprovable
from ledger.strictjson import Json, JsonObject

_NAMED: Final = frozenset({"rename", "move", "tuple_to_object", "object_to_tuple"})
"""Operations behind which a value stands under another name."""
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\w\s]")


def check_origins(ops: Sequence[Op], old: JsonObject, new: JsonObject) -> None:
    """
    Raise `Unprovable` where operations put one thing of the old form into the place of another one, or of another unit.

    *new* is what they made of *old*. Looks at properties, items and places of tuples that are described plainly: no
    operation reaches further.
    """
    _check_names(ops)
    before = dict(_places(old))
    _check_values(ops, before)
    if any(op.op in _NAMED for op in ops):
        _check_places(ops, before, new)


def _check_names(ops: Sequence[Op]) -> None:
    for op in ops:
        if op.op in ("rename", "move") and turned(_words(op.path[-1]), _words(op.to[-1])) is not None:
            message = f"{op.path[-1]!r} and {op.to[-1]!r} name two units, or opposites"
            raise Unprovable("name_turned", op.to, message)


def _words(name: str) -> str:
    return " ".join(_PART.findall(name))


def _check_places(ops: Sequence[Op], before: Mapping[Steps, Json], new: JsonObject) -> None:
    others = [op for op in ops if op.op not in _NAMED]
    for place, _ in _places(new):
        here, there = _origin(place, others), _origin(place, ops)
        if here != there and here in before:
            message = "what stands here had another place in the old form, which had something else here"
            raise Unprovable("exchanged", place, message)


def _check_values(ops: Sequence[Op], before: Mapping[Steps, Json]) -> None:
    became: dict[Steps, dict[str, str]] = {}
    for at, op in enumerate(ops):
        if op.op != "map_values":
            continue
        place = _origin(op.path, ops[:at])
        node = before.get(place)
        given = map(str, node.get("enum", ())) if isinstance(node, dict) else ()
        now = became.setdefault(place, {value: value for value in given})
        for value, mapped in now.items():
            now[value] = op.values.get(mapped, mapped)
    for place, now in became.items():
        for value, mapped in now.items():
            if mapped != value and mapped in now:
                message = f"{value!r} becomes {mapped!r}, which was another choice in the old form"
                raise Unprovable("exchanged", place, message)


def _places(node: Json, done: Steps = ()) -> Iterator[tuple[Steps, Json]]:
    yield done, node
    if not isinstance(node, dict):
        return
    for name, each in node.get("properties", {}).items():
        yield from _places(each, (*done, name))
    items, first = node.get("items"), node.get("prefixItems", ())
    if isinstance(items, dict):
        yield from _places(items, (*done, EACH))
    for at, each in enumerate(items if isinstance(items, list) else first):
        yield from _places(each, (*done, _place(at)))


def _place(at: int) -> str:
    """Return the step to a place of a tuple; no property that an operation names is called so."""
    return f"{EACH}{at}"


def _origin(place: Steps, ops: Sequence[Op]) -> Steps:
    """Return the place that a place had before the operations."""
    for op in reversed(ops):
        place = _before(op, place)
    return place


def _before(op: Op, place: Steps) -> Steps:
    if op.op in ("rename", "move"):
        size = len(op.to)
        return op.path + place[size:] if place[:size] == op.to else place
    size = len(op.path)
    inside = place[size:] if place[:size] == op.path else ()
    return op.path + _inside(op, inside[0], inside[1:]) if inside else place


def _inside(op: Op, step: str, rest: Steps) -> Steps:
    """Return the way that a way inside of the value had before the value got its form."""
    match op.op:
        case "wrap_object" if step == op.keys[0]:
            return rest
        case "wrap_array" if step == EACH:
            return rest
        case "unwrap_object":
            return (op.keys[0], step, *rest)
        case "unwrap_array":
            return (EACH, step, *rest)
        case "tuple_to_object" if step in op.keys:
            return (_place(op.keys.index(step)), *rest)
        case "object_to_tuple":
            names = {_place(at): key for at, key in enumerate(op.keys)}
            return (names.get(step, step), *rest)
        case _:
            return (step, *rest)
