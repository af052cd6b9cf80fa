"""Which rows are asked for: the words of the command line and of the API as the store's filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, Final, get_args

from ledger.audit.names import NO_NAMES, Names
from ledger.calls import State
from ledger.errors import UsageError
from ledger.events.call_bodies import ErrorClass, FlagReason, Gate
from ledger.events.words import Stage
from ledger.ids import iso, moment
from ledger.store.port import CallFilter, EventFilter
from ledger.store.tags import label_text

CALL_WORDS: Final = {
    "session": "session_id",
    "call": "call_id_part",
    "state": "states",
    "reason": "reasons",
    "type": "types",
    "label": "labels",
}
"""Short words for fields of `CallFilter`; its other fields go by their own names."""

EVENT_WORDS: Final = {"session": "session_id", "call": "call_id", "type": "types", "label": "labels"}
"""Short words for fields of `EventFilter`."""

_OF_CALLS: Final = (
    *("states", "reasons", "stage", "gate", "code", "error_class", "idempotency_key", "duplicate_of", "resource"),
    *("state", "reason", "duplicates"),
)
"""Words of calls that events are asked for by: those of the calls that fit."""

_LISTS: Final = frozenset({"states", "reasons", "types"})
_SINGULAR: Final = {"states": "state", "reasons": "reason", "error_class": "class"}
_TIMES: Final = frozenset({"since", "until"})
_CLOSED: Final = {"states": State, "reasons": FlagReason, "gate": Gate, "error_class": ErrorClass, "stage": Stage}
_MOST: Final = 2**63 - 1


def call_filter(given: Mapping[str, Any], names: Names = NO_NAMES) -> CallFilter:
    """
    Return the filter of calls; `duplicates=True` asks for those that were flagged as copies.

    By `tool` also those are asked for that were carried to this name from an earlier one, as far as `names` say it.

    Times are datetimes, ages (`7d`) or ISO 8601 texts, UTC where they have no offset. Labels are texts `key=value`,
    pairs, or a mapping. Raises `UsageError` for an unknown word, a wrong time, or a value of another kind.
    """
    asked = dict(given)
    if asked.pop("duplicates", False):
        asked["reasons"] = ("duplicate",)
    known = _values(asked, CALL_WORDS, CallFilter, more=("duplicates",))
    return CallFilter(**known, carried=names.carried_as(known.get("tool")))


def event_filter(given: Mapping[str, Any], names: Names = NO_NAMES) -> EventFilter:
    """
    Return the filter of events; `names` count and it raises as in `call_filter`.

    By `state`, `reason`, `duplicates`, `stage`, `gate`, `code`, `error_class`, `idempotency_key`, `duplicate_of` and
    `resource` the events of the calls that fit are asked for.
    """
    known = _values({word: value for word, value in given.items() if word not in _OF_CALLS}, EVENT_WORDS, EventFilter)
    of_calls = {word: value for word, value in given.items() if word in _OF_CALLS}
    calls = call_filter(of_calls)
    known["carried"] = names.carried_as(known.get("tool"))
    return EventFilter(**known | ({} if calls == CallFilter() else {"of": calls}))


def check_count(name: str, value: Any) -> int:
    """Return a number from 0; raises `UsageError` for anything else."""
    if type(value) is not int or not 0 <= value <= _MOST:
        raise UsageError(f"{name}={value!r} is not a number from 0", hint="Give a whole number.")
    return value


def check_limit(value: Any) -> int | None:
    """Return how many rows are asked for at most; None: all. Raises `UsageError`."""
    return None if value is None else check_count("limit", value)


def _values(
    given: Mapping[str, Any], words: Mapping[str, str], kind: type, more: tuple[str, ...] = ()
) -> dict[str, Any]:
    known = {field.name for field in fields(kind)} - {"of", "carried"}
    unknown = sorted(given.keys() - known - words.keys())
    if unknown:
        there = ", ".join(sorted({*known, *words, *more, *(_OF_CALLS if kind is EventFilter else ())}))
        raise UsageError(f"there is no filter {', '.join(map(repr, unknown))}", hint=f"There are: {there}.")
    return {words.get(word, word): _value(words.get(word, word), value) for word, value in given.items()}


def _value(name: str, value: Any) -> Any:
    if name == "labels":
        return _labels(value)
    if name in _LISTS:
        many = isinstance(value, Iterable) and not isinstance(value, str)
        found = tuple(value) if many else () if value is None else (value,)
        _check(name, found)
        return found
    if value is None:
        return None
    _check(name, (value,))
    return _stamp(name, value) if name in _TIMES else value


def _check(name: str, values: tuple[Any, ...]) -> None:
    """Refuse a word that nothing can have: an empty answer to a slip of the pen would look like good news."""
    there = get_args(_CLOSED.get(name))
    for value in values:
        if there and value not in there:
            hint = f"There are: {', '.join(there)}."
            raise UsageError(f"there is no {_SINGULAR.get(name, name)} {value!r}", hint=hint)
        if name == "schema_version":
            check_count(name, value)
        elif name not in _TIMES and not isinstance(value, str):
            raise UsageError(f"{_SINGULAR.get(name, name)}={value!r} is not a text", hint="Every filter is plain text.")


def _labels(given: Any) -> tuple[tuple[str, str], ...]:
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple((_text(key), label_text(value)) for key, value in given.items())
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = (given,)
    return tuple(map(_label, given))


def _label(given: Any) -> tuple[str, str]:
    if isinstance(given, str) and "=" in given:
        key, _, value = given.partition("=")
        return key, value
    if isinstance(given, tuple) and len(given) == len(("key", "value")):
        return _text(given[0]), label_text(given[1])
    raise UsageError(f"{given!r} is not a label", hint="Write it key=value.")


def _text(key: Any) -> str:
    if not isinstance(key, str):
        raise UsageError(f"{key!r} is not the name of a label", hint="Write it key=value.")
    return key


def _stamp(name: str, value: Any) -> str:
    try:
        found = value if isinstance(value, datetime) else moment(value, datetime.now(UTC))
        return iso(found if found.tzinfo is not None else found.replace(tzinfo=UTC))
    except (TypeError, ValueError, OverflowError):
        hint = "Give a datetime, or a text like 7d, 2026-05-01 or 2026-05-01T12:00:00Z."
        raise UsageError(f"{name}={value!r} is not a time", hint=hint) from None
