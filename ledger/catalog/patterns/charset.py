"""Sets of characters as ranges of code points and Unicode general categories."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]

LAST: Final = 0x10FFFF
SMALL: Final = 512
"""Up to so many characters, two sets are compared one character at a time."""

CATEGORIES: Final = frozenset(
    [
        "Lu",
        "Ll",
        "Lt",
        "Lm",
        "Lo",
        "Mn",
        "Mc",
        "Me",
        "Nd",
        "Nl",
        "No",
        "Pc",
        "Pd",
        "Ps",
        "Pe",
        "Pi",
        "Pf",
        "Po",
        "Sm",
        "Sc",
        "Sk",
        "So",
        "Zs",
        "Zl",
        "Zp",
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Cn",
    ]
)
"""Unicode's general categories, as `unicodedata` of the running Python knows them."""


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return *ranges* in order, with no overlap and no gap that could be closed."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def inverted(ranges: Ranges) -> Ranges:
    """Return what *ranges* (merged) leave out."""
    result: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            result.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        result.append((start, LAST))
    return tuple(result)


@dataclass(frozen=True, slots=True)
class CharSet:
    """
    The characters in `ranges` (merged, inclusive) or of a general category in `categories`; all others if `negated`.

    Categories stay names: as ranges each would cost a walk over all of Unicode.
    """

    ranges: Ranges = ()
    categories: frozenset[str] = frozenset()
    negated: bool = False

    def __contains__(self, char: str) -> bool:
        point = ord(char)
        inside = any(low <= point <= high for low, high in self.ranges)
        if not inside and self.categories:
            inside = unicodedata.category(char) in self.categories
        return inside != self.negated

    def __or__(self, other: CharSet) -> CharSet:
        """Both together; neither may be negated (a class is negated last)."""
        return CharSet(merged(self.ranges + other.ranges), self.categories | other.categories)

    def inverse(self) -> CharSet:
        """Every other character."""
        if not self.ranges:
            return CharSet((), CATEGORIES - self.categories) if self.categories else ANY
        if self.categories:
            return CharSet(self.ranges, self.categories, negated=not self.negated)
        return CharSet(inverted(self.ranges))

    def overlaps(self, other: CharSet) -> bool:
        """Whether one character may be in both; in doubt, with categories, yes."""
        if not self.categories and not other.categories:
            return any(a <= d and c <= b for a, b in self.ranges for c, d in other.ranges)
        for one, two in ((self, other), (other, self)):
            if not one.categories and sum(high - low + 1 for low, high in one.ranges) <= SMALL:
                return any(chr(point) in two for low, high in one.ranges for point in range(low, high + 1))
        if self.ranges or other.ranges:
            return True
        return bool(self.categories & other.categories)


ANY: Final = CharSet(((0, LAST),))
DIGIT: Final = CharSet(((0x30, 0x39),))
WORD: Final = CharSet(((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
LINE_END: Final = CharSet(merged([(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]))
SPACE: Final = CharSet(
    merged(
        [
            (9, 13),
            (32, 32),
            (160, 160),
            (5760, 5760),
            (8192, 8202),
            (8232, 8233),
            (8239, 8239),
            (8287, 8287),
            (12288, 12288),
            (65279, 65279),
        ]
    )
)
"""White space and line ends of ECMA-262: U+FEFF is in it, U+0085 and U+001C to U+001F (Python's) are not."""


def single(char: str) -> CharSet:
    """Return the set of one character."""
    return CharSet(((ord(char), ord(char)),))
