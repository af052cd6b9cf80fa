"""A call as a flat row: the projection that recovery and audit look up. Never the truth."""

from __future__ import annotations

from typing import NamedTuple

from ledger.calls.call import Call


class CallRow(NamedTuple):
    """The columns of the `call` table, in order; times are ISO 8601 UTC. Built by `call_row` only."""

    call_id: str
    session_id: str
    turn: int
    idx: int
    revision: int
    tool: str
    schema_version: int | None
    state: str
    effect: str
    stage: str | None
    gate: str | None
    code: str | None
    error_class: str | None
    reason: str | None
    duplicate_of: str | None
    attempt: int
    arguments_digest: str | None
    idempotency_key: str | None
    provider_call_id: str | None
    provider: str | None
    model: str | None
    description_digest: str | None
    tenant: str
    principal: str | None
    proposed_at: str
    started_at: str | None
    waiting_since: str | None
    ended_at: str | None
    duration_ms: float | None
    sequence: int
    model_can_repair: int = 0


def call_row(call: Call) -> CallRow:
    """
    Return the row of a call.

    `idempotency_key` is the host's own key, unique in its tenant ('' = none); a call that surely never ran frees it.
    `model_can_repair` is 1 where it ended in a way that the model can put right, as databases have it; else 0.
    """
    return CallRow(
        call.call_id,
        call.session_id,
        call.turn,
        call.index,
        call.revision,
        call.tool,
        call.schema_version,
        call.state,
        call.effect,
        call.stage,
        call.gate,
        call.code,
        call.error_class,
        call.reason,
        call.flag.duplicate_of if call.flag else None,
        call.attempt,
        call.arguments_digest,
        call.host_key,
        call.provider_call_id,
        call.provider,
        call.model,
        call.description_digest,
        call.tenant or "",
        call.principal,
        call.proposed_at,
        call.started_at,
        call.waiting_since,
        call.ended_at,
        call.duration_ms,
        call.sequence,
        int(call.model_can_repair),
    )
