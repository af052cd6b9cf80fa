"""
Text as a terminal may safely show it: what hides or commands is escaped, and columns are counted as they look.

Neither click.echo nor rich takes a raw ESC, C1 control or bidirectional override out of data, so this module does.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Final, Literal, TypeAlias

Tone = Literal["strong", "dim", "good", "bad", "warn"]

_SGR: Final[dict[Tone, str]] = {"strong": "1", "dim": "2", "good": "32", "bad": "31", "warn": "33"}

# Written out, because finding these by category walks 1.1 million code points at each start. A test compares them with
# the Unicode database: every Cc, Cf, Cs, Zl and Zp, and beyond those the Default_Ignorable_Code_Point characters
# (Hangul fillers, variation selectors), which are a channel for text that a person can't see.
_HIDDEN: Final = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNSAFE: Final = re.compile(f"[{_HIDDEN}]")
_UNSAFE_IN_FIELD: Final = re.compile(f"(?![\t\n\r])[{_HIDDEN}]")
_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


@dataclass(frozen=True, slots=True)
class Ink:
    """A piece of text with a tone that shows only where colours do; a `whole` one is to be copied: never folded."""

    text: str
    tone: Tone | None
    whole: bool = False


Part: TypeAlias = str | Ink
Line: TypeAlias = Part | tuple[Part, ...]
"""What the door prints as exactly one line, whatever the data in it holds."""


def visible(text: str) -> str:
    r"""Return `text` on one line with each hidden character as `\n`, `\x1b`, `\u202e` or `\U000e0041`."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escape, text)


def visible_field(text: str) -> str:
    """Return `text` as `visible` does, but with tabs and line breaks kept: for a quoted CSV field."""
    return _UNSAFE_IN_FIELD.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    """Write one character as Python does, so that it equals what the `backslashreplace` error handler writes."""
    char = match[0]
    return _SHORT.get(char) or char.encode("unicode-escape").decode("ascii")


def width(text: str) -> int:
    """
    Return how many terminal columns the visible `text` takes: wide characters two, combining marks none.

    Nor do the vowels and finals of a Hangul syllable that is written in its parts, as macOS writes names of files.
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me") or "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def cut(text: str, room: int, ellipsis: str, *, keep: Literal["start", "end", "both"] = "start") -> str:
    """Return `text` in at most `room` columns; `keep` says which end stays, `ellipsis` marks what does not."""
    if width(text) <= room:
        return text
    ellipsis = ellipsis[:room]
    if keep == "both":
        head = _head(text, (room - len(ellipsis) + 1) // 2)
        return head + cut(text[len(head) :], room - width(head), ellipsis, keep="end")
    if keep == "start":
        return _head(text, room - len(ellipsis)) + ellipsis
    kept = _head(text[::-1], room - len(ellipsis))[::-1]
    # A combining mark whose letter was cut off would sit on the ellipsis: it goes with its letter.
    return ellipsis + kept[sum(1 for _ in takewhile(lambda char: not _columns(char), kept)) :]


def _head(text: str, room: int) -> str:
    taken = accumulate(map(_columns, text))
    return text[: sum(1 for _ in takewhile(lambda columns: columns <= room, taken))]


def encodable(text: str, encoding: str) -> str:
    r"""Return `text` with what `encoding` lacks as `\u4e2d`: as the stream will write it, so that widths are right."""
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)


def paint(line: Line, *, color: bool) -> str:
    """Return a line for the terminal: every part made visible, then its tone put around it."""
    parts = line if isinstance(line, tuple) else (line,)
    return "".join(_paint_part(part, color=color) for part in parts)


def _paint_part(part: Part, *, color: bool) -> str:
    if isinstance(part, str):
        return visible(part)
    if not color or part.tone is None:
        return visible(part.text)
    return f"\x1b[{_SGR[part.tone]}m{visible(part.text)}\x1b[0m"
