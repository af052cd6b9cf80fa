"""
Any text in a column of PostgreSQL, which takes neither U+0000 nor lone surrogates. Pure.

What is written differs from the text only where that holds one of these, or a character that the escapes are made of.
Two texts are never written alike, and `COLLATE "C"` sorts what is written as the texts are sorted elsewhere: by code
point, those with a lone surrogate last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

LONGEST: Final = 100
"""Characters of a text that only leads to rows (a tag, a resource, a limit): an index takes 2,700 bytes a row."""

_LAST: Final = "\U0010ffff"
_PLAIN, _ODD = f"{_LAST}\x02", f"{_LAST}\x03"
_SPECIAL: Final = re.compile("[\x00\x01\ud7ff-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = re.compile("\x01[\x01\x02]|\ud7ff(?:\x02|\x03[\ue000-\ue7ff])")
_ESCAPES: Final = {"\x00": "\x01\x01", "\x01": "\x01\x02", "\ud7ff": "\ud7ff\x02"}
_MEANT: Final = {escape: character for character, escape in _ESCAPES.items()}
_SHIFT: Final = 0x800
"""From a surrogate to a character of the private use area."""


def kept(text: str) -> str:
    """Return a text as it is written."""
    if text.isascii():  # nearly always; two searches for a character are quicker than one for a class
        return text if "\x00" not in text and "\x01" not in text else _SPECIAL.sub(_escape, text)
    body = _SPECIAL.sub(_escape, text)
    if _SURROGATE.search(text):
        return _ODD + body
    return _PLAIN + body[1:] if text.startswith(_LAST) else body


def meant(written: str) -> str:
    """Return the text that was written so; one that `kept` never writes is itself."""
    if written.startswith(_ODD):
        return _ESCAPED.sub(_character, written[2:])
    if written.startswith(_PLAIN):
        return _LAST + _ESCAPED.sub(_character, written[2:])
    if "\x01" in written or "\ud7ff" in written:
        return _ESCAPED.sub(_character, written)
    return written


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    return _ESCAPES.get(character) or f"\ud7ff\x03{chr(ord(character) + _SHIFT)}"


def _character(found: re.Match[str]) -> str:
    return _MEANT.get(found[0]) or chr(ord(found[0][-1]) - _SHIFT)


def short(text: str) -> str:
    """Return what stands for a text that only leads to rows: a long one is cut, its digest follows."""
    if len(text) <= LONGEST:
        return kept(text)
    return f"{kept(text[:LONGEST])}\x01\x03{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def bindable(values: Iterable[Any]) -> list[Any]:
    """Return a row's values as they are written."""
    return [kept(value) if type(value) is str else value for value in values]


def readable(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return a row's values as they were meant."""
    return tuple(meant(value) if type(value) is str else value for value in values)
