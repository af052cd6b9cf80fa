"""An outcome in its two forms: in time, and as one that arrived late."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from ledger.events.call_bodies import CallFailed, CallOutcomeArrivedLate, CallSucceeded

SHOWN_BYTES: Final = 8 * 1024
"""How much of a result the model reads by default; the whole is kept and readable by pages."""

_LATE: Final = frozenset(field.name for field in fields(CallOutcomeArrivedLate))
_OF_SUCCESS: Final = tuple(field.name for field in fields(CallSucceeded) if field.name in _LATE)
_OF_FAILURE: Final = tuple(field.name for field in fields(CallFailed) if field.name in _LATE)

_NO_MESSAGE: Final = "The call failed."


def late(body: CallSucceeded | CallFailed, *, token: int, settles: bool) -> CallOutcomeArrivedLate:
    """Return an outcome as one that arrived late."""
    if isinstance(body, CallFailed):
        return CallOutcomeArrivedLate(ended="failed", token=token, settles=settles, **_taken(body, _OF_FAILURE))
    return CallOutcomeArrivedLate(ended="succeeded", token=token, settles=settles, **_taken(body, _OF_SUCCESS))


def in_time(body: CallOutcomeArrivedLate) -> CallSucceeded | CallFailed:
    """Return an outcome that arrived late as the outcome that it is."""
    if body.ended == "succeeded":
        return CallSucceeded(**_taken(body, _OF_SUCCESS))
    known = _taken(body, _OF_FAILURE)
    required = {
        "code": body.code or "tool_error",
        "error_class": body.error_class or "tool",
        "message": body.message or _NO_MESSAGE,
    }
    return CallFailed(**known | required)


def _taken(body: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(body, name) for name in names}
