"""One event more: the call as it is after it, or a refusal."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeAlias, assert_never

from ledger.calls.call import NEW_CALL, Approval, Call
from ledger.calls.follows import FOLLOWS
from ledger.calls.guards import refusal
from ledger.errors import IllegalTransition
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
    Event,
)
from ledger.events.outcomes import SHOWN_BYTES, in_time
from ledger.strictjson import Json, canonical

Changes: TypeAlias = dict[str, Any]
"""Fields of a call that an event changes, with their new values."""


def evolve(call: Call, event: Event, sequence: int = 0) -> Call:
    """
    Return the call as it is after the event; `sequence` is its place where the event itself has none yet.

    Raises `IllegalTransition` where FOLLOWS or a guard does not allow it; other events of a session leave a call as
    it is.
    """
    body = event.body
    if not isinstance(body, CallBody):
        return call
    if type(body) not in FOLLOWS[call.state]:
        raise IllegalTransition(event.type, call.state, call.call_id or event.call_id)
    why = refusal(call, event)
    if why is not None:
        raise IllegalTransition(event.type, call.state, call.call_id, why)
    changes = _changes(call, body, event)
    changes["sequence"] = event.sequence or sequence
    changes["last_event_id"] = event.event_id
    return call.changed(**changes)


def fold(events: Iterable[Event]) -> Call:
    """Rebuild a call from its events, oldest first."""
    call = NEW_CALL
    for event in events:
        call = evolve(call, event)
    return call


def _changes(call: Call, body: CallBody, event: Event) -> Changes:
    match body:
        case CallProposed():
            return _proposed(body, event)
        case CallValidated():
            return _validated(body)
        case CallRejected() | CallDenied():
            return _refused(body, event)
        case CallAuthorized():
            return _authorized(call, body, event)
        case CallApprovalRequested():
            return _asked(body, event)
        case CallStarted():
            return _started(call, body, event)
        case CallAttemptFailed():
            return {"code": body.code, "message": body.message, "attempt_failed": True}
        case CallSucceeded():
            return _succeeded(body, event)
        case CallFailed():
            return _failed(call, body, event)
        case CallFlagged():
            return {"state": "needs-review", "reason": body.reason, "flag": body, "waiting_since": event.recorded_at}
        case CallReviewed():
            return _reviewed(call, body, event)
        case CallUpcast():
            return _upcast(call, body, event)
        case CallSuperseded():
            # As where a verdict lets it run: an outcome that comes from now on contradicts what the person said.
            return _ended("superseded", event) | {"superseded_by": body.superseded_by, "host_key": None, "late": None}
        case CallOutcomeArrivedLate():
            return _late(call, body, event)
        case CallNoted():
            return {}
        case _:
            assert_never(body)


def _ended(state: str, event: Event) -> Changes:
    return {"state": state, "ended_at": event.recorded_at, "waiting_since": None}


def _proposed(body: CallProposed, event: Event) -> Changes:
    return {
        "call_id": event.call_id or "",
        "session_id": event.session_id,
        "state": "proposed",
        "tool": event.tool or "",
        "schema_version": event.schema_version,
        "schema_digest": event.schema_digest,
        "intent_version": event.schema_version,
        "turn": event.turn or 0,
        "index": event.index or 0,
        "revision": event.revision or 0,
        "principal": event.principal,
        "tenant": event.tenant,
        "on_behalf_of": event.on_behalf_of,
        "raw_arguments": body.raw_arguments,
        "arguments": body.arguments,
        "provider_call_id": body.provider_call_id,
        "provider": body.provider,
        "model": body.model,
        "description_digest": body.description_digest,
        "stage": body.stage,
        "effect": body.effect,
        "recovery": body.recovery,
        "supports_idempotency": body.supports_idempotency,
        "reconciles": body.reconciles,
        "host_key": body.idempotency_key,
        "given_key": body.idempotency_key,
        "repair_of": body.repair_of,
        "repairs": body.repairs,
        "executor": body.executor,
        "imported": body.imported,
        "redacted": body.redacted,
        "in_doubt": body.imported or body.executor == "provider",
        "proposed_at": event.recorded_at,
    }


def _validated(body: CallValidated) -> Changes:
    known = {"state": "validated", "gates": body.gates}
    return known | {"arguments_digest": body.arguments_digest, "approval": None}


def _refused(body: CallRejected | CallDenied, event: Event) -> Changes:
    denied = isinstance(body, CallDenied)
    changes = _ended("denied" if denied else "rejected", event) | {
        "gate": body.gate,
        "code": body.code,
        "message": body.message,
        "model_can_repair": body.model_can_repair,
        "requires_user_action": body.requires_user_action,
        "host_key": None,
    }
    if isinstance(body, CallDenied):
        return changes | {"error_class": "policy", "retry_after": body.retry_after}
    return changes | {
        "error_class": body.error_class,
        "violations": body.violations,
        "replacement": body.replacement,
        "hint": body.hint,
    }


def _authorized(call: Call, body: CallAuthorized, event: Event) -> Changes:
    changes: Changes = {"state": "authorized", "approval": _allowed(call, body, event), "waiting_since": None}
    return changes if body.by == "policy" else changes | {"unseen_upcasts": ()}


def _allowed(call: Call, body: CallAuthorized, event: Event) -> Approval:
    return Approval(
        arguments_digest=body.arguments_digest,
        by=body.by,
        who=call.approval.who if call.approval else None,
        person=body.person,
        message=call.approval.message if call.approval else None,
        expires_at=body.expires_at,
        at=event.recorded_at,
        policy=body.policy,
    )


def _asked(body: CallApprovalRequested, event: Event) -> Changes:
    asked = Approval(
        arguments_digest=body.arguments_digest,
        who=body.who,
        message=body.message,
        expires_at=body.expires_at,
        at=event.recorded_at,
        policy=body.policy,
    )
    return {"state": "awaiting-approval", "approval": asked, "waiting_since": event.recorded_at}


def _started(call: Call, body: CallStarted, event: Event) -> Changes:
    changes: Changes = {
        "state": "started",
        "attempt": call.attempt + 1,
        "idempotency_key": body.idempotency_key,
        "worker": body.worker,
        "token": body.token,
        "attempt_failed": False,
        "code": None,
        "message": None,
        "started_at": event.recorded_at,
    }
    if call.state == "started" and call.side_effecting and not call.attempt_failed:
        changes["in_doubt"] = True
    if body.arguments is not None:
        changes["executed"] = body.arguments
    return changes | _instead(body)


def _instead(body: CallStarted | CallFailed) -> Changes:
    """What stands in for a tool that is being retired, where the event says it."""
    found = {"replacement": body.replacement, "hint": body.hint}
    return {key: value for key, value in found.items() if value is not None}


def _succeeded(body: CallSucceeded, event: Event) -> Changes:
    return _ended("succeeded", event) | {
        "status": body.status,
        "result": body.result,
        "encodings": body.encodings,
        "code": body.code,
        "message": body.message,
        "source": body.source,
        "size": body.size,
        "truncated_for_model": body.truncated_for_model,
        "reconciled": body.reconciled,
        "duration_ms": body.duration_ms,
    }


def _failed(call: Call, body: CallFailed, event: Event) -> Changes:
    changes = _ended("failed", event) | {
        "code": body.code,
        "error_class": body.error_class,
        "message": body.message,
        "retryable": body.retryable,
        "retry_after": body.retry_after,
        "not_started": body.not_started,
        "model_can_repair": body.model_can_repair,
        "duration_ms": body.duration_ms,
    }
    if body.not_started and not call.in_doubt:
        changes["host_key"] = None
    return changes | _instead(body)


def _reviewed(call: Call, body: CallReviewed, event: Event) -> Changes:
    changes: Changes = {"review": body, "waiting_since": None, "code": None, "message": None}
    if body.verdict == "did-not-happen":  # by a person's word every attempt so far did nothing
        changes |= {"in_doubt": False, "attempt_failed": True}
    if body.run or body.verdict == "run":
        return changes | _to_run(call, body, event)
    changes["ended_at"] = event.recorded_at
    if body.verdict == "happened":
        known = {"result": body.result, "result_known": body.result_known}
        return changes | {"state": "succeeded"} | known | _sized(body.result)
    if body.verdict == "did-not-happen":
        of_copy = body.settled_by is not None  # nobody was asked about it, and its original may have failed midway
        message = "It repeats an earlier call." if of_copy else "A person found that it did not happen."
        failed = {"state": "failed", "code": "did_not_happen", "error_class": "environment", "message": message}
        return changes | failed | {"host_key": None}
    return changes | {"state": "abandoned", "host_key": None if call.never_ran else call.host_key}


def _sized(result: Json) -> Changes:
    """Return how large a person's result is: its event does not say it, and the model reads no more of it either."""
    size = 0 if result is None else len(canonical(result))
    return {"size": size, "truncated_for_model": size > SHOWN_BYTES}


