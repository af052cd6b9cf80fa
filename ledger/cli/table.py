"""Rows as a table a person enjoys reading: aligned by what the eye sees, cut to the terminal, never cut in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from json import dumps
from typing import Any, Final, Literal

from ledger.cli.rows import Row
from ledger.cli.text import Ink, Line, Part, Tone, cut, encodable, visible, width

GAP: Final = "  "
WINDOW: Final = 500
"""Rows that are looked at to find the columns' widths; those after them flow on, so a long table needs no memory."""

_NARROWEST: Final = 8


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
    `keep` says which end of a text stays when the terminal is too narrow ("all" = never cut), `tone` colours a value.
    Where that is not enough, or a column has less than it `wants`, the columns without any value go; then `short`
    shows the values of the columns that have one, and then the columns with `leave` go, the lowest number first.
    """

    key: str
    title: str | None = None
    show: Callable[[Any], str] = plain
    keep: Literal["start", "end", "all"] = "start"
    tone: Callable[[Any], Tone | None] | None = None
    short: Callable[[Any], str] | None = None
    leave: int = 0
    wants: int = 0

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

    `missing` is told the headings of the columns that the paper has no room for, behind the last row, if there are any.
    A column without a value in any row is not missed.
    """
    rows = iter(rows)
    window = list(islice(rows, WINDOW))
    if not window:
        return
    every, columns = columns, _seated(window, columns, paper)
    looked = [_cells(row, columns, paper) for row in window]
    heads = [paper.cell(column.heading) for column in columns]
    widths = [max(map(width, seen)) for seen in zip(heads, *looked, strict=True)]
    if paper.room is not None:
        widths = _fitted(widths, columns, heads, paper.room)
    right = [all(_is_number(row.get(column.key)) for row in window) for column in columns]
    yield _line([Ink(head, "strong") for head in heads], widths, right)
    for row, cells in chain(
        zip(window, looked, strict=True), ((later, _cells(later, columns, paper)) for later in rows)
    ):
        yield _line(_shown(row, cells, columns, paper, widths), widths, right)
    unlooked = len(window) == WINDOW  # what comes behind the window may have a value
    valued = [each for each in every if unlooked or any(row.get(each.key) is not None for row in window)]
    if missing is not None and (left := _left(valued, columns)):
        missing(left)


class Flow:
    """
    A table whose rows come one at a time, each to be shown at once: the header goes before the first of them.

    What the paper has room for is decided by the first row, as if each text that may be cut were as wide as it can be
    cut to. A column has at least what it `wants`, and grows with the widest text that came so far.
    """

    def __init__(self, columns: Sequence[Column], paper: Paper) -> None:
        self._columns = columns
        self._paper = paper
        self._widths: list[int] = []
        self._right: list[bool] = []
        self._missing: list[str] = []

    def missing(self) -> list[str]:
        """Return the headings of the columns that have no room, once the first row came, and only once: to be told."""
        told, self._missing = self._missing, []
        return told

    def lines(self, row: Row) -> Iterator[Line]:
        """Yield the row's line, and the header before the first one."""
        first = not self._widths
        if first:
            every, self._columns = self._columns, _seated([self._later(row)], self._columns, self._paper)
            self._missing = _left(every, self._columns)
            self._widths = [max(width(self._paper.cell(each.heading)), each.wants) for each in self._columns]
            self._right = [row.get(column.key) is not None and _is_number(row[column.key]) for column in self._columns]
        columns, paper = self._columns, self._paper
        heads, cells = [paper.cell(column.heading) for column in columns], _cells(row, columns, paper)
        self._widths = [max(widest) for widest in zip(self._widths, map(width, cells), strict=True)]
        fitted = self._widths if paper.room is None else _fitted(self._widths, columns, heads, paper.room)
        if first:
            yield _line([Ink(head, "strong") for head in heads], fitted, self._right)
        yield _line(_shown(row, cells, columns, paper, fitted), fitted, self._right)

    def _later(self, row: Row) -> Row:
        """Return the first row with the room that later ones may need where it has nothing, or little."""
        cells = _cells(row, self._columns, self._paper)
        least = [max(1 if each.keep == "all" else _NARROWEST, each.wants) for each in self._columns]
        wider = {
            column.key: "-" * room
            for column, cell, room in zip(self._columns, cells, least, strict=True)
            if row.get(column.key) is None or width(cell) < room
        }
        return {**row, **wider}


