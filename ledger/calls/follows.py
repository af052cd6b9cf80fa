"""The legal order of a call's events, once; the state diagram in the docs is generated from it."""

from __future__ import annotations

from typing import Final

from ledger.calls.call import State
from ledger.events import (
    CallApprovalRequested,
    CallAttemptFailed,
    CallAuthorized,
    CallBody,
    CallDenied,
    CallFailed,
    CallFlagged,
    CallNoted,
    CallOutcomeArrivedLate,
    CallProposed,
    CallRejected,
    CallReviewed,
    CallStarted,
    CallSucceeded,
    CallSuperseded,
    CallUpcast,
    CallValidated,
)

_ALWAYS: Final[tuple[type[CallBody], ...]] = (CallNoted, CallOutcomeArrivedLate)
_STOPS: Final[tuple[type[CallBody], ...]] = (CallFailed, CallFlagged, CallSuperseded, CallUpcast)

FOLLOWS: Final[dict[State, tuple[type[CallBody], ...]]] = {
    "unknown": (CallProposed,),
    "proposed": (CallValidated, CallRejected, CallDenied, CallSucceeded, *_STOPS, *_ALWAYS),
    "validated": (CallAuthorized, CallDenied, CallApprovalRequested, CallRejected, *_STOPS, *_ALWAYS),
    "awaiting-approval": (CallAuthorized, CallDenied, *_STOPS, *_ALWAYS),
    "authorized": (CallStarted, CallDenied, CallRejected, *_STOPS, *_ALWAYS),
    "started": (CallStarted, CallAttemptFailed, CallSucceeded, CallFailed, CallFlagged, *_ALWAYS),
    "needs-review": (CallReviewed, CallSuperseded, *_ALWAYS),
    "rejected": _ALWAYS,
    "denied": _ALWAYS,
    "succeeded": _ALWAYS,
    "failed": _ALWAYS,
    "abandoned": _ALWAYS,
    "superseded": _ALWAYS,
}

TERMINAL: Final[frozenset[State]] = frozenset(
    {"rejected", "denied", "succeeded", "failed", "abandoned", "superseded"}
)
"""States that no event leaves."""

WAITING: Final[frozenset[State]] = frozenset({"awaiting-approval", "needs-review"})
"""States in which a person is asked."""
