"""Takes in a turn of the model: records the intents, takes each call through the gates, hands on what may run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ledger.calls import NEW_CALL, Call
from ledger.catalog import Tool
from ledger.events import Body, CallApprovalRequested, CallDenied, CallRejected, TurnRecorded
from ledger.execution.batch import Member, planned
from ledger.execution.requests import Steps
from ledger.gates import fill
from ledger.providers.bare import bare
from ledger.providers.choice import forbids_calls
from ledger.providers.port import ProposedCall, Reply
from ledger.schema_migration.judging import to_run
from ledger.session.core import Core, Item
from ledger.session.endings import cancelled
from ledger.session.gating import has_user_code, pass_gates, resource_keys
from ledger.session.hosted import hosted_items
from ledger.session.offering import choosable
from ledger.session.redaction import NO_TEXT
from ledger.session.repeats import RETIRED, repeated
from ledger.session.running import Interrupted, Runner
from ledger.session.withholding import WITHHELD
from ledger.session.work import Work, digest_of, examine, intent_of, learn, may_hold_secrets, proposed, shown
from ledger.strictjson import digest

OnRejection: TypeAlias = Literal["run_rest", "run_none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """
    How the host wants this turn taken.

    `offered`: the names the model could choose from, None if unknown; `idempotency_key` is for a single call. `cost`:
    what the host says that the turn cost.
    """

    on_rejection: OnRejection = "run_rest"
    offered: Collection[str] | None = None
    tool_choice: Any = None
    idempotency_key: str | None = None
    cost: float | None = None


def take_in(core: Core, reply: Reply, terms: Terms) -> Steps[int]:
    """
    Record a new turn, decide all its gates before its first start, and run what is allowed.

    Returns the turn's number. Raises `KeyConflict`, and what `Core.commit` raises; never for a tool's failure.
    """
    number = core.history.turns[-1].number + 1 if core.history.turns else 1
    items, works = proposals(core, reply, terms, number)
    runner = Runner(core)
    runner.pending = [*items, *_settled_early(core, works), *hosted_items(core, reply, number)]
    runner.pending += _beyond_budget(core, items[0].body, works)
    open_works = [work for work in works if work.refusal is None and not work.bodies]
    if open_works and has_user_code(core, open_works):
        items, runner.pending = runner.pending, []
        yield from core.commit(items)
    try:
        yield from _gates(open_works, runner)
    except Interrupted:
        runner.pending += [Item(cancelled("The call was cancelled before it started."), w.stub) for w in open_works]
        yield from core.commit(runner.pending, release=True)
        raise
    yield from runner.run(_runnable(runner, works, terms))
    return number


def proposals(core: Core, reply: Reply, terms: Terms, number: int) -> tuple[list[Item], list[Work]]:
    """Return the turn and its intents as events, with each call taken through the pure gates."""
    works = [_work(core, call, reply, terms, place=(number, index)) for index, call in enumerate(reply.calls)]
    for work, call in zip(works, reply.calls, strict=True):
        learn(core, work, call.raw, call.arguments)  # what a later call calls sensitive may stand in an earlier one
    asked = list[Item]()
    for work, call in zip(works, reply.calls, strict=True):
        _examine(core, work, call, reply, terms)
        asked.append(_proposal(core, work, call, reply, terms))
    body = turn_body(core, reply, terms)
    if body.items is not None and _may_quote(core, reply, works):
        body = replace(body, items=bare(body.items))
    return [Item(body, turn=number, actor="model"), *asked], works


def _may_quote(core: Core, reply: Reply, works: Sequence[Work]) -> bool:
    """Whether what else the provider sent may hold a secret: a copy of arguments, or words about a bad call."""
    if not works and reply.kind == "incomplete":  # "Malformed function call: …", and no call
        registry = core.wiring.registry
        tools = ((NEW_CALL.changed(tool=name), registry.form(name)) for name in registry.names)
        return any(may_hold_secrets(core, call, version) for call, version in tools)
    masked = any(work.proposal is not None and work.proposal.redacted for work in works)
    return masked or any(may_hold_secrets(core, work.stub, work.version) for work in works)


def turn_body(core: Core, reply: Reply, terms: Terms) -> TurnRecorded:
    """Return what is recorded of a model's turn itself, besides its calls."""
    kept = (
        core.opening.transcript == "full" if core.history.opened is None else core.history.opened.transcript == "full"
    )
    versions = [core.wiring.registry.version(name) for name in sorted(terms.offered or ())]
    offered = tuple(
        {"tool": v.tool, "version": v.version, "descriptionDigest": v.description_digest} for v in versions if v
    )
    return TurnRecorded(
        kind=reply.kind,
        provider=reply.provider,
        calls=len(reply.calls),
        response_id=reply.response_id,
        stop_reason=reply.stop_reason,
        text=reply.text if kept else None,
        items=reply.items if kept else None,
        tool_choice=terms.tool_choice if terms.tool_choice is not None else reply.tool_choice,
        offered=offered if terms.offered is not None else None,
        usage=reply.usage,
        cost=terms.cost,
        on_rejection=None if terms.on_rejection == "run_rest" else terms.on_rejection,
    )


def _work(core: Core, call: ProposedCall, reply: Reply, terms: Terms, place: tuple[int, int]) -> Work:
    registry = core.wiring.registry
    tool = registry.get(call.name)
    version = registry.form(call.name)
    stub = NEW_CALL.changed(
        call_id=core.wiring.clock.new_id(),
        session_id=core.session_id,
        tool=call.name,
        schema_version=version.version if version else None,
        schema_digest=version.shape_digest if version else None,
        turn=place[0],
        index=place[1],
        effect=version.contract.effect if version else "external",
        provider=reply.provider,
        model=reply.model,
        principal=core.principal,
        tenant=core.tenant,
        on_behalf_of=core.on_behalf_of,
        host_key=terms.idempotency_key,
    )
    return Work(stub=stub, tool=tool, version=version)


