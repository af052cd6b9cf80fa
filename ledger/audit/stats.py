"""Calls counted: what became of them, how often a model could put its own call right, how long they took."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, Final

from ledger.audit.filters import call_filter
from ledger.audit.names import NO_NAMES, Names
from ledger.audit.queries import check_types
from ledger.audit.rows import Row
from ledger.audit.versions import descriptions
from ledger.calls import TERMINAL
from ledger.errors import UsageError
from ledger.events.fields import camel
from ledger.store.port import GroupKey, Reader, Tally

GROUPS: Final[dict[str, tuple[GroupKey, ...]]] = {
    "tool": ("tool", "schema_version"),
    "version": ("tool", "schema_version", "stage"),
    "description": ("tool", "description_digest", "model"),
    "model": ("provider", "model"),
    "code": ("error_class", "code"),
    "class": ("error_class",),
    "gate": ("gate",),
    "stage": ("stage",),
    "state": ("state",),
    "reason": ("reason",),
    "effect": ("effect",),
    "tenant": ("tenant",),
    "principal": ("principal",),
}
"""What calls can be counted by, each with the columns that make a group: versions of a tool are never mixed."""

_Z: Final = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""


def wilson(hits: int, count: int) -> tuple[float, float] | tuple[None, None]:
    """
    Return the 95 % interval of a rate: Wilson's score interval, which holds for few calls and for rates near 0 and 1.

    Nothing is known of no calls: (None, None). E. B. Wilson, J. Am. Stat. Assoc. 22 (1927), 209-212.
    """
    if not count:
        return None, None
    rate, square = hits / count, _Z * _Z
    middle = rate + square / (2 * count)
    margin = _Z * sqrt(rate * (1 - rate) / count + square / (4 * count * count))
    scale = 1 + square / count
    return min(rate, max(0.0, (middle - margin) / scale)), max(rate, min(1.0, (middle + margin) / scale))


def stat_rows(
    reader: Reader, by: str | Collection[str] = "tool", *, names: Names = NO_NAMES, **filters: Any
) -> Iterator[Row]:
    """
    Yield one row a group of calls, those with the most calls first.

    `by`: words of `GROUPS`, several together make finer groups. Filters and `names` as for `call_rows`. Every rate
    stands with its count and its 95 % interval: `share` of all calls that fit, `succeededRate` and `repairableRate`
    (the model could put the call right itself) of those that ended. `p50Ms` and `p95Ms` are exact, over the `timed`
    calls. Raises `UsageError` at once.
    """
    keys = _keys(tuple(by) if isinstance(by, list | tuple | set | frozenset) else (by,))
    where = call_filter(filters, names)
    check_types(reader, where.types)
    return _rows(reader, keys, reader.tally(where, keys))


def _keys(by: Iterable[object]) -> tuple[GroupKey, ...]:
    found: dict[GroupKey, None] = {}
    for word in by:
        if not isinstance(word, str) or word not in GROUPS:
            raise UsageError(f"calls are not counted by {word!r}", hint=f"There are: {', '.join(GROUPS)}.")
        found |= dict.fromkeys(GROUPS[word])
    return tuple(found)


def _rows(reader: Reader, keys: Sequence[GroupKey], found: Sequence[Tally]) -> Iterator[Row]:
    total = sum(tally.calls for tally in found)
    texts = descriptions(reader) if "description_digest" in keys else {}
    for tally in found:
        yield _group(keys, tally, texts) | _counts(tally, total)


def _group(keys: Sequence[GroupKey], tally: Tally, texts: Mapping[str, str]) -> Row:
    named: Row = {}
    for key, value in zip(keys, tally.key, strict=True):
        named[camel(key)] = (value or None) if key == "tenant" else value
        if key == "description_digest":
            named["description"] = texts.get(str(value))
    return named


def _counts(tally: Tally, total: int) -> Row:
    states = tally.states
    ended = sum(count for state, count in states.items() if state in TERMINAL)
    succeeded = states.get("succeeded", 0)
    return {
        "calls": tally.calls,
        "of": total,
        **_rate("share", tally.calls, total),
        "ended": ended,
        "succeeded": succeeded,
        **_rate("succeededRate", succeeded, ended),
        "rejected": states.get("rejected", 0),
        "denied": states.get("denied", 0),
        "failed": states.get("failed", 0),
        "open": tally.calls - ended,
        "repairable": tally.repairable,
        **_rate("repairableRate", tally.repairable, ended),
        "timed": tally.timed,
        "p50Ms": tally.p50,
        "p95Ms": tally.p95,
    }


def _rate(name: str, hits: int, count: int) -> Row:
    low, high = wilson(hits, count)
    return {name: hits / count if count else None, f"{name}Low": low, f"{name}High": high}
