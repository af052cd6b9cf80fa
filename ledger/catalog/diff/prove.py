"""
Proves that every value of one schema is a value of another one; what it cannot show it does not claim.

Sound, not complete. A pair of schemas that refers back to itself is assumed while it is being shown: on the way every
circle goes down into a smaller value, so the assumption is an induction over the value's size.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Final

from ledger.catalog.diff.cells import Arrays, Cell, Child, Numbers, Objects, Texts, kind_of
from ledger.catalog.diff.meet import fits
from ledger.catalog.diff.space import Space, TooComplex
from ledger.catalog.diff.texts import Undecided, outside, shortest
from ledger.catalog.equality import key_of
from ledger.catalog.patterns import compile_pattern
from ledger.strictjson import Json

MAX_STEPS: Final = 50_000
"""Pairs of cells that are looked at for one answer."""
MAX_DEPTH: Final = 60
"""Values inside values; two rings of references of different lengths go round for long."""
MAX_PATTERNS: Final = 4
"""Patterns of names in one pair of objects; each combination of them is looked at."""


class Prover:
    """
    Shows `old ⊆ new`.

    *lenient* leaves out the properties that only *new* declares where *old* let undeclared ones through: then it holds
    for all values whose properties *old* declares.
    """

    def __init__(self, old: Space, new: Space, *, lenient: bool = False) -> None:
        self.old = old
        self.new = new
        self.lenient = lenient
        self._known: dict[tuple[Child, Child], bool] = {}
        self._trail: list[tuple[Child, Child]] = []
        self._left = MAX_STEPS
        self._depth = 0
        self._choices: dict[int, tuple[Cell, frozenset[str]]] = {}

    def contained(self, old: Child, new: Child) -> bool:
        """Whether it could be shown that every value under *old* is one under *new*. Raises TooComplex."""
        if self.new.free(new) or self.old.same(old, self.new, new):
            return True
        pair = (old, new)
        known = self._known.get(pair)
        if known is not None:
            return known
        if self._depth > MAX_DEPTH:
            raise TooComplex
        mark = len(self._trail)
        self._known[pair] = True
        self._trail.append(pair)
        self._depth += 1
        found = self._cells(old, new)
        self._depth -= 1
        if not found:
            for each in self._trail[mark:]:  # they may rest on what was assumed here
                del self._known[each]
            del self._trail[mark:]
            self._known[pair] = False
        return found

    def _cells(self, old: Child, new: Child) -> bool:
        others = self.new.cells(new)
        return all(self.covered(cell, others, new) for cell in self.old.cells(old))

    def covered(self, cell: Cell, others: tuple[Cell, ...], new: Child) -> bool:
        """Whether one of *others* (all the cells of *new*) takes all of *cell*, or they take each of its values."""
        if cell.values is not None and not cell.conditions:
            return all(self.accepts(self.new, new, value) for value in cell.values)
        return any(self.within(cell, other) for other in others)

    def within(self, old: Cell, new: Cell) -> bool:
        """Whether every value of the cell *old* is one of the cell *new*."""
        self._left -= 1
        if self._left < 0:
            raise TooComplex
        if old.kind != new.kind or not new.conditions <= old.conditions:
            return False
        if old.values is not None:
            return all(self._member(self.new, new, value, known=old.conditions) for value in old.values)
        if new.values is not None:
            return False
        match old.kind:
            case "number":
                return numbers_within(old.numbers, new.numbers)
            case "string":
                return texts_within(old.texts, new.texts)
            case "array":
                return self._arrays(old.arrays, new.arrays)
            case _:
                return self._objects(old.objects, new.objects)

    def accepts(self, space: Space, child: Child, value: Json) -> bool:
        """Whether *value* is surely valid under *child*."""
        return any(self._member(space, cell, value) for cell in space.cells(child))

    def _member(self, space: Space, cell: Cell, value: Json, known: frozenset[str] = frozenset()) -> bool:
        self._left -= 1
        if self._left < 0:
            raise TooComplex
        if kind_of(value) != cell.kind or not cell.conditions <= known:
            return False
        if cell.values is not None and key_of(value) not in self._keys(cell):
            return False
        match value:
            case list():
                return self._list(space, cell.arrays, value)
            case dict():
                return self._dict(space, cell.objects, value)
            case None | bool():
                return True
            case _:
                return fits(cell.texts if isinstance(value, str) else cell.numbers, value)

    def _keys(self, cell: Cell) -> frozenset[str]:
        """Return the keys of a cell's values; a long choice is looked at once."""
        known = self._choices.get(id(cell))
        if known is None:
            known = self._choices[id(cell)] = (cell, frozenset(map(key_of, cell.values or ())))
        return known[1]

    def _list(self, space: Space, arrays: Arrays, value: list[Json]) -> bool:
        return (
            arrays.low <= len(value)
            and (arrays.high is None or len(value) <= arrays.high)
            and not (arrays.unique and len(set(map(key_of, value))) < len(value))
            and all(self.accepts(space, arrays.at(index), each) for index, each in enumerate(value))
        )

    def _dict(self, space: Space, objects: Objects, value: dict[str, Json]) -> bool:
        return (
            objects.low <= len(value)
            and (objects.high is None or len(value) <= objects.high)
            and objects.needed(frozenset(value)) <= value.keys()
            and all(self.accepts(space, space.named(objects, name), each) for name, each in value.items())
        )

    def _arrays(self, old: Arrays, new: Arrays) -> bool:
        length = max(old.length, new.length)
        most = self._most(old, length)
        if not old.low >= new.low or (new.high is not None and (most is None or most > new.high)):
            return False
        if new.unique and not old.unique and (most is None or most > 1):
            return False
        places = range(length + 1 if most is None else min(length + 1, most))
        return all(self.contained(old.at(index), new.at(index)) for index in places)

    def _most(self, old: Arrays, length: int) -> int | None:
        """Return how long an array can be: no longer than the first place that takes nothing."""
        places = (index for index in range(length + 1) if not self.old.leaf(old.at(index)))
        ends = [end for end in (old.high, next(places, None)) if end is not None]
        return min(ends, default=None)

    def _objects(self, old: Objects, new: Objects) -> bool:
        needed = old.needed()
        if not all(self.old.leaf(self.old.named(old, name)) for name in needed):
            return True  # no value at all: what has to be there cannot be
        if not new.needed() <= needed or not self._sizes(old, new, needed):
            return False
        names = old.names | new.names | needed
        for if_there, wanted in new.needs:
            if not wanted <= old.needed(frozenset([if_there])) and self.old.leaf(self.old.named(old, if_there)):
                return False
        return all(self._name(old, new, name) for name in sorted(names)) and all(
            self.contained(old.under(matching), new.under(matching))
            for matching in regions(old.patterns | new.patterns)
        )

    def _name(self, old: Objects, new: Objects, name: str) -> bool:
        here, there = self.old.named(old, name), self.new.named(new, name)
        if self.lenient and name in new.names and is_open(old, name) and self.new.leaf(there):
            return True
        return self.contained(here, there)

    def _sizes(self, old: Objects, new: Objects, needed: frozenset[str]) -> bool:
        low = max(old.low, len(needed))
        ends = [old.high] if old.high is not None else []
        if not old.patterns and not self.old.leaf(old.under(frozenset())):
            ends.append(sum(self.old.leaf(self.old.named(old, name)) for name in old.names))
        return low >= new.low and (new.high is None or (bool(ends) and min(ends) <= new.high))


