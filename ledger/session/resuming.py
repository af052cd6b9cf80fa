"""Acts on what recovery decides for each open call; then the normal loop goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ledger.calls import Call
from ledger.catalog import Tool, ToolDefinition, ToolVersion
from ledger.errors import WrongSequence
from ledger.events import Body, CallDenied, CallFailed, CallFlagged, CallRejected, SessionResumed
from ledger.execution.outcome import Unknown
from ledger.execution.requests import Steps
from ledger.gates import lookup
from ledger.recovery import Decision, Here, decide
from ledger.session.carrying import UPCASTABLE, Carrying, carry
from ledger.session.copies import settle_stranded
from ledger.session.core import Core, Item
from ledger.session.doubt import Settler
from ledger.session.endings import cancelled
from ledger.session.gating import PURE_GATES, pass_gates, passed, resource_keys, to_pass
from ledger.session.intake import rebuilt
from ledger.session.repeats import repeated_since
from ledger.session.running import Runner
from ledger.session.withholding import WITHHELD, may_be_withheld, withheld
from ledger.session.work import Work, definition_of, examine, instead, situation


@dataclass(slots=True)
class Recovered:
    """What a resume did: the decisions, and how many calls wait for code that this process lacks."""

    decisions: list[dict[str, object]] = field(default_factory=list)
    needs_code: list[Call] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Decided:
    """A call with what was decided about it, and what its upcasts made of it before that."""

    work: Work
    decision: Decision
    carrying: Carrying

    def to_wire(self) -> dict[str, object]:
        """Return it as `session.resumed` records it."""
        call, decision = self.work.stub, self.decision
        told: dict[str, object] = {
            "callId": call.call_id,
            "tool": call.tool,
            "found": call.state,
            "action": decision.action,
        }
        extra = {
            "flag": decision.flag,
            "code": decision.code,
            "upcastTo": call.schema_version if self.carrying.items else None,
        }
        return told | {key: value for key, value in extra.items() if value} | {"reason": decision.why}


def resume(core: Core, *, dry_run: bool = False, execute: bool = True) -> Steps[Recovered]:
    """
    Decide about every open call and act; nothing to decide changes nothing (0 events, 0 executions).

    `execute` False leaves what would run (a resume without user code), and so does a ledger that stops; `dry_run` only
    decides.
    """
    while True:
        try:
            return (yield from _resume(core, dry_run=dry_run, execute=execute and not core.wiring.stopping))
        except WrongSequence:
            continue  # somebody else recorded something first: decide again


def _resume(core: Core, *, dry_run: bool, execute: bool) -> Steps[Recovered]:
    found = Recovered()
    if not dry_run:
        yield from settle_stranded(core)
    if core.history.closed is not None:
        return found
    runner = Runner(core)
    ready: list[Work] = []
    decided: list[Decided] = []
    for one in _all_decided(core, execute=execute):
        if one.decision.action == "needs-code":
            found.needs_code.append(core.history.calls[one.work.call_id])
        if one.decision.action not in ("stay", "needs-code"):
            decided.append(one)
            found.decisions.append(one.to_wire())
    if dry_run or not found.decisions:
        return found
    runner.pending = [Item(SessionResumed(decisions=tuple(found.decisions)))]
    repeats = [each for each in decided if each.work.bodies]
    for each in repeats:
        runner.pending += [*each.carrying.items, *each.work.items()]
    # The host's code runs under the lease, and the end of an original finds its copies recorded.
    if repeats or any(each.decision.action == "reconcile" for each in decided):
        resumed, runner.pending = runner.pending, []
        yield from core.commit(resumed)
    left = [each for each in decided if not each.work.bodies]
    kept = [each for each in left if each.decision.action == "flag" and may_be_withheld(core, each.work.stub)]
    for each in (each for each in left if each not in kept):
        runner.pending += each.carrying.items
        runner.pending += yield from _act(core, each, ready)
    yield from _go_on(core, runner, ready, kept)
    return found


def _all_decided(core: Core, *, execute: bool) -> list[Decided]:
    """Return what becomes of each open call; where a sibling is refused, its turn's host may want that none runs."""
    calls = [call for call in core.history.open_calls() if call.executor != "provider"]
    found = [_decided(core, call, execute=execute) for call in calls]
    refused = {one.work.call_id for one in found if one.decision.action == "reject"}
    none = Decision(action="fail", code="cancelled", why="another call of its turn was refused, so none was to run")
    return [
        replace(one, decision=none)
        if one.work.call_id not in refused and not one.work.bodies and withheld(core, one.work.stub, refused)
        else one
        for one in found
    ]


def _decided(core: Core, recorded: Call, *, execute: bool) -> Decided:
    """Return what becomes of a call, carried to the version that is known here where that is proved."""
    carrying = carry(core, recorded) if recorded.state in UPCASTABLE else Carrying(recorded)
    call = carrying.call
    decision = decide(call, here(core, call, execute=execute))
    work = rebuilt(core, call, tool_of(core, call))
    if decision.action == "gate":
        decision = _pure_gates(core, work, decision)
    elif decision.action == "run" and work.digest != call.arguments_digest:
        why = "the arguments that would run are not those that were approved"
        decision = Decision(action="flag", flag="approval-mismatch", why=why)
    return Decided(work, decision, carrying)


