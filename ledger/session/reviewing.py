"""The review queue and its verdicts: read the call, decide, append; no lease is needed."""

from __future__ import annotations

import getpass
import socket
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ledger.audit import find_call
from ledger.calls import Call
from ledger.catalog.violation import MAX_VIOLATIONS
from ledger.errors import UsageError, VerdictRefused
from ledger.events import (
    Body,
    CallDenied,
    CallNoted,
    CallRejected,
    CallSuperseded,
    SessionOpened,
)
from ledger.execution.requests import Steps, io
from ledger.gates import Situation
from ledger.history import History
from ledger.review import Answer, Reviewer, allow, approve, deny, is_to_run, may_supersede, next_step, resolve
from ledger.session.binding import bound
from ledger.session.border import text
from ledger.session.copies import settle_stranded
from ledger.session.core import Core, Item
from ledger.session.damaged import damaged
from ledger.session.gating import ALL_CHECKS, PURE_GATES, passed, stopped_anyway
from ledger.session.wiring import Wiring
from ledger.session.work import Work, examine, intent_of

_MOST_FAULTS: Final = 10
"""Faults of a person's arguments that a refusal names; the others are counted."""
_UNTOLD: Final = "It is recorded; no conversation is told, as not all of the call can be read."


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What was recorded, the call after it, and what happens next in words."""

    call: Call
    next: str


def reviewer(by: str | None, note: str | None, evidence: tuple[Any, ...], *, verified: bool) -> Reviewer:
    """Return who answers: `by` defaults to the OS user; user and host are recorded beside the claim."""
    user = os_user()
    return Reviewer(
        by=by or user, verified=verified, os_user=user, host=socket.gethostname(), note=note, evidence=evidence
    )


def os_user() -> str:
    """Return the OS user's name; a process may run under a number that has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def find(wiring: Wiring, reference: str) -> tuple[Core, Call]:
    """
    Return a call by its id, or by a unique head or tail of it, with its session.

    Raises `UnknownCall` where none or several fit, `IntegrityFailure` where it cannot be read how it stands.
    """
    row = find_call(wiring.store, text(reference, "a call"))
    core = Core(wiring, History(row.session_id), SessionOpened())
    core.load()
    call = core.history.calls.get(row.call_id)
    broken = row.call_id in core.history.broken  # what follows the event that cannot be read is not folded either
    if call is None or (broken and call.state != row.state):
        raise damaged(row.call_id, "nobody can say how it stands")
    return core, call


def approving(core: Core, call_id: str, who: Reviewer, *, expected: str | None) -> Steps[Verdicts]:
    """Record an approval. Raises `VerdictRefused`."""
    yield from core.refresh()
    body = approve(core.history.calls[call_id], who, expected=expected, now=core.wiring.clock.stamp())
    return (yield from _record(core, call_id, body, who))


def denying(core: Core, call_id: str, who: Reviewer) -> Steps[Verdicts]:
    """Record a person's denial. Raises `VerdictRefused`."""
    yield from core.refresh()
    return (yield from _record(core, call_id, deny(core.history.calls[call_id], who), who))


def resolving(core: Core, call_id: str, answer: Answer, who: Reviewer) -> Steps[Verdicts]:
    """Record a verdict; copies of the call are settled in the same commit. Raises `VerdictRefused`."""
    yield from core.refresh()
    yield from settle_stranded(core)
    call = core.history.calls[call_id]
    known = yield from io(partial(bound, core, call))
    body = resolve(core.history.calls[call_id], answer, who, bound=known)
    if core.history.closed is not None and (body.run or body.verdict == "run"):
        raise VerdictRefused(
            f"session {core.session_id!r} is closed: nothing of it runs any more",
            hint="Say what is known (happened, did-not-happen, abandon) and make a new call in a new session.",
        )
    return (yield from _record(core, call_id, body, who))


def noting(core: Core, call_id: str, text: str, who: Reviewer, *, corrects: str | None) -> Steps[Verdicts]:
    """Record a note on a call, in any state."""
    body = CallNoted(
        by=who.by,
        text=text,
        evidence=who.evidence,
        corrects=corrects,
        os_user=who.os_user,
        host=who.host,
        verified=who.verified,
    )
    return (yield from _record(core, call_id, body, who))


