"""Lines folded at words to the width of a terminal; what is to be copied stays whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from ledger.cli.text import Ink, Line, Part, cut, visible, width

_PIECE: Final = re.compile(r"`[^`]*`\S*|\S+|\s+")
_HANG: Final = 2
_LEAST: Final = 20
"""In less room than this nothing is folded: it would only get worse."""


def folded(line: Line, room: int) -> Iterator[Line]:
    """
    Yield the lines in which a line fits into so many columns; what follows the first is indented.

    A whole piece (`Ink.whole`) is never broken, nor is a command in backquotes: broken, it could not be copied.
    """
    parts = line if isinstance(line, tuple) else (line,)
    inks = [Ink(part, None) if isinstance(part, str) else part for part in parts]
    text = visible("".join(ink.text for ink in inks))
    if room < _LEAST or width(text) <= room or any(ink.whole for ink in inks):
        yield line
        return
    indent = min(len(text) - len(text.lstrip()) + _HANG, room // 2)
    row: list[Ink] = []
    used = 0
    for piece in _pieces(inks, room - indent):
        if row and used + width(piece.text) > room:
            yield _row(row)
            row, used = [Ink(" " * indent, None)], indent
            if piece.text.isspace():
                continue
        row.append(piece)
        used += width(piece.text)
    yield _row(row)


def _pieces(inks: list[Ink], room: int) -> Iterator[Ink]:
    """Yield words and what is between them; a word that is wider than any line comes in pieces that are not."""
    for ink in inks:
        for word in _PIECE.findall(visible(ink.text)):
            text = word
            while width(text) > room and not text.startswith("`"):
                head = cut(text, room, "")
                yield Ink(head, ink.tone)
                text = text[len(head) :]
            yield Ink(text, ink.tone)


def _row(pieces: list[Ink]) -> tuple[Part, ...]:
    """Return the pieces as few parts, without what is blank at the end."""
    while pieces[-1].text.isspace() and len(pieces) > 1:
        pieces.pop()
    runs = groupby(pieces, key=lambda piece: piece.tone)
    return tuple(Ink("".join(piece.text for piece in run), tone) for tone, run in runs)