def here(core: Core, call: Call, *, execute: bool = True) -> Here:
    """
    Return what this process knows of the call's tool.

    Of a version that is newer than it knows, it has no code; nor of a published one where it runs a draft.
    """
    registry = core.wiring.registry
    tool, definition = tool_of(core, call), definition_of(core, call)
    version = tool.version if tool is not None else registry.version(registry.home(call.tool))
    others = version is not None and (_is_newer(call, version, definition) or _is_draft(core, call, version))
    code = tool is not None and execute and not others
    return Here(
        has_code=code,
        reconciles=code and tool is not None and tool.reconcile is not None,
        stage=definition.stage if definition else None,
        changed=version is not None and not others and _is_another(call, version),
        run_not_started=core.wiring.run_not_started and not _lost(core, call),
        lost=_lost(core, call),
        recarried=not call.attempt and not registry.upcasts.stand(registry.home(call.tool), call.unseen_upcasts),
        contradicted=_contradicted(core, call),
        max_attempts=core.wiring.max_attempts,
        now=core.wiring.clock.stamp(),
    )


def _contradicted(core: Core, call: Call) -> bool:
    """Whether what a person replaced by this call came to an outcome after all, and nobody has judged that yet."""
    turn = core.history.turn(call.turn) if call.revision and call.review is None else None
    before = turn.slots[call.index][:-1] if turn is not None else []
    return any(core.history.calls[each].late is not None for each in before[-1:])


def _is_another(call: Call, version: ToolVersion) -> bool:
    return version.version != call.schema_version or version.shape_digest != call.schema_digest


def _is_newer(call: Call, version: ToolVersion, definition: ToolDefinition | None) -> bool:
    """Whether a newer release recorded the call, while this one still runs: that one is to go on with it."""
    recorded = call.schema_version or 0
    return recorded > version.version and (definition is None or recorded not in definition.versions)


def _is_draft(core: Core, call: Call, version: ToolVersion) -> bool:
    """Whether this process runs a version that is not published yet, and the call is of another one."""
    return version.version != call.schema_version and core.wiring.registry.upcasts.is_draft(
        version.tool, version.version
    )


def hindrance(core: Core, call: Call, work: Work) -> Body | None:
    """
    Return why a call that has not started cannot be taken on as it is: a person is asked then; None: nothing.

    Recovery's table decides; only that nobody started it yet is no reason here: the host is about to. What its turn's
    host wants withheld ends.
    """
    if withheld(core, call, ()):
        return cancelled(WITHHELD)
    decision = decide(call, here(core, call))
    if decision.action == "reject":
        return _retired(core, call)
    reason = decision.flag if decision.action == "flag" else decision.otherwise
    if _lost(core, call):
        reason = "not-started"
    elif reason == "not-started":
        reason = None
    if reason is None and call.state != "proposed" and work.digest != call.arguments_digest:
        reason = "approval-mismatch"
    if reason is None:
        return None
    return CallFlagged(reason=reason, evidence={"found": call.state, "why": decision.why} | _renamed(core, call))


def _renamed(core: Core, call: Call) -> dict[str, object]:
    """Return the name that the call's tool has now, where it is another one: who looks for it needs both."""
    name = core.wiring.registry.home(call.tool)
    return {} if name == call.tool else {"renamedTo": name}


def tool_of(core: Core, call: Call) -> Tool | None:
    """Return the tool that runs a recorded call: of its recorded version, where that one is still registered."""
    registry = core.wiring.registry
    name = registry.home(call.tool)
    return registry.get(name, call.schema_version) or registry.get(name)


def _lost(core: Core, call: Call) -> bool:
    """Whether the true arguments were redacted before disk and died with the process that had them."""
    return call.redacted and call.call_id not in core.secrets.truths


def _pure_gates(core: Core, work: Work, decision: Decision) -> Decision:
    """What the pure gates reject is not flagged."""
    call = work.stub
    version = work.version  # of another one its arguments need not fit the schema
    another = version is not None and call.schema_version is not None and _is_another(call, version)
    if call.state == "proposed" and not (another or decision.otherwise == "schema-changed" or call.redacted):
        check_again(core, work)
    if work.refusal is not None:
        return Decision(action="reject", why=f"the {work.refusal.gate} gate refuses it", code=work.refusal.code)
    if call.state == "proposed" and decision.otherwise in (None, "not-started"):
        # Proposed step by step: nobody has looked yet whether it repeats a call that is in doubt.
        work.bodies = repeated_since(core, work)
        for body in work.bodies:
            if isinstance(body, CallFlagged):
                why = "it repeats, or may repeat, an earlier call whose end was not known"
                return Decision(action="flag", flag=body.reason, why=why)
    if decision.otherwise is not None:
        return Decision(action="flag", flag=decision.otherwise, why=decision.why)
    return decision


