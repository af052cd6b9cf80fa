"""Reading a text file within bounds, and replacing it in one step."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from ledger.answers import NotFound, Rejected, ToolAnswer

MAX_FILE_BYTES = 2 * 2**20
"""Larger files are refused by every tool: nothing here reads more than this into memory."""

_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
# NONBLOCK: opening a named pipe must not wait for its other end. NOFOLLOW: the path was resolved, so a link that stands
# there now is a loop or was put there since. Neither exists on Windows.
_GUARDS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def read_text_bytes(place: Path, path: str) -> bytes:
    """
    Return the whole content of a text file; `path` is how the model named it.

    Raises NotFound, or Rejected with `not_a_file` (a folder, pipe, device), `too_large`, `not_text` (it holds a NUL
    byte), `unreadable` (the system refuses).
    """
    try:
        descriptor = os.open(place, os.O_RDONLY | _GUARDS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Rejected("not_a_file", f"{path!r} is not a file (list_files shows what a folder holds).")
            content = _read_at_most(descriptor, MAX_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise refusal(error, path) from error
    if len(content) > MAX_FILE_BYTES:
        raise Rejected("too_large", f"{path!r} is larger than {MAX_FILE_BYTES} bytes.")
    if b"\0" in content:
        raise Rejected("not_text", f"{path!r} is a binary file.")
    return content


def _read_at_most(descriptor: int, size: int) -> bytes:
    chunks: list[bytes] = []
    while size > 0 and (chunk := os.read(descriptor, size)):
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def refusal(error: OSError, path: str) -> ToolAnswer:
    """Return what a tool says when the system does not let it look at `path`: nothing happened in any case."""
    if error.errno in _ABSENT:
        return NotFound(f"There is nothing at {path!r} in the workspace.")
    return Rejected("unreadable", f"{path!r} cannot be read: {error.strerror}.", model_can_repair=False)


def as_text(content: bytes) -> tuple[str, bool]:
    """Return UTF-8 content as text, and whether bytes that are not UTF-8 were replaced by U+FFFD."""
    try:
        return content.decode("utf-8"), False
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace"), True


def lines_of(text: str) -> list[str]:
    r"""Return the lines without their ends: `\n` or `\r\n`, and only these, as editors and tools count lines."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def replace_file(place: Path, path: str, content: bytes) -> None:
    """
    Put `content` in the place of an existing file, keeping its mode: whoever looks sees the old file or the new one.

    Raises Rejected `unwritable` with the old file untouched. An error after the new file stands there is let through as
    OSError: the change is visible, but nobody knows whether it would survive a power cut.
    """
    try:
        mode = _mode_if_writable(place)
        _swap(place, content, mode)
    except OSError as error:
        message = f"{path!r} cannot be written: {error.strerror}."
        raise Rejected("unwritable", message, model_can_repair=False) from error
    _sync_folder(place.parent)


def _mode_if_writable(place: Path) -> int:
    # A rename asks only the folder for permission; a file marked read-only is meant to stay as it is.
    descriptor = os.open(place, os.O_WRONLY | _GUARDS)
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)


def _swap(place: Path, content: bytes, mode: int) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:32]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            Path(temporary).chmod(mode)
            os.fsync(file.fileno())
        Path(temporary).replace(place)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
