"""What a waiting call asks of a person, in one sentence, and which answers there are."""

from __future__ import annotations

from typing import Final, TypeAlias

from ledger.calls import CHANGES, Call
from ledger.events.call_bodies import FlagReason

Answers: TypeAlias = tuple[str, ...]

_OF_FLAGS: Final[dict[FlagReason, str]] = {
    "outcome-unknown": "It was started and no outcome is recorded: it may have happened, or not.",
    "attempts-exhausted": "It was started {attempts} and nobody knows whether one of them had its effect.",
    "not-started": "It never started, so nothing happened: shall it run?",
    "schema-changed": "It never started, and its tool has changed since: does it still mean what was asked?",
    "tool-retired": "It never started, and its tool is retired: it will not run as it is.",
    "approval-mismatch": "It never started: what was allowed does not hold any more.",
    "duplicate": "It asks for the same as call {original}, whose end was not known then; that one's end settles both.",
}

_MAY_REPEAT: Final = (
    "It never started: call {original}, of version {version}, may have done the same, and nothing says how the two"
    " versions compare. Settle that one first; shall this one run beside it?"
)

_OTHER_KEY: Final = (
    "It never started: call {original} asks for the same under another key of the host ({key}), and may have been done."
    " Abandon this one if it is the same once more; shall it run?"
)


def expired(call: Call, now: str | None) -> bool:
    """Whether the time in which an approval could be given, or used, is over at `now` (ISO 8601 UTC)."""
    until = call.approval.expires_at if call.approval is not None else None
    return until is not None and now is not None and until <= now


def question(call: Call, now: str | None = None) -> str | None:
    """
    Return the question that a call puts to a person; None where it does not wait for one.

    `now` is ISO 8601 UTC: an approval that nobody can give any more is told as such.
    """
    if call.state == "awaiting-approval":
        asked = f" They are asked: {call.approval.message}" if call.approval and call.approval.message else ""
        if expired(call, now):
            return f"The time to approve it is over; it has not run, and nobody can approve it any more.{asked}"
        return f"It has passed every check and waits for a person's approval; it has not run.{asked}"
    if call.state != "needs-review" or call.reason is None:
        return None
    return _doubt(call, call.reason)


def _doubt(call: Call, reason: FlagReason) -> str:
    if reason == "approval-mismatch" and call.never_ran and expired(call, call.waiting_since):
        return "It never started: the time in which it was, or could be, approved is over."
    if reason == "approval-mismatch" and not call.never_ran:
        return "What was allowed does not hold any more, and an earlier attempt may have had its effect."
    if reason == "outcome-unknown" and call.late is not None:
        return f"It was started and nobody waited for its end; {_late(call)}"
    evidence = call.flag.evidence if call.flag else None
    if reason == "not-started" and isinstance(evidence, dict) and "mayRepeat" in evidence:
        key, version = evidence.get("hostKey"), evidence.get("version")
        return (_OTHER_KEY if key else _MAY_REPEAT).format(original=evidence["mayRepeat"], version=version, key=key)
    attempts = "once" if call.attempt == 1 else f"{call.attempt} times"
    original = call.flag.duplicate_of if call.flag else None
    return _OF_FLAGS[reason].format(attempts=attempts, original=original)


def _late(call: Call) -> str:
    ended = call.late.ended if call.late else ""
    return f"an outcome arrived late ({ended}), when another owner had the session already: is it true?"


def answers(call: Call, now: str | None = None) -> Answers:
    """
    Return the answers that the call's state allows, as options of `review resolve`, or names of other commands.

    `now` is ISO 8601 UTC: what expired by then is not approved any more.
    """
    if call.state == "awaiting-approval":
        return ("deny", "--arguments") if expired(call, now) else ("approve", "deny", "--arguments")
    if call.state != "needs-review" or call.reason == "duplicate":
        return ()
    if not call.never_ran:
        again = () if call.reason in CHANGES or call.imported else ("--did-not-happen --run",)
        return ("--happened", "--did-not-happen", *again, "--did-not-happen --arguments", "--abandon")
    run = () if call.reason in CHANGES else ("--run",)
    return (*run, "--abandon", "--arguments")
