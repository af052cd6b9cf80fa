"""Tries an upcast on a few arguments of the old form: what it loses is shown, never only claimed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ledger.catalog.diff.examples import Examples, NoExample
from ledger.catalog.diff.space import Space, TooComplex, read
from ledger.catalog.diff.texts import Undecided
from ledger.catalog.diff.walk import ROOT
from ledger.catalog.patterns import PatternTooCostly
from ledger.catalog.steps import Op
from ledger.catalog.upcast.reading import Closed
from ledger.catalog.upcast.stops import Stop
from ledger.catalog.upcast.values import back, forth, same
from ledger.errors import JsonRejected
from ledger.strictjson import Json, JsonObject

VARIANTS: Final = 12
"""Arguments that are written down; each takes other types, lengths, choices and options."""
_TEXTS: Final = ("example", "05", "", "5")
_LENGTHS: Final = (1, 2, 0, 3)
_DEPTH: Final = 8


@dataclass(frozen=True, slots=True)
class Loss:
    """Arguments of the old form, and what became of them (None: nothing)."""

    arguments: Json
    image: Json = None


class Trial:
    """The closed readings of both sides, and the operations between them."""

    def __init__(self, ops: tuple[Op, ...], old: Closed, new: Closed) -> None:
        self._ops = ops
        self._old = old
        self._new = new

    def is_old(self, arguments: Json) -> bool:
        """Whether these are arguments of the old form."""
        return not self._old.validator().violations(arguments)

    def loss(self, more: Iterable[Json] = ()) -> Loss | None:
        """Return arguments of the old form that have no image, an invalid one, or do not come back; None: not found."""
        for arguments in (*more, *samples(self._old.schema)):
            if self.is_old(arguments):
                found = self._lost(arguments)
                if found is not None:
                    return found
        return None

    def _lost(self, arguments: Json) -> Loss | None:
        try:
            image = forth(self._ops, arguments)
        except Stop:
            return Loss(arguments)
        try:
            if not self._new.validator().violations(image) and same(back(self._ops, image), arguments):
                return None
        except (Stop, JsonRejected):
            pass
        return Loss(arguments, image)


def samples(schema: JsonObject) -> Iterator[Json]:
    """Yield values that may be valid under a schema; the validator has the last word."""
    for variant in range(VARIANTS):
        yield _sample(schema, variant, 0)


def _sample(node: Json, variant: int, depth: int) -> Json:
    if not isinstance(node, dict) or depth > _DEPTH:
        return None
    choices = [node["const"]] if "const" in node else node.get("enum")
    if choices:
        return choices[variant % len(choices)]
    for key in ("anyOf", "oneOf"):
        if key in node:
            return _sample(_meant(node, key, variant), variant, depth + 1)
    kinds = node.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[variant % len(kinds)]
    match kind:
        case "object":
            return _object(node, variant, depth)
        case "array":
            return _array(node, variant, depth)
        case "string":
            return _text(node, variant)
        case "null":
            return None
        case "boolean":
            return variant % 2 == 0
        case _:
            return node.get("minimum", node.get("maximum", variant))


def _meant(node: JsonObject, key: str, variant: int) -> Json:
    """Return one alternative of a union, with what stands beside the union."""
    chosen = node[key][variant % len(node[key])]
    rest = {word: value for word, value in node.items() if word != key}
    return rest | chosen if isinstance(chosen, dict) else rest


def _object(node: JsonObject, variant: int, depth: int) -> Json:
    """Every second one has all its properties, the others what they have to have."""
    fields, needed = node.get("properties", {}), node.get("required", ())
    return {
        name: _sample(each, variant // 2, depth + 1)
        for name, each in fields.items()
        if name in needed or variant % 2 == 0
    }


def _array(node: JsonObject, variant: int, depth: int) -> Json:
    places: list[Json] = next((node[key] for key in ("prefixItems", "items") if isinstance(node.get(key), list)), [])
    length = len(places) or max(node.get("minItems", 0), min(_LENGTHS[variant % 4], node.get("maxItems", 3)))
    return [
        _sample(places[index] if index < len(places) else node.get("items", {}), variant + index, depth + 1)
        for index in range(min(int(length), 100))
    ]


def _text(node: JsonObject, variant: int) -> Json:
    if "pattern" not in node:
        return _TEXTS[variant % 4].ljust(int(node.get("minLength", 0)), "x")
    try:
        return Examples(Space(read({"type": "string", "pattern": node["pattern"]}, "2020-12"))).of(ROOT)
    except (NoExample, TooComplex, Undecided, PatternTooCostly):
        return ""
