"""What a waiting call asks, and which answers there are."""

from typing import Any, get_args

import pytest

from ledger.audit.questions import answers, question
from ledger.calls import Approval, Call
from ledger.events import CallFlagged, CallOutcomeArrivedLate, CallReviewed
from ledger.events.call_bodies import FlagReason


def flagged(reason: FlagReason, **fields: Any) -> Call:
    flag = CallFlagged(reason=reason, duplicate_of="c-1" if reason == "duplicate" else None)
    return Call(state="needs-review", reason=reason, flag=flag, **fields)


@pytest.mark.parametrize("reason", get_args(FlagReason))
def test_every_flag_is_a_question(reason: FlagReason) -> None:
    """Each reason is told in one sentence that leaves no hole open."""
    told = question(flagged(reason, attempt=2))
    assert told
    assert "{" not in told


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (flagged("outcome-unknown", attempt=1), "It was started and no outcome is recorded: it may have happened, or"),
        (flagged("attempts-exhausted", attempt=1), "It was started once and"),
        (flagged("attempts-exhausted", attempt=3), "It was started 3 times and"),
        (flagged("approval-mismatch"), "It never started: what was allowed"),
        (flagged("approval-mismatch", attempt=1), "An earlier attempt may have had its effect"),
        (flagged("duplicate"), "as call c-1,"),
        (
            flagged("outcome-unknown", attempt=1, late=CallOutcomeArrivedLate(ended="failed", token=1)),
            "an outcome arrived late (failed)",
        ),
    ],
)
def test_the_question_says_what_is_not_known(call: Call, words: str) -> None:
    """The sentence names the doubt, and what makes it smaller."""
    assert words in (question(call) or "")


NO = CallReviewed(verdict="did-not-happen", by="ada", run=True)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "It never started, and its tool has changed since: does it"),
        (
            {"attempt": 1, "attempt_failed": True, "review": NO},
            "A person said that it did not happen; it has not been sent again: its tool has changed since: does it",
        ),
        (
            {"attempt": 2, "attempt_failed": True, "review": NO, "code": "tool_unavailable"},
            "Every attempt so far surely did nothing; it has not been sent again: its tool has changed since",
        ),
        ({"attempt": 1, "attempt_failed": True}, "Every attempt so far surely did nothing; it has not been sent again"),
        ({"attempt": 1}, "An earlier attempt may have had its effect; its tool has changed since: does it"),
    ],
)
def test_what_is_known_of_earlier_attempts_comes_first(fields: dict[str, Any], words: str) -> None:
    """Only what was never started is said to have never started."""
    assert str(question(flagged("schema-changed", **fields))).startswith(words)


def test_an_approval_is_a_question() -> None:
    """What waits for approval says that it has not run, and what the policy asks."""
    asked = Approval(arguments_digest="d", message="A mail to the boss?")
    assert "has not run. They are asked: A mail to the boss?" in str(
        question(Call(state="awaiting-approval", approval=asked))
    )
    assert str(question(Call(state="awaiting-approval"))).endswith("it has not run.")


def test_an_approval_that_expired_is_told_as_such() -> None:
    """Before and after a resume flagged it the words say that the time is over, and nobody is offered to approve it."""
    asked = Approval(arguments_digest="d", expires_at="2026-01-02")
    waits = Call(state="awaiting-approval", approval=asked)
    assert "waits for a person's approval" in str(question(waits, "2026-01-01"))
    assert "The time to approve it is over" in str(question(waits, "2026-01-02"))
    assert (answers(waits, "2026-01-01")[0], answers(waits, "2026-01-02")) == ("approve", ("deny", "--arguments"))
    flag = flagged("approval-mismatch").changed(approval=asked, waiting_since="2026-01-03")
    assert "is over" in str(question(flag))
    assert "does not hold any more" in str(question(flag.changed(waiting_since="2026-01-01")))


def test_what_does_not_wait_asks_nothing() -> None:
    """A call that has ended, or still runs, puts no question and takes no answer."""
    for state in ("started", "succeeded", "needs-review"):
        assert question(Call(state=state)) is None
    assert answers(Call(state="succeeded")) == ()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call(state="awaiting-approval"), ("approve", "deny", "--arguments")),
        (flagged("not-started"), ("--run", "--abandon", "--arguments")),
        (flagged("schema-changed"), ("--abandon", "--arguments")),
        (flagged("duplicate"), ()),
        (
            flagged("outcome-unknown", attempt=1),
            ("--happened", "--did-not-happen", "--did-not-happen --run", "--did-not-happen --arguments", "--abandon"),
        ),
        (
            flagged("outcome-unknown", attempt=1, imported=True),
            ("--happened", "--did-not-happen", "--did-not-happen --arguments", "--abandon"),
        ),
        (
            flagged("outcome-unknown", executor="provider", in_doubt=True),
            ("--happened", "--did-not-happen", "--abandon"),
        ),
        (
            flagged("tool-retired", attempt=1),
            ("--happened", "--did-not-happen", "--did-not-happen --arguments", "--abandon"),
        ),
    ],
)
def test_answers_that_the_state_allows(call: Call, expected: tuple[str, ...]) -> None:
    """Only answers that would be taken are offered."""
    assert answers(call) == expected
