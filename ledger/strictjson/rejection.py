"""Rejections with their place: short, on one line, saying what to do, never echoing more than a little of the input."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.errors import JsonRejected
from ledger.strictjson.pointer import to_pointer
from ledger.strictjson.text import printable


def at_offset(code: str, message: str, text: str, offset: int) -> JsonRejected:
    """Return the rejection of a text; the message begins with the place, line and column from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    place = f"line {line}, column {column}"
    return JsonRejected(code, f"{place}: {message}", line=line, column=column, offset=offset)


def at_path(code: str, message: str, path: Sequence[str | int]) -> JsonRejected:
    """Return the rejection of a value; the message begins with the pointer, if it is not the root."""
    pointer = to_pointer(path)
    return JsonRejected(code, f"{printable(pointer)}: {message}" if pointer else message, pointer=pointer)
