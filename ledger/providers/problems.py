"""What every provider refuses, and how a refusal is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ledger.errors import JsonRejected
from ledger.strictjson import TRUSTED, check

LONGEST: Final = 10 * 2**20
"""Characters of one text; more are refused (https://github.com/Shopify/roast/issues/52)."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a provider would refuse: the message's place (from 0), a code for programs, and a sentence."""

    place: int
    code: str
    message: str


def broken(message: object) -> str | None:
    """Return why a message is none that any provider takes: no object, no strict JSON, a NUL, a huge text."""
    if not isinstance(message, dict):
        return f"a message is an object, not {type(message).__name__}"
    try:
        check(message, TRUSTED)
    except JsonRejected as error:
        return f"it is no strict JSON: {error}"
    texts = list(_texts(message))
    if any("\0" in text for text in texts):
        return "it holds a NUL character"
    longest = max(map(len, texts), default=0)
    return f"it holds a text of {longest} characters; {LONGEST} are taken" if longest > LONGEST else None


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def unanswered(place: int, waiting: list[str], where: str) -> list[Problem]:
    """Return a problem for each call that stays without a result."""
    return [Problem(place, "unanswered", f"{call_id!r} has no result {where}") for call_id in waiting]
