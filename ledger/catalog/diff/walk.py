"""Walks two schemas side by side and says at each value what is different, with values to try it on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from ledger.catalog.diff import leaves, properties
from ledger.catalog.diff.cells import Cell, Child, Kind
from ledger.catalog.diff.examples import Examples, Spot
from ledger.catalog.diff.meaning import conditional, meanings, sources, words
from ledger.catalog.diff.meet import fits
from ledger.catalog.diff.notes import Note, Pair, Said
from ledger.catalog.diff.prove import Prover
from ledger.catalog.diff.rules import Finding
from ledger.catalog.diff.space import Space, TooComplex
from ledger.catalog.diff.texts import sample
from ledger.catalog.equality import key_of
from ledger.strictjson import Json, to_pointer

ROOT: Final[Child] = frozenset({""})
MAX_FINDINGS: Final = 500
MAX_PAIRS: Final = 5_000
"""Pairs of schemas that are compared; two rings of references meet in as many pairs as their lengths multiply to."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A finding with where to try it: the note's values go to this place of the arguments."""

    finding: Finding
    note: Note
    spot: Spot


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk stands: in the arguments, and in both schemas for values that these say nothing of."""

    spot: Spot
    old: str
    new: str
    optional: bool = False


class Walk:
    """The comparison of two schemas; `suspects` holds what it found. Raises TooComplex."""

    def __init__(self, old: Space, new: Space, significant: frozenset[str]) -> None:
        self.old = old
        self.new = new
        self.significant = significant
        self.examples = Examples(old)
        self.forth = Prover(old, new)
        self.back = Prover(new, old)
        self.mostly = Prover(old, new, lenient=True)
        self.suspects: list[Suspect] = []
        self._seen: set[tuple[Child, Child]] = set()

    def all(self) -> list[Suspect]:
        """Compare everything, from the root down."""
        waiting: list[tuple[Child, Child, _Place]] = [(ROOT, ROOT, _Place(Spot(), "", ""))]
        while waiting and len(self.suspects) < MAX_FINDINGS and len(self._seen) < MAX_PAIRS:
            old, new, place = waiting.pop()
            if (old, new) not in self._seen and not self.old.same(old, self.new, new):
                self._seen.add((old, new))
                waiting.extend(reversed(list(self._node(old, new, place))))
        if waiting:
            raise TooComplex
        return self.suspects

    def _node(self, old: Child, new: Child, place: _Place) -> Iterator[tuple[Child, Child, _Place]]:
        for note in words(self.old, old, self.new, new, self.significant):
            shown = replace(note, tries=lambda: iter([self.examples.of(old)])) if note.outcome else note
            self._tell(shown, place, None, (sources(self.old, old), sources(self.new, new)))
        ones, twos = self.old.cells(old), self.new.cells(new)
        for note in self._kinds(ones, twos, (old, new), place):
            self._tell(note, place, None, (sources(self.old, old), sources(self.new, new)))
        for kind in dict.fromkeys(cell.kind for cell in ones):
            here, there = [[cell for cell in cells if cell.kind == kind] for cells in (ones, twos)]
            if there:
                yield from self._alternatives(here, there, (old, new), place)

    def _kinds(
        self, ones: tuple[Cell, ...], twos: tuple[Cell, ...], pair: tuple[Child, Child], place: _Place
    ) -> Iterator[Note]:
        before, after = {cell.kind for cell in ones}, {cell.kind for cell in twos}
        gone, come = before - after, after - before
        if come == {"null"} and self._says_nullable(self.old, pair[0]):
            yield Note(code="nullable_spelling", message="`nullable` is a real null now", keywords=("type", "anyOf"))
        elif come and (before & after or not gone):
            code = "null_added" if come == {"null"} else "type_added"
            yield _types(code, f"{_named(come)} is accepted too", _type_names(ones), _type_names(twos))
        if gone:
            code, message = _lost(before, after, optional=place.optional)
            cells = [cell for cell in ones if cell.kind in gone]
            note = _types(code, message, _type_names(ones), _type_names(twos))
            yield replace(note, outcome="refused", tries=lambda: self._each(cells))

    def _says_nullable(self, space: Space, child: Child) -> bool:
        nodes = [space.nodes[source] for source in sources(space, child)]
        return any(isinstance(node, dict) and node.get("nullable") is True for node in nodes)

    def _each(self, cells: list[Cell]) -> Iterator[Json]:
        for cell in cells:
            if cell.kind == "array":
                item = self.examples.of(cell.arrays.at(1))
                yield self.examples.cell(cell, 0, {1: item})
            elif cell.kind == "string" and cell.values is None and fits(cell.texts, "05"):
                yield "05"  # the text that a cast to a number loses
            yield self.examples.cell(cell)

    def _alternatives(
        self, ones: list[Cell], twos: list[Cell], pair: tuple[Child, Child], place: _Place
    ) -> Iterator[tuple[Child, Child, _Place]]:
        """Pair the cells of one kind: equal ones, then those that take (nearly) all of the old one, then in order."""
        both = sources(self.old, pair[0]), sources(self.new, pair[1])
        for one, two in self._paired(ones, twos):
            if one is not None and two is not None:
                yield from self._cell(one, two, place)
            elif one is None:
                code, message = "alternative_added", "another alternative is accepted too"
                self._tell(Note(code=code, message=message, keywords=("anyOf", "oneOf")), place, None, both)
            else:
                note = Note(
                    code="alternative_removed",
                    message="an alternative is refused now",
                    keywords=("anyOf", "oneOf"),
                    outcome="refused",
                    tries=partial(self._each, [one]),
                )
                self._tell(note, place, None, both)

    def _paired(self, ones: list[Cell], twos: list[Cell]) -> Iterator[tuple[Cell | None, Cell | None]]:
        if len(ones) == len(twos) == 1:
            yield ones[0], twos[0]
            return
        left, free = list(ones), list(twos)
        fits: tuple[Callable[[Cell, Cell], bool], ...] = (self._equal, self.forth.within, self.mostly.within)
        for fit in fits:
            for one in list(left):
                two = next((two for two in free if fit(one, two)), None)
                if two is not None:
                    left.remove(one)
                    free.remove(two)
                    yield one, two
        for one in left:
            yield one, free.pop(0) if free else None
        for two in free:
            yield None, two

    def _equal(self, one: Cell, two: Cell) -> bool:
        return self.forth.within(one, two) and self.back.within(two, one)

    def _cell(self, one: Cell, two: Cell, place: _Place) -> Iterator[tuple[Child, Child, _Place]]:
        pair = Pair(one, two, self.old, self.new, self.examples)
        for said in self._compared(pair):
            if isinstance(said, Note):
                self._tell(said, place, one, (list(one.sources), list(two.sources)))
            else:
                step = str(said.step)
                below = _Place(
                    Spot(place.spot, one, said.step),
                    _first(said.old, f"{place.old}/{step}"),
                    _first(said.new, f"{place.new}/{step}"),
                    said.optional,
                )
                yield said.old, said.new, below

    def _compared(self, pair: Pair) -> Said:
        yield from meanings(pair, self.significant)
        yield from _conditions(pair)
        yield from conditional(pair, self.significant)
        if pair.old.values is not None or pair.new.values is not None:
            others = self._kept(pair)
            yield from leaves.values(pair, others)
        elif pair.old.kind == "number":
            yield from leaves.numbers(pair)
        elif pair.old.kind == "string":
            yield from leaves.texts(pair)
        elif pair.old.kind == "array":
            yield from leaves.arrays(pair)
        else:
            yield from properties.objects(pair)

    def _kept(self, pair: Pair) -> set[str]:
        """Return the keys of those old values that the new cell takes."""
        return {
            key_of(value)
            for value in pair.old.values or ()
            if self.forth.within(
                Cell(kind=pair.old.kind, body=pair.old.body, values=(value,), conditions=pair.new.conditions), pair.new
            )
        }

    def _tell(self, note: Note, place: _Place, cell: Cell | None, both: tuple[list[str], list[str]]) -> None:
        """Make a finding of a note."""
        old, new = _found(self.old, both[0], note), _found(self.new, both[1], note)
        pointer = new[0] or old[0] or place.new
        valued = note.old is not None or note.new is not None
        before, after = (note.old, note.new) if valued else (old[1], new[1])
        spot = place.spot
        if note.step is not None and cell is not None:
            spot = Spot(place.spot, cell, note.step)
        self.suspects.append(Suspect(Finding(note.code, pointer, before, after, note.message), note, spot))


def _first(child: Child, otherwise: str) -> str:
    return min(child, key=lambda each: (len(each), each), default=otherwise)


def _found(space: Space, pointers: list[str], note: Note) -> tuple[str | None, Json]:
    """Return pointer and value of the first of the note's keywords in these schemas."""
    for keyword in note.keywords:
        for pointer in pointers:
            node = space.nodes[pointer]
            value = node.get(keyword) if isinstance(node, dict) else None
            if note.name is not None and isinstance(value, dict) and note.name in value:
                return pointer + to_pointer([keyword, note.name]), value[note.name]
            if note.name is None and isinstance(node, dict) and keyword in node:
                return f"{pointer}/{keyword}", value
    return None, None


