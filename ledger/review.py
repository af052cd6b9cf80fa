"""A person's answer: which verdict may follow which doubt, and the event that records it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ledger.calls import CHANGES, TERMINAL, Call
from ledger.errors import VerdictRefused
from ledger.events import Body, CallAuthorized, CallDenied, CallReviewed
from ledger.events.call_bodies import Verdict

_UNCERTAIN = ("outcome-unknown", "attempts-exhausted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """
    Who answers: `by` is a claim unless the host `verified` it; the OS user and the host stand beside it.

    `evidence` are file digests or URLs.
    """

    by: str
    verified: bool = False
    os_user: str | None = None
    host: str | None = None
    note: str | None = None
    evidence: tuple[Any, ...] = field(default=())


def approve(call: Call, reviewer: Reviewer, *, expected: str | None, now: str) -> CallAuthorized:
    """
    Return the approval, bound to the arguments' digest, once.

    Raises `VerdictRefused` where nothing is asked, the request expired, somebody else was asked, or `expected` (the
    digest the person saw) is not that of the arguments that would run.
    """
    approval = call.approval
    if call.state != "awaiting-approval" or approval is None:
        raise _not_asked(call, "approval")
    if approval.expires_at is not None and approval.expires_at <= now:
        hint = "Deny it, or let a resume flag it and resolve it then."
        raise VerdictRefused(f"the request of call {call.call_id} expired at {approval.expires_at}", hint=hint)
    _asked(call, reviewer)
    _same_digest(call, expected)
    return allow(approval.arguments_digest, reviewer, expires_at=approval.expires_at)


def allow(arguments_digest: str, reviewer: Reviewer, *, expires_at: str | None = None) -> CallAuthorized:
    """Return a person's word that a call with exactly these arguments shall run, once."""
    return CallAuthorized(
        by="person",
        arguments_digest=arguments_digest,
        person=reviewer.by,
        verified=reviewer.verified,
        os_user=reviewer.os_user,
        host=reviewer.host,
        note=reviewer.note,
        evidence=reviewer.evidence,
        expires_at=expires_at,
    )


