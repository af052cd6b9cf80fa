"""How much JSON is too much, and the names of JSON types."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

Json: TypeAlias = Any
"""None, bool, int, float (finite), str, list[Json] or dict[str, Json], nothing else and no subclass of them."""

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What a text or value may cost.

    `max_bytes` is UTF-8 bytes (of a value: of its canonical form), `max_depth` counts nested arrays and objects (`[]`
    is 1, a scalar 0), `max_digits` the digits of one integer, `max_items` all values together, keys not counted.
    """

    max_bytes: int
    max_depth: int = 64
    max_digits: int = 4300
    max_items: int = 1_000_000


ARGUMENTS: Final = Limits(max_bytes=2**20)
"""For what a model or a caller sends to a tool."""

RESULT: Final = Limits(max_bytes=16 * 2**20, max_items=8 * 2**20)
"""For what a tool returns; here the bytes are the limit, an item takes at least two of them."""

TRUSTED: Final = Limits(max_bytes=2**30, max_depth=256, max_items=2**29)
"""For files of one's own (catalogs, bundles): strict, but generous."""


def digits_allowed(limits: Limits) -> int:
    """Return the longest integer, in digits, that the limits and this interpreter both allow."""
    interpreter = sys.get_int_max_str_digits()  # 0: no limit
    return min(limits.max_digits, interpreter) if interpreter else limits.max_digits


@lru_cache(maxsize=16)
def first_too_long(digits: int) -> int:
    """Return the smallest positive integer with more digits than that."""
    number: int = 10**digits
    return number
