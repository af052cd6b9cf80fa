"""A transcript as what its format's reader yields, with the problems of its file in between."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias

from ledger.errors import LedgerError, UsageError
from ledger.importing.chunks import Damaged, unpacked
from ledger.importing.lines import Line, lines_of
from ledger.importing.records import Record, records
from ledger.importing.report import Problem
from ledger.providers.imported import Read, Skipped
from ledger.providers.sniff import BUNDLE, LOOKED_AT, READABLE, sniff
from ledger.strictjson import Json, printable

Reader: TypeAlias = Callable[[Iterable[Json]], Iterator[Read]]

AUTO: Final = "auto"
_FAULTS: Final = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError, LedgerError)
"""What a reader raises on content of kinds that it does not expect."""

_BUNDLE: Final = re.compile(rb'\s*\{\s*"bundle"\s*:\s*"toolcall-ledger"')


class Source:
    """
    A transcript that is being read: its format, and its lines.

    Raises `UsageError` where the format is none, or not told and not known by the file's first bytes, `Damaged` where
    nothing of a packed file can be unpacked, and `OSError`.
    """

    def __init__(self, chunks: Iterable[bytes], format: str = AUTO) -> None:
        if format not in (AUTO, *READABLE):
            raise UsageError(f"no format {format!r} can be read.", hint=f"There is: {', '.join(READABLE)}.")
        self._damage: Problem | None = None
        whole = self._whole(unpacked(chunks))
        head: list[bytes] = []
        while sum(map(len, head)) < LOOKED_AT and (chunk := next(whole, None)) is not None:
            head.append(chunk)
        for problem in () if any(head) else self.damage():
            raise Damaged(problem.message, hint="Fetch the file again.")
        self.format = _format_of(b"".join(head).replace(b"\0", b"")) if format == AUTO else format
        self.lines: Iterator[Line] = lines_of(chain(head, whole))

    def _whole(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield what can be unpacked; that there is more is told at the end."""
        line, offset = 1, 0
        try:
            for chunk in chunks:
                yield chunk
                line, offset = line + chunk.count(b"\n"), offset + len(chunk)
        except Damaged as error:
            self._damage = Problem(line=line, offset=offset, code=error.code, message=error.message)

    def damage(self) -> Iterator[Problem]:
        """Yield, behind the last line, that the packed file is not whole, if so."""
        if self._damage is not None:
            yield self._damage

    @property
    def is_bundle(self) -> bool:
        """Whether it is a ledger's own export, which no provider's reader reads."""
        return self.format == BUNDLE

    def read(self) -> Iterator[Read | Problem]:
        """
        Yield what the transcript holds, and each problem of the file no later than what follows it.

        A document on which the reader fails (its content is of kinds that no provider sends) is a problem too; what
        follows it is read by a new one.
        """
        documents = _Documents(self.lines)
        while documents.more:
            try:
                for item in _reader(self.format)(documents):
                    yield from documents.problems()
                    yield documents.problem(item) if isinstance(item, Skipped) else item
            except _FAULTS as error:
                yield from documents.problems()
                yield documents.unreadable(error)
        yield from documents.problems()
        yield from self.damage()


def _format_of(head: bytes) -> str:
    """Return the format by the first bytes; an export of a ledger also where its first lines are glued together."""
    return BUNDLE if _BUNDLE.match(head) else sniff(head[:LOOKED_AT])


class _Documents:
    """The values of a file, remembering where each stood; a reader that failed leaves the rest to the next one."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.more = True
        self._records = records(lines)
        self._lines = array("Q")
        self._offsets = array("Q")
        self._begun = 0  # documents of earlier readers
        self._problems: deque[Problem] = deque()

    def __iter__(self) -> Iterator[Json]:
        self._begun = len(self._lines)
        for found in self._records:
            if isinstance(found, Record):
                self._lines.append(found.line)
                self._offsets.append(found.offset)
                yield found.value
            else:
                self._problems.append(found)
        self.more = False

    def problems(self) -> Iterator[Problem]:
        """Yield those found since."""
        while self._problems:
            yield self._problems.popleft()

    def problem(self, skipped: Skipped) -> Problem:
        """Return what a reader passed over, at its place."""
        return self._at(self._begun + skipped.place, "skipped", skipped.what)

    def unreadable(self, error: Exception) -> Problem:
        """Return that a reader failed, at the last document that it was given."""
        return self._at(len(self._lines) - 1, "unreadable", f"not as a provider sends it: {printable(str(error))}")

    def _at(self, place: int, code: str, message: str) -> Problem:
        return Problem(line=self._lines[place], offset=self._offsets[place], code=code, message=message)


def _reader(name: str) -> Reader:
    from ledger.providers import claude_code, readers  # the parsers of every format: only where something is read

    if name == claude_code.NAME:
        return claude_code.read_claude_code
    return lambda documents: readers.read_provider(name, documents)