def check_again(core: Core, work: Work) -> None:
    """Take a recorded call through the pure gates again, under the version that its arguments have."""
    call = work.stub
    known = work.tool is not None or definition_of(core, call) is not None
    seen = replace(situation(core, call, known=known), stage="active" if known else None)
    if not known and call.schema_version is not None:
        return
    raw = call.raw_arguments if call.executed is None else None  # what an upcast made of them is no text any more
    true = core.secrets.truths.get(call.call_id)
    examine(core, work, raw, call.to_run if true is None else true.intent, seen)
    if call.executed is not None:
        work.intent = work.recorded = call.arguments


def _act(core: Core, decided: Decided, ready: list[Work]) -> Steps[list[Item]]:
    """Return the events that follow at once; what shall run is put into `ready`."""
    work, decision = decided.work, decided.decision
    call = work.stub
    if decision.action == "reconcile":
        return (yield from _reconcile(core, work, ready))
    if decision.action in ("run", "run-again", "gate"):
        ready.append(work)
        return []
    if decision.action == "reject" and work.refusal is None:
        work.refusal = _retired(core, call)
    items = [Item(_end(core, decided), call)]
    known = work.tool is not None and work.to_run is not None and not _is_another(call, work.tool.version)
    if decision.action == "flag" and call.state == "proposed" and known:
        # so that a verdict is bound to the arguments that would run; those of another version would not
        items.insert(0, Item(passed(work, PURE_GATES), call))
    return items


def _end(core: Core, decided: Decided) -> Body:
    work, decision = decided.work, decided.decision
    call = work.stub
    if decision.action == "flag":
        evidence = evidence_of(core, call, decision) | decided.carrying.evidence
        return CallFlagged(reason=decision.flag or "outcome-unknown", evidence=evidence)
    if decision.action == "fail":
        return CallFailed(
            code=decision.code or "tool_error",
            error_class="environment",
            message=f"The call was interrupted and was not run again: {decision.why}.",
            not_started=call.attempt == 0,
            evidence={"why": decision.why},
            **(instead(core, call) if decision.code == "tool_retired" else {}),
        )
    if work.refusal is None:  # pragma: no cover - a rejection brings its refusal
        raise TypeError(decision)
    return work.refusal


def _retired(core: Core, call: Call) -> CallRejected | None:
    return lookup(call.tool, situation(core, call, known=True))


def evidence_of(core: Core, call: Call, decision: Decision) -> dict[str, object]:
    """Return what is known of a call that is flagged, for the person who is asked."""
    known: dict[str, object] = {"found": call.state, "why": decision.why} | _renamed(core, call)
    if call.attempt:
        known |= {"worker": call.worker, "startedAt": call.started_at, "attempt": call.attempt}
    if call.redacted:
        known["redacted"] = "sensitive arguments were redacted before disk: the call can never run again"
    return known


def _reconcile(core: Core, work: Work, ready: list[Work]) -> Steps[list[Item]]:
    call = work.stub
    doubt = Unknown({"worker": call.worker, "startedAt": call.started_at, "attempt": call.attempt})
    again, body = yield from Settler(core, work, None).settle(call, doubt, may_ask=True)
    if again:
        ready.append(work)
    return [Item(body, call)] if body is not None else []


def _go_on(core: Core, runner: Runner, ready: list[Work], kept: list[Decided]) -> Steps[None]:
    """
    Take what may run through the gates it has not passed yet, and run it.

    `kept`: a person is asked about these only where the gates refuse none of their turn.
    """
    run: list[Work] = []
    gated = [work for work in ready if to_pass(work.stub)]
    if gated:
        items, runner.pending = runner.pending, []
        yield from core.commit(items)
    for work in ready:
        if work in gated:
            yield from pass_gates(core, work)
            runner.pending += work.items()
        else:
            work.authorized = True
    refused = _withhold(core, runner, gated)
    for each in kept:
        if withheld(core, each.work.stub, refused):
            runner.pending.append(Item(cancelled(WITHHELD), core.history.calls[each.work.call_id]))
        else:
            runner.pending += [*each.carrying.items, *(yield from _act(core, each, ready))]
    for work in ready:
        if work.authorized:
            work.keys = yield from resource_keys(work)
            run.append(work)
    yield from runner.run(run)


def _withhold(core: Core, runner: Runner, gated: list[Work]) -> set[str]:
    """End what shall not run, nor be asked about, since a gate has refused another call of its turn; return those."""
    stopped = (CallRejected, CallDenied)
    refused = {work.call_id for work in gated if any(isinstance(body, stopped) for body in work.bodies)}
    for work in gated:
        if work.call_id not in refused and withheld(core, work.stub, refused):
            work.authorized = False
            runner.pending.append(Item(cancelled(WITHHELD), work.stub))
    return refused
