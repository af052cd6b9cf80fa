"""
Whether a reworded description may mean something else.

A description has no semantics to prove anything with. But a negation that came or went in a sentence that otherwise
stayed, a word that became its opposite, another unit or another default are signs, and any doubt asks a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

MAX_TEXT: Final = 3_000
"""Characters that are looked at; more is compared by its first ones."""
MAX_SENTENCES: Final = 40
MAX_WORDS: Final = 100
"""Words of one sentence; a longer one is cut into several."""
ALIKE: Final = 0.5
"""So alike two sentences are if one is the other, reworded."""
FEW: Final = 3
"""A longer replaced passage is another sentence, not a turned word."""

SHORT: Final = 4
"""Two texts of so few words each are compared whole, however little they have in common: a title, a name."""

_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD: Final = re.compile(
    r"(?:[01]|zero|one)[- ](?:based|indexed)|[a-z]+(?:'t)?|[$¢€£%]|[0-9]+(?:\.[0-9]+)?"
    r"|\b(?:y{2,4}|m{2}|d{2})(?:[-/.][ymd]{2,4}){1,2}\b"
)
_DATE: Final = re.compile(r"\b[ymd]{2,4}[-/.][ymd]{2,4}(?:[-/.][ymd]{2,4})?\b")

_NEGATIONS: Final = frozenset(
    [
        "not",
        "no",
        "never",
        "without",
        "cannot",
        "neither",
        "nor",
        "don't",
        "doesn't",
        "isn't",
        "aren't",
        "won't",
        "can't",
        "mustn't",
        "shouldn't",
        "unless",
        "except",
        "non",
    ]
)
_OPPOSITES: Final = (
    ("include", "exclude"),
    ("includes", "excludes"),
    ("included", "excluded"),
    ("including", "excluding"),
    ("enable", "disable"),
    ("enables", "disables"),
    ("enabled", "disabled"),
    ("allow", "deny"),
    ("allow", "forbid"),
    ("allowed", "forbidden"),
    ("allowed", "denied"),
    ("show", "hide"),
    ("shows", "hides"),
    ("shown", "hidden"),
    ("keep", "delete"),
    ("keep", "remove"),
    ("keep", "drop"),
    ("keeps", "deletes"),
    ("keeps", "removes"),
    ("add", "remove"),
    ("adds", "removes"),
    ("create", "delete"),
    ("creates", "deletes"),
    ("open", "close"),
    ("open", "closed"),
    ("start", "stop"),
    ("starts", "stops"),
    ("before", "after"),
    ("above", "below"),
    ("older", "newer"),
    ("oldest", "newest"),
    ("ascending", "descending"),
    ("asc", "desc"),
    ("first", "last"),
    ("least", "most"),
    ("minimum", "maximum"),
    ("min", "max"),
    ("more", "less"),
    ("true", "false"),
    ("on", "off"),
    ("yes", "no"),
    ("public", "private"),
    ("read", "write"),
    ("reads", "writes"),
    ("source", "target"),
    ("source", "destination"),
    ("sender", "recipient"),
    ("sender", "receiver"),
    ("from", "to"),
    ("local", "remote"),
    ("local", "utc"),
    ("absolute", "relative"),
    ("always", "never"),
    ("any", "all"),
    ("required", "optional"),
    ("skip", "process"),
    ("lock", "unlock"),
    ("approve", "reject"),
    ("accept", "reject"),
    ("debit", "credit"),
    ("buy", "sell"),
    ("gross", "net"),
    ("inclusive", "exclusive"),
    ("increase", "decrease"),
    ("overwrite", "append"),
    ("payer", "payee"),
    ("debtor", "creditor"),
    ("lender", "borrower"),
    ("buyer", "seller"),
    ("minor", "major"),
    ("latitude", "longitude"),
)
_TURNS: Final = frozenset(frozenset(pair) for pair in _OPPOSITES)
_ORDERED: Final = (
    ("latitude", "longitude"),
    ("lat", "lng"),
    ("lat", "lon"),
    ("lat", "long"),
    ("payer", "payee"),
    ("debtor", "creditor"),
    ("width", "height"),
    ("row", "column"),
)
"""Parts of one value that are told by their order: where the two changed places, so did what they say."""

_UNITS: Final = tuple(
    frozenset(words.split())
    for words in (
        (
            "nanosecond nanoseconds ns microsecond microseconds us millisecond milliseconds ms second seconds sec secs"
            " s minute minutes min mins hour hours h day days week weeks month months year years"
        ),
        "byte bytes b kilobyte kilobytes kb kib megabyte megabytes mb mib gigabyte gigabytes gb gib bit bits",
        (
            "millimeter millimeters mm centimeter centimeters cm meter meters metre metres m kilometer kilometers"
            " kilometre kilometres km mile miles inch inches foot feet yard yards"
        ),
        "gram grams g kilogram kilograms kg pound pounds lb lbs ounce ounces oz tonne tonnes",
        "celsius fahrenheit kelvin",
        "cent cents ¢ dollar dollars euro euros usd eur gbp chf jpy $ € £",
        "percent fraction ratio %",
        "degree degrees radian radians",
        "hundred hundreds thousand thousands million millions billion billions",
        "0-based 1-based 0-indexed 1-indexed zero-based one-based zero-indexed one-indexed",
    )
)
_SPELLINGS: Final = {
    "second": "s sec secs",
    "millisecond": "ms",
    "microsecond": "us",
    "nanosecond": "ns",
    "minute": "min mins",
    "hour": "h",
    "byte": "b",
    "kilobyte": "kb",
    "megabyte": "mb",
    "gigabyte": "gb",
    "millimeter": "mm",
    "centimeter": "cm",
    "meter": "m metre metres",
    "kilometer": "km kilometre kilometres",
    "gram": "g",
    "kilogram": "kg",
    "pound": "lb lbs",
    "ounce": "oz",
    "cent": "¢",
    "0-based": "0-indexed zero-based zero-indexed",
    "1-based": "1-indexed one-based one-indexed",
}
_ONE: Final = {other: unit for unit, others in _SPELLINGS.items() for other in others.split()}
"""Other spellings of units."""
_ZONES: Final = {"utc": "utc", "gmt": "utc", "local": "local"}
"""What a time is told in: the word wanders through its sentence (`time in UTC`, `local time`)."""


def turned(old: str, new: str) -> str | None:
    """Return the code of what makes *new* mean something else than *old*, or None if there is no sign of it."""
    ones, twos = _sentences(old), _sentences(new)
    short = len(ones) == len(twos) == 1 and max(map(len, (*ones, *twos))) <= SHORT
    for one, two in zip(ones, twos, strict=True) if short else _matched(ones, twos):
        code = _turned(one, two)
        if code is not None:
            return code
    return None


def _sentences(text: str) -> list[list[str]]:
    parts = [_words(part) for part in _SENTENCE.split(text[:MAX_TEXT])[:MAX_SENTENCES]]
    return [part[at : at + MAX_WORDS] for part in parts for at in range(0, len(part), MAX_WORDS)]


def _words(text: str) -> list[str]:
    lowered = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    dates = _DATE.findall(lowered)
    return [*(word.replace(" ", "-") for word in _WORD.findall(_DATE.sub(" ", lowered))), *dates]


def _matched(ones: list[list[str]], twos: list[list[str]]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each old sentence with the new one that it became; those that stand in both are left out."""
    here = [each for each in ones if each not in twos]
    there = [each for each in twos if each not in ones]
    for one in here:
        best = max(there, key=lambda two: _alike(one, two), default=None)
        if best is not None and _alike(one, best) >= ALIKE:
            yield one, best


