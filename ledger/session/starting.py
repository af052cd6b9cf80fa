"""What a call starts with: the event of its start, and its arguments as its function gets them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.calls import Call
from ledger.events import CallFailed, CallFlagged, CallRejected, CallStarted
from ledger.execution.context import Context
from ledger.session import limits
from ledger.session.core import Core, Item
from ledger.session.endings import cancelled
from ledger.session.gating import misfit
from ledger.session.work import Work, context_of, instead
from ledger.strictjson import copied


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of one attempt, bound to its function, and the context that it gets."""

    attempt: int
    keywords: dict[str, Any]
    context: Context


def start_item(core: Core, work: Work, call: Call, left: float | None) -> Item:
    """Return the event of the call's next start; `left`: how many seconds it is waited for, None: without end."""
    shown = work.recorded_to_run()
    body = CallStarted(
        idempotency_key=call.host_key or (work.proposal.idempotency_key if work.proposal else None) or work.call_id,
        worker=str(core.wiring.owner),
        token=core.token,
        resource_keys=None if work.keys is None else tuple(sorted(work.keys)),
        deadline=None if left is None else core.wiring.clock.after(left),
        arguments=shown if shown not in (call.to_run, work.recorded) else None,
        **instead(core, call),
    )
    return Item(body, call, attempt=call.attempt + 1, guards=limits.guards(core, work, call))


def bind(core: Core, work: Work, start: Item) -> Bound | CallRejected:
    """
    Return the arguments as the function gets them, or why they cannot be made so.

    The gates did it before, but perhaps not these ones, nor this time: a model class of the host may look at the
    world, and an attempt behind a crash or a person's word passes no gate again. So it comes before the start is
    recorded: what cannot be bound never started.
    """
    body, tool, attempt = start.body, work.tool, start.attempt or 1
    if tool is None or not isinstance(body, CallStarted):  # pragma: no cover - gates saw to it
        raise TypeError(body)
    if work.refusal is not None:  # of what a person allowed no gate may have said it
        return work.refusal
    context = context_of(core, work, attempt, body.idempotency_key)
    try:
        return Bound(attempt, tool.keywords(copied(work.to_run or {}), context), context)
    except Exception as error:  # noqa: BLE001 - a model class of the host may raise anything
        refused = misfit(error)
        core.wiring.log.warning("call %s does not start: %s", work.call_id, refused.hint or refused.code)
        return refused


def unbound_end(call: Call, refused: CallRejected) -> CallRejected | CallFailed | CallFlagged:
    """Return the end of a call whose next attempt cannot begin; an earlier one may have had its effect."""
    if call.side_effecting and not call.never_ran:
        why = refused.hint or refused.message
        return CallFlagged(reason="outcome-unknown", evidence={"found": call.state, "why": why, "code": refused.code})
    if call.state != "started":
        return refused
    return CallFailed(code=refused.code, error_class=refused.error_class, message=refused.message)


def unlaunched_end(call: Call, attempt: int) -> CallFailed | CallFlagged:
    """Return the end of a call whose attempt was cancelled at its start and surely did nothing."""
    recorded = call.attempt == attempt
    if call.side_effecting and (call.in_doubt if recorded else not call.never_ran):
        evidence = {"found": "started", "why": "cancelled before the next attempt", "attempt": call.attempt}
        return CallFlagged(reason="outcome-unknown", evidence=evidence)
    return cancelled("The call was cancelled before it started.", started=call.attempt > 1 or not recorded)