def _examine(core: Core, work: Work, call: ProposedCall, reply: Reply, terms: Terms) -> None:
    seen = replace(
        proposed(core, work.stub, known=work.tool is not None),
        offered=choosable(core, terms.offered, call.name),
        whole=reply.kind != "incomplete",
        allowed=not forbids_calls(terms.tool_choice),
    )
    examine(core, work, call.raw, call.arguments, seen)


def _proposal(core: Core, work: Work, call: ProposedCall, reply: Reply, terms: Terms) -> Item:
    version = work.version
    repaired = _repaired(core, call.name)
    masked = bool(work.secrets)
    if work.intent is None:
        masked = may_hold_secrets(core, work.stub, version) or core.secrets.scrubbed(call.raw) != call.raw
    work.proposal = intent_of(
        core,
        work,
        raw_arguments=None if masked else call.raw,
        arguments=work.recorded,
        provider_call_id=call.provider_call_id,
        provider=reply.provider,
        model=reply.model,
        idempotency_key=terms.idempotency_key,
        repair_of=repaired.call_id if repaired else None,
        repairs=repaired.repairs + 1 if repaired else 0,
        redacted=masked,
    )
    return Item(work.proposal, work.stub, actor="model")


def _repaired(core: Core, name: str) -> Call | None:
    """
    Return the call that this one tries to repair: the tool's last one, where a gate or the tool refused it.

    Under whichever of its names: a tool that is called otherwise now gives no model more tries.
    """
    history, names = core.history, core.wiring.registry.all_names(name)
    last = (history.calls[history.last_of[each]] for each in names if each in history.last_of)
    call = max(last, key=lambda call: (call.turn, call.index, call.revision), default=None)
    refused = call is not None and call.state in ("rejected", "failed") and call.model_can_repair
    return call if refused else None


def _settled_early(core: Core, works: Sequence[Work]) -> list[Item]:
    """Return the ends that the pure gates and the guard against repeats found."""
    items: list[Item] = []
    for work in works:
        compare(core, work, repeated)
        if work.refusal is not None:
            work.bodies.append(work.refusal)
        items += work.items()
    return items


def compare(core: Core, work: Work, guard: Callable[[Core, Work], list[Body]]) -> None:
    """Let a guard against repeats look at a new call that the pure gates let through, or that its stage stops."""
    if work.refusal is None or work.refusal.code == RETIRED:
        work.bodies += guard(core, work)
    if work.bodies:
        work.refusal = None  # a copy of what may have happened is not sent on to another tool


def _beyond_budget(core: Core, turn: Body, works: Sequence[Work]) -> list[Item]:
    """Deny what the gates have not refused where the session's limits are reached, this turn counted: no code runs."""
    now = core.wiring.clock.now()
    reached = core.budget.reached(core.history, now, turn) if isinstance(turn, TurnRecorded) else None
    if reached is None:
        return []
    core.budget.over = reached
    left = [work for work in works if work.refusal is None and not work.bodies]
    for work in left:
        work.bodies.append(reached.denied())
    return [item for work in left for item in work.items()]


def _gates(works: Sequence[Work], runner: Runner) -> Steps[None]:
    for work in works:
        yield from pass_gates(runner.core, work)
        runner.pending += work.items()
    runnable = [work for work in works if work.authorized]
    for work in runnable:
        work.keys = yield from resource_keys(work)


def _runnable(runner: Runner, works: Sequence[Work], terms: Terms) -> list[Work]:
    refused = any(isinstance(body, CallRejected | CallDenied) for work in works for body in work.bodies)
    runnable = [work for work in works if work.authorized]
    if terms.on_rejection == "run_none" and refused:
        asked = [work for work in works if work.bodies and isinstance(work.bodies[-1], CallApprovalRequested)]
        runner.pending += [Item(cancelled(WITHHELD), work.stub) for work in (*runnable, *asked)]
        return []
    if len(runnable) > 1:
        members = [Member(work.stub.index, work.stub.side_effecting, work.keys) for work in runnable]
        plan = planned(members, workers=runner.core.wiring.workers)
        runner.pending.append(Item(plan, turn=works[0].stub.turn))
    return runnable


def _fill_again(work: Work, call: Call, tool: Tool) -> None:
    """Fill in the defaults of a call that has not run; what then does not fit stops at a gate, or where it starts."""
    version = tool.version
    another = (version.version, version.shape_digest) != (call.schema_version, call.schema_digest)
    if another or call.redacted:  # of another form, or masked: no schema says anything of that
        work.to_run = to_run(version, call.to_run)
        return
    filled = fill(version, tool.validator, call.to_run)
    if isinstance(filled, CallRejected):
        work.refusal = filled
    else:
        work.to_run = filled


def rebuilt(core: Core, call: Call, tool: Tool | None) -> Work:
    """Return the work of a recorded call, to go on with it after a crash or a verdict."""
    work = Work(stub=call, tool=tool, version=tool.version if tool else None)
    work.intent = work.recorded = call.arguments
    never_started = call.executed is None or call.attempt == 0  # what an upcast made of them has no defaults yet
    work.to_run = call.to_run
    if tool is not None and never_started and isinstance(call.to_run, dict):
        _fill_again(work, call, tool)
    work.digest = digest(work.to_run)
    true = core.secrets.truths.get(call.call_id)
    if true is not None:
        work.intent, work.to_run, work.secrets = true.intent, true.to_run, NO_TEXT
        work.recorded_run = shown(core, work, true.to_run)[0]
        work.digest = digest_of(core, work.to_run, masked=True)
    return work
