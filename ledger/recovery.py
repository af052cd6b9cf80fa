"""Decides what becomes of each open call found after a crash; it decides only, the session acts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ledger.calls import Call
from ledger.catalog import Stage
from ledger.counting import counted
from ledger.events.call_bodies import FlagReason

Action: TypeAlias = Literal["stay", "gate", "run", "run-again", "reconcile", "flag", "fail", "reject", "needs-code"]

MAX_ATTEMPTS = 3
"""Starts of one call, the first one included."""

_RECARRIED = "the upcast that carried it is not published here as it was then, so nobody knows what it would run with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """
    What this process knows of the call's tool, and what the ledger's owner allows.

    `changed`: the tool's version or shape is another than the recorded one. `run_not_started`: side-effecting calls
    that surely never ran may run without asking a person. `lost`: the true arguments were redacted before disk and died
    with their process. `recarried`: a file that carried it, since a person last spoke, is not published here as it was
    then. `contradicted`: an outcome of the call that it replaces arrived after a person had put it there.
    `now` is ISO 8601 UTC.
    """

    has_code: bool
    reconciles: bool = False
    stage: Stage | None = None
    changed: bool = False
    run_not_started: bool = False
    lost: bool = False
    recarried: bool = False
    contradicted: bool = False
    max_attempts: int = MAX_ATTEMPTS
    now: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """
    What to do with one call, and why in words.

    "gate" goes through the gates again and on; "run" starts what is authorized; "run-again" starts once more with the
    same idempotency key. `otherwise` of "gate" is what follows for a call that passes the pure gates.
    """

    action: Action
    why: str
    flag: FlagReason | None = None
    code: str | None = None
    otherwise: FlagReason | None = None


def decide(call: Call, here: Here) -> Decision:
    """
    Say what becomes of a call that is not terminal; the state decides first.

    Effect, recovery policy and idempotency are those recorded with the proposal: they are facts of then.
    """
    match call.state:
        case "awaiting-approval":
            return _awaiting(call, here)
        case "needs-review":
            return Decision(action="stay", why="a person is asked")
        case "started":
            return _started_read(call, here) if not call.side_effecting else _started_write(call, here)
        case "authorized" if call.approval is not None and call.approval.by != "policy":
            return _allowed_by_a_person(call, here)
        case _:
            return _never_ran(call, here)


def _awaiting(call: Call, here: Here) -> Decision:
    if _expired(call, here):
        return _flag("approval-mismatch", "the request for approval expired")
    return Decision(action="stay", why="a person is asked")


def _expired(call: Call, here: Here) -> bool:
    approval = call.approval
    return approval is not None and approval.expires_at is not None and approval.expires_at <= here.now


def _flag(reason: FlagReason, why: str) -> Decision:
    return Decision(action="flag", flag=reason, why=why)


def _needs_code(why: str) -> Decision:
    return Decision(action="needs-code", why=f"{why}; this process has no code for the tool")


def _lost_read(call: Call) -> Decision:
    why = "its sensitive arguments were redacted before disk" + ("" if call.attempt else "; it never started")
    return Decision(action="fail", code="arguments_lost", why=why)


def _started_read(call: Call, here: Here) -> Decision:
    if here.stage == "removed":
        return Decision(action="fail", code="tool_retired", why="a read of a removed tool")
    if here.lost:
        return _lost_read(call)
    if call.attempt >= here.max_attempts:
        why = f"a read, started {counted(call.attempt, 'time')}"
        return Decision(action="fail", code="attempts_exhausted", why=why)
    if not here.has_code:
        return _needs_code("a read may run again")
    if here.changed:
        return _flag("schema-changed", "the tool's schema is another than the recorded one")
    return Decision(action="run-again", why="a read may run again")


def _started_write(call: Call, here: Here) -> Decision:
    retries = call.recovery == "retry" and (call.supports_idempotency or call.attempt_failed)
    if here.lost:
        return _flag("outcome-unknown", "started, no outcome is recorded, and its arguments were redacted before disk")
    if here.reconciles and not here.changed and not call.attempt_failed:
        return Decision(action="reconcile", why="the tool can say whether it happened")
    if call.reconciles and not here.has_code and here.stage != "removed":
        return _needs_code("the tool can say whether it happened")
    if not retries:
        return _flag("outcome-unknown", "started, and no outcome is recorded")
    return run_again(call, here)


def run_again(call: Call, here: Here) -> Decision:
    """Decide for a side-effecting call that its author lets run again (`recovery: retry`)."""
    if call.attempt >= here.max_attempts:
        if call.never_ran:
            return Decision(action="fail", code="unavailable", why="every attempt was refused")
        return _flag("attempts-exhausted", f"started {counted(call.attempt, 'time')} without an outcome")
    if here.stage in ("compat", "removed"):
        return _flag("outcome-unknown", f"started without an outcome, and the tool is in stage {here.stage}")
    if not here.has_code:
        return _needs_code("the tool may run again")
    if here.changed:
        return _flag("outcome-unknown", "started without an outcome, and the tool has changed since")
    return Decision(action="run-again", why="the tool's author lets it run again with the same idempotency key")


def _allowed_by_a_person(call: Call, here: Here) -> Decision:
    approval = call.approval
    if call.contradicted:
        return _flag("outcome-unknown", "an outcome arrived after a person had said that it shall run")
    if here.contradicted:
        return _flag("approval-mismatch", "an outcome of the call that it replaces arrived after a person's word")
    if _expired(call, here):
        return _flag("approval-mismatch", "the approval expired")
    if approval is not None and approval.arguments_digest != call.arguments_digest:
        carried = "it was carried to a version that the answer does not hold for"
        why = "the arguments are not those that were approved" if approval.arguments_digest else carried
        return _flag("approval-mismatch", why)
    if call.side_effecting and here.stage in ("compat", "removed"):
        return _flag("tool-retired", f"the tool is in stage {here.stage}")
    if not call.side_effecting and here.stage == "removed":
        return _removed_read()
    if here.lost and not call.side_effecting:
        return _lost_read(call)
    if here.lost:
        return _flag("not-started", "its sensitive arguments were redacted before disk")
    if not here.has_code:
        return _needs_code("a person said that it shall run")
    if here.recarried:
        return _flag("approval-mismatch", _RECARRIED)
    if here.changed:
        return _flag("schema-changed", "the tool's schema is another than the approved one")
    return Decision(action="run", why="a person said that it shall run")


def _removed_read() -> Decision:
    return Decision(action="reject", code="tool_retired", why="a read of a removed tool")


def _never_ran(call: Call, here: Here) -> Decision:
    if call.schema_version is None:  # nobody knew the tool; should it be known now, that is no leave to run it
        return Decision(action="gate", why="nobody knew the tool when it was asked for", otherwise="not-started")
    if here.stage == "removed" and not call.side_effecting:
        return _removed_read()
    if here.lost and not call.side_effecting:
        return _lost_read(call)
    reason: FlagReason | None = None
    if call.side_effecting and here.stage in ("compat", "removed"):
        reason = "tool-retired"
    elif here.changed:
        reason = "schema-changed"
    elif here.recarried and here.has_code:
        return Decision(action="gate", why=_RECARRIED, otherwise="schema-changed")
    elif call.side_effecting and not here.run_not_started:
        reason = "not-started"
    if reason is not None:
        why = "it surely never ran; what the gates let through is asked of a person"
        return Decision(action="gate", why=why, otherwise=reason)
    if not here.has_code:
        return _needs_code("it never started and may run")
    return Decision(action="gate", why="it never started")
