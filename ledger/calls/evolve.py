"""One event more: the call as it is after it, or a refusal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ledger.calls.call import Approval, Call
from ledger.calls.follows import FOLLOWS
from ledger.errors import IllegalTransition
from ledger.events import (
    BODIES,
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

CALL_BODIES: tuple[type[CallBody], ...] = tuple(
    body for name, body in BODIES.items() if name.startswith("call.")  # type: ignore[misc] - the names say which
)


def evolve(call: Call, event: Event, sequence: int = 0) -> Call:
    """
    Return the call as it is after the event; `sequence` is its place where the event itself has none yet.

    Raises `IllegalTransition` where FOLLOWS does not allow it; other events of a session leave a call as it is.
    """
    body = event.body
    if not isinstance(body, CALL_BODIES):
        return call
    if not isinstance(body, FOLLOWS[call.state]) or not _imports(call, event):
        raise IllegalTransition(event.type, call.state, call.call_id or event.call_id)
    return _after(call, body, event).changed(sequence=event.sequence or sequence)


def fold(events: Iterable[Event]) -> Call:
    """Rebuild a call from its events, oldest first."""
    call = Call()
    for event in events:
        call = evolve(call, event)
    return call


def _imports(call: Call, event: Event) -> bool:
    """A proposal may end at once only where the whole call was imported from somewhere else."""
    return not (call.state == "proposed" and isinstance(event.body, CallSucceeded) and not call.imported)


def _after(call: Call, body: CallBody, event: Event) -> Call:
    match body:
        case CallProposed():
            return _proposed(body, event)
        case CallValidated():
            return call.changed(state="validated", arguments_digest=body.arguments_digest)
        case CallRejected() | CallDenied():
            return _refused(call, body, event)
        case CallAuthorized():
            return call.changed(state="authorized", approval=_approval(call, body, event), waiting_since=None)
        case CallApprovalRequested():
            asked = Approval(
                arguments_digest=body.arguments_digest,
                who=body.who,
                message=body.message,
                expires_at=body.expires_at,
                at=event.recorded_at,
            )
            return call.changed(state="awaiting-approval", approval=asked, waiting_since=event.recorded_at)
        case CallStarted():
            return _started(call, body, event)
        case CallAttemptFailed():
            return call.changed(code=body.code, message=body.message, attempt_failed=True)
        case CallSucceeded():
            return _succeeded(call, body, event)
        case CallFailed():
            return _failed(call, body, event)
        case CallFlagged():
            flagged = call.changed(state="needs-review", reason=body.reason, flag=body)
            return flagged.changed(waiting_since=event.recorded_at)
        case CallReviewed():
            return _reviewed(call, body, event)
        case CallUpcast():
            return call.changed(executed=body.arguments,
                schema_version=body.to_version,
                schema_digest=event.schema_digest,
                arguments_digest=body.digest_after,
            )
        case CallSuperseded():
            return call.changed(state="superseded", superseded_by=body.superseded_by, ended_at=event.recorded_at, host_key=None
            )
        case CallOutcomeArrivedLate():
            return _late(call, body, event)
        case CallNoted():
            return call
        case _:
            assert_never(body)


def _proposed(body: CallProposed, event: Event) -> Call:
    return Call(
        call_id=event.call_id or "",
        session_id=event.session_id,
        state="proposed",
        tool=event.tool or "",
        schema_version=event.schema_version,
        schema_digest=event.schema_digest,
        turn=event.turn or 0,
        index=event.index or 0,
        revision=event.revision or 0,
        principal=event.principal,
        tenant=event.tenant,
        raw_arguments=body.raw_arguments,
        arguments=body.arguments,
        provider_call_id=body.provider_call_id,
        provider=body.provider,
        model=body.model,
        description_digest=body.description_digest,
        stage=body.stage,
        effect=body.effect,
        recovery=body.recovery,
        supports_idempotency=body.supports_idempotency,
        host_key=body.idempotency_key,
        repair_of=body.repair_of,
        repairs=body.repairs,
        executor=body.executor,
        imported=body.imported,
        redacted=body.redacted,
        proposed_at=event.recorded_at,
    )


def _refused(call: Call, body: CallRejected | CallDenied, event: Event) -> Call:
    call = call.changed(state="denied" if isinstance(body, CallDenied) else "rejected",
        gate=body.gate,
        code=body.code,
        message=body.message,
        model_can_repair=body.model_can_repair,
        requires_user_action=body.requires_user_action,
        ended_at=event.recorded_at,
        waiting_since=None,
        host_key=None,
    )
    if isinstance(body, CallDenied):
        return call.changed(error_class="policy", retry_after=body.retry_after)
    return call.changed(error_class=body.error_class,
        violations=body.violations,
        replacement=body.replacement,
        hint=body.hint,
    )


def _approval(call: Call, body: CallAuthorized, event: Event) -> Approval:
    return Approval(
        arguments_digest=body.arguments_digest,
        by=body.by,
        who=call.approval.who if call.approval else None,
        person=body.person,
        message=call.approval.message if call.approval else None,
        expires_at=body.expires_at,
        at=event.recorded_at,
    )


def _started(call: Call, body: CallStarted, event: Event) -> Call:
    return call.changed(state="started",
        attempt=event.attempt or call.attempt + 1,
        idempotency_key=body.idempotency_key,
        worker=body.worker,
        token=body.token,
        attempt_failed=False,
        executed=call.executed if body.arguments is None else body.arguments,
        started_at=event.recorded_at,
    )


def _succeeded(call: Call, body: CallSucceeded, event: Event) -> Call:
    return call.changed(state="succeeded",
        status=body.status,
        result=body.result,
        encodings=body.encodings,
        code=body.code,
        message=body.message,
        source=body.source,
        size=body.size,
        truncated_for_model=body.truncated_for_model,
        reconciled=body.reconciled,
        duration_ms=body.duration_ms,
        ended_at=event.recorded_at,
    )


def _failed(call: Call, body: CallFailed, event: Event) -> Call:
    return call.changed(state="failed",
        code=body.code,
        error_class=body.error_class,
        message=body.message,
        retryable=body.retryable,
        retry_after=body.retry_after,
        not_started=body.not_started,
        model_can_repair=body.model_can_repair,
        duration_ms=body.duration_ms,
        ended_at=event.recorded_at,
        waiting_since=None,
        host_key=None if body.not_started else call.host_key,
    )


def _reviewed(call: Call, body: CallReviewed, event: Event) -> Call:
    call = call.changed(review=body, waiting_since=None)
    if body.verdict == "run" or (body.verdict == "did-not-happen" and body.run):
        allowed = Approval(
            arguments_digest=body.arguments_digest or call.arguments_digest or "",
            by="verdict",
            person=body.by,
            expires_at=body.expires_at,
            at=event.recorded_at,
        )
        return call.changed(state="authorized", approval=allowed)
    call = call.changed(ended_at=event.recorded_at)
    if body.verdict == "happened":
        return call.changed(state="succeeded", result=body.result, result_known=body.result_known)
    if body.verdict == "abandon":
        return call.changed(state="abandoned", host_key=None if call.never_ran else call.host_key)
    message = "A person found that it did not happen."
    return call.changed(state="failed", code="did_not_happen", error_class="environment", message=message, host_key=None
    )


def _late(call: Call, body: CallOutcomeArrivedLate, event: Event) -> Call:
    call = call.changed(late=body)
    if call.state != "needs-review" or not body.settles:
        return call
    call = call.changed(code=body.code,
        message=body.message,
        duration_ms=body.duration_ms,
        ended_at=event.recorded_at,
        waiting_since=None,
    )
    if body.ended == "failed":
        return call.changed(state="failed", error_class=body.error_class)
    return call.changed(state="succeeded",
        status=body.status,
        result=body.result,
        encodings=body.encodings,
        size=body.size,
        truncated_for_model=body.truncated_for_model,
    )
