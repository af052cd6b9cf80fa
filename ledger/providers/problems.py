"""What every provider refuses, and how a refusal is named."""

from __future__ import annotations

from dataclasses import dataclass

from ledger.errors import JsonRejected
from ledger.strictjson import TRUSTED, check


@dataclass(frozen=True, slots=True)
class Problem:
    """What a provider would refuse: the message's place (from 0), a code for programs, and a sentence."""

    place: int
    code: str
    message: str


def broken(message: object) -> str | None:
    """Return why a message is none that any provider takes: no object, no strict JSON, a NUL character."""
    if not isinstance(message, dict):
        return f"a message is an object, not {type(message).__name__}"
    try:
        check(message, TRUSTED)
    except JsonRejected as error:
        return f"it is no strict JSON: {error}"
    return "it holds a NUL character" if _has_nul(message) else None


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_has_nul, value))


def unanswered(place: int, waiting: list[str], where: str) -> list[Problem]:
    """Return a problem for each call that stays without a result."""
    return [Problem(place, "unanswered", f"{call_id!r} has no result {where}") for call_id in waiting]
