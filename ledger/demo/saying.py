"""Telling a person how the agent gets on, one line at a time: a courtesy that never stops the work."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def say(text: str, stream: TextIO | None = None) -> None:
    """
    Write one line to stdout (or another stream), at once.

    What a terminal would obey, and what the stream's encoding lacks, is escaped. That nobody reads it is no fault.
    """
    stream = stream or sys.stdout
    if stream is None:  # started with the descriptor closed
        return
    line = "".join(char if char.isprintable() else _escaped(char) for char in text)
    encoding = stream.encoding or "ascii"
    try:
        stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()
    except OSError:
        _silence(stream)


def _escaped(char: str) -> str:
    return char.encode("unicode-escape").decode("ascii")


def _silence(stream: TextIO) -> None:
    """Point the descriptor at nothing, so that what is still buffered cannot fail when the interpreter ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
