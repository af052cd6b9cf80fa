"""How a call ends that nobody works on any more."""

from __future__ import annotations

from ledger.calls import Call
from ledger.events import CallFailed, CallFlagged


def given_up(call: Call, why: str) -> CallFailed | CallFlagged:
    """Return how a call ends that nobody works on any more: a write that may have run is never called failed."""
    started = call.state == "started"
    if call.executor == "provider":
        message = "The provider's answers hold no result of it."
        return CallFailed(code="no_result", error_class="environment", message=message)
    if started and call.side_effecting and not call.never_ran:
        return CallFlagged(reason="outcome-unknown", evidence={"found": "started", "why": why})
    return cancelled(why, started=started)


def cancelled(message: str, *, started: bool = False) -> CallFailed:
    """Return the end of a call that was cancelled."""
    return CallFailed(code="cancelled", error_class="environment", message=message, not_started=not started)
