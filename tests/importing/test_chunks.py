"""A transcript's bytes, packed or not."""

import gzip
import io
from collections.abc import Iterable
from pathlib import Path

import pytest

from ledger.importing import chunks as module
from ledger.importing.chunks import Damaged, chunks_of, count_of, pieces_of, unpacked

TEXT = b"".join(b'{"n":%d}\n' % n for n in range(60_000))


def cut(data: bytes, size: int = 1000) -> list[bytes]:
    """Return bytes in pieces."""
    return [data[n : n + size] for n in range(0, len(data), size)]


def read(pieces: Iterable[bytes]) -> tuple[bytes, str]:
    """Return all that can be unpacked, and what is told of the rest."""
    got = []
    try:
        for piece in unpacked(pieces):
            got.append(piece)  # noqa: PERF402 - what came before an error is kept
    except Damaged as error:
        return b"".join(got), error.message
    return b"".join(got), ""


@pytest.mark.parametrize("size", [7, 1000, 10**9])
def test_packed_and_plain_bytes_are_the_same(size: int) -> None:
    """A gzip file is known by its first two bytes; members behind each other, and zeros behind them, are one file."""
    packed = gzip.compress(TEXT)
    assert b"".join(unpacked(cut(TEXT, size))) == TEXT
    assert b"".join(unpacked(cut(packed, size))) == TEXT
    assert b"".join(unpacked(cut(packed + packed + b"\0" * 512, size))) == TEXT * 2
    assert list(unpacked([])) == [b""]


def test_no_piece_is_large() -> None:
    """However much a piece unpacks to, it is handed out bit by bit."""
    assert max(map(len, unpacked([gzip.compress(b"x" * 5_000_000)]))) <= module.CHUNK


def test_a_bomb_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What grows beyond all measure is not unpacked; what is small may grow as it likes."""
    monkeypatch.setattr(module, "FREE", 1_000_000)
    assert sum(map(len, unpacked([gzip.compress(b"\0" * 1_000_000)]))) == 1_000_000
    got, why = read([gzip.compress(b"\0" * 50_000_000)])
    assert len(got) < 15_000_000
    assert why == "the file unpacks to more than 200 times its size"


def test_a_torn_or_broken_packing_is_told_behind_what_can_be_read() -> None:
    """All bytes up to there are handed out first."""
    packed = gzip.compress(TEXT)
    got, why = read(cut(packed[: len(packed) // 2]))
    assert why == "the packed file ends in the middle"
    assert TEXT.startswith(got)
    assert len(got) > 10_000
    assert read([packed[:-8] + b"\xff" * 8])[1].startswith("the packed file is broken: ")


def test_output_that_is_held_back_is_not_lost() -> None:
    """All that is packed may be in while zlib still holds what it unpacks to: it comes at the end."""
    packed = gzip.compress(b"a" * (module.CHUNK * 3 + 100))
    assert len(read([packed[:-8]])[0]) == module.CHUNK * 3 + 100


def test_files_and_pipes(tmp_path: Path) -> None:
    """A file's pieces are counted before they are read, for a progress bar."""
    path = tmp_path / "f"
    path.write_bytes(TEXT)
    assert b"".join(chunks_of(path)) == b"".join(pieces_of(io.BytesIO(TEXT))) == TEXT
    assert count_of(path) == len(list(chunks_of(path))) == 3
    with pytest.raises(OSError, match="No such file"):
        list(chunks_of(tmp_path / "none"))
