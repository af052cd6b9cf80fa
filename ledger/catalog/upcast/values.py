"""Operations on recorded arguments, forth and back; what an operation does not mean is refused, never guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from ledger.catalog.steps import EACH, Op, Steps
from ledger.catalog.upcast.stops import Stop
from ledger.strictjson import Json, JsonObject, canonical, copied
from ledger.strictjson.pointer import from_pointer

CANONICAL_INTEGER: Final = "^(0|-?[1-9][0-9]*)$"
"""The texts that are integers in exactly one way; the pattern that a schema has to name for a cast."""

MAX_DIGITS: Final = 4300
"""Python reads and writes no longer ones by default (`sys.get_int_max_str_digits`)."""

_TOO_LARGE: Final = 10**MAX_DIGITS
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def forth(ops: tuple[Op, ...], arguments: Json) -> Json:
    """Return the arguments in their new form; the given ones stay as they are. Raises `Stop`."""
    value = copied(arguments)
    for op in ops:
        value = apply(op, value)
    return value


def back(ops: tuple[Op, ...], arguments: Json) -> Json:
    """Return the arguments in their old form. Raises `Stop`."""
    return forth(undo(ops), arguments)


def as_far(ops: tuple[Op, ...], arguments: Json) -> Json:
    """Return the arguments in their new form as far as the operations know what to do; only to compare them."""
    value = copied(arguments)
    for op in ops:
        with suppress(Stop):
            value = apply(op, value)
    return value


def undo(ops: tuple[Op, ...]) -> tuple[Op, ...]:
    """Return the operations that lead back."""
    return tuple(op.inverse for op in reversed(ops))


def apply(op: Op, value: Json) -> Json:
    """Do one operation on the value itself and return it; the root may become another one. Raises `Stop`."""
    if not op.path:
        return _AT[op.op](op, value, ()) if op.op in _AT else value
    if op.op in _BESIDE:
        _BESIDE[op.op](op, value)
        return value
    change = _AT[op.op]
    for parent, key, place in _places(value, op.path):
        if isinstance(parent, list) or key in parent:
            parent[key] = change(op, parent[key], place)
    return value


def _places(value: Json, path: Steps, done: Steps = ()) -> Iterator[tuple[Json, Json, Steps]]:
    """Yield the parents of what *path* names, with the key or index there; a part that is not there has none."""
    step, rest = path[0], path[1:]
    if step == EACH:
        if isinstance(value, list):
            for index in range(len(value)):
                if rest:
                    yield from _places(value[index], rest, (*done, str(index)))
                else:
                    yield value, index, (*done, str(index))
    elif isinstance(value, dict):
        if not rest:
            yield value, step, (*done, step)
        elif step in value:
            yield from _places(value[step], rest, (*done, step))


# -- at the value itself


def _wrap_object(op: Op, value: Json, _place: Steps) -> Json:
    return {op.keys[0]: value}


def _unwrap_object(op: Op, value: Json, place: Steps) -> Json:
    if not isinstance(value, dict) or list(value) != list(op.keys):
        raise Stop("not_one_key", place, f"it is no object with exactly the key {op.keys[0]!r}")
    return value[op.keys[0]]


def _wrap_array(_op: Op, value: Json, _place: Steps) -> Json:
    return [value]


def _unwrap_array(_op: Op, value: Json, place: Steps) -> Json:
    if not isinstance(value, list) or len(value) != 1:
        raise Stop("not_one_item", place, "it is no array of exactly one item")
    return value[0]


def _tuple_to_object(op: Op, value: Json, place: Steps) -> Json:
    if not isinstance(value, list) or len(value) != len(op.keys):
        raise Stop("not_this_tuple", place, f"it is no array of exactly {len(op.keys)} items")
    return dict(zip(op.keys, value, strict=True))


def _object_to_tuple(op: Op, value: Json, place: Steps) -> Json:
    if not isinstance(value, dict) or value.keys() != set(op.keys):
        raise Stop("not_these_keys", place, f"it is no object with exactly the keys {', '.join(op.keys)}")
    return [value[key] for key in op.keys]


def _cast(op: Op, value: Json, place: Steps) -> Json:
    if op.kind == "integer":
        if not isinstance(value, str) or not is_canonical(value):
            raise Stop("not_canonical", place, "it is no integer in its only spelling (0, or digits without a zero)")
        return int(value)
    if not is_whole(value):
        raise Stop("not_an_integer", place, "it is no integer (true and 1.0 are none)")
    return str(value)


def is_canonical(text: str) -> bool:
    """Return whether a text is the only spelling of an integer that this interpreter takes."""
    return len(text) - text.startswith("-") <= MAX_DIGITS and _INTEGER.fullmatch(text) is not None


def is_whole(value: Json) -> bool:
    """Return whether it is an integer that has a text; neither true nor 1.0 is one."""
    return isinstance(value, int) and not isinstance(value, bool) and -_TOO_LARGE < value < _TOO_LARGE


def _map_values(op: Op, value: Json, place: Steps) -> Json:
    if not isinstance(value, str) or value not in op.values:
        raise Stop("not_mapped", place, "the file maps no such value")
    return op.values[value]


_AT: Final[dict[str, Callable[[Op, Json, Steps], Json]]] = {
    "wrap_object": _wrap_object,
    "unwrap_object": _unwrap_object,
    "wrap_array": _wrap_array,
    "unwrap_array": _unwrap_array,
    "tuple_to_object": _tuple_to_object,
    "object_to_tuple": _object_to_tuple,
    "cast": _cast,
    "map_values": _map_values,
}


# -- beside it: whether it is there at all


def _rename(op: Op, value: Json) -> None:
    new = op.to[-1]
    for parent, key, place in _objects(value, op.path):
        if new in parent:
            raise Stop("collision", (*place[:-1], new), "the new name is taken already")
        if key in parent:
            parent[new] = parent.pop(key)


def _move(op: Op, value: Json) -> None:
    parent, key = _one_object(value, op.path)
    target, name = _one_object(value, op.to)
    if name in target:
        raise Stop("collision", op.to, "something stands at the new place already")
    if key in parent:
        target[name] = parent.pop(key)


def _one_object(value: Json, path: Steps) -> tuple[JsonObject, str]:
    for parent, key, _ in _objects(value, path):
        return parent, key
    raise Stop("parent_missing", path[:-1], "the object that holds it is not there")


def _null_to_absent(op: Op, value: Json) -> None:
    for parent, key, place in _objects(value, op.path):
        if key not in parent:
            raise Stop("absent", place, "it is absent, which the old form does not know")
        if parent[key] is None:
            del parent[key]


def _absent_to_null(op: Op, value: Json) -> None:
    for parent, key, place in _objects(value, op.path):
        if parent.get(key, key) is None:
            raise Stop("null", place, "it is null, which the old form does not know")
        parent.setdefault(key, None)


def _add_const(op: Op, value: Json) -> None:
    for parent, key, place in _objects(value, op.path):
        if key in parent:
            raise Stop("collision", place, "something stands there already")
        parent[key] = copied(op.value)


def _drop_const(op: Op, value: Json) -> None:
    wanted = canonical(op.value)
    for parent, key, place in _objects(value, op.path):
        if key not in parent or canonical(parent[key]) != wanted:
            raise Stop("not_the_constant", place, "it is not exactly the constant of the file")
        del parent[key]


def _require_absent(op: Op, value: Json) -> None:
    for parent, key, place in _objects(value, op.path):
        if key in parent:
            raise Stop("present", place, "it is there, and the old form cannot say it")


_BESIDE: Final[dict[str, Callable[[Op, Json], None]]] = {
    "rename": _rename,
    "move": _move,
    "null_to_absent": _null_to_absent,
    "absent_to_null": _absent_to_null,
    "add_const": _add_const,
    "drop_const": _drop_const,
    "introduce_optional": _require_absent,
}


def _objects(value: Json, path: Steps) -> Iterator[tuple[JsonObject, str, Steps]]:
    """Yield the same for a path that ends in a property's name: the parents are objects."""
    return _places(value, path)


def at_both(one: Json, other: Json, pointer: str) -> tuple[Json, Json] | None:
    """Return the values that two arguments have at a place (JSON Pointer); None where one of them has none there."""
    for step in from_pointer(pointer):
        if not (isinstance(one, dict) and isinstance(other, dict) and step in one and step in other):
            return None
        one, other = one[step], other[step]
    return one, other


def same(one: Json, other: Json) -> bool:
    """Return whether two values are equal with their types: 1 is neither 1.0 nor true, absent is not null."""
    return canonical(one) == canonical(other)
