"""The gates that are the host's own code: business checks, policies, resource keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ledger.answers import Allow
from ledger.calls import Call
from ledger.catalog import GATE_ERROR, checked_keys
from ledger.errors import LedgerError
from ledger.events import (
    CallApprovalRequested,
    CallAuthorized,
    CallDenied,
    CallFlagged,
    CallRejected,
    CallValidated,
)
from ledger.execution.requests import Steps, user_code
from ledger.gates import Asked, authorize, business
from ledger.gates.business import faulty
from ledger.session.core import Core, Item
from ledger.session.work import Work, actor_of, context_of
from ledger.strictjson import copied

PURE_GATES: Final = ("lookup", "decode", "schema")
ALL_CHECKS: Final = (*PURE_GATES, "business")


def has_user_code(core: Core, works: Sequence[Work]) -> bool:
    """Whether anything but the tools themselves is the host's code: then the proposals are committed first."""
    checks = core.wiring.checks
    tools = [work.tool for work in works if work.tool is not None]
    own = any(tool.runs_user_code or tool.resource_keys_fn or tool.name in checks for tool in tools)
    return own or bool(core.wiring.policies) or "" in checks


def to_pass(call: Call) -> bool:
    """
    Whether a call that has not started has gates before it.

    What a policy allowed goes through them again (policies may have changed since); what a person allowed, only where
    the host's checks never saw it: recovery flagged it first, or the person sent the arguments.
    """
    if call.state in ("unknown", "proposed", "validated"):
        return True
    if call.state != "authorized" or call.approval is None:
        return False
    return call.approval.by == "policy" or (call.never_ran and "business" not in call.gates)


def in_time(core: Core, works: Sequence[Work], pending: list[Item]) -> list[Work]:
    """Leave out what waited for others until its approval had expired: a person is asked again."""
    left = list[Work]()
    for work in works:
        call = core.history.calls.get(work.call_id) or work.stub
        until = call.approval.expires_at if call.allowed_by_person and call.approval is not None else None
        if until is not None and until <= core.wiring.clock.stamp():
            evidence = {"found": call.state, "why": "the approval expired before its turn came"}
            pending.append(Item(CallFlagged(reason="approval-mismatch", evidence=evidence), call))
        else:
            left.append(work)
    return left


def pass_gates(core: Core, work: Work) -> Steps[None]:
    """Take a call that the pure gates let through through business and authorization; the work keeps the events."""
    call = work.stub
    if call.state == "authorized" and call.approval is not None and call.approval.by != "policy":
        stopped = yield from stopped_anyway(core, work, call.approval.person or "")
        work.bodies += [] if stopped is None else [stopped]
        work.authorized = stopped is None
        return
    if call.state == "validated":
        work.digest = call.arguments_digest or work.digest
    found = yield from checked(core, work)
    if isinstance(found, CallRejected):
        work.refusal = found
        work.bodies.append(found)
        return
    if call.state != "validated":
        work.bodies.append(found)
    decision = yield from authorization(core, work)
    work.bodies.append(decision)
    work.authorized = isinstance(decision, CallAuthorized)


def checked(core: Core, work: Work) -> Steps[CallValidated | CallRejected]:
    """Return what the business gate says of a call that the pure gates let through."""
    refused = yield from _business_gate(core, work)
    return refused or passed(work, ALL_CHECKS)


def passed(work: Work, gates: tuple[str, ...]) -> CallValidated:
    """Return the event of a call that passed these gates, bound to the arguments that will run."""
    name = work.tool.validator.name_for(work.intent or {}) if work.tool is not None else "jsonschema"
    return CallValidated(gates=gates, validator=name, arguments_digest=work.digest)


