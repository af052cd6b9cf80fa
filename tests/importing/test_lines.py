"""Bytes as lines with their places."""

from hypothesis import given
from hypothesis import strategies as st

from ledger.importing.lines import Line, lines_of

PIECES = st.lists(st.binary(max_size=6) | st.sampled_from([b"\n", b"\r\n", b"\n\n", b"a\nb"]), max_size=20)


@given(PIECES)
def test_lines_are_those_of_the_whole(pieces: list[bytes]) -> None:
    """However the bytes come, the lines are the same, and each stands where it says."""
    whole = b"".join(pieces)
    lines = list(lines_of(pieces))
    assert [line.text for line in lines] == whole.removesuffix(b"\n").split(b"\n")[: len(lines)]
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    for line in lines:
        assert line.whole
        assert whole[line.offset :].startswith(line.text)
    assert b"\n".join(line.text for line in lines).rstrip(b"\n") == whole.rstrip(b"\n")


@given(PIECES, st.integers(0, 8))
def test_a_long_line_is_not_held(pieces: list[bytes], longest: int) -> None:
    """No more of it is kept than allowed; its size is known, and the lines behind it are whole."""
    whole = list(lines_of(pieces))
    for line, full in zip(lines_of(pieces, longest), whole, strict=True):
        assert len(line.text) <= longest
        assert line.size == len(full.text)
        assert full.text.startswith(line.text)
        assert line.whole == (len(full.text) <= longest)
        assert (line.number, line.offset) == (full.number, full.offset)


def test_nothing_is_no_line() -> None:
    """An empty file has none, a last line needs no end."""
    assert list(lines_of([])) == []
    assert list(lines_of([b"", b"a"])) == [Line(1, 0, b"a", 1)]
