"""Tool names and call ids in a provider's alphabet, mapped the same way each time and found again."""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_OTHER: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LETTER_FIRST: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_LONGEST: Final = 64
_MARK: Final = 8  # hex digits that tell changed names apart
_DIGITS: Final = string.digits + string.ascii_letters


def wire_name(name: str) -> str:
    """
    Return a tool's name in `^[a-zA-Z0-9_-]{1,64}$`, the alphabet of most providers.

    A name that fits stays; another one gets a mark from its hash, so that the mapping needs no set to be unique in and
    is the same in each turn.
    """
    plain = _OTHER.sub("_", name)
    if plain == name and 0 < len(name) <= _LONGEST:
        return name
    return f"{plain[: _LONGEST - _MARK - 1]}_{_mark(name)}"


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]


def letter_name(name: str) -> str:
    """
    Return the name for a provider that wants a letter or `_` first and takes dots and colons too (Gemini).

    A name that fits stays; another one becomes its `wire_name`, if need be behind a `_` and marked once more.
    """
    if _LETTER_FIRST.fullmatch(name):
        return name
    plain = wire_name(name)
    return plain if _LETTER_FIRST.fullmatch(plain) else f"_{plain[: _LONGEST - _MARK - 2]}_{_mark(plain)}"


def original_name(name: str, known: Iterable[str]) -> str:
    """Return the known tool that a provider's name stands for; a name that stands for none is returned as it is."""
    names = list(known)
    if name in names:
        return name
    return next((tool for tool in names if name in (wire_name(tool), letter_name(tool))), name)


def key_name(name: str) -> str:
    """Return what a tool's name is compared by, in whichever alphabet it comes."""
    return letter_name(wire_name(name))


@dataclass(frozen=True, slots=True)
class IdRule:
    """
    What a provider takes as a call's id: a pattern for the whole id, and the prefix of those made here.

    `length`: every id has exactly that many letters and digits.
    """

    pattern: re.Pattern[str]
    prefix: str
    length: int | None = None

    def legal(self, given: object) -> bool:
        """Whether the provider takes this id back."""
        return isinstance(given, str) and self.pattern.fullmatch(given) is not None

    def derived(self, call_id: str) -> str:
        """Return the id that the ledger gives a call: the same each time, different from all others."""
        plain = f"{self.prefix}{call_id.replace('-', '')}"
        if self.legal(plain):
            return plain
        hashed = hashlib.sha256(call_id.encode("utf-8", "surrogatepass"))
        if self.length is None:
            return f"{self.prefix}{hashed.hexdigest()[:32]}"
        number = int.from_bytes(hashed.digest())
        return "".join(_DIGITS[number // len(_DIGITS) ** place % len(_DIGITS)] for place in range(self.length))


class Ids:
    """
    The ids of one conversation, given out in its order.

    The first call with an id that the provider takes keeps it; one that repeats, is missing, too long or odd gets one
    from its callId: real transcripts hold all of these.
    """

    def __init__(self, rule: IdRule) -> None:
        self._rule = rule
        self._seen: set[str] = set()

    def give(self, given: str | None, call_id: str) -> str:
        """Return the id for a call to whom the provider gave this one, or none."""
        if given is None or given in self._seen or not self._rule.legal(given):
            return self._rule.derived(call_id)
        self._seen.add(given)
        return given
