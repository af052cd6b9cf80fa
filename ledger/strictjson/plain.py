"""Python values that are JSON already: copied in one pass, and the first fault found where they are not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from types import NoneType
from typing import Final

from ledger.errors import JsonRejected
from ledger.strictjson.limits import Json, Limits, digits_allowed, first_too_long
from ledger.strictjson.rejection import at_path
from ledger.strictjson.text import type_name

TEXT: Final = frozenset({str})
SCALARS: Final = frozenset({str, int, float, bool, NoneType})


class NotPlainError(Exception):
    """The value is not JSON as it stands; `fault_of` says where."""


class TooLargeError(Exception):
    """The value has more bytes than allowed, whatever it is."""


class Copier:
    """
    One pass over a value: exact JSON types, text keys, depth, digits and a lower bound of its bytes, and a copy.

    It ends by the depth limit (cycles) or by the bytes (a value that holds the same part many times), so its cost is
    bounded by the limits. Subclasses (IntEnum, OrderedDict, numpy.float64 …) are not plain: a copy would lose them.
    """

    __slots__ = ("cost", "long", "room")

    def __init__(self, limits: Limits, room: int, cost: int = 0) -> None:
        self.room = room  # bytes
        self.cost = cost  # of a container as such; with 0 no value that fits is ever refused
        self.long = first_too_long(digits_allowed(limits))

    def copy(self, value: Json, levels: int) -> Json:
        """Return the copy; `levels` of arrays and objects are left. Raises `NotPlainError`, `TooLargeError`."""
        kind = type(value)
        if kind is dict or kind is list:
            return self._container(value, levels)
        if kind is str:
            self._spend(len(value))
        elif kind not in SCALARS or (kind is int and not -self.long < value < self.long):
            raise NotPlainError
        return value

    def _container(self, value: Json, levels: int) -> Json:
        if not levels:
            raise NotPlainError
        long = self.long
        copy: Json = value.copy()  # and from here on only the copy is looked at: its owner may change the value
        places: Iterable[tuple[Json, Json]]
        if type(copy) is dict:
            if not TEXT.issuperset(map(type, copy)):
                raise NotPlainError
            self._spend(
                self.cost + 5 * len(copy)
            )  # `"":1,` is the least an entry takes; what it holds inside comes on top
            used = sum(map(len, copy))
            places = copy.items()
        else:
            self._spend(self.cost + 2 * len(copy))  # `1,`
            used = 0
            places = enumerate(copy)
        for place, item in places:
            kind = type(item)
            if kind is str:
                used += len(item)
            elif kind is dict or kind is list:
                copy[place] = self._container(item, levels - 1)
            elif kind not in SCALARS or (kind is int and not -long < item < long):
                raise NotPlainError
        self._spend(used)
        return copy

    def _spend(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise TooLargeError


@dataclass(frozen=True, slots=True)
class Rules:
    """What `fault_of` takes for a fault."""

    max_depth: int
    digits: int
    surrogates: bool = False  # allowed
    tuples: bool = False  # allowed, as arrays


def fault_of(value: Json, rules: Rules) -> JsonRejected:
    """Return why a value was refused, with the pointer of its first fault in the order of the text."""
    try:
        found = find_fault(value, rules)
    except RecursionError:
        return JsonRejected("too_deep", "The value is nested too deep for the stack. Use a flatter one.", pointer="")
    changed = "The value changed while it was read. Give it to nobody else meanwhile."
    return found or JsonRejected("not_json", changed, pointer="")


def find_fault(value: Json, rules: Rules, path: tuple[str | int, ...] = ()) -> JsonRejected | None:
    """Return the first fault, if there is one. Raises RecursionError where the stack ends before the limit."""
    kind = type(value)
    if kind is str:
        return None if rules.surrogates else _surrogate(value, path)
    if kind is float:
        ok = isfinite(value)
        return None if ok else at_path("nan_or_infinity", f"{value} is no JSON. Use null or a string.", path)
    if kind is int:
        long = first_too_long(rules.digits)
        text = f"the integer has more than {rules.digits} digits. Use a string."
        return None if -long < value < long else at_path("number_too_long", text, path)
    if value is None or kind is bool:
        return None
    if kind is dict or kind is list or (kind is tuple and rules.tuples):
        return _find_inside(value, rules, path)
    return at_path("not_json", f"{type_name(kind)} is no JSON type. Convert it to one first.", path)


def _find_inside(value: Json, rules: Rules, path: tuple[str | int, ...]) -> JsonRejected | None:
    if len(path) >= rules.max_depth:
        text = f"more than {rules.max_depth} arrays and objects are nested. Use a flatter value."
        return at_path("too_deep", text, path)
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                return at_path("not_json", f"a key is {type_name(type(key))}, not text. Use text keys.", path)
        places: Iterable[tuple[str | int, Json]] = value.items()
    else:
        places = enumerate(value)
    for place, item in places:
        key_fault = None if rules.surrogates or type(place) is int else _surrogate(place, (*path, place))
        if fault := key_fault or find_fault(item, rules, (*path, place)):
            return fault
    return None


def _surrogate(text: Json, path: tuple[str | int, ...]) -> JsonRejected | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return at_path("lone_surrogate", "half of a surrogate pair stands alone. Leave it out.", path)
    return None
