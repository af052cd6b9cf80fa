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
_NOT_STARTED: Final[tuple[type[CallBody], ...]] = (CallDenied, CallFailed, CallFlagged, CallUpcast, *_ALWAYS)

FOLLOWS: Final[dict[State, tuple[type[CallBody], ...]]] = {
    "unknown": (CallProposed,),
    # At once from intent to success only what ran elsewhere: imported calls, and tools that the provider executes.
    "proposed": (CallValidated, CallRejected, CallSucceeded, *_NOT_STARTED),
    # Validated again: the gates are passed anew after a crash, or after an upcast.
    "validated": (CallAuthorized, CallApprovalRequested, CallValidated, CallRejected, *_NOT_STARTED),
    # No way back to the gates: a person is asked about exactly these arguments, and may send others instead.
    "awaiting-approval": (CallAuthorized, CallSuperseded, *_NOT_STARTED),
    # What a policy allowed may go through the gates again. A gate may also stop it now: tools and rules change.
    "authorized": (CallStarted, CallValidated, CallRejected, *_NOT_STARTED),
    # Started again: the next attempt of a read, or of a tool whose author declared `recovery: retry`.
    "started": (CallStarted, CallAttemptFailed, CallSucceeded, CallFailed, CallFlagged, *_ALWAYS),
    # Only a person ends it (a late outcome that settles it counts as the first word). What never ran may be upcast.
    "needs-review": (CallReviewed, CallSuperseded, CallUpcast, *_ALWAYS),
    "rejected": _ALWAYS,
    "denied": _ALWAYS,
    "succeeded": _ALWAYS,
    "failed": _ALWAYS,
    "abandoned": _ALWAYS,
    "superseded": _ALWAYS,
}
"""By state the classes of the events that may come next; `ledger.calls.guards` says under which conditions."""

TERMINAL: Final[frozenset[State]] = frozenset({"rejected", "denied", "succeeded", "failed", "abandoned", "superseded"})
"""States that no event leaves."""

WAITING: Final[frozenset[State]] = frozenset({"awaiting-approval", "needs-review"})
"""States in which a person is asked."""
