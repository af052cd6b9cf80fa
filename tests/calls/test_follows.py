"""The legal order of a call's events."""

from typing import Any, get_args

import pytest

from ledger.calls import FOLLOWS, TERMINAL, WAITING, State
from ledger.errors import IllegalTransition
from ledger.events import CallBody, CallNoted, CallOutcomeArrivedLate
from tests.calls.stories import suite, tell

STORIES = suite()["cases"]


@pytest.mark.parametrize("story", [story for story in STORIES if "state" in story], ids=lambda story: story["fact"])
def test_a_legal_story_ends_where_it_should(story: dict[str, Any]) -> None:
    """Every event of the story is taken, and the call is in the state that the suite names."""
    assert tell(*story["events"]).state == story["state"]


@pytest.mark.parametrize("story", [story for story in STORIES if "refused" in story], ids=lambda story: story["fact"])
def test_an_illegal_end_is_refused(story: dict[str, Any]) -> None:
    """All events but the last are taken; the last is refused with the reason, naming the event and the state."""
    *before, last = story["events"]
    call = tell(*before)
    with pytest.raises(IllegalTransition) as caught:
        tell(last, call=call)
    assert story["refused"] in str(caught.value)
    assert (caught.value.event, caught.value.state) == (f"call.{last[0]}", call.state)


def test_the_suite_tells_every_state_and_every_event() -> None:
    """The stories reach every state but the first and use every event that a call can have."""
    ends = {story["state"] for story in STORIES if "state" in story}
    told = {f"Call{''.join(map(str.capitalize, part[0].split('_')))}" for story in STORIES for part in story["events"]}
    assert ends >= {*get_args(State)} - {"unknown"}
    assert told == {cls.__name__ for cls in get_args(CallBody)}


def test_every_state_has_its_row() -> None:
    """The table has one row for each state."""
    assert set(FOLLOWS) == {*get_args(State)}


def test_no_event_leaves_a_terminal_state() -> None:
    """In a state that is final only notes and late outcomes may follow, and every other state can be left."""
    assert {
        state for state, follow in FOLLOWS.items() if set(follow) == {CallNoted, CallOutcomeArrivedLate}
    } == TERMINAL
    assert set() == WAITING & TERMINAL


def test_notes_and_late_outcomes_are_legal_in_any_state() -> None:
    """Whatever became of a call, a note or a late outcome can be added once it was proposed."""
    lacking = {state for state, follow in FOLLOWS.items() if not {CallNoted, CallOutcomeArrivedLate} <= set(follow)}
    assert lacking == {"unknown"}


def test_every_event_may_follow_somewhere() -> None:
    """No event of a call is without a state that it may follow."""
    assert {cls for follow in FOLLOWS.values() for cls in follow} == {*get_args(CallBody)}