def is_open(objects: Objects, name: str) -> bool:
    """Whether a property is let through undeclared because nobody said anything of it, not as part of a map."""
    return (
        objects.declares
        and name not in objects.names | objects.needed()
        and all(layer.rest is None for layer in objects.layers)
        and not any(compile_pattern(pattern).search(name) for pattern in objects.patterns)
    )


def regions(patterns: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield each combination of patterns that some name may match, and no other. Raises TooComplex."""
    if len(patterns) > MAX_PATTERNS:
        raise TooComplex
    for size in range(len(patterns) + 1):
        for matching in combinations(sorted(patterns), size):
            try:
                possible = shortest(matching, patterns - set(matching)) is not None
            except Undecided:
                possible = True
            if possible:
                yield frozenset(matching)


def numbers_within(old: Numbers, new: Numbers) -> bool:
    """Whether every number of *old* is one of *new*."""
    if new.low is not None and (
        old.low is None or old.low < new.low or (old.low == new.low and new.low_open and not old.low_open)
    ):
        return False
    if new.high is not None and (
        old.high is None or old.high > new.high or (old.high == new.high and new.high_open and not old.high_open)
    ):
        return False
    if new.whole and not old.whole:
        return False
    steps = old.multiples | ({Fraction(1)} if old.whole else set())
    return all(any((step / wanted).denominator == 1 for step in steps) for wanted in new.multiples)


def texts_within(old: Texts, new: Texts) -> bool:
    """Whether every text of *old* is one of *new*; False where that is too large to decide."""
    if not new.formats <= old.formats:
        return False
    try:
        return outside(old, new) is None
    except Undecided:
        return False
