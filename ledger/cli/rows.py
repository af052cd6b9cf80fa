r"""
Rows as json, jsonl and csv: the same rows in each; JSON is exact and pure ASCII, CSV is for spreadsheets.

CSV, as PostgreSQL's COPY writes it: `\r\n` ends a row, null is an empty field and the empty string is `""`, objects
and lists are JSON. A text that a spreadsheet would run as a formula gets a `'` in front (OWASP, CSV Injection); so does
one that has some already, so that taking one away always gives back the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeAlias

from ledger.cli.text import visible, visible_field

Row: TypeAlias = Mapping[str, Any]

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NEEDS_QUOTES: Final = (",", '"', "\r", "\n", ";")


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Return JSON in printable ASCII only: no encoding, terminal or line reader can misread it."""
    return json.dumps(value, allow_nan=False, indent=indent)


def json_array(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the pieces of one JSON array, a row a piece, so that a long answer needs no memory."""
    opening = "["
    for row in rows:
        yield opening + dumps(row)
        opening = ", "
    yield "[]" if opening == "[" else "]"


def csv_lines(
    rows: Iterable[Row], fields: Sequence[str], *, keep_formulas: bool = False, one_line: bool = False
) -> Iterator[str]:
    """
    Yield the header and the rows as CSV, each with its line end.

    The keys of the first row are the columns, or `fields` if there is no row. `one_line` writes tabs and line breaks
    inside of a field as escapes, for a terminal. Raises ValueError for a row with a field that has no column.
    """
    rows = iter(rows)
    first = next(rows, None)
    if first is not None:
        fields, rows = tuple(first), chain([first], rows)
    show = visible if one_line else visible_field
    alone = len(fields) == 1
    yield _csv_line((show(field) for field in fields), alone=alone)
    for row in rows:
        lost = set(row) - set(fields)
        if lost:
            raise ValueError(f"the CSV has no column for {sorted(lost)}")
        cells = (_cell(row.get(field), keep_formulas=keep_formulas) for field in fields)
        yield _csv_line((None if cell is None else show(cell) for cell in cells), alone=alone)


def _csv_line(cells: Iterable[str | None], *, alone: bool) -> str:
    # A row that is one empty field looks like no row at all to every parser, so null is written as "" there.
    line = ",".join("" if cell is None else _quoted(cell) for cell in cells)
    return ('""' if alone and not line else line) + "\r\n"


def _quoted(cell: str) -> str:
    if cell and cell == cell.strip() and not any(mark in cell for mark in _NEEDS_QUOTES):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _cell(value: object, *, keep_formulas: bool) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return dumps(value)
    return "'" + value if not keep_formulas and _is_formula(value.lstrip("'")) else value


def _is_formula(text: str) -> bool:
    return text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)
