"""
The process's own streams: they take any text in any locale, and a reader who left ends the command quietly.

Python raises at write, at flush and once more at interpreter shutdown when a pipe is closed; all three are met here.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Final, TextIO

from ledger.errors import LedgerError

CLOSED_PIPE: Final = 141
"""128 + SIGPIPE: what a shell shows for a program whose reader left, and what `pipefail` scripts know."""

_READER_LEFT: Final = frozenset({errno.EPIPE, errno.ESHUTDOWN, errno.EINVAL} if os.name == "nt" else {errno.EPIPE})


class OutputFailed(LedgerError):
    """The output could not be written (disk full, for example)."""

    default_code = "output_failed"


def prepare() -> None:
    """
    Make both streams write what their encoding lacks as an escape, and line ends as they are given.

    A stream whose descriptor was closed at the start takes anything, and stdin has nothing to give.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - lives as the process
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:  # started with the descriptor closed: there is nobody to talk to
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - lives as the process
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace", newline="\n")


def write(stream: TextIO, text: str, *, flush: bool = False) -> None:
    """Write and perhaps flush. Raises SystemExit (141) when the reader left, `OutputFailed` for any other fault."""
    try:
        stream.write(text)
        if flush:
            stream.flush()
    except OSError as error:
        raise _lost(stream, error) from None


def flush(stream: TextIO) -> None:
    """Flush. Raises as `write` does."""
    try:
        stream.flush()
    except OSError as error:
        raise _lost(stream, error) from None


def say(text: str) -> None:
    """Write to stderr at once. What is said there is a courtesy: that nobody hears it must not stop the work."""
    with suppress(SystemExit, OutputFailed):
        write(sys.stderr, text, flush=True)


def shout(text: str) -> None:
    """Write plain ASCII to stderr from a signal handler, where its buffer may be in use this very moment."""
    with suppress(OSError):
        os.write(2, text.encode("ascii"))


def _lost(stream: TextIO, error: OSError) -> BaseException:
    _silence(stream)
    if error.errno in _READER_LEFT:
        return SystemExit(CLOSED_PIPE)
    return OutputFailed(f"the output could not be written: {error.strerror}")


def _silence(stream: TextIO) -> None:
    """Point the descriptor at nothing, so that what is still buffered can't fail at interpreter shutdown."""
    try:
        descriptor = stream.fileno()
    except OSError:  # not a real file
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)


def wants_color(stream: TextIO, *, forbidden: bool) -> bool:
    """Say whether to colour: only on a terminal that understands it, and never against NO_COLOR (no-color.org)."""
    if forbidden or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty() and (os.name != "nt" or "WT_SESSION" in os.environ)
