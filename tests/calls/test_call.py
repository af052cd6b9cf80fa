"""Where one tool call stands."""

import dataclasses
from typing import Any

import pytest

from ledger.calls import Call
from tests.calls.stories import tell


def test_a_change_leaves_the_original() -> None:
    """A changed call is a copy; the one before it keeps its values."""
    before = Call(call_id="c1", tool="send_email")
    after = before.changed(state="proposed", turn=3)
    assert (after.state, after.turn, after.tool) == ("proposed", 3, "send_email")
    assert before == Call(call_id="c1", tool="send_email")


def test_only_fields_can_be_changed() -> None:
    """A name that is no field of a call is refused by name."""
    with pytest.raises(TypeError, match="colour"):
        Call().changed(colour="red", turn=1)


def test_a_call_is_frozen() -> None:
    """A call's fields cannot be set."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Call().state = "started"  # type: ignore[misc]  # what is tested


def test_a_fresh_call_claims_nothing() -> None:
    """What no event said is unknown, undeclared or false; an effect that nobody declared is external."""
    said = {name: value for name, value in vars(Call()).items() if value}
    declared = {"effect": "external", "recovery": "review", "executor": "host"}
    assert said == {"state": "unknown", "status": "ok", "result_known": True} | declared


def test_the_arguments_to_run_are_the_executed_ones_where_they_differ() -> None:
    """Arguments with defaults applied or carried to a newer version run instead of the intent's, which stays."""
    call = Call(arguments={"to": "ann"})
    assert call.to_run == {"to": "ann"}
    assert call.changed(executed={}).to_run == {}


@pytest.mark.parametrize(("effect", "answer"), [("read", False), ("write", True), ("external", True)])
def test_what_is_not_a_read_has_side_effects(effect: str, answer: bool) -> None:
    """Only a read changes nothing; a tool without a declared effect counts as external."""
    assert Call().changed(effect=effect).side_effecting is answer
    assert Call().side_effecting


@pytest.mark.parametrize(
    ("fields", "answer"),
    [({}, False), ({"effect": "read"}, True), ({"recovery": "retry"}, True), ({"supports_idempotency": True}, False)],
)
def test_who_may_be_started_again(fields: dict[str, Any], answer: bool) -> None:
    """A read, or a tool whose author declared it, may be started again by itself."""
    assert Call().changed(**fields).repeatable is answer


READ, RETRY, IMPORTED = (
    ["proposed", {"effect": "read"}],
    ["proposed", {"recovery": "retry"}],
    ["proposed", {"imported": True}],
)
STARTED = ("validated", "authorized", "started")
UNKNOWN = ["flagged", {"reason": "outcome-unknown"}]
AGAIN = ["reviewed", {"verdict": "did-not-happen", "run": True}]


@pytest.mark.parametrize(
    ("story", "answer"),
    [
        (("proposed",), True),
        (("proposed", "rejected"), True),
        (("proposed", *STARTED), False),
        (("proposed", *STARTED, "failed"), False),
        (("proposed", *STARTED, ["failed", {"notStarted": True}]), True),
        (("proposed", *STARTED, UNKNOWN, ["reviewed", {"verdict": "did-not-happen"}]), True),
        (("proposed", *STARTED, UNKNOWN, ["reviewed", {"verdict": "abandon"}]), False),
        (("proposed", *STARTED, UNKNOWN, AGAIN), True),
        (("proposed", *STARTED, UNKNOWN, AGAIN, "started"), False),
        ((READ, *STARTED, "attempt_failed"), True),
        ((READ, *STARTED, "started", "attempt_failed"), True),
        ((RETRY, *STARTED, "attempt_failed", "started"), False),
        ((RETRY, *STARTED, "attempt_failed", "started", "attempt_failed"), True),
        ((RETRY, *STARTED, "started", "attempt_failed"), False),
        ((RETRY, *STARTED, "started", ["failed", {"notStarted": True}]), False),
        ((IMPORTED, UNKNOWN), False),
        ((["proposed", {"executor": "provider"}], "succeeded"), False),
        ((IMPORTED, UNKNOWN, ["reviewed", {"verdict": "did-not-happen"}]), True),
    ],
)
def test_what_surely_never_ran(story: tuple[Any, ...], answer: bool) -> None:
    """A call never ran if no attempt can have had an effect; one attempt in doubt is enough to say no."""
    assert tell(*story).never_ran is answer


@pytest.mark.parametrize("field", ["imported", "executor"])
def test_what_ran_elsewhere(field: str) -> None:
    """Imported calls and those of tools that the provider executes ran elsewhere; a host's own call did not."""
    assert Call().changed(**{field: {"imported": True, "executor": "provider"}[field]}).ran_elsewhere
    assert not Call().ran_elsewhere


def test_an_outcome_after_the_permission_contradicts_it() -> None:
    """Only what arrives after somebody decided that the call shall run contradicts it."""
    before = tell("proposed", *STARTED, UNKNOWN, "outcome_arrived_late")
    assert not before.contradicted
    allowed = tell(AGAIN, call=before)
    assert not allowed.contradicted
    assert tell("outcome_arrived_late", call=allowed).contradicted
