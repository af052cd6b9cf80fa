"""What an event needs besides the right state: the promises that the fold itself keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ledger.calls.call import Call
from ledger.events import (
    CallApprovalRequested,
    CallAttemptFailed,
    CallAuthorized,
    CallBody,
    CallFailed,
    CallFlagged,
    CallReviewed,
    CallStarted,
    CallSucceeded,
    CallSuperseded,
    CallUpcast,
    CallValidated,
    Event,
)

_STARTED_FLAGS: Final = ("outcome-unknown", "attempts-exhausted")


def refusal(call: Call, event: Event) -> str | None:
    """Return why the event cannot follow although its type may follow the call's state; None: it can."""
    guard = GUARDS.get(type(event.body))
    return guard(call, event.body, event) if guard else None


def _validated(call: Call, _body: CallValidated, _event: Event) -> str | None:
    """Again after the authorization only where a policy gave it: then the gates are all passed anew."""
    if call.approval is not None and call.approval.by != "policy":
        return "a person's word is not replaced by passing the gates again"
    return None


def _authorized(call: Call, body: CallAuthorized, _event: Event) -> str | None:
    """Bound to exactly the arguments that were validated; where a person was asked, only by a person."""
    if body.arguments_digest != call.arguments_digest:
        return "it is bound to other arguments"
    if call.approval is None:  # nobody was asked
        return None
    if body.by != "person":
        return "a person was asked"
    asked = call.approval.arguments_digest
    return None if body.arguments_digest == asked else "a person was asked about other arguments"


def _requested(call: Call, body: CallApprovalRequested, _event: Event) -> str | None:
    """Bound to exactly the arguments that were validated."""
    return None if body.arguments_digest == call.arguments_digest else "it is bound to other arguments"


def _started(call: Call, body: CallStarted, event: Event) -> str | None:
    """
    First with exactly the arguments that were allowed, unless an outcome arrived meanwhile.

    Again only a read or a tool with `recovery: retry`, with the same idempotency key. Attempts count up by one.
    """
    if event.attempt not in (None, call.attempt + 1):
        return f"the next attempt is {call.attempt + 1}, not {event.attempt}"
    if call.state == "started":
        if not call.repeatable:
            return "a side-effecting call is started once, unless its author declared `recovery: retry`"
        return None if body.idempotency_key == call.idempotency_key else "each attempt uses the same idempotency key"
    if call.contradicted:
        return "an outcome arrived after it was allowed"
    if call.approval is None or call.approval.arguments_digest != (call.arguments_digest or ""):
        return "what was allowed are other arguments"
    return None


def _attempt_failed(call: Call, _body: CallAttemptFailed, _event: Event) -> str | None:
    """Only of a read or a tool with `recovery: retry`, once for each attempt."""
    if not call.repeatable:
        return "it has one attempt only"
    return _attempt_ended(call)


def _succeeded(call: Call, _body: CallSucceeded, _event: Event) -> str | None:
    """Of a started attempt that has not ended; without a start only where the call ran elsewhere."""
    if call.state == "started":
        return _attempt_ended(call)
    return None if call.ran_elsewhere else "it was never started"


def _attempt_ended(call: Call) -> str | None:
    return f"attempt {call.attempt} ended already" if call.attempt_failed else None


def _failed(call: Call, body: CallFailed, _event: Event) -> str | None:
    """Without a start it says so (`notStarted`), unless the call ran elsewhere."""
    if call.state == "started" or body.not_started or (call.state == "proposed" and call.ran_elsewhere):
        return None
    return "it was never started, and does not say so (`notStarted`)"


def _flagged(call: Call, body: CallFlagged, _event: Event) -> str | None:
    """A started side effect is always in doubt, whatever became of its tool; a duplicate names its original."""
    if call.state == "started" and call.side_effecting and body.reason not in _STARTED_FLAGS:
        return f"it may have run: {body.reason} is no reason any more"
    if body.reason == "duplicate" and body.duplicate_of is None:
        return "it does not say of which call it is a duplicate"
    return None


def _reviewed(call: Call, body: CallReviewed, _event: Event) -> str | None:
    """
    A copy is settled only by its original's end.

    `run` alone only where the call surely never ran; what runs is what the reviewer saw.
    """
    copied = call.reason == "duplicate"
    if copied != (body.settled_by is not None):
        return "a copy is settled by its original's end" if copied else "only a copy is settled by another call"
    if not (body.run or body.verdict == "run"):
        return None
    if copied:
        return "a copy never runs"
    if body.verdict not in ("run", "did-not-happen"):
        return f"what is to run again cannot be {body.verdict}"
    if body.verdict == "run" and not call.never_ran:
        return "it may have happened: say first that it did not"
    known = call.arguments_digest is not None and body.arguments_digest is not None
    return "it is bound to other arguments" if known and body.arguments_digest != call.arguments_digest else None


def _superseded(call: Call, body: CallSuperseded, _event: Event) -> str | None:
    """Where the call may have run, only together with did-not-happen; never a copy."""
    if call.reason == "duplicate":
        return "a copy is settled by its original's end"
    if call.never_ran or body.did_not_happen:
        return None
    return "it may have happened: say first that it did not"


def _upcast(call: Call, body: CallUpcast, _event: Event) -> str | None:
    """From the version that the arguments have; while a person is asked only what surely never ran."""
    if call.state == "needs-review" and not call.never_ran:
        return "it may have happened, with the arguments it has"
    if body.from_version != call.schema_version:
        return f"its arguments are of version {call.schema_version}"
    return None


GUARDS: Final[dict[type[CallBody] | type, Callable[[Call, Any, Event], str | None]]] = {
    CallValidated: _validated,
    CallAuthorized: _authorized,
    CallApprovalRequested: _requested,
    CallStarted: _started,
    CallAttemptFailed: _attempt_failed,
    CallSucceeded: _succeeded,
    CallFailed: _failed,
    CallFlagged: _flagged,
    CallReviewed: _reviewed,
    CallSuperseded: _superseded,
    CallUpcast: _upcast,
}
"""What each event needs besides the right state; the docstrings are the conditions in the docs."""
