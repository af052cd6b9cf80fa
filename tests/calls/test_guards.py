"""What an event needs besides the right state."""

import inspect
from typing import get_args

import pytest

from ledger.calls import FOLLOWS, Call, refusal
from ledger.calls.guards import GUARDS
from ledger.events import CallBody, CallNoted, CallReviewed, SessionClaimed
from tests.calls.stories import said, suite, tell
from tests.events.samples import event


def test_guards_are_of_calls() -> None:
    """Every guard belongs to an event of a call that may follow some state."""
    assert set(GUARDS) <= {*get_args(CallBody)} & {cls for follow in FOLLOWS.values() for cls in follow}


def test_guards_say_what_they_demand() -> None:
    """Every guard has its condition in words: they are printed in the docs."""
    assert [guard.__name__ for guard in GUARDS.values() if not (inspect.getdoc(guard) or "").endswith(".")] == []


@pytest.mark.parametrize("body", [CallNoted(by="ann", text="t"), SessionClaimed(owner="w", token=1)])
def test_what_has_no_guard_is_not_refused(body: CallNoted | SessionClaimed) -> None:
    """An event without conditions of its own is never refused by them."""
    assert refusal(Call(), event(body)) is None


def test_every_guard_refuses_some_story() -> None:
    """The suite has for each guard at least one story that ends with its refusal."""
    guarded = {type(said(*story["events"][-1]).body) for story in suite()["cases"] if "refused" in story}
    assert set(GUARDS) <= guarded


def test_the_reason_can_be_asked_for_before() -> None:
    """Whoever offers a verdict can learn why it would be refused, in the words of the refusal."""
    call = tell("proposed", "validated", "authorized", "started", ["flagged", {"reason": "outcome-unknown"}])
    asked = tell("proposed").changed(state="needs-review")
    verdict = event(CallReviewed(verdict="run", by="ann"))
    assert refusal(call, verdict) == "it may have happened: say first that it did not"
    assert refusal(asked, verdict) is None