def _alike(one: list[str], two: list[str]) -> float:
    """How much of the shorter sentence is in the longer one, in its order."""
    same = sum(block.size for block in SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks())
    return 2 * same / (len(one) + len(two))


def _turned(one: list[str], two: list[str]) -> str | None:
    default = "default" in one or "defaults" in one
    for tag, i, j, k, m in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        gone, come = one[i:j], two[k:m]
        if tag == "equal" or len(gone) > FEW or len(come) > FEW:
            continue
        if default and gone and come and (_values(gone) or _values(come)):
            return "description_default"
        if _negated(gone) != _negated(come) or _opposite(gone, come):
            return "description_reversed"
        if _unit(gone, come):
            return "description_unit"
    if _swapped(one, two):
        return "description_reversed"
    return "description_unit" if _of_another_zone(one, two) else None


def _swapped(one: list[str], two: list[str]) -> bool:
    """Whether two parts that are told by their order changed places."""
    both = [pair for pair in _ORDERED if all(word in words for word in pair for words in (one, two))]
    return any((one.index(a) < one.index(b)) != (two.index(a) < two.index(b)) for a, b in both)


def _of_another_zone(one: list[str], two: list[str]) -> bool:
    before, after = ({_ZONES[word] for word in words if word in _ZONES} for words in (one, two))
    return bool(before and after) and before.isdisjoint(after)


def _values(words: list[str]) -> bool:
    return any(word[0].isdigit() or word in ("true", "false") for word in words)


def _negated(words: list[str]) -> bool:
    return not _NEGATIONS.isdisjoint(words)


def _opposite(gone: list[str], come: list[str]) -> bool:
    return any(frozenset((one, two)) in _TURNS for one in gone for two in come)


def _unit(gone: list[str], come: list[str]) -> bool:
    if any(map(_DATE.fullmatch, gone)) and any(map(_DATE.fullmatch, come)):
        return True
    for units in _UNITS:
        before, after = units.intersection(gone), units.intersection(come)
        if before and after and {_single(each) for each in before} != {_single(each) for each in after}:
            return True
    return False


def _single(unit: str) -> str:
    single = unit[:-1] if len(unit) > FEW and unit.endswith("s") and unit != "celsius" else unit
    return _ONE.get(unit, single)
