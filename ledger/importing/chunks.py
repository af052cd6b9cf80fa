"""A transcript's bytes, a piece at a time: a file, a packed file, or what comes through a pipe."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Final

from ledger.errors import LedgerError

CHUNK: Final = 256 * 1024
_GZIP: Final = b"\x1f\x8b"
_WINDOW: Final = 31  # zlib's sign for gzip's header and the largest window
FREE: Final = 256 * 2**20
"""Unpacked bytes below which no packing is suspicious."""
MOST_TIMES: Final = 200
"""Above that a file may not grow to so many times its size: real transcripts pack 5 to 30 times."""


def count_of(path: Path) -> int:
    """Return how many chunks a file has (at most one too many), for a progress bar."""
    return path.stat().st_size // CHUNK + 1


def chunks_of(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes in pieces. Raises `OSError`."""
    with path.open("rb") as file:
        yield from pieces_of(file)


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield what can be read from an open file or a pipe, in pieces."""
    while piece := file.read(CHUNK):
        yield piece


class Damaged(LedgerError):
    """A packed file cannot be unpacked to its end; what came before can be read."""

    default_code = "damaged"


def unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """
    Yield the same bytes, unpacked where they are a gzip file, which is known by its first two.

    Raises `Damaged` where the packing is broken, or grows beyond all measure: more than `FREE` bytes, and more than
    `MOST_TIMES` what they came from.
    """
    rest = iter(chunks)
    first = next(rest, b"")
    whole = chain([first], rest)
    return _gunzip(whole) if first.startswith(_GZIP) else whole


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    packed = grown = 0
    engine = zlib.decompressobj(_WINDOW)
    for chunk in chunks:
        packed += len(chunk)
        rest = chunk
        while rest:
            if engine.eof:  # another member follows: gzip files may be put behind each other
                if not rest.strip(b"\0"):
                    break
                engine = zlib.decompressobj(_WINDOW)
            piece, rest = _inflate(engine, rest)
            grown += len(piece)
            if grown > FREE and grown > MOST_TIMES * packed:
                raise Damaged(f"the file unpacks to more than {MOST_TIMES} times its size")
            yield piece
    while piece := _inflate(engine, b"")[0]:  # zlib may hold output back while all that was packed is in
        yield piece
    if not engine.eof:
        raise Damaged("the packed file ends in the middle")


def _inflate(engine: zlib._Decompress, chunk: bytes) -> tuple[bytes, bytes]:
    try:
        piece = engine.decompress(chunk, CHUNK)
    except zlib.error as error:
        raise Damaged(f"the packed file is broken: {error}") from None
    return piece, engine.unconsumed_tail or engine.unused_data
