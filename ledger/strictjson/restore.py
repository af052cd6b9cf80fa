"""The way back from a recorded result to Python values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ledger.strictjson.canonical import canonical, loads
from ledger.strictjson.encoded import Encoding
from ledger.strictjson.limits import Json
from ledger.strictjson.pointer import from_pointer, step_into


def decode_result(value: Json, encodings: Iterable[Encoding]) -> Any:
    """
    Return the Python value a result was: bytes, tuples, sets, moments, decimals, keys that are no text, and so on.

    Classes are never built from recorded names: a dataclass or model comes back as its dict, an enum as its value, a
    path as a pure path. An encoding that does not fit the value (from a damaged import) is passed over.
    """
    from ledger.strictjson.leaves import read  # see encode

    root: list[Any] = [loads(canonical(value))]
    # Inner before outer: a list inside a set must be the tuple it was before the set can hold it.
    for encoding in reversed(tuple(encodings)):
        try:
            holder, key = _place(root, encoding.pointer)
            holder[key] = read(holder[key], encoding.kind, encoding.type)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError):
            continue
    return root[0]


def _place(root: list[Any], pointer: str) -> tuple[Any, Any]:
    """Return the container and the key or index of a place in the one value that `root` holds."""
    holder: Any = root
    key: str | int = 0
    for step in from_pointer(pointer):
        holder = holder[key]
        key = step_into(holder, step)
    return holder, key