def _named(kinds: set[Kind]) -> str:
    return " or ".join(sorted(kinds))


def _type_names(cells: tuple[Cell, ...]) -> list[str]:
    """Return JSON Schema's names of the types that cells accept."""
    return sorted({"integer" if _is_whole(cell) else cell.kind for cell in cells})


def _is_whole(cell: Cell) -> bool:
    if cell.kind != "number":
        return False
    return cell.numbers.whole or (cell.values is not None and all(isinstance(value, int) for value in cell.values))


def _types(code: str, message: str, before: list[str], after: list[str]) -> Note:
    return Note(code=code, message=message, keywords=("type", "anyOf", "oneOf"), old=before, new=after)


def _lost(before: set[Kind], after: set[Kind], *, optional: bool) -> tuple[str, str]:
    """Return code and message for types that are refused now."""
    gone = before - after
    if gone == {"null"}:
        if optional:
            return "null_absent_merged", "null and absent were two answers; null is refused now"
        return "null_removed", "null is refused now"
    if before & after - {"null"}:
        return "type_removed", f"{_named(gone)} is refused now"
    old, new = before - {"null"}, after - {"null"}
    if {*old, *new} == {"string", "number"} and len(old) == len(new) == 1:
        return "type_cast", f"{_named(old)} became {_named(new)}"
    if "array" in old and "array" not in new and new:
        return "array_unwrapped", f"an array became {_named(new)}"
    if "array" in new and "array" not in old:
        return "array_wrapped", f"{_named(old)} became an array"
    return "type_changed", f"{_named(old)} became {_named(new) or 'nothing'}"


