"""The names of the events on the wire, each with its class: the one table of types."""

from __future__ import annotations

from typing import Final, TypeAlias

from ledger.events import call_bodies as c
from ledger.events import session_bodies as s

CallBody: TypeAlias = (
    c.CallProposed
    | c.CallValidated
    | c.CallRejected
    | c.CallAuthorized
    | c.CallDenied
    | c.CallApprovalRequested
    | c.CallStarted
    | c.CallAttemptFailed
    | c.CallSucceeded
    | c.CallFailed
    | c.CallFlagged
    | c.CallReviewed
    | c.CallUpcast
    | c.CallSuperseded
    | c.CallOutcomeArrivedLate
    | c.CallNoted
)
SessionBody: TypeAlias = (
    s.SessionOpened
    | s.SessionClaimed
    | s.SessionResumed
    | s.SessionClosed
    | s.MessageRecorded
    | s.TurnRecorded
    | s.BatchPlanned
    | s.ToolVersionPublished
    | s.ToolStageChanged
    | s.SessionErased
    | s.LedgerPruned
    | s.Unreadable
)
Body: TypeAlias = CallBody | SessionBody

BODIES: Final[dict[str, type[Body]]] = {
    "session.opened": s.SessionOpened,
    "session.claimed": s.SessionClaimed,
    "session.resumed": s.SessionResumed,
    "session.closed": s.SessionClosed,
    "message.recorded": s.MessageRecorded,
    "turn.recorded": s.TurnRecorded,
    "batch.planned": s.BatchPlanned,
    "call.proposed": c.CallProposed,
    "call.validated": c.CallValidated,
    "call.rejected": c.CallRejected,
    "call.authorized": c.CallAuthorized,
    "call.denied": c.CallDenied,
    "call.approval_requested": c.CallApprovalRequested,
    "call.started": c.CallStarted,
    "call.attempt_failed": c.CallAttemptFailed,
    "call.succeeded": c.CallSucceeded,
    "call.failed": c.CallFailed,
    "call.flagged": c.CallFlagged,
    "call.reviewed": c.CallReviewed,
    "call.upcast": c.CallUpcast,
    "call.superseded": c.CallSuperseded,
    "call.outcome_arrived_late": c.CallOutcomeArrivedLate,
    "call.noted": c.CallNoted,
    "tool.version_published": s.ToolVersionPublished,
    "tool.stage_changed": s.ToolStageChanged,
    "session.erased": s.SessionErased,
    "ledger.pruned": s.LedgerPruned,
}
_TYPES: Final[dict[type[Body], str]] = {body: name for name, body in BODIES.items()}


def type_of(body: Body) -> str:
    """Return the event's name on the wire; an unreadable event keeps the name it was recorded under."""
    return _TYPES.get(type(body)) or body.type  # type: ignore[union-attr]  # the only class that has no name is Unreadable
