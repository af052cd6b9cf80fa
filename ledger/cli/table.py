"""
Rows as a table a person enjoys reading: aligned by what the eye sees, cut to the terminal, never cut in a pipe.

Texts are cut, names and ids never: two that were cut may look the same, and what is cut can't be given to a command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from json import dumps
from typing import Any, Final, Literal

from ledger.cli.rows import Row
from ledger.cli.seating import GAP, Plan, Seat, Size, fitted, seated, sizes
from ledger.cli.text import Ink, Line, Part, Tone, cut, encodable, visible, width

WINDOW: Final = 500
"""
Rows that are looked at to find the columns' widths; those after them flow on, so a long table needs no memory.

On a terminal a later one that has no room makes its columns wider from there on.
"""

WHOLE: Final = 2**16
"""What a column wants that is shown short wherever it would be cut: more than any terminal has."""

_NARROWEST: Final = 8
_LONGEST_WORD: Final = 128
"""Characters of a tool's longest name (`catalog.names`); a model may make up more."""
_NAMES: Final = re.compile(r"\S+(?: \((?:was \S+|now \S+|was \S+, now \S+)\))?")


def plain(value: Any) -> str:
    """Return a JSON value as a person writes it: `-` for nothing, text without quotes, `yes` and `no`."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)


def tail(value: Any) -> str:
    """Return the last 8 characters of an id: the random end of a UUIDv7, and enough to name a call by."""
    return plain(value)[-8:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """
    One column of a table.

    `key` is the row's wire name, `title` the header (default: the key in capitals), `show` turns the value into text,
    `keep` says which end of a text stays when the terminal is too narrow ("all" = never cut, "word" = cut, in its
    middle, only if it is no word and so can be no name), `tone` colours a value. Where cutting is not enough, or a
    column has less than it `wants`, the columns without any value go; then `short` shows the values of the columns that
    have one, and then the columns with `leave` go, the lowest number first. A column with `apart` does not go: before
    one leaves with that number or a higher one, its values stand on lines of their own, above the rows that they are
    of, and the others have its room.
    """

    key: str
    title: str | None = None
    show: Callable[[Any], str] = plain
    keep: Literal["start", "end", "all", "word"] = "start"
    tone: Callable[[Any], Tone | None] | None = None
    short: Callable[[Any], str] | None = None
    leave: int = 0
    wants: int = 0
    apart: int = 0

    @property
    def heading(self) -> str:
        """Return the header's text: `callId` reads `CALL ID`."""
        if self.title is not None:
            return self.title
        return "".join(f" {char}" if char.isupper() else char for char in self.key).upper()


@dataclass(frozen=True, slots=True)
class Paper:
    """What the table is written on: columns of the terminal (None = a pipe: never cut) and its encoding."""

    room: int | None
    encoding: str

    @property
    def ellipsis(self) -> str:
        """Return the mark of a cut, in what the encoding has."""
        return "…" if encodable("…", self.encoding) == "…" else "..."

    def cell(self, text: str) -> str:
        """Return a text exactly as it will appear, escapes and all."""
        return encodable(visible(text), self.encoding)


def lines(
    rows: Iterable[Row], columns: Sequence[Column], paper: Paper, missing: Callable[[list[str]], None] | None = None
) -> Iterator[Line]:
    """
    Yield the header and then a line a row; nothing at all if there is no row.

    What is set apart has lines of its own, above the first row of each value. `missing` is told the headings of the
    columns that the paper has no room for, behind the last row, if there are any. A column without a value in any row
    is not missed.
    """
    rows = iter(rows)
    window = list(islice(rows, WINDOW))
    if not window:
        return
    sheet = _Sheet(columns, paper)
    sheet.look(window)
    yield sheet.head()
    for row in window:
        yield from sheet.row(row)
    for row in rows:
        if paper.room is not None and sheet.look([row]):
            yield sheet.head()
        yield from sheet.row(row)
    unlooked = len(window) == WINDOW  # what comes behind the window may have a value
    if missing is not None and (left := sheet.left(unlooked=unlooked)):
        missing(left)


class Flow:
    """
    A table whose rows come one at a time, each to be shown at once: the header goes before the first of them.

    What the paper has room for is decided as if each text that may be cut were as wide as it can be cut to. A column
    has at least what it `wants`, and grows with the widest text that came so far; where what is never cut has grown so
    far that other columns have room, the header comes again.
    """

    def __init__(self, columns: Sequence[Column], paper: Paper) -> None:
        self._sheet = _Sheet(columns, paper, flowing=True)
        self._missing: list[str] = []

    def missing(self) -> list[str]:
        """Return the headings of the columns that have no room, where there are others than before: to be told."""
        told, self._missing = self._missing, []
        return told

    def lines(self, row: Row) -> Iterator[Line]:
        """Yield the row's lines, and the header before the first one."""
        if self._sheet.look([row]):
            self._missing = self._sheet.left(unlooked=True)
            yield self._sheet.head()
        yield from self._sheet.row(row)