def superseding(core: Core, call_id: str, arguments: Any, answer: Answer | None, who: Reviewer) -> Steps[Verdicts]:
    """
    Record a new call with a person's arguments in this one's place, authorized by that person.

    Raises `VerdictRefused`, and `UsageError` where the arguments do not fit the tool as it is now or it is not known.
    """
    yield from core.refresh()
    yield from settle_stranded(core)
    old = core.history.calls[call_id]
    may_supersede(old, answer, who)
    work = _successor(core, old, arguments)
    gates = yield from _gates(core, work, who)
    body = CallSuperseded(
        superseded_by=work.call_id,
        by=who.by,
        did_not_happen=answer is not None and answer.verdict == "did-not-happen",
        os_user=who.os_user,
        host=who.host,
        note=who.note,
        evidence=who.evidence,
        verified=who.verified,
    )
    actor = f"person:{who.by}"
    allowed = allow(work.digest, who)
    intent = intent_of(
        core,
        work,
        arguments=work.intent,
        provider_call_id=old.provider_call_id,
        provider=old.provider,
        model=old.model,
        idempotency_key=old.host_key,  # it stands for what the host wants done, which is this call now
    )
    items = [Item(body, old, actor=actor, seen=old.sequence)]
    items += [Item(found, work.stub, actor=actor) for found in (intent, passed(work, gates), allowed)]
    refused = yield from core.commit(items, worker=False, whole=True)
    if refused:
        raise _meanwhile(core, call_id)
    return Verdicts(core.history.calls[work.call_id], next_step(allowed))


def _gates(core: Core, work: Work, who: Reviewer) -> Steps[tuple[str, ...]]:
    """
    Return the gates that a person's arguments passed here.

    Where the program's code is not here, its checks and policies have their say before the call starts. Raises
    `UsageError` where a check refuses the arguments, `VerdictRefused` where a policy does.
    """
    if work.tool is None:
        return PURE_GATES
    stopped = yield from stopped_anyway(core, work, who.by)
    if isinstance(stopped, CallRejected):
        raise UsageError(_why(stopped), hint="Correct the arguments.")
    if isinstance(stopped, CallDenied):
        raise VerdictRefused(f"policy {stopped.policy} refuses these arguments ({stopped.code})")
    if stopped is not None:
        raise VerdictRefused(f"{who.by} may not allow this: {stopped.evidence['why']}")
    return ALL_CHECKS


def _successor(core: Core, old: Call, arguments: Any) -> Work:
    registry = core.wiring.registry
    tool = registry.home(old.tool)
    version = registry.version(tool)
    if version is None:
        hint = "Give --catalog with the tool's files, or say it in the program that has the tool."
        raise UsageError(f"the schema of {old.tool} is not known here, so the arguments cannot be checked", hint=hint)
    stub = old.changed(
        call_id=core.wiring.clock.new_id(),
        state="unknown",
        revision=old.revision + 1,
        schema_version=version.version,
        schema_digest=version.shape_digest,
        effect=version.contract.effect,
        attempt=0,
    )
    work = Work(stub=stub, tool=registry.get(tool), version=version)
    seen = Situation(known=True, stage="active", side_effecting=stub.side_effecting, names=registry.names)
    examine(core, work, arguments if isinstance(arguments, str) else None, arguments, seen)
    if work.refusal is not None:
        raise UsageError(_why(work.refusal), hint="Correct the arguments.")
    if work.secrets:
        hint = "Let the program make a new call, and say what became of this one."
        raise UsageError("sensitive arguments are kept by nobody, so the new call could never run", hint=hint)
    return work


def _why(refusal: CallRejected) -> str:
    """Return every fault with its place, as the gate says it: whoever wrote the arguments puts all right at once."""
    said, found = refusal.message, refusal.violations
    if len(found) > 1:
        told = [f"{each['pointer'] or '/'}: {each['message']}" for each in found[:_MOST_FAULTS]]
        left = len(found) - len(told)
        least = "at least " if len(found) == MAX_VIOLATIONS else ""
        said = "; ".join([*told, *([f"and {least}{left} more"] if left else [])])
    return f"the arguments are refused at the {refusal.gate} gate: {said}"


def _record(core: Core, call_id: str, body: Body, who: Reviewer) -> Steps[Verdicts]:
    call = core.history.calls[call_id]
    broken = call_id in core.history.broken
    if broken and is_to_run(body):
        raise damaged(call_id, "it will never run")
    seen = None if isinstance(body, CallNoted) else call.sequence
    item = Item(body, call, actor=f"person:{who.by}", seen=seen)
    refused = yield from core.commit([item], worker=False)
    if refused:
        raise _meanwhile(core, call_id)
    after = core.history.calls[call_id]
    words = "Noted." if isinstance(body, CallNoted) else _UNTOLD if broken else next_step(body)
    return Verdicts(after, words)


def _meanwhile(core: Core, call_id: str) -> VerdictRefused:
    state = core.history.calls[call_id].state
    return VerdictRefused(f"call {call_id} changed meanwhile: it is {state}", hint="Look at it again.")