def _seated(window: Sequence[Row], columns: Sequence[Column], paper: Paper) -> Sequence[Column]:
    """Return the columns that the paper has room for, if only so in their short form."""
    if paper.room is None or _least_room(window, columns, paper) <= paper.room:
        return columns
    columns = [column for column in columns if any(row.get(column.key) is not None for row in window)] or columns
    if _least_room(window, columns, paper) <= paper.room:
        return columns
    columns = [replace(column, show=column.short) if column.short else column for column in columns]
    for number in sorted({column.leave for column in columns if column.leave}):
        if _least_room(window, columns, paper) <= paper.room:
            break
        columns = [column for column in columns if column.leave != number]
    return columns


def _left(every: Sequence[Column], seated: Sequence[Column]) -> list[str]:
    """Return the headings of the columns that were not seated."""
    there = {column.key for column in seated}
    return [column.heading for column in every if column.key not in there]


def _least_room(window: Sequence[Row], columns: Sequence[Column], paper: Paper) -> int:
    heads = [paper.cell(column.heading) for column in columns]
    seen = zip(heads, *(_cells(row, columns, paper) for row in window), strict=True)
    widths = [max(map(width, cells)) for cells in seen]
    return sum(_wanted(widths, columns, heads)) + len(GAP) * (len(columns) - 1)


def _least(widths: Sequence[int], columns: Sequence[Column], heads: Sequence[str]) -> list[int]:
    """Return how far each column may be cut."""
    return [
        have if column.keep == "all" else min(have, max(width(head), _NARROWEST))
        for have, column, head in zip(widths, columns, heads, strict=True)
    ]


def _wanted(widths: Sequence[int], columns: Sequence[Column], heads: Sequence[str]) -> list[int]:
    """Return how far each column is cut before any has less than it wants."""
    least = zip(_least(widths, columns, heads), widths, columns, strict=True)
    return [max(low, min(have, column.wants)) for low, have, column in least]


def _cells(row: Row, columns: Sequence[Column], paper: Paper) -> list[str]:
    return [paper.cell(column.show(row.get(column.key))) for column in columns]


def _shown(row: Row, cells: Sequence[str], columns: Sequence[Column], paper: Paper, widths: Sequence[int]) -> list[Ink]:
    """Return a row's cells, cut to their columns where the paper is too narrow."""
    cut_to = [
        text if paper.room is None or column.keep == "all" else cut(text, room, paper.ellipsis, keep=column.keep)
        for text, column, room in zip(cells, columns, widths, strict=True)
    ]
    return [_inked(text, row, column) for text, column in zip(cut_to, columns, strict=True)]


def _inked(text: str, row: Row, column: Column) -> Ink:
    value = row.get(column.key)
    if value is None:
        return Ink(text, "dim")
    return Ink(text, column.tone(value) if column.tone else None)


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _fitted(widths: list[int], columns: Sequence[Column], heads: Sequence[str], room: int) -> list[int]:
    """
    Take room from the widest column that may be cut, a column at a time, until the table fits or nothing is left.

    What a column wants is taken from it last.
    """
    least = _least(widths, columns, heads)
    fitted = [max(low, min(have, room)) for have, low in zip(widths, least, strict=True)]
    for floor in (_wanted(widths, columns, heads), least):
        over = sum(fitted) + len(GAP) * (len(fitted) - 1) - room
        for _ in range(over):
            spare = [have if have > low else 0 for have, low in zip(fitted, floor, strict=True)]
            if not any(spare):
                break
            fitted[spare.index(max(spare))] -= 1
    return fitted


def _line(cells: Sequence[Ink], widths: Sequence[int], right: Sequence[bool]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for at, (cell, room, is_right) in enumerate(zip(cells, widths, right, strict=True)):
        padding = " " * (room - width(cell.text))
        last = at == len(cells) - 1
        parts += [padding, cell] if is_right else [cell, "" if last else padding]
        parts += [] if last else [GAP]
    return tuple(parts)