def deny(call: Call, reviewer: Reviewer) -> CallDenied:
    """Return the denial. Raises `VerdictRefused` where no approval is asked."""
    if call.state != "awaiting-approval":
        raise _not_asked(call, "approval")
    return CallDenied(
        code="denied_by_person",
        message="A person refused this call. It was not executed.",
        requires_user_action="Ask the person who refused it, if it is still needed.",
        by=reviewer.by,
        verified=reviewer.verified,
        os_user=reviewer.os_user,
        host=reviewer.host,
        note=reviewer.note,
        evidence=reviewer.evidence,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A verdict as given: `result` counts only with `result_given`; `run` belongs to did-not-happen."""

    verdict: Verdict
    result: Any = None
    result_given: bool = False
    run: bool = False
    expected: str | None = None


def resolve(call: Call, answer: Answer, reviewer: Reviewer, *, bound: str | None = None) -> CallReviewed:
    """
    Return the verdict's event; `bound`: the digest of what would run, where no gate has recorded one.

    Raises `VerdictRefused` where the call does not wait, is a copy (its original's end settles it), could have
    run and `run` alone is asked for, was imported or is the provider's and is to run, would run by the word of
    somebody whom its policy did not ask, or with arguments that nobody knows whole.
    """
    if call.state != "needs-review" or call.flag is None:
        raise _not_asked(call, "verdict")
    if call.flag.duplicate_of is not None:
        raise VerdictRefused(
            f"call {call.call_id} is a copy of {call.flag.duplicate_of}", hint="Resolve the original; it settles both."
        )
    _same_digest(call, answer.expected)
    runs = answer.verdict == "run" or answer.run
    if runs:
        _may_run(call, answer)
        _asked(call, reviewer)
        bound = call.arguments_digest or bound
        if bound is None:
            raise _unbound(call)
    result, known = answer.result, answer.result_given
    if answer.verdict == "happened" and not known and call.late is not None and call.late.ended == "succeeded":
        result, known = call.late.result, True
    return CallReviewed(
        verdict=answer.verdict,
        by=reviewer.by,
        run=answer.run,
        result=result if answer.verdict == "happened" else None,
        result_known=known and answer.verdict == "happened",
        verified=reviewer.verified,
        os_user=reviewer.os_user,
        host=reviewer.host,
        note=reviewer.note,
        evidence=reviewer.evidence,
        arguments_digest=bound if runs else None,
    )


def _may_run(call: Call, answer: Answer) -> None:
    if answer.run and answer.verdict != "did-not-happen":
        raise VerdictRefused("running again belongs to did-not-happen", hint="Say --did-not-happen --run.")
    _runs_here(call)
    if call.imported:
        hint = "Say --did-not-happen alone; with --arguments a new call of this ledger takes its place and runs."
        raise VerdictRefused(f"call {call.call_id} was imported: an imported call is never run", hint=hint)
    if answer.verdict == "run" and (not call.never_ran or call.reason in _UNCERTAIN):
        raise VerdictRefused(
            f"call {call.call_id} may have run already: running it could do it twice",
            hint="Find out first; then --happened, or --did-not-happen --run.",
        )
    if call.reason in CHANGES:
        hint = "Give --arguments that fit the tool as it is now, or --abandon."
        raise VerdictRefused(f"the tool of call {call.call_id} has changed since ({call.reason})", hint=hint)


def _unbound(call: Call) -> VerdictRefused:
    """Return why nobody can let the call run: what would run is not known here, and a word for it would never hold."""
    message, version = f"nobody knows here with which arguments call {call.call_id} would run", call.schema_version
    if call.redacted:
        hint = "Its sensitive arguments were redacted before disk: abandon it, and let the program make a new call."
    elif version is None:
        hint = "Nobody knew its tool when it was asked for. Give --arguments: a new call takes its place."
    else:
        hint = f"Say it in the program that has {call.tool} v{version}, or with --catalog and that version's files."
    return VerdictRefused(message, hint=hint)


def _runs_here(call: Call) -> None:
    """Check that the call is not the provider's: no program has its tool, so it could only wait for ever."""
    if call.executor == "provider":
        hint = "Say happened, did-not-happen or abandon; the model asks its provider again if it is still needed."
        raise VerdictRefused(f"call {call.call_id} is executed by the provider: nothing runs it here", hint=hint)


def _asked(call: Call, reviewer: Reviewer) -> None:
    """Check that a policy which named who may approve the call named this person: that does not lapse."""
    approval = call.approval
    if approval is not None and approval.who is not None and reviewer.by not in approval.who:
        hint = f"Only {', '.join(approval.who)} may let it run."
        raise VerdictRefused(f"{reviewer.by} was not asked to approve call {call.call_id}", hint=hint)


def may_supersede(call: Call, answer: Answer | None, reviewer: Reviewer) -> None:
    """
    Check that a new call with other arguments may take this one's place, by this person's word.

    In doubt only together with did-not-happen. Raises `VerdictRefused`.
    """
    if call.state not in ("needs-review", "awaiting-approval"):
        raise _not_asked(call, "answer")
    if call.flag is not None and call.flag.duplicate_of is not None:
        raise VerdictRefused(f"call {call.call_id} is a copy of {call.flag.duplicate_of}", hint="Resolve the original.")
    _runs_here(call)
    in_doubt = call.state == "needs-review" and not call.never_ran
    if in_doubt and (answer is None or answer.verdict != "did-not-happen"):
        hint = "Say --did-not-happen as well, once you know."
        raise VerdictRefused(f"call {call.call_id} may have run already", hint=hint)
    if answer is not None and answer.verdict in ("happened", "abandon"):  # the word would be lost, and the new call run
        hint = "Leave the arguments out; or leave that word out, and a new call takes its place."
        raise VerdictRefused(f"with {answer.verdict} nothing runs, also not with other arguments", hint=hint)
    _asked(call, reviewer)


def _same_digest(call: Call, expected: str | None) -> None:
    if expected is not None and expected != call.arguments_digest:
        raise VerdictRefused(
            f"the arguments of call {call.call_id} are not those you saw (digest {call.arguments_digest})",
            hint="Look at it again with `ledger review show`.",
        )


def _not_asked(call: Call, wanted: str) -> VerdictRefused:
    if call.review is not None:
        return VerdictRefused(
            f"call {call.call_id} was resolved already: {call.review.verdict}, by {call.review.by}",
            hint="A wrong verdict is corrected by a note and a new call.",
        )
    if call.approval is not None and call.approval.by == "person":
        return VerdictRefused(f"call {call.call_id} was approved already by {call.approval.person}; it is {call.state}")
    if call.superseded_by is not None:
        hint = f"Look at that one: `ledger review show {call.superseded_by}`."
        return VerdictRefused(f"call {call.call_id} was replaced already, by call {call.superseded_by}", hint=hint)
    if call.state in TERMINAL:
        return VerdictRefused(f"call {call.call_id} has ended: {call.state}")
    if call.state == "needs-review":
        hint = f"Give it one: `ledger review show {call.call_id}` names those that fit."
        return VerdictRefused(f"call {call.call_id} waits for a verdict; no {wanted} is asked", hint=hint)
    if call.state == "awaiting-approval":
        hint = f"Use `ledger review approve {call.call_id}` or `ledger review deny {call.call_id}`."
        return VerdictRefused(f"call {call.call_id} waits for an approval; no {wanted} is asked", hint=hint)
    return VerdictRefused(f"call {call.call_id} is {call.state}; no {wanted} is asked")


def is_to_run(event: Body) -> bool:
    """Whether a call is to run by this verdict."""
    return isinstance(event, CallAuthorized) or (
        isinstance(event, CallReviewed) and (event.run or event.verdict == "run")
    )


def next_step(event: Body) -> str:
    """Say in words what happens next after a verdict."""
    if is_to_run(event):
        return "It starts in its owner's loop, or at the next resume with the program's code."
    if isinstance(event, CallDenied):
        return "It will not run; the model is told that it was refused."
    return "It is settled; the conversation learns it with its next messages."
