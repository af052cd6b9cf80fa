"""Which rows are asked for: the words of the command line and of the API as the store's filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final, get_args

from ledger.calls import State
from ledger.errors import UsageError
from ledger.events.call_bodies import ErrorClass, FlagReason, Gate, Stage
from ledger.ids import iso
from ledger.store.port import CallFilter, EventFilter

CALL_WORDS: Final = {"session": "session_id", "call": "call_id_part", "state": "states", "reason": "reasons"}
"""Short words for fields of `CallFilter`; its other fields go by their own names."""

EVENT_WORDS: Final = {"session": "session_id", "call": "call_id", "type": "types"}
"""Short words for fields of `EventFilter`."""

_LISTS: Final = frozenset({"states", "reasons", "types"})
_SINGULAR: Final = {"states": "state", "reasons": "reason", "error_class": "class"}
_TIMES: Final = frozenset({"since", "until"})
_CLOSED: Final = {"states": State, "reasons": FlagReason, "gate": Gate, "error_class": ErrorClass, "stage": Stage}


def call_filter(given: Mapping[str, Any]) -> CallFilter:
    """
    Return the filter of calls; `duplicates=True` asks for those that were flagged as copies.

    Times are datetimes or ISO 8601 texts, UTC where they have no offset. Raises `UsageError` for an unknown word or a
    wrong time.
    """
    asked = dict(given)
    if asked.pop("duplicates", False):
        asked["reasons"] = ("duplicate",)
    return CallFilter(**_values(asked, CALL_WORDS, CallFilter, more=("duplicates",)))


def event_filter(given: Mapping[str, Any]) -> EventFilter:
    """Return the filter of events; raises as `call_filter` does."""
    return EventFilter(**_values(given, EVENT_WORDS, EventFilter))


def _values(
    given: Mapping[str, Any], words: Mapping[str, str], kind: type, more: tuple[str, ...] = ()
) -> dict[str, Any]:
    known = {field.name for field in fields(kind)}
    unknown = sorted(given.keys() - known - words.keys())
    if unknown:
        there = ", ".join(sorted({*known, *words, *more}))
        raise UsageError(f"there is no filter {', '.join(map(repr, unknown))}", hint=f"There are: {there}.")
    return {words.get(word, word): _value(words.get(word, word), value) for word, value in given.items()}


def _value(name: str, value: Any) -> Any:
    if name in _LISTS:
        found = (value,) if isinstance(value, str) else tuple(value or ())
        _check(name, found)
        return found
    if value is None:
        return None
    _check(name, (value,))
    return _stamp(name, value) if name in _TIMES else value


def _check(name: str, values: tuple[Any, ...]) -> None:
    """Refuse a word that nothing can have: an empty answer to a slip of the pen would look like good news."""
    there = get_args(_CLOSED.get(name))
    for value in values if there else ():
        if value not in there:
            hint = f"There are: {', '.join(there)}."
            raise UsageError(f"there is no {_SINGULAR.get(name, name)} {value!r}", hint=hint)


def _stamp(name: str, value: Any) -> str:
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        return iso(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))
    except (TypeError, ValueError, OverflowError):
        hint = "Give a datetime, or a text like 2026-05-01 or 2026-05-01T12:00:00Z."
        raise UsageError(f"{name}={value!r} is not a time", hint=hint) from None
