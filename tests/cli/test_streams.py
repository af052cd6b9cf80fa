"""The process's own streams."""

import errno
import io
import os
import sys

import pytest

from ledger.cli import streams
from tests.cli.running import Broken, Screen, terminal


def test_streams_take_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once prepared, what an encoding lacks is written as an escape, and line ends stay as they are given."""
    screen = Screen("cp1252")
    monkeypatch.setattr(sys, "stdout", screen)
    streams.prepare()
    streams.write(sys.stdout, "é中\udce9\n\r\n", flush=True)
    assert screen.shown == "é\\u4e2d\\udce9\n\r\n"


def test_missing_streams_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process started without stdout writes to nobody; a stream of another kind is left alone."""
    other = io.StringIO()
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", other)
    streams.prepare()
    streams.write(sys.stdout, "x", flush=True)
    sys.stdout.close()
    assert sys.stderr is other


def test_a_missing_stdin_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process started without stdin reads nothing, in bytes and in text."""
    monkeypatch.setattr(sys, "stdin", None)
    streams.prepare()
    assert (sys.stdin.buffer.read(), sys.stdin.read()) == (b"", "")
    sys.stdin.close()


def test_a_reader_who_left_ends_the_process() -> None:
    """A closed pipe is status 141 at write and at flush."""
    with pytest.raises(SystemExit) as at_write:
        streams.write(Broken(errno.EPIPE), "x")
    with pytest.raises(SystemExit) as at_flush:
        streams.flush(Broken(errno.EPIPE))
    assert at_write.value.code == at_flush.value.code == streams.CLOSED_PIPE


def test_what_is_left_in_the_buffer_fails_no_more() -> None:
    """After the reader left, the last flush at interpreter shutdown has nothing to fail at."""
    reader, writer = os.pipe()
    os.close(reader)
    stream = os.fdopen(writer, "w", encoding="utf-8")
    streams.write(stream, "kept in the buffer")
    with pytest.raises(SystemExit):
        streams.flush(stream)
    stream.close()
    assert stream.closed


def test_any_other_fault_is_told() -> None:
    """A full disk is an error with its reason."""
    with pytest.raises(streams.OutputFailed, match="could not be written: No space left") as full:
        streams.write(Broken(errno.ENOSPC), "x")
    assert full.value.code == "output_failed"


def test_words_to_nobody_stop_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note that can't be written is lost without a word."""
    for number in (errno.EPIPE, errno.ENOSPC):
        broken = Broken(number)
        monkeypatch.setattr(sys, "stderr", broken)
        streams.say("hello")
        assert broken.getvalue() == ""


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": ""}])
def test_colours_show_on_a_terminal(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal gets colours, but no pipe does and nobody who forbids them."""
    screen, _ = terminal(monkeypatch)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert streams.wants_color(screen, forbidden=False)
    assert not streams.wants_color(screen, forbidden=True)
    assert not streams.wants_color(io.StringIO(), forbidden=False)


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_the_environment_forbids_colours(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR and a dumb terminal get none."""
    screen, _ = terminal(monkeypatch)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert not streams.wants_color(screen, forbidden=False)


def test_a_signal_handler_writes_past_the_buffer(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is shouted goes to the descriptor itself; where that is closed nobody hears it, and nothing fails."""
    streams.shout("stop\n")
    assert capfd.readouterr().err == "stop\n"

    def closed(descriptor: int, data: bytes) -> int:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr("os.write", closed)
    streams.shout("stop\n")
    assert capfd.readouterr().err == ""
