"""How the values of each class are written: one rule a class, the first that fits."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from enum import Enum
from itertools import islice
from typing import Any, Final

from ledger.strictjson.canonical import to_text
from ledger.strictjson.encoded import Encoding, Kind
from ledger.strictjson.leaves import LEAVES
from ledger.strictjson.limits import Json
from ledger.strictjson.plain import TEXT
from ledger.strictjson.pointer import to_pointer
from ledger.strictjson.text import printable, type_name
from ledger.strictjson.walk import Branch, Leaf, NoRuleError, Rule, TooDeepError, Walk

DRAWN_ITEMS: Final = 1_000_000
"""An iterator, or a sequence of somebody's own, may never end. A result with more items is a list."""

_MISSING: Final = object()


def rule_of(kind: type) -> Rule:
    """Return the rule for a class. Raises `NoRuleError` where only the repr can be kept."""
    if kind in _EXACT:
        return _EXACT[kind]
    for base, rule in _BASES:
        if issubclass(kind, base):
            return rule
    if callable(getattr(kind, "model_dump", None)):
        return Branch(_model)
    if dataclasses.is_dataclass(kind):
        return Branch(_dataclass)
    if callable(getattr(kind, "tolist", None)):
        return Branch(_array)
    if not issubclass(kind, io.IOBase):  # reading a file may block for ever
        for abstract, rule in _ABSTRACT:
            if issubclass(kind, abstract):
                return rule
    raise NoRuleError


def _name(value: object) -> str:
    return type_name(type(value))


def _enum(walk: Walk, value: Any, at: str, depth: int) -> Json:
    walk.mark(at, "enum", printable(f"{_name(value)}.{value.name}"))
    return walk.encode(value.value, at, depth + 1)


def _tuple(walk: Walk, value: tuple[Any, ...], at: str, depth: int) -> Json:
    items = tuple.__iter__(value)
    fields = getattr(type(value), "_fields", None)
    if isinstance(fields, tuple) and len(fields) == tuple.__len__(value):
        walk.mark(at, "namedtuple", _name(value))
        return _object(walk, zip(fields, items, strict=True), at, depth)
    walk.mark(at, "tuple", _name(value))
    return _items(walk, items, at, depth)


def _list(walk: Walk, value: list[Any], at: str, depth: int) -> Json:
    if type(value) is not list:
        walk.mark(at, "sequence", _name(value))
    return _items(walk, list.__iter__(value), at, depth)


def _dict(walk: Walk, value: dict[Any, Any], at: str, depth: int) -> Json:
    if type(value) is not dict:
        walk.mark(at, "mapping", _name(value))
    return _object(walk, dict.items(value), at, depth)


def _mapping(walk: Walk, value: Mapping[Any, Any], at: str, depth: int) -> Json:
    walk.mark(at, "mapping", _name(value))
    return _object(walk, value.items(), at, depth)


def _sequence(walk: Walk, value: Iterable[Any], at: str, depth: int) -> Json:
    return _drawn(walk, value, at, depth, "sequence")


def _iterator(walk: Walk, value: Iterator[Any], at: str, depth: int) -> Json:
    return _drawn(walk, value, at, depth, "iterator")


def _drawn(walk: Walk, value: Iterable[Any], at: str, depth: int, kind: Kind) -> Json:
    """Write what somebody's own iteration yields: it may raise half-way, and it may never end."""
    walk.mark(at, kind, _name(value))
    out = []
    try:
        for index, item in walk.while_room(value):
            if index == DRAWN_ITEMS:
                walk.mark(at, "incomplete", f"more than {DRAWN_ITEMS} items")
                break
            out.append(walk.encode(item, f"{at}/{index}", depth + 1))
    except Exception as error:  # noqa: BLE001 - user code ran; what it gave before stays
        walk.mark(at, "incomplete", _name(error))
    return out


