"""The whole story of one call: its events, where they lead, and what stands around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ledger.audit.decisions import decisions, replaced_by
from ledger.audit.names import NO_NAMES, Names
from ledger.audit.reading import placed_calls, stored_events
from ledger.audit.rows import Row, plain_wire
from ledger.audit.torun import is_known, to_run
from ledger.calls import Call, CallRow, evolve
from ledger.errors import IllegalTransition, UnknownCall
from ledger.events import CallNoted, Event, Unreadable, read_event
from ledger.store.port import CallFilter, EventFilter, Reader, StoredEvent
from ledger.strictjson import digest

_MOST_ALIKE: Final = 20


def find_call(reader: Reader, reference: str) -> CallRow:
    """
    Return a call's row by its id, or by a unique head or tail of it (4 or more characters).

    The first of the last 8 characters, which lists show, do too, where they are no other call's head or tail. Raises
    `UnknownCall` where none or several fit.
    """
    rows = [placed.row for placed in reader.calls(CallFilter(call_id_part=reference), limit=_MOST_ALIKE)]
    ends = [row for row in rows if row.call_id.startswith(reference) or row.call_id.endswith(reference)]
    if len(rows) == _MOST_ALIKE:  # another head or tail may be among those that were not read
        ends = rows
    found = [row for row in rows if row.call_id == reference] or ends or rows
    if not found:
        raise UnknownCall(
            f"no call {reference!r} in this ledger",
            hint="Give 4 or more characters of its head, its tail or what lists show; see `ledger audit calls`.",
        )
    if len(found) > 1:
        fit = ", ".join(row.call_id for row in found[:3])
        raise UnknownCall(f"{reference!r} fits several calls: {fit}", hint="Give more of the id.")
    return found[0]


def call_events(reader: Reader, session_id: str, call_id: str) -> Iterator[tuple[StoredEvent, Event]]:
    """Yield a call's events in order, as they are stored and as they are read; none of its session besides."""
    found = stored_events(reader, EventFilter(call_id=call_id))
    for stored in (each for each in found if each.session_id == session_id):
        yield stored, read_event(stored.record, stored)


def call_of(reader: Reader, session_id: str, call_id: str) -> Call:
    """Return a call as it stands; from an event on that cannot be read, or does not follow, it stays where it was."""
    call = Call()
    for _, event in call_events(reader, session_id, call_id):
        if isinstance(event.body, Unreadable):
            return call
        try:
            call = evolve(call, event)
        except IllegalTransition:
            return call
    return call


def call_story(reader: Reader, call: Call, names: Names = NO_NAMES) -> Row:
    """Return all that is known of a call: intent, what ran, who allowed it, how it ended, what speaks of it besides."""
    events = [event for _, event in call_events(reader, call.session_id, call.call_id)]
    executed = to_run(reader, call)
    return {
        **_identity(call),
        "carriedTo": names.carried_to(call.tool, call.schema_version),
        **_execution(call),
        "executed": executed,
        "executedKnown": is_known(call, executed),
        **_outcome(call),
        "approval": _approval(call),
        "reason": call.reason,
        "evidence": call.flag.evidence if call.flag else None,
        "duplicateOf": call.flag.duplicate_of if call.flag else None,
        "copies": [placed.row.call_id for placed in placed_calls(reader, CallFilter(duplicate_of=call.call_id))],
        "supersededBy": call.superseded_by,
        "takesPlaceOf": replaced_by(reader, call),
        "lateOutcome": plain_wire(call.late) if call.late else None,
        "verdict": plain_wire(call.review) if call.review else None,
        "decisions": list(decisions(events)),
        "notes": list(_notes(events)),
        "lookAlikes": look_alikes(reader, call),
    }


def look_alikes(reader: Reader, call: Call) -> list[Row]:
    """Return the other calls of the session with the same tool and arguments: one of them may be the answer."""
    wanted = call.arguments_digest or (None if call.to_run is None else digest(call.to_run))
    if wanted is None:
        return []
    found = placed_calls(reader, CallFilter(session_id=call.session_id, tool=call.tool))
    alike = [row for _, row in found if row.arguments_digest == wanted and row.call_id != call.call_id]
    return [
        {
            "callId": row.call_id,
            "turn": row.turn,
            "index": row.idx,
            "state": row.state,
            "code": row.code,
            "startedAt": row.started_at,
            "endedAt": row.ended_at,
        }
        for row in alike[-_MOST_ALIKE:]
    ]


def _notes(events: Iterable[Event]) -> Iterator[Row]:
    for event in events:
        if isinstance(event.body, CallNoted):
            yield {"at": event.recorded_at, "eventId": event.event_id, **plain_wire(event.body)}


def _identity(call: Call) -> Row:
    return {
        "callId": call.call_id,
        "sessionId": call.session_id,
        "turn": call.turn,
        "index": call.index,
        "revision": call.revision,
        "tool": call.tool,
        "schemaVersion": call.schema_version,
        "schemaDigest": call.schema_digest,
        "effect": call.effect,
        "recovery": call.recovery,
        "stage": call.stage,
        "state": call.state,
        "principal": call.principal,
        "tenant": call.tenant,
        "provider": call.provider,
        "model": call.model,
        "providerCallId": call.provider_call_id,
        "rawArguments": call.raw_arguments,
        "arguments": call.arguments,
        "proposedAt": call.proposed_at,
    }


def _execution(call: Call) -> Row:
    return {
        "argumentsDigest": call.arguments_digest,
        "attempt": call.attempt,
        "idempotencyKey": call.idempotency_key or call.host_key,
        "worker": call.worker,
        "startedAt": call.started_at,
        "waitingSince": call.waiting_since,
        "endedAt": call.ended_at,
        "durationMs": call.duration_ms,
    }


def _outcome(call: Call) -> Row:
    succeeded = call.state == "succeeded"
    return {
        "gate": call.gate,
        "code": call.code,
        "errorClass": call.error_class,
        "message": call.message,
        "violations": list(call.violations),
        "status": call.status if succeeded else None,
        "result": call.result if succeeded else None,
        "resultKnown": call.result_known if succeeded else None,
        "reconciled": call.reconciled,
    }


def _approval(call: Call) -> Any:
    approval = call.approval
    if approval is None:
        return None
    return {
        "by": approval.by,
        "policy": approval.policy,
        "person": approval.person,
        "who": None if approval.who is None else list(approval.who),
        "message": approval.message,
        "expiresAt": approval.expires_at,
        "at": approval.at,
    }
