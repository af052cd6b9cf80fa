"""Words in the names of tools and fields: those that say nothing, units, what has no unit, and verbs of one meaning."""

from __future__ import annotations

import re
from typing import Final


def _set(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


VAGUE: Final = _set("arg args data do execute handle input obj object param params process run thing value")
"""Names that say nothing of what they are for."""

SIGNS: Final = frozenset("%°€$£")

UNITS: Final = SIGNS | _set(
    "ns us ms s sec secs second seconds millisecond milliseconds microsecond microseconds nanosecond nanoseconds",
    "min mins minute minutes h hr hrs hour hours day days week weeks month months year years epoch unix timestamp",
    "b byte bytes kb kib mb mib gb gib tb tib bit bits bps hz khz mhz ghz px pixel pixels dpi fps",
    "mm cm m km meter meters metre metres kilometer kilometers kilometre kilometres mile miles inch inches",
    "foot feet ft yard yards g gram grams kg kilogram kilograms mg lb lbs pound pounds oz ounce ounces ton tons",
    "tonne tonnes liter liters litre litres ml celsius fahrenheit kelvin degree degrees deg rad radians",
    "latitude longitude lat lon lng percent percentage pct ratio fraction factor score probability",
    "cent cents dollar dollars euro euros usd eur gbp chf jpy cny rmb yuan token tokens char chars character",
    "characters word words calories kcal watt watts volt volts amp amps bar pascal psi bpm unit units scale currency",
)
COUNTED: Final = _set(
    "count counts number numbers num no n index indexes idx offset limit max maximum min minimum top total size",
    "length depth level levels page pages row rows column columns col cols line lines item items entry entries result",
    "results record records step steps times retries attempt attempts turns rank position pos order sequence seq id",
    "ids uid pid version port code status seed priority rating k",
)
"""What is counted, numbered or named by a number: it has no unit."""

_SAME: Final = (
    _set("get read fetch load retrieve show view"),
    _set("find search query lookup"),
    _set("create add make insert new"),
    _set("update edit modify change set"),
    _set("delete remove erase drop"),
    _set("send post submit"),
    _set("list enumerate"),
)
_ONE: Final = {word: min(words) for words in _SAME for word in words}
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[%°€$£]")
_LONG: Final = 3
"""Characters from which on a word of a sentence may be a unit: `m` in "I'm" is none."""


def words_of(text: str) -> list[str]:
    """Return the words of a name or a sentence in lower case; `fileSize` and `file_size` have two."""
    return [word.casefold() for word in _WORD.findall(text)]


def is_vague(name: str) -> bool:
    """Whether a name says nothing."""
    return name.casefold().strip("_-") in VAGUE


def names_unit(name: str, text: str) -> bool:
    """Whether name or words say in which unit a number is, or that it has none."""
    said = {word for word in words_of(text) if len(word) >= _LONG or word in SIGNS}
    return not (UNITS | COUNTED).isdisjoint({*words_of(name), *said})


def meaning_of(name: str) -> tuple[str, ...]:
    """Return what a tool's name means: its words without order and number, and one verb for all of its meaning."""
    return tuple(sorted(_ONE.get(word, word.removesuffix("s")) for word in words_of(name)))
