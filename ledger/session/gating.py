"""The gates that are the host's own code: business checks, policies, resource keys."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from ledger.answers import Allow
from ledger.catalog import checked_keys
from ledger.errors import LedgerError
from ledger.events import Body, CallAuthorized, CallRejected, CallValidated
from ledger.execution.requests import Steps, user_code
from ledger.gates import Asked, authorize, business
from ledger.gates.business import faulty
from ledger.session.core import Core
from ledger.session.work import Work, context_of

PURE_GATES = ("lookup", "decode", "schema")


def has_user_code(core: Core, works: Sequence[Work]) -> bool:
    """Whether anything but the tools themselves is the host's code: then the proposals are committed first."""
    checks = core.wiring.checks
    tools = [work.tool for work in works if work.tool is not None]
    own = any(tool.runs_user_code or tool.resource_keys_fn or tool.name in checks for tool in tools)
    return own or bool(core.wiring.policies) or "" in checks


def pass_gates(core: Core, work: Work) -> Steps[None]:
    """Take a call that the pure gates let through through business and authorization; the work keeps the events."""
    tool = work.tool
    if tool is None:  # pragma: no cover - the lookup gate refused it
        return
    refused = yield from business_gate(core, work)
    if refused is not None:
        work.refusal = refused
        work.bodies.append(refused)
        return
    gates = (*PURE_GATES, "business")
    work.bodies.append(CallValidated(gates=gates, validator=tool.validator.name, arguments_digest=work.digest))
    decision = yield from authorization(core, work)
    work.bodies.append(decision)
    work.authorized = isinstance(decision, CallAuthorized)


def business_gate(core: Core, work: Work) -> Steps[CallRejected | None]:
    """Return why the host's checks (or its model classes) refuse the call, or None."""
    tool = work.tool
    if tool is None:  # pragma: no cover - the lookup gate refused it
        return None
    try:
        tool.bind(copy.deepcopy(work.to_run or {}))
    except LedgerError as error:
        return CallRejected(
            gate="schema", code="schema_validation", error_class="model", message=str(error), model_can_repair=True
        )
    except Exception as error:  # noqa: BLE001 - a model class of the host may raise anything
        return faulty(f"the arguments could not be bound: {type(error).__name__}")
    for check in (*core.wiring.checks.get("", ()), *core.wiring.checks.get(tool.name, ())):
        try:
            answer = yield from user_code(check, copy.deepcopy(work.to_run or {}), context_of(core, work))
        except Exception as error:  # noqa: BLE001 - a check that fails fails closed
            return faulty(f"the check {_name(check)} raised {type(error).__name__}")
        refused = business(answer)
        if refused is not None:
            return refused
    return None


def authorization(core: Core, work: Work) -> Steps[Body]:
    """Return what the host's policies decide."""
    seen = core.history.calls.get(work.call_id) or work.stub
    asked: list[Asked] = []
    for policy in core.wiring.policies:
        name = _name(policy)
        shown = seen.changed(arguments=copy.deepcopy(work.intent), executed=copy.deepcopy(work.to_run))
        try:
            answer = yield from user_code(policy, shown, core.actor)
        except Exception as error:  # noqa: BLE001 - a policy that fails denies
            asked.append(Asked(name, None, failed=type(error).__name__))
            continue
        asked.append(Asked(name, answer))
    if not asked:
        asked.append(Asked("none", Allow()))
    return authorize(asked, work.digest, core.wiring.clock.after)


def resource_keys(work: Work) -> Steps[frozenset[str] | None]:
    """Return what the call touches: by the catalog's pointers or the author's function; None if nobody can say."""
    tool = work.tool
    if tool is None:  # pragma: no cover - only calls with a tool are run
        return None
    arguments = copy.deepcopy(work.to_run or {})
    if tool.resource_keys_fn is None:
        return tool.resource_keys(arguments)
    try:
        found = yield from user_code(tool.resource_keys_fn, arguments)
        return checked_keys(found)
    except Exception:  # noqa: BLE001 - unknown keys conflict with everything: the safe side
        return None


def _name(function: object) -> str:
    return getattr(function, "__name__", type(function).__name__)
