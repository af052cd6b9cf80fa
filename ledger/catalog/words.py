"""Small helpers for messages: bounded, printable values and the name that was probably meant."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from ledger.strictjson import Json, printable

SHORT: Final = 60
MANY: Final = 1_000


def shown(value: Json, limit: int = SHORT) -> str:
    """Return *value* as JSON for a message: no control character in it, cut at about *limit* characters."""
    if isinstance(value, str):
        return f'"{printable(value, limit)}"'
    if isinstance(value, list | dict):
        return f"an array of {len(value)}" if isinstance(value, list) else f"an object of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**limit:
        return f"an integer of {value.bit_length()} bits"
    return json.dumps(value)


def listed(values: Iterable[Json], limit: int = 8) -> str:
    """Return the first *limit* of *values*, and how many there are more."""
    values = list(values)
    more = f" … ({len(values)} in all)" if len(values) > limit else ""
    return ", ".join(shown(value) for value in values[:limit]) + more


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that *name* was probably meant to be; another case counts as nearest."""
    known = [other for other in known if other != name]
    folded = {other.casefold(): other for other in known}
    if name.casefold() in folded:
        return folded[name.casefold()]
    close = get_close_matches(name[:SHORT], known, n=1, cutoff=0.75) if len(known) <= MANY else []
    return close[0] if close else None


def meant(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean "…"?`, or nothing if no known name is near."""
    near = nearest(name, known)
    return f"; did you mean {shown(near)}?" if near is not None else ""
