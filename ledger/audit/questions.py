"""What a waiting call asks of a person, in one sentence, and which answers there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from ledger.audit.repeating import Repeated, may_repeat
from ledger.calls import CHANGES, TERMINAL, Call
from ledger.events.call_bodies import FlagReason

Answers: TypeAlias = tuple[str, ...]

_OF_FLAGS: Final[dict[FlagReason, str]] = {
    "outcome-unknown": "It was started and no outcome is recorded: it may have happened, or not.",
    "attempts-exhausted": "It was started {attempts} and nobody knows whether one of them had its effect.",
    "duplicate": "It asks for the same as call {original}, whose end was not known then; that one's end settles both.",
}

_WAITING: Final[dict[FlagReason, tuple[str, str]]] = {
    "not-started": (", so nothing happened: ", "shall it run?"),
    "schema-changed": (", and ", "its tool has changed since: does it still mean what was asked?"),
    "tool-retired": (", and ", "its tool is retired: it will not run as it is."),
    "approval-mismatch": (": ", "what was allowed does not hold any more."),
}
"""What stands between a call and its (next) start: how that follows where it never started, and the words."""

_MAY_REPEAT: Final = (
    "It never started: call {original}, of version {version}, may have done the same, and {compared}. {then}"
)
_FIRST: Final = "Settle that one first; shall this one run beside it?"
_ONCE_MORE: Final = "Abandon this one if it is the same once more; shall it run?"
_NO_COMPARISON: Final = "nothing says how the two versions compare"

_DAMAGED: Final = (
    "It never started: call {original} asks for the same, and not all of its record can be read (`ledger db check` says"
    " where). Nobody knows how that one stands, and no answer settles it; shall this one run beside it?"
)
_OTHER_KEY: Final = (
    "It never started: call {original} asks for the same under another key of the host ({key}), and may have been done."
    " {then}"
)


def expired(call: Call, now: str | None) -> bool:
    """Whether the time in which an approval could be given, or used, is over at `now` (ISO 8601 UTC)."""
    until = call.approval.expires_at if call.approval is not None else None
    return until is not None and now is not None and until <= now


def question(call: Call, now: str | None = None, repeated: Repeated | None = None) -> str | None:
    """
    Return the question that a call puts to a person; None where it does not wait for one.

    `now` is ISO 8601 UTC: an approval that nobody can give any more is told as such. `repeated`: the call that this one
    may repeat, as it stands now.
    """
    if call.state == "awaiting-approval":
        asked = f" They are asked: {call.approval.message}" if call.approval and call.approval.message else ""
        if expired(call, now):
            return f"The time to approve it is over; it has not run, and nobody can approve it any more.{asked}"
        return f"It has passed every check and waits for a person's approval; it has not run.{asked}"
    if call.state != "needs-review" or call.reason is None:
        return None
    evidence = may_repeat(call)
    return _doubt(call, call.reason) if evidence is None else _beside(evidence, repeated)


def _beside(evidence: Mapping[str, Any], repeated: Repeated | None) -> str:
    """Ask whether a call shall run beside the one that it may repeat."""
    key, original = evidence.get("hostKey"), evidence["mayRepeat"]
    compared = (repeated.compared if repeated is not None else None) or _NO_COMPARISON
    words = {"original": original, "version": evidence.get("version"), "key": key, "compared": compared}
    if evidence.get("damaged"):  # what can be read of it says too little of how it stands
        return _DAMAGED.format(original=original)
    unsettled = _ONCE_MORE if key else _FIRST
    return (_OTHER_KEY if key else _MAY_REPEAT).format(**words, then=_then(repeated) if repeated else unsettled)


def _then(repeated: Repeated) -> str:
    now = f"That one {repeated.standing}"
    if repeated.happened:
        return f"{now}. Running this one would do it once more."
    if repeated.last.state in TERMINAL:
        return f"{now}. Shall this one run?"
    return f"{now}: settle it first; shall this one run beside it?"


def _doubt(call: Call, reason: FlagReason) -> str:
    if reason in _WAITING:
        return _unstarted(call, *_WAITING[reason])
    if reason == "outcome-unknown" and call.late is not None:
        return f"It was started and nobody waited for its end; {_late(call)}"
    attempts = "once" if call.attempt == 1 else f"{call.attempt} times"
    original = call.flag.duplicate_of if call.flag else None
    return _OF_FLAGS[reason].format(attempts=attempts, original=original)


def _unstarted(call: Call, following: str, words: str) -> str:
    """Ask about a call that something keeps from its start, and say first what is known of earlier ones."""
    if call.reason == "approval-mismatch" and expired(call, call.waiting_since):
        words = "the time in which it was, or could be, approved is over."
    if not call.never_ran:
        return f"An earlier attempt may have had its effect; {words}"
    said = call.review is not None and call.review.verdict == "did-not-happen"
    if said and call.code is None:  # an attempt after that word would have left a code behind
        return f"A person said that it did not happen; it has not been sent again: {words}"
    if said or call.attempt:
        return f"Every attempt so far surely did nothing; it has not been sent again: {words}"
    return f"It never started{following}{words}"


def _late(call: Call) -> str:
    ended = call.late.ended if call.late else ""
    return f"an outcome arrived late ({ended}), when another owner had the session already: is it true?"


def answers(call: Call, now: str | None = None, *, closed: bool = False) -> Answers:
    """
    Return the answers that the call's state allows, as options of `review resolve`, or names of other commands.

    `now` is ISO 8601 UTC: what expired by then is not approved any more. Nothing of a `closed` session runs any more.
    """
    found = _answers(call, now)
    return tuple(each for each in found if not runs(each)) if closed else found


def runs(answer: str) -> bool:
    """Return whether an answer lets something run."""
    return answer == "approve" or answer.endswith(("--run", "--arguments"))


def _answers(call: Call, now: str | None) -> Answers:
    if call.state == "awaiting-approval":
        return ("deny", "--arguments") if expired(call, now) else ("approve", "deny", "--arguments")
    if call.state != "needs-review" or call.reason == "duplicate":
        return ()
    if call.executor == "provider":  # no program of ours has the tool, with these arguments or others
        return ("--happened", "--did-not-happen", "--abandon")
    if not call.never_ran:
        again = () if call.reason in CHANGES or call.imported else ("--did-not-happen --run",)
        return ("--happened", "--did-not-happen", *again, "--did-not-happen --arguments", "--abandon")
    run = () if call.reason in CHANGES else ("--run",)
    return (*run, "--abandon", "--arguments")