def stopped_anyway(core: Core, work: Work, person: str) -> Steps[CallRejected | CallDenied | CallFlagged | None]:
    """
    Return what stops a call although a person allowed it; None: nothing.

    A person answers where a policy asks (if it asks that person), never the checks, nor a policy that denies.
    """
    refused = yield from _business_gate(core, work)
    if refused is not None:
        return refused
    decision = yield from authorization(core, work)
    if isinstance(decision, CallApprovalRequested):
        if decision.who is None or person in decision.who:
            return None
        why = f"a policy asks {', '.join(decision.who)}, not {person}"
        return CallFlagged(reason="approval-mismatch", evidence={"found": work.stub.state, "why": why})
    return decision if isinstance(decision, CallDenied) else None


def _business_gate(core: Core, work: Work) -> Steps[CallRejected | None]:
    """Return why the host's checks (or its model classes) refuse the call, or None."""
    tool = work.tool
    if tool is None:  # pragma: no cover - lookup, recovery and verdicts see to it; what nobody can check is refused
        return faulty("this process has no code for the tool")
    try:
        tool.bind(copied(work.to_run or {}))
    except Exception as error:  # noqa: BLE001 - a model class of the host may raise anything
        return misfit(error)
    for check in (*core.wiring.checks.get("", ()), *core.wiring.checks.get(tool.name, ())):
        try:
            answer = yield from user_code(check, copied(work.to_run or {}), context_of(core, work))
        except Exception as error:  # noqa: BLE001 - a check that fails fails closed
            refused: CallRejected | None = faulty(f"the check {_name(check)} raised {type(error).__name__}")
        else:
            refused = business(answer)
        if refused is not None:
            if refused.code == GATE_ERROR:
                core.wiring.log.warning("call %s: %s failed: %s", work.call_id, _name(check), refused.hint)
            return refused
    return None


def misfit(error: Exception) -> CallRejected:
    """Return the rejection for arguments that fit the schema, but that the tool's own types refuse with this error."""
    if not isinstance(error, LedgerError):
        return faulty(f"the arguments could not be bound: {type(error).__name__}")
    return CallRejected(
        gate="schema", code="schema_validation", error_class="model", message=str(error), model_can_repair=True
    )


def authorization(core: Core, work: Work) -> Steps[CallAuthorized | CallDenied | CallApprovalRequested]:
    """
    Return what the host's policies decide.

    They get the principal as the host gave it, if the call is that principal's own; else the one that is recorded. The
    tool has its name of now: a call that was recorded under another one passes no policy by that.
    """
    seen = core.history.calls.get(work.call_id) or work.stub
    actor, tool = actor_of(core, seen), core.wiring.registry.home(seen.tool)
    asked: list[Asked] = []
    for policy in core.wiring.policies:
        name = _name(policy)
        shown = seen.changed(tool=tool, arguments=copied(work.intent), executed=copied(work.to_run))
        try:
            answer = yield from user_code(policy, shown, actor)
        except Exception as error:  # noqa: BLE001 - a policy that fails denies
            asked.append(Asked(name, None, failed=f"raised {type(error).__name__}"))
            continue
        asked.append(Asked(name, answer))
    if not asked:
        asked.append(Asked("none", Allow()))
    decision = authorize(asked, work.digest, core.wiring.clock.after)
    if isinstance(decision, CallDenied) and decision.code == GATE_ERROR:
        core.wiring.log.warning("call %s: policy %s failed: %s", work.call_id, decision.policy, decision.rule)
    return decision


def resource_keys(work: Work) -> Steps[frozenset[str] | None]:
    """Return what the call touches: by the catalog's pointers or the author's function; None if nobody can say."""
    tool = work.tool
    if tool is None:  # pragma: no cover - only calls with a tool are run
        return None
    arguments = copied(work.to_run or {})
    if tool.resource_keys_fn is None:
        return tool.resource_keys(arguments)
    try:
        found = yield from user_code(tool.resource_keys_fn, arguments)
        return checked_keys(found)
    except Exception:  # noqa: BLE001 - unknown keys conflict with everything: the safe side
        return None


def _name(function: object) -> str:
    return getattr(function, "__name__", type(function).__name__)
