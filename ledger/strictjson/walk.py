"""The slow pass over a result that is not plain JSON: every value becomes JSON, with a mark where it was not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final, TypeAlias

from ledger.strictjson.canonical import to_bytes, write_plain
from ledger.strictjson.encoded import Encoding, Kind
from ledger.strictjson.leaves import write_float
from ledger.strictjson.limits import Json, Limits, digits_allowed, first_too_long
from ledger.strictjson.plain import SCALARS, Copier
from ledger.strictjson.text import type_name

REPR_CHARACTERS: Final = 2_000
TEXT_DEPTH: Final = 500
"""What is nested deeper than the limit is kept as JSON text, if it is not deeper than this either."""


VALUE_COST: Final = 8
"""What any value takes of the room, beside its text: four times the two bytes that it has at least in JSON."""


class NoRuleError(Exception):
    """No rule fits this class: only its repr can be kept."""


class TooDeepError(Exception):
    """The value would be nested deeper than allowed."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A class whose values become one scalar, nearly always a text."""

    kind: Kind
    write: Callable[[Any], str | float]


@dataclass(frozen=True, slots=True)
class Branch:
    """
    A class whose values hold others.

    `encode` is given the walk, the value, its pointer and the number of arrays and objects around it.
    """

    encode: Callable[[Walk, Any, str, int], Json]


Rule: TypeAlias = Leaf | Branch


@dataclass(slots=True)
class Walk:
    """
    The state of one pass.

    `room` is a budget of work, in bytes of text and `VALUE_COST`: when it is used up, containers end early and `full`
    is set (a value may hold the same part so many times that no memory would do).
    """

    limits: Limits
    room: int
    rule_of: Callable[[type], Rule]
    encodings: list[Encoding] = field(default_factory=list)
    full: bool = False
    open: dict[int, int] = field(default_factory=dict)  # id of each branch around the value at hand -> its depth

    def encode(self, value: object, at: str, depth: int) -> Json:
        """
        Return the value as JSON; `at` is its pointer, `depth` the number of arrays and objects around it.

        It raises nothing, whatever the value's own code raises (but KeyboardInterrupt and SystemExit pass).
        """
        self.room -= VALUE_COST
        before = len(self.encodings)
        try:
            if type(value) in SCALARS:
                return self._scalar(value, at)
            return self._marked(value, at, depth)
        except Exception as error:  # noqa: BLE001 - code of the value's class ran: it may raise anything
            del self.encodings[before:]
            return self._too_deep(value, at) if isinstance(error, TooDeepError) else self._opaque(value, at, error)

    def mark(self, at: str, kind: Kind, name: str) -> None:
        """Note that the value at this place was something else, of the named type."""
        self.encodings.append(Encoding(at, kind, name))
        self.room -= len(at) + len(kind) + len(name)

    def while_room(self, items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the items with their indexes, until the room is used up."""
        for place in enumerate(items):
            if self.room <= 0:
                self.full = True
                return
            yield place

    def _scalar(self, value: Any, at: str) -> Json:
        text = None
        if type(value) is str:
            self.room -= len(value)
        elif type(value) is float and not isfinite(value):
            self.mark(at, "float", "float")
            text = write_float(value)
        elif type(value) is int:
            long = first_too_long(digits_allowed(self.limits))
            if not -long < value < long:
                self.mark(at, "int", "int")
                text = hex(value)
        if text is None:
            return value
        self.room -= len(text)
        return text

    def _marked(self, value: object, at: str, depth: int) -> Json:
        rule = self.rule_of(type(value))
        name = type_name(type(value))
        if isinstance(rule, Leaf):
            scalar = rule.write(value)
            self.mark(at, rule.kind, name)
            return self._scalar(scalar, at)
        if id(value) in self.open:
            self.mark(at, "cycle", name)
            return f"<{name}, {depth - self.open[id(value)]} levels up>"
        if depth >= self.limits.max_depth:
            raise TooDeepError
        self.open[id(value)] = depth
        try:
            return rule.encode(self, value, at, depth)
        finally:
            del self.open[id(value)]

    def _too_deep(self, value: object, at: str) -> str:
        name = type_name(type(value))
        try:
            text = to_bytes(write_plain(Copier(self.limits, self.room).copy(value, TEXT_DEPTH))).decode()
        except Exception:  # noqa: BLE001 - not plain, too large, deeper than the stack, or code of a metaclass
            self.mark(at, "too-deep", name)
            return f"<{name}, nested too deep>"
        self.mark(at, "json", name)
        self.room -= len(text)
        return text

    def _opaque(self, value: object, at: str, error: Exception) -> str:
        name = type_name(type(value))
        try:
            shown = str.__str__(repr(value))[:REPR_CHARACTERS]
        except Exception as second:  # noqa: BLE001 - same
            shown = f"<{name}, its repr raised {type_name(type(second))}>"
        self.mark(at, "repr", name if isinstance(error, NoRuleError) else f"{name} ({type_name(type(error))})")
        self.room -= len(shown)
        return shown