def _to_run(call: Call, body: CallReviewed, event: Event) -> Changes:
    digest = body.arguments_digest or call.arguments_digest
    allowed = Approval(
        arguments_digest=digest or "",
        by="verdict",
        person=body.by,
        expires_at=body.expires_at,
        at=event.recorded_at,
    )
    # An outcome that came before the verdict was known to the reviewer; one that comes from now on contradicts it.
    changes: Changes = {"state": "authorized", "approval": allowed, "arguments_digest": digest}
    return changes | {"late": None, "unseen_upcasts": ()}


def _upcast(call: Call, body: CallUpcast, event: Event) -> Changes:
    approval = call.approval
    if approval is not None:  # of one form: another may mean more, even where these arguments stayed as they were
        keeps = body.keeps_approval and approval.arguments_digest == body.digest_before
        approval = dataclasses.replace(approval, arguments_digest=body.digest_after if keeps else "")
    changes: Changes = {
        "executed": body.arguments,
        "schema_version": body.to_version,
        "schema_digest": event.schema_digest,
        "arguments_digest": body.digest_after,
        "approval": approval,
        "unseen_upcasts": (*call.unseen_upcasts, body),
    }
    # It waits because its tool changed; carried over, what is left to say is whether it shall run.
    return changes | {"reason": "not-started"} if call.reason == "schema-changed" else changes


def _late(call: Call, body: CallOutcomeArrivedLate, event: Event) -> Changes:
    if call.state != "needs-review" or not body.settles:
        return {"late": body}
    end = in_time(body)
    settled = _failed(call, end, event) if isinstance(end, CallFailed) else _succeeded(end, event)
    return settled | {"late": body}
