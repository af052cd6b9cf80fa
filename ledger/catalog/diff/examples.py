"""Writes small values of a schema down, to try differences on. They are tries: the validator has the last word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Final

from ledger.catalog.diff.cells import ANYTHING, Arrays, Cell, Child, Numbers, Objects
from ledger.catalog.diff.meet import fits
from ledger.catalog.diff.space import Space
from ledger.catalog.diff.texts import sample
from ledger.strictjson import Json, JsonObject, to_pointer

MAX_DEPTH: Final = 12
MAX_ITEMS: Final = 1_000
MAX_VALUES: Final = 3_000
"""Values that are written down inside one example: a schema may require a tree of itself."""
LARGEST: Final = 2**1000
PLAIN: Final = "example"
"""The value of a property that says nothing of itself."""


class NoExample(Exception):
    """None was found: there is none, or it is too large."""


class Examples:
    """Examples of one schema."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._left = MAX_VALUES

    def of(self, child: Child, depth: int = 0) -> Json:
        """Return one value. Raises NoExample, TooComplex."""
        if child == ANYTHING:
            return PLAIN
        for cell in sorted(self.space.cells(child), key=lambda each: each.kind == "null"):
            try:
                return self.cell(cell, depth)
            except NoExample:
                continue
        raise NoExample

    def cell(self, cell: Cell, depth: int = 0, given: Mapping[str | int, Json] | None = None) -> Json:
        """Return one value of a cell; *given* are its parts at some steps. Raises NoExample, TooComplex."""
        self._left -= 1
        if depth > MAX_DEPTH or self._left < 0:
            raise NoExample
        if cell.values is not None and not given:
            return cell.values[0]
        match cell.kind:
            case "object":
                return self._object(cell.objects, depth, dict(given or {}))
            case "array":
                return self._array(cell.arrays, depth, dict(given or {}))
            case "string":
                found: Json = sample(cell.texts)
            case _:
                found = number_of(cell.numbers)
        if found is None:
            raise NoExample
        return found

    def _object(self, objects: Objects, depth: int, given: Mapping[str | int, Json]) -> JsonObject:
        value: JsonObject = {}
        for name in sorted(objects.needed(frozenset(map(str, given)))):
            value[name] = given[name] if name in given else self.of(self.space.named(objects, name), depth + 1)
        value |= {str(name): each for name, each in given.items()}
        for name in sorted(objects.names):
            if len(value) < objects.low and name not in value and self.space.leaf(self.space.named(objects, name)):
                value[name] = self.of(self.space.named(objects, name), depth + 1)
        rest = objects.under(frozenset())
        while len(value) < min(objects.low, MAX_ITEMS) and self.space.leaf(rest):
            value[f"extra{len(value)}"] = self.of(rest, depth + 1)
        return value

    def _array(self, arrays: Arrays, depth: int, given: Mapping[str | int, Json]) -> list[Json]:
        length = max(arrays.low, *(int(index) + 1 for index in given), 0)
        if length > MAX_ITEMS:
            raise NoExample
        return [given[index] if index in given else self.item(arrays, index, depth) for index in range(length)]

    def item(self, arrays: Arrays, index: int, depth: int = 0) -> Json:
        """Return an item; where all have to differ, another one at each place if that is easy."""
        value = self.of(arrays.at(index), depth + 1)
        if arrays.unique and index:
            choices = [each for cell in self.space.cells(arrays.at(index)) for each in cell.values or ()]
            if len(choices) > index:
                return choices[index]
            return f"{value}{index}" if isinstance(value, str) else value + index if type(value) is int else value
        return value


def number_of(numbers: Numbers) -> Json:
    """Return a number near zero, whole if it can be; None if none was found."""
    step, *others = [*numbers.multiples, *([Fraction(1)] if numbers.whole or not numbers.multiples else [])]
    for each in others:
        step = step * each / _common(step, each)
    bounds = [each for each in (numbers.low, numbers.high) if each is not None]
    tries = [
        Fraction(0),
        Fraction(1),
        *(ceil(bound / step) * step + turn * step for bound in bounds for turn in (0, 1, -1)),
    ]
    if not numbers.whole:
        tries += [bound + turn * Fraction(1, 2) for bound in bounds for turn in (0, 1, -1)]
        tries.append(sum(bounds, Fraction(0)) / max(len(bounds), 1))
    for number in tries:
        value = plain(number)
        if fits(numbers, value):
            return value
    return None


def plain(number: Fraction) -> int | float:
    """Return an exact number as JSON has it; one that is no float, and too large for one, without its fraction."""
    if number.denominator == 1:
        return number.numerator
    return float(number) if abs(number) < LARGEST else int(number)


def _common(one: Fraction, two: Fraction) -> Fraction:
    """Return the greatest number that both are multiples of."""
    while two:
        one, two = two, one % two
    return one


def beyond(old: Numbers, new: Numbers) -> Iterator[int | float]:
    """Yield numbers of *old* that may be none of *new*: around the new bounds, between whole numbers and steps."""
    centres = [bound for bound in (new.low, new.high, old.low, old.high) if bound is not None] or [Fraction(0)]
    centres += [(one + two) / 2 for one, two in pairwise(sorted(centres))]
    turns = [
        Fraction(0),
        Fraction(1),
        Fraction(-1),
        Fraction(1, 2),
        Fraction(-1, 2),
        *sorted(old.multiples),
        *(step / 2 for step in new.multiples),
    ]
    for centre in centres:
        for turn in turns:
            value = plain(centre + turn)
            if fits(old, value) and not fits(new, value):
                yield value


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the arguments: at `step` of a value of `cell` at the place `above`; without them, the root."""

    above: Spot | None = None
    cell: Cell | None = None
    step: str | int = ""

    @property
    def is_optional(self) -> bool:
        """Whether it is a property that need not be there."""
        return self.cell is not None and self.cell.kind == "object" and self.step not in self.cell.objects.needed()

    def built(self, examples: Examples, value: Json) -> Json:
        """Return whole arguments with *value* at this place. Raises NoExample, TooComplex."""
        spot: Spot | None = self
        while spot is not None and spot.cell is not None:
            value = examples.cell(spot.cell, 0, {spot.step: value})
            spot = spot.above
        return value

    def __str__(self) -> str:
        """The steps as a JSON pointer."""
        steps: list[str | int] = []
        spot: Spot | None = self
        while spot is not None and spot.cell is not None:
            steps.insert(0, spot.step)
            spot = spot.above
        return to_pointer(steps)
