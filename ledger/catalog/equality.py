"""Equality as JSON Schema means it, as a key: 1 equals 1.0, and neither equals true."""

from __future__ import annotations

from typing import Final

from ledger.strictjson import Json

MAX_UNIQUE: Final = 10_000
"""So many items of one list are compared for `uniqueItems`; a longer list is refused, whatever the schema allows."""


_EXACT: Final = 2**53


class TooManyToCompare(Exception):
    """A list has more items than are compared with one another."""

    def __init__(self, items: list[Json]) -> None:
        super().__init__()
        self.items = items


def all_differ(items: list[Json]) -> bool:
    """Return whether no two items are equal; raises TooManyToCompare before it looks at any of too many."""
    if len(items) > MAX_UNIQUE:
        raise TooManyToCompare(items)
    return len(set(map(key_of, items))) == len(items)


def key_of(value: Json) -> str:
    """
    Return a text that two values share exactly if JSON Schema calls them equal.

    For `enum`, `const` and `uniqueItems`: one pass and a hash of text, so neither a large list nor integers chosen to
    collide cost the square of their number. The value has finite numbers only.
    """
    if isinstance(value, str):
        return f"s{len(value)}:{value}"
    if isinstance(value, bool) or value is None:
        return f"{value};"
    if isinstance(value, list):
        return f"[{''.join(map(key_of, value))}]"
    if isinstance(value, dict):
        return "{" + "".join(key_of(name) + key_of(value[name]) for name in sorted(value)) + "}"
    # Hexadecimal: exact, and not bound by the interpreter's limit of decimal digits.
    return f"{int(value):x};" if value == int(value) else f"{float(value).hex()};"


def whole(value: Json) -> Json:
    """Return a value in which whole numbers are spelled as integers, as far as a double holds them exactly."""
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT else value
