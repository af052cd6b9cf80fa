"""Backslash escapes of ECMA-262 patterns, as sets of characters."""

from __future__ import annotations

import re
from typing import Final

from ledger.catalog.patterns.charset import ANY, CATEGORIES, DIGIT, LAST, SPACE, WORD, CharSet, single
from ledger.catalog.patterns.tree import PatternRefused

CLASSES: Final = {
    "d": DIGIT,
    "D": DIGIT.inverse(),
    "w": WORD,
    "W": WORD.inverse(),
    "s": SPACE,
    "S": SPACE.inverse(),
}
CONTROLS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
PYTHON_ONLY: Final = {"A": "^", "Z": "$", "z": "$"}

LONG_NAMES: Final = {
    "Letter": "L",
    "Mark": "M",
    "Number": "N",
    "Punctuation": "P",
    "Symbol": "S",
    "Separator": "Z",
    "Other": "C",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Decimal_Number": "Nd",
    "Any": "",
}

_HIGH: Final = range(0xD800, 0xDC00)
_LOW: Final = range(0xDC00, 0xE000)
_HEX: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")
_LOW_SURROGATE: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_PROPERTY: Final = re.compile(r"[pP]\{(?:(?:gc|General_Category)=)?([A-Za-z_]+)\}")


def escape(text: str, at: int) -> tuple[CharSet, int]:
    """Return what the escape means whose backslash stands before *at*, and the place after it."""
    letter = text[at : at + 1]
    if letter in CLASSES:
        return CLASSES[letter], at + 1
    if letter in CONTROLS:
        return single(CONTROLS[letter]), at + 1
    if letter in ("x", "u"):
        return _code_point(text, at)
    if letter in ("p", "P"):
        return _property(text, at)
    if letter == "c" and text[at + 1 : at + 2].isascii() and text[at + 1 : at + 2].isalpha():
        return single(chr(ord(text[at + 1]) % 32)), at + 2
    if letter == "0" and not text[at + 1 : at + 2].isdigit():
        return single("\0"), at + 1
    if letter and letter.isascii() and not letter.isalnum():
        return single(letter), at + 1
    raise _refused(letter, at)


def _refused(letter: str, at: int) -> PatternRefused:
    if not letter:
        return PatternRefused("a backslash ends the pattern", "Write `\\\\` for a backslash itself.", at)
    if letter.isdigit() or letter == "k":
        hint = "A back reference cannot be matched in linear time: check equality in a business check."
        return PatternRefused(f"`\\{letter}` refers back to a group", hint, at)
    if letter in PYTHON_ONLY:
        hint = f"Write `{PYTHON_ONLY[letter]}`, which means just that in JSON Schema."
        return PatternRefused(f"`\\{letter}` is not ECMA-262", hint, at)
    hint = "Write the character without a backslash, or as `\\u{…}`."
    return PatternRefused(f"`\\{letter}` is not an escape of ECMA-262", hint, at)


def _code_point(text: str, at: int) -> tuple[CharSet, int]:
    found = _HEX.match(text, at)
    if found is None:
        raise PatternRefused("incomplete escape", "Write two digits after `\\x`, four or `{…}` after `\\u`.", at)
    point, end = int(found.group(1) or found.group(2) or found.group(3), 16), found.end()
    if point in _HIGH and found.group(2) and (low := _LOW_SURROGATE.match(text, end)):
        point, end = 0x10000 + (point - _HIGH.start) * 0x400 + int(low.group(1), 16) - _LOW.start, low.end()
    if point in _HIGH or point in _LOW or point > LAST:
        raise PatternRefused(f"U+{point:04X} is not a character", "Write the code point as `\\u{…}`.", at)
    return single(chr(point)), end


def _property(text: str, at: int) -> tuple[CharSet, int]:
    found = _PROPERTY.match(text, at)
    name = found.group(1) if found else ""
    name = LONG_NAMES.get(name, name)
    chosen = ANY if found and not name else CharSet((), frozenset(c for c in CATEGORIES if c.startswith(name or "?")))
    if found is None or not (chosen.categories or chosen.ranges):
        hint = "Write a general category such as `\\p{L}` or `\\p{Nd}`, or list the characters."
        raise PatternRefused("only general categories are portable in `\\p{…}`", hint, at)
    return (chosen if text[at] == "p" else chosen.inverse()), found.end()
