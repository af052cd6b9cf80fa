"""JSON Pointer (RFC 6901): names one place in a value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ledger.strictjson.limits import Json
from ledger.strictjson.text import printable

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,17}")
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")


def to_pointer(path: Iterable[str | int]) -> str:
    """Return the pointer for keys and indexes from the root down; no step at all is the root, `""`."""
    return "".join([f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path])


def from_pointer(pointer: str) -> tuple[str, ...]:
    """Return the steps of a pointer, unescaped. Raises LookupError where it is not written as RFC 6901 says."""
    if not pointer:
        return ()
    if not pointer.startswith("/") or _BAD_ESCAPE.search(pointer):
        rule = "it starts with '/'; '~' in a key is written '~0', '/' in a key '~1'"
        raise LookupError(f"'{printable(pointer)}' is no JSON pointer: {rule}.")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def resolve(value: Json, pointer: str) -> Json:
    """Return what stands at the pointer. Raises LookupError where nothing does, or where it is no pointer."""
    for step in from_pointer(pointer):
        value = value[step_into(value, step)]
    return value


def step_into(value: Json, step: str) -> str | int:
    """Return the key or index that one step of a pointer means in this value. Raises LookupError if there is none."""
    if isinstance(value, dict) and step in value:
        return step
    if isinstance(value, list | tuple) and _INDEX.fullmatch(step) and int(step) < len(value):
        return int(step)
    raise LookupError(f"There is nothing at '{printable(step)}' in this {type(value).__name__}.")