class _Sheet:
    """
    The columns of a table in their places on a paper, by the rows that it was given to look at.

    While it is *flowing* any value may come still: every column counts as one that has some.
    """

    def __init__(self, columns: Sequence[Column], paper: Paper, *, flowing: bool = False) -> None:
        self._paper = paper
        self._every = columns
        self._short = [replace(each, show=each.short) if each.short else each for each in columns]
        self._flowing = flowing
        least = [_roomy(each, paper) if flowing else _size(each, [], paper) for each in columns]
        self._seats = [
            Seat(size, size, each.leave, each.apart, flowing) for size, each in zip(least, columns, strict=True)
        ]
        self._plan: Plan | None = None
        self._columns: list[Column] = []
        self._apart: list[Column] = []
        self._widths: list[int] = []
        self._numbers: list[set[bool]] = [set() for _ in columns]
        self._right: list[bool] = []
        self._above: list[Ink] = []

    def look(self, rows: Sequence[Row]) -> bool:
        """Make room for rows; say whether other columns have their places now than before."""
        columns = zip(self._seats, self._every, self._short, strict=True)
        looked = [self._looked(*column, rows) for column in columns]
        if looked == self._seats and self._plan is not None:  # as nearly always: what came fits
            return False
        self._seats = looked
        for numbers, each in zip(self._numbers, self._every, strict=True):
            numbers.update(_is_number(row[each.key]) for row in rows if row.get(each.key) is not None)
        plan = seated(looked, self._paper.room)
        self._widths = fitted(sizes(plan, looked), self._paper.room)
        if plan == self._plan:
            return False
        self._columns = [(self._short if plan.short else self._every)[at] for at in plan.there]
        self._apart = [self._every[at] for at in plan.apart]
        self._right = [self._is_right(self._numbers[at]) for at in plan.there]
        self._plan, self._above = plan, []
        return True

    def _looked(self, seat: Seat, column: Column, short: Column, rows: Sequence[Row]) -> Seat:
        values = [row.get(column.key) for row in rows]
        size = _size(column, values, self._paper)
        small = size if short is column else _size(short, values, self._paper)
        valued = seat.valued or any(value is not None for value in values)
        return Seat(seat.size.grown(size), seat.short.grown(small), seat.leave, seat.apart, valued)

    def _is_right(self, numbers: set[bool]) -> bool:
        """Say whether values stand right: where all are numbers; of what is only to come nobody knows."""
        return numbers == {True} or not (numbers or self._flowing)

    def left(self, *, unlooked: bool) -> list[str]:
        """Return the headings of the columns that have no place; with *unlooked* also of those without a value."""
        there = {column.key for column in chain(self._columns, self._apart)}
        seats = zip(self._every, self._seats, strict=True)
        return [each.heading for each, seat in seats if (seat.valued or unlooked) and each.key not in there]

    def head(self) -> Line:
        """Return the header."""
        return self._line([Ink(self._paper.cell(column.heading), "strong") for column in self._columns])

    def row(self, row: Row) -> Iterator[Line]:
        """Yield what of a row stands apart, from the first value on that is another than above, and then its line."""
        above = [self._inked(self._paper.cell(each.show(row.get(each.key))), row, each) for each in self._apart]
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(above, self._above, strict=False)))
        for column, ink in zip(self._apart[same:], above[same:], strict=True):
            yield Ink(self._paper.cell(column.heading), "dim"), GAP, replace(ink, whole=True)
        self._above = above
        yield self._line([self._cell(row, each, room) for each, room in zip(self._columns, self._widths, strict=True)])

    def _cell(self, row: Row, column: Column, room: int) -> Ink:
        """Return a cell, cut to its column where the paper is too narrow."""
        shown, paper = column.show(row.get(column.key)), self._paper
        text = paper.cell(shown)
        if paper.room is not None and column.keep != "all" and not _is_whole(column, shown):
            text = cut(text, room, paper.ellipsis, keep="both" if column.keep == "word" else column.keep)
        return self._inked(text, row, column)

    def _inked(self, text: str, row: Row, column: Column) -> Ink:
        value = row.get(column.key)
        if value is None:
            return Ink(text, "dim")
        return Ink(text, column.tone(value) if column.tone else None)

    def _line(self, cells: Sequence[Ink]) -> Line:
        parts: list[Part] = []
        for at, (cell, room, is_right) in enumerate(zip(cells, self._widths, self._right, strict=True)):
            padding = " " * (room - width(cell.text))
            last = at == len(cells) - 1
            parts += [padding, cell] if is_right else [cell, "" if last else padding]
            parts += [] if last else [GAP]
        return tuple(parts)


def _size(column: Column, values: Sequence[Any], paper: Paper) -> Size:
    """Return the room of a column with its heading and these values."""
    have = least = width(paper.cell(column.heading))
    for value in values:
        shown = column.show(value)
        room = width(paper.cell(shown))
        have = max(have, room)
        least = max(least, room if _is_whole(column, shown) else min(room, _NARROWEST))
    return Size(have, least, max(least, min(have, column.wants)))


def _roomy(column: Column, paper: Paper) -> Size:
    """Return the room of a column whose values are not known yet: what later ones may need is kept for them."""
    head = width(paper.cell(column.heading))
    have = max(head, column.wants)
    least = have if column.keep == "all" else min(have, max(head, _NARROWEST))
    return Size(have, least, max(have, 1 if column.keep == "all" else _NARROWEST))


def _is_whole(column: Column, shown: str) -> bool:
    """
    Say whether a text of this column is never cut. What can be a name is a word: not too long, nothing hidden.

    So is one beside which stands what it was, or is, called (`looks.called`).
    """
    if column.keep == "word":
        return _NAMES.fullmatch(shown) is not None and len(shown) <= _LONGEST_WORD and visible(shown) == shown
    return column.keep == "all"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