def _set(walk: Walk, value: AbstractSet[Any], at: str, depth: int) -> Json:
    kind: Kind = "frozenset" if isinstance(value, frozenset) else "set"
    walk.mark(at, kind, _name(value))
    parts: list[tuple[str, list[tuple[str, Kind, str]], Json]] = []
    outside = walk.encodings
    try:
        for _, item in walk.while_room(value):
            walk.encodings = []
            encoded = walk.encode(item, "", depth + 1)
            marks = [(mark.pointer, mark.kind, mark.type) for mark in walk.encodings]
            parts.append((to_text(encoded), marks, encoded))
    finally:
        walk.encodings = outside
    # The order of a set differs from process to process; that of the elements' canonical form does not.
    parts.sort(key=lambda part: part[:2])
    for index, (_, marks, _) in enumerate(parts):
        outside.extend(Encoding(f"{at}/{index}{pointer}", inner, name) for pointer, inner, name in marks)
    return [encoded for _, _, encoded in parts]


def _model(walk: Walk, value: Any, at: str, depth: int) -> Json:
    walk.mark(at, "model", _name(value))
    return walk.encode(value.model_dump(), at, depth + 1)


def _array(walk: Walk, value: Any, at: str, depth: int) -> Json:
    walk.mark(at, "array", _name(value))
    return walk.encode(value.tolist(), at, depth + 1)


def _dataclass(walk: Walk, value: Any, at: str, depth: int) -> Json:
    walk.mark(at, "dataclass", _name(value))
    names = [field.name for field in dataclasses.fields(value)]
    found = [(name, getattr(value, name, _MISSING)) for name in names]
    return _object(walk, [(name, item) for name, item in found if item is not _MISSING], at, depth)


def _items(walk: Walk, items: Iterable[Any], at: str, depth: int) -> Json:
    return [walk.encode(item, f"{at}/{index}", depth + 1) for index, item in walk.while_room(items)]


def _object(walk: Walk, items: Iterable[tuple[Any, Any]], at: str, depth: int) -> Json:
    """Write an object if its keys are distinct texts, else an array of [key, value]: 1 and "1" stay two keys."""
    most = walk.limits.max_items
    pairs = list(islice(items, most + 1))  # a mapping of somebody's own may never end
    walk.full = walk.full or len(pairs) > most
    kinds = {type(key) for key, _ in pairs}
    names = [str.__str__(key) for key, _ in pairs if issubclass(type(key), str)]
    if len(set(names)) < len(pairs):
        if depth + 2 > walk.limits.max_depth:
            raise TooDeepError
        walk.mark(at, "pairs", "dict")
        return [
            [walk.encode(key, f"{at}/{index}/0", depth + 2), walk.encode(item, f"{at}/{index}/1", depth + 2)]
            for index, (key, item) in walk.while_room(pairs)
        ]
    if not kinds <= TEXT:
        walk.mark(at, "keys", ", ".join(sorted(type_name(kind) for kind in kinds)))
    out = {}
    for index, (_, item) in walk.while_room(pairs):
        name = names[index]
        walk.room -= len(name)
        out[name] = walk.encode(item, f"{at}{to_pointer((name,))}", depth + 1)
    return out


_BASES: Final[tuple[tuple[type, Rule], ...]] = (
    (Enum, Branch(_enum)),  # before str and int, which enums may also be
    (str, Leaf("text", str.__str__)),
    (int, Leaf("number", int.__int__)),
    (float, Leaf("number", float.__float__)),
    (dict, Branch(_dict)),
    (list, Branch(_list)),
    (tuple, Branch(_tuple)),
    (set, Branch(_set)),
    (frozenset, Branch(_set)),
    *((base, Leaf(kind, write)) for base, kind, write in LEAVES),
)
_EXACT: Final = dict(_BASES)
_ABSTRACT: Final[tuple[tuple[type, Rule], ...]] = (
    (Mapping, Branch(_mapping)),
    (AbstractSet, Branch(_set)),
    (Sequence, Branch(_sequence)),
    (ValuesView, Branch(_sequence)),
    (Iterator, Branch(_iterator)),
)
