"""
The one door for printing: nothing else in the command line writes to a stream.

Answers go to stdout, words to a person (notes, warnings, errors, progress) to stderr. With `--json` stdout gets exactly
one object: `{"data": object}`, `{"data": [rows], "next": cursor or null}` or `{"error": {"code", "message", "hint"}}`.
But where a long document breaks off (see `Output.document`).
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal, TypeAlias, TypeVar

import click

from ledger.cli import streams, table
from ledger.cli.faults import Fault, fault_of
from ledger.cli.folding import folded
from ledger.cli.masking import mask
from ledger.cli.rows import Row, csv_lines, dumps, json_array
from ledger.cli.text import Ink, Line, Part, paint, visible

Format = Literal["table", "json", "jsonl", "csv"]
FORMATS: Final[tuple[Format, ...]] = ("table", "json", "jsonl", "csv")

Cursor: TypeAlias = str | Callable[[], str | None] | None
"""Where the following page begins; a function where that is known only behind the last row."""

CUT: Final = 1
"""The exit status of an export that `--limit` cut."""

_EVERY: Final = 100
"""Of how many items progress tells one, where nobody knows how many there are."""

_Item = TypeVar("_Item")


class Output:
    """Prints what a command found out: to a person, or with `json` to a program."""

    def __init__(self, *, json: bool = False, color: bool = True) -> None:
        self._json = json
        self._color_out = streams.wants_color(sys.stdout, forbidden=not color)
        self._color_err = streams.wants_color(sys.stderr, forbidden=not color)

    def show(self, data: Mapping[str, Any], lines: Iterable[Line]) -> None:
        """Print one thing: `data` in the envelope, or `lines` to a person (an unused generator costs nothing)."""
        if self._json:
            self.json({"data": data})
        else:
            self.lines(lines)

    def lines(self, lines: Iterable[Line]) -> None:
        """Print lines on stdout, folded to a terminal. With `--json` they would break the one object: use `show`."""
        for line in lines:
            for each in folded(line, shutil.get_terminal_size().columns) if sys.stdout.isatty() else (line,):
                self._line(each)

    def verbatim(self, lines: Iterable[str]) -> None:
        """Print lines on stdout that are laid out already."""
        for line in lines:
            self._line(line)

    def _line(self, line: Line) -> None:
        streams.write(sys.stdout, paint(line, color=self._color_out) + "\n")

    def json(self, value: Any) -> None:
        """Print one bare JSON value on stdout: indented on a terminal, one line in a pipe."""
        streams.write(sys.stdout, dumps(value, indent=2 if sys.stdout.isatty() else None) + "\n")

    def rows(
        self,
        rows: Iterable[Row],
        columns: Sequence[table.Column],
        *,
        format: Format | None = None,
        next: Cursor = None,
        empty: str = "Nothing found.",
        keep_formulas: bool = False,
    ) -> None:
        """
        Print a list: every format carries the same rows, the table only their `columns`.

        Rows may be a generator, they flow. `next` is the cursor of the following page, `empty` what a person reads when
        there is no row. Raises click.UsageError for `--json` together with `--format`; and Exit(1) behind a cut list in
        a format that has no place for the cursor: what was cut must not pass for a whole export.
        """
        if self._json and format is not None:
            raise click.UsageError("--json and --format exclude each other.", click.get_current_context(silent=True))
        if self._json:
            self._envelope(rows, next)
            return
        match format:
            case "json":
                self._pieces(chain(json_array(rows), ["\n"]))
            case "jsonl":
                self._pieces((dumps(row) + "\n" for row in rows), flush=True)
            case "csv":
                names = [column.key for column in columns]
                flat = sys.stdout.isatty()
                self._pieces(csv_lines(rows, names, keep_formulas=keep_formulas, one_line=flat))
            case _:
                self._table(rows, columns, empty)
        cursor = next() if callable(next) else next
        if cursor is not None:
            self.note(f"There are more: go on with --after {cursor}")
            if format not in (None, "table"):
                raise click.exceptions.Exit(CUT)

    def document(self, pieces: Iterable[str]) -> None:
        """
        Print one JSON value that comes in pieces: in the envelope with `json`, indented on a terminal.

        A failure behind the first piece is told on stderr and by the status: nothing ends a value that was cut.
        """
        if sys.stdout.isatty():  # a terminal's reader sees no memory
            value = json.loads("".join(pieces))
            self.json({"data": value} if self._json else value)
            return
        opening, closing = ('{"data": ', "}\n") if self._json else ("", "\n")
        begun = False
        try:
            for piece in pieces:
                streams.write(sys.stdout, piece if begun else opening + piece)
                begun = True
        except Exception as error:
            if not begun or isinstance(error, streams.OutputFailed):
                raise
            fault = fault_of(error)
            streams.write(sys.stdout, "\n", flush=True)
            self._blame(fault)
            raise click.exceptions.Exit(fault.exit_code) from error
        streams.write(sys.stdout, closing)

    def progressed(self, data: Mapping[str, Any], lines: Iterable[Line]) -> None:
        """Print one of many things at once, as it happens: with `json` as one line, else `lines` to a person."""
        if self._json:
            streams.write(sys.stdout, dumps(data) + "\n", flush=True)
        else:
            self.lines(lines)
            streams.flush(sys.stdout)

    def note(self, *parts: Part) -> None:
        """Say one line to a person, on stderr, after all that was printed so far. Passwords in it are masked."""
        streams.flush(sys.stdout)
        self._say(parts)

    def warn(self, *parts: Part) -> None:
        """Say one line of warning, on stderr."""
        self.note(Ink("Warning: ", "warn"), *parts)

    def fail(self, fault: Fault) -> None:
        """Tell a failure: the error object on stdout with `--json`, else words on stderr."""
        if self._json:
            self.json({"error": fault.to_wire()})
        else:
            self._blame(fault)

    def _blame(self, fault: Fault) -> None:
        self._say((Ink("Error: ", "bad"), fault.words, Ink(f" ({fault.code})", "dim")))
        if fault.usage:
            self._say((fault.usage,))
        if fault.hint:
            self._say((fault.hint,))

    def progress(self, items: Iterable[_Item], what: str, total: int | None = None) -> Iterator[_Item]:
        """Yield the items, and on a terminal keep one line on stderr that says how far it got, of how many if known."""
        if not sys.stderr.isatty():
            yield from items
            return
        said = None
        try:
            for done, item in enumerate(items):
                far = str(done - done % _EVERY) if total is None else f"{100 * done // max(total, 1)} %"
                if far != said:
                    said = far
                    streams.say(f"\r{visible(what)} {far}")
                yield item
        finally:
            streams.say("\r\x1b[K")

    def flow(self, columns: Sequence[table.Column]) -> table.Flow:
        """Return a table whose rows come one at a time; print each with `progressed`."""
        return table.Flow(columns, self._paper())

    def narrow(self, missing: Sequence[str]) -> None:
        """Say which columns of a table the terminal has no room for, if there are any, and where to find them."""
        if missing:
            what = "1 column does" if len(missing) == 1 else f"{len(missing)} columns do"
            self.note(Ink(f"{what} not fit ({', '.join(missing)}): widen the terminal, or use --json.", "dim"))

    def _paper(self) -> table.Paper:
        room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        return table.Paper(room, sys.stdout.encoding)

    def _table(self, rows: Iterable[Row], columns: Sequence[table.Column], empty: str) -> None:
        line: Line | None = None
        for line in table.lines(rows, columns, self._paper(), self.narrow):
            self._line(line)
        if line is None:
            self.note(empty)

    def _envelope(self, rows: Iterable[Row], next: Cursor) -> None:
        """Write the list's envelope while the rows flow; a failure in the middle still leaves one whole object."""
        opening, between = '{"data": [', ",\n " if sys.stdout.isatty() else ", "
        try:
            for row in rows:
                streams.write(sys.stdout, opening + dumps(row))
                opening = between
        except Exception as error:
            if opening != between or isinstance(error, streams.OutputFailed):
                raise
            fault = fault_of(error)
            streams.write(sys.stdout, f'], "next": null, "error": {dumps(fault.to_wire())}}}\n')
            raise click.exceptions.Exit(fault.exit_code) from error
        cursor = next() if callable(next) else next
        streams.write(sys.stdout, f'{"" if opening == between else opening}], "next": {dumps(cursor)}}}\n')

    def _pieces(self, pieces: Iterable[str], *, flush: bool = False) -> None:
        for piece in pieces:
            streams.write(sys.stdout, piece, flush=flush)

    def _say(self, parts: tuple[Part, ...]) -> None:
        masked = tuple(Ink(mask(part.text), part.tone) if isinstance(part, Ink) else mask(part) for part in parts)
        for line in folded(masked, shutil.get_terminal_size().columns) if sys.stderr.isatty() else (masked,):
            streams.say(paint(line, color=self._color_err) + "\n")