def _various(pair: Pair) -> Iterator[Json]:
    """Yield a plain value and a fuller one; of a choice, all."""
    if pair.old.values is not None:
        yield from pair.old.values
        return
    yield pair.examples.cell(pair.old)
    if pair.old.kind == "string":
        yield sample(replace(pair.old.texts, low=pair.old.texts.low + 1))
    if pair.old.kind == "object":
        objects = pair.old.objects
        children = {name: pair.here.named(objects, name) for name in objects.names}
        given: dict[str | int, Json] = {
            name: pair.examples.of(child) for name, child in children.items() if pair.here.leaf(child)
        }
        yield pair.examples.cell(pair.old, 0, given)
    if pair.old.kind == "array":
        yield pair.examples.cell(pair.old, 0, {0: pair.examples.item(pair.old.arrays, 0)})


def _conditions(pair: Pair) -> Said:
    keywords = ("not", "if", "contains", "propertyNames", "oneOf", "dependentSchemas", "unevaluatedProperties")
    if pair.new.conditions - pair.old.conditions:
        yield Note(
            code="condition_added",
            message="a condition was added or changed; it is compared by its text only",
            keywords=keywords,
            outcome="refused",
            tries=lambda: _various(pair),
        )
    elif pair.old.conditions - pair.new.conditions:
        yield Note(code="condition_dropped", message="a condition is gone", keywords=keywords)
