"""Lines as JSON records: the torn, the glued and the overwritten ones are named, and every good one is found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from ledger.counting import counted
from ledger.errors import JsonRejected
from ledger.importing.lines import LONGEST, Line
from ledger.importing.report import Problem
from ledger.strictjson import Json, Limits, decode

LIMITS: Final = Limits(max_bytes=LONGEST, max_depth=256, max_items=2**23)
"""What one record may cost."""

_BLANK: Final = b" \t\r\n\0"
_BOM: Final = b"\xef\xbb\xbf"
_UNFINISHED: Final = ("{", "[", ",", ":")
_NO_DOCUMENT: Final = ("torn", "invalid_json", "invalid_utf8")
_READER: Final = json.JSONDecoder()
_STUMP: Final = re.compile(r"[-+.\\\w]{1,8}\{")
_PLACE: Final = re.compile(r"line \d+, column \d+: ")


class Record(NamedTuple):
    """A JSON value of the file, and where it begins: line from 1, byte from 0."""

    value: Json
    line: int
    offset: int


Found: TypeAlias = Record | Problem


class _Text:
    """A piece of the file as text: bytes that are no UTF-8 stand in it as lone surrogates (PEP 383)."""

    def __init__(self, data: bytes, line: int, offset: int) -> None:
        self.text = _text(data)
        self._at, self._line, self._offset = 0, line, offset

    def place(self, at: int) -> tuple[int, int]:
        """Return line and offset of a character of it, which is not before the one asked for last."""
        between = self.text[self._at : at]
        self._at = at
        self._line += between.count("\n")
        self._offset += len(between.encode("utf-8", "surrogateescape"))
        return self._line, self._offset


def records(lines: Iterable[Line]) -> Iterator[Found]:
    """
    Yield the records of a file, one a line or one spread over lines, and what is none.

    A record that is not whole is `torn`; where the next one follows on the same line, that one is found. Records that
    stand on one line are `glued`, each is found. Bytes 0 (a crash leaves runs of them) end a record.
    """
    rest = (line for line in lines if line.text.strip(_BLANK) or b"\0" in line.text or not line.whole)
    first, second = next(rest, None), next(rest, None)
    head = [line for line in (first, second) if line is not None]
    whole = chain(head, rest)
    if first is not None and _is_spread(first, second):
        yield from _spread(whole)
    else:
        for line in whole:
            yield from _line(line)


def _is_spread(first: Line, second: Line | None) -> bool:
    """Whether one document seems to be spread over the lines: pretty-printed, not torn."""
    begin = _text(first.text.removeprefix(_BOM)).strip()
    if second is None or not begin.endswith(_UNFINISHED) or _is_whole(begin):
        return False
    return begin == "[" or not _is_whole(_text(second.text))


def _is_whole(text: str) -> bool:
    try:
        return isinstance(_READER.decode(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _spread(lines: Iterator[Line]) -> Iterator[Found]:
    """Yield the documents of lines that are read as one text; where that is none, they are read line by line."""
    held: list[Line] = []
    size = 0
    for line in lines:
        held.append(line)
        size += line.size + 1
        if size > LONGEST:
            break
    found = None if size > LONGEST else _documents(held)
    if found is not None:
        yield from found
        return
    for line in chain(held, lines):
        yield from _line(line)


def _documents(lines: list[Line]) -> list[Found] | None:
    """Return the documents of a text; None where it is none."""
    first, joined = lines[0], _joined(lines)
    text = joined.removeprefix(_BOM)
    found: list[Found] = []
    for each in _pieces(_Text(text, first.number, first.offset + len(joined) - len(text))):
        if isinstance(each, Problem) and each.code in _NO_DOCUMENT:
            return None
        found.append(each)
    return found


def _joined(lines: list[Line]) -> bytes:
    """Return the text of lines with the blank ones between them again, so that places in it are right."""
    parts: list[bytes] = []
    number = lines[0].number
    for line in lines:
        parts += (b"\n" * (line.number - number), line.text)
        number = line.number
    return b"".join(parts)


def _line(line: Line) -> Iterator[Found]:
    if not line.whole:
        yield Problem(
            line=line.number,
            offset=line.offset,
            code="too_large",
            message=f"a line of {line.size} bytes; {LONGEST} are the most",
        )
        return
    text, offset = line.text, line.offset
    if offset == 0 and text.startswith(_BOM):
        text, offset = text[len(_BOM) :], len(_BOM)
    if b"\0" not in text:
        yield from _found(_Text(text, line.number, offset))
        return
    message = counted(text.count(0), "byte is 0", "bytes are 0")
    yield Problem(line=line.number, offset=offset + text.index(0), code="nul", message=message)
    for part in text.split(b"\0"):
        if part.strip():
            yield from _found(_Text(part, line.number, offset))
        offset += len(part) + 1


def _found(text: _Text) -> Iterator[Found]:
    """Yield the records of a line."""
    try:
        yield Record(_value(text.text), *text.place(0))
        return
    except JsonRejected as error:
        if error.code in ("too_deep", "too_large", "too_many_items"):
            yield _problem(text, 0, error)
            return
    before: Found | None = None
    told = False
    for each in _pieces(text):
        if isinstance(before, Record) and isinstance(each, Record) and not told:
            yield Problem(line=each.line, offset=each.offset, code="glued", message="a second record on the same line")
            told = True
        yield each
        before = each


def _pieces(text: _Text) -> Iterator[Found]:
    """Yield what stands one behind the other in a text."""
    whole, at = text.text, 0
    while (at := _behind_space(whole, at)) < len(whole):
        try:
            _, end = _READER.raw_decode(whole, at)
        except json.JSONDecodeError as error:
            ends = error.pos >= len(whole.rstrip()) or error.msg.startswith("Unterminated")
            following = None if ends else _following(whole, at, error.pos)
            yield _torn(text, at, error, following, ends=ends)
            if following is None:
                return
            at = following
        except RecursionError:
            yield _told(text, at, "too_deep", "it is nested too deep")
            return
        else:
            yield _piece(text, at, end)
            at = end


def _following(text: str, at: int, error: int) -> int | None:
    """
    Return where the next record begins behind a torn one: right at the place where the text makes no sense any more.

    Torn in a text, that is behind its `{"` (the quote ends the text), else at its `{`, or behind what is left of a
    number or a word. Further back a `{` is of the torn record itself: no part of a record is taken for a record.
    """
    found = text.rfind("{", max(at + 1, error - 2), error + 1)
    if found >= 0:
        return found
    stump = _STUMP.match(text, error)
    return stump.end() - 1 if stump else None


def _behind_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _piece(text: _Text, at: int, end: int) -> Found:
    try:
        return Record(_value(text.text[at:end]), *text.place(at))
    except JsonRejected as error:
        return _problem(text, at, error)


def _torn(text: _Text, at: int, error: json.JSONDecodeError, following: int | None, *, ends: bool) -> Problem:
    if text.text[at] in "{[" and (ends or following is not None):
        behind = "" if following is None else ", and another one follows on its line"
        return _told(text, at, "torn", f"a record ends in the middle{behind}")
    return _told(text, at, "invalid_json", f"no JSON: {error.msg}")


def _problem(text: _Text, at: int, error: JsonRejected) -> Problem:
    message, *_ = _PLACE.sub("", error.message, count=1).partition(". ")
    return _told(text, at, error.code, message.rstrip("."))


def _told(text: _Text, at: int, code: str, message: str) -> Problem:
    line, offset = text.place(at)
    return Problem(line=line, offset=offset, code=code, message=message)


def _value(text: str) -> Json:
    """
    Return the value of a record; raises `JsonRejected`.

    Lone surrogates, which models and tools do write as escapes, are kept: they are data here, not arguments to run.
    """
    try:
        return decode(text, LIMITS)
    except JsonRejected as error:
        if error.code != "lone_surrogate":
            raise
    try:
        text.encode()
    except UnicodeEncodeError:
        raise JsonRejected("invalid_utf8", "The text is not UTF-8.") from None
    return _READER.decode(text)  # all else was looked at before


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
