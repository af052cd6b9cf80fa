"""Bytes as lines with their places; a line that is too long is passed over without being held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

LONGEST: Final = 64 * 2**20
"""Bytes of one line, and of one document that is spread over lines."""


class Line(NamedTuple):
    """
    A line without its end; `number` counts from 1, `offset` is that of its first byte.

    `size` is more than the bytes of `text` where it was too long: then that is only how it begins.
    """

    number: int
    offset: int
    text: bytes
    size: int

    @property
    def whole(self) -> bool:
        """Whether all of it is here."""
        return self.size == len(self.text)


def lines_of(chunks: Iterable[bytes], longest: int = LONGEST) -> Iterator[Line]:
    """Yield the lines without their line feed; empty ones too, they are counted."""
    number, offset = 1, 0
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        start = 0
        while start < len(chunk):
            end = chunk.find(b"\n", start)
            part = chunk[start : end if end >= 0 else None]
            size += len(part)
            if size <= longest:
                parts.append(part)
            if end < 0:
                break
            yield Line(number, offset, b"".join(parts), size)
            number, offset, start = number + 1, offset + size + 1, end + 1
            parts, size = [], 0
    if size:
        yield Line(number, offset, b"".join(parts), size)
