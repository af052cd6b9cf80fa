"""Lines for a person: harmless, in any encoding, and never in the way of the work."""

import io
import os
import sys
from pathlib import Path

import pytest

from ledger.demo.saying import say


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)


@pytest.mark.parametrize(
    ("encoding", "text", "written"),
    [
        ("utf-8", "gr\u00fcn \u4e2d", "gr\u00fcn \u4e2d\n".encode()),
        ("cp1252", "gr\u00fcn \u4e2d", b"gr\xfcn \\u4e2d\n"),
        ("ascii", "gr\u00fcn", b"gr\\xfcn\n"),
        ("utf-8", "a\x1b[31mb\nc\u202ed\udcff", b"a\\x1b[31mb\\nc\\u202ed\\udcff\n"),
    ],
)
def test_a_line_is_harmless(encoding: str, text: str, written: bytes) -> None:
    """What a terminal would obey, and what the encoding lacks, is escaped; a text is one line."""
    out = stream(encoding)
    say(text, out)
    assert out.buffer.getvalue() == written  # type: ignore[attr-defined]  # it is the BytesIO of above


def test_a_stream_of_plain_text_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream without an encoding gets ASCII."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    say("gr\u00fcn")
    assert out.getvalue() == "gr\\xfcn\n"


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was started without a stdout says nothing."""
    monkeypatch.setattr(sys, "stdout", None)
    say("hello")
    assert sys.stdout is None


def test_the_reader_left(tmp_path: Path) -> None:
    """When nobody reads the pipe any more, the lines go nowhere, the one in the buffer too."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out:
        say("one", out)
        say("two", out)
    assert out.closed
