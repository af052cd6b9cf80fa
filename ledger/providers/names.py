"""Tool names and call ids in a provider's alphabet, mapped the same way each time and found again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_OTHER: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST: Final = 64
_MARK: Final = 8  # hex digits that tell changed names apart


def wire_name(name: str) -> str:
    """
    Return a tool's name in `^[a-zA-Z0-9_-]{1,64}$`, the alphabet of most providers.

    A name that fits stays; another one gets a mark from its hash, so that the mapping needs no set to be unique in and
    is the same in each turn.
    """
    plain = _OTHER.sub("_", name)
    if plain == name and 0 < len(name) <= _LONGEST:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"{plain[: _LONGEST - _MARK - 1]}_{mark}"


def original_name(name: str, known: Iterable[str]) -> str:
    """Return the known tool that a provider's name stands for; a name that stands for none is returned as it is."""
    names = list(known)
    if name in names:
        return name
    return next((tool for tool in names if wire_name(tool) == name), name)


@dataclass(frozen=True, slots=True)
class IdRule:
    """What a provider takes as a call's id: a pattern for the whole id, and the prefix of those made here."""

    pattern: re.Pattern[str]
    prefix: str

    def legal(self, given: object) -> bool:
        """Whether the provider takes this id back."""
        return isinstance(given, str) and self.pattern.fullmatch(given) is not None

    def derived(self, call_id: str) -> str:
        """Return the id that the ledger gives a call: the same each time, different from all others."""
        plain = f"{self.prefix}{call_id.replace('-', '')}"
        if self.legal(plain):
            return plain
        return f"{self.prefix}{hashlib.sha256(call_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


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
