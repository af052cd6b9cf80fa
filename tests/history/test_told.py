"""What the model has read of each call, and what it is told later."""

import pytest

from ledger.history import Settled
from tests.history.scenes import STARTED, UNKNOWN, Scene

HAPPENED = ["reviewed", {"verdict": "happened", "result": 7, "resultKnown": True}]


@pytest.fixture
def scene() -> Scene:
    """Return a session whose model asked for one call that is in doubt."""
    found = Scene()
    found.turn(calls=1)
    found.call("a", *STARTED, UNKNOWN)
    return found


def states(scene: Scene) -> list[str]:
    """Return the states of the calls that are told as notes."""
    return [entry.call.state for entry in scene.history.entries if isinstance(entry, Settled)]


def test_a_verdict_before_the_next_turn_is_the_answer(scene: Scene) -> None:
    """What ends before the model speaks again is read at its place; there is nothing to tell later."""
    scene.call("a", HAPPENED)
    assert scene.history.read_as(scene.history.calls["a"]).state == "succeeded"
    assert not scene.history.was_told(scene.history.calls["a"])
    assert states(scene) == []


def test_a_later_verdict_does_not_rewrite_what_the_model_read(scene: Scene) -> None:
    """Once the next turn is recorded the model has read needs-review, whatever is found out afterwards."""
    scene.turn()
    scene.call("a", HAPPENED, turn=1)
    call = scene.history.calls["a"]
    assert call.state == "succeeded"
    assert scene.history.read_as(call).state == "needs-review"
    assert scene.history.was_told(call)


def test_a_later_verdict_is_told_as_a_note(scene: Scene) -> None:
    """The end of a call that was read as open stands in the conversation where it came to be."""
    scene.turn()
    scene.say("go on")
    scene.call("a", HAPPENED, turn=1)
    assert scene.history.entries[-1] == Settled(9, scene.history.calls["a"])
    assert scene.history.settled == scene.history.resolved == [scene.history.entries[-1]]


def test_what_happens_on_the_way_is_no_note(scene: Scene) -> None:
    """A call that is allowed, started and flagged again is told once, when it ends."""
    scene.turn()
    run = ["reviewed", {"verdict": "did-not-happen", "run": True}]
    scene.call("a", run, "started", UNKNOWN, run, "started", turn=1)
    assert states(scene) == []
    scene.call("a", "succeeded", "noted", "outcome_arrived_late", turn=1)
    assert states(scene) == ["succeeded"]


def test_a_call_of_the_last_turn_is_not_told(scene: Scene) -> None:
    """An end within the turn that asked is no note, also where an earlier turn has one."""
    scene.turn(calls=1)
    scene.call("b", *STARTED, "succeeded")
    assert states(scene) == []
    assert scene.history.told.keys() == {"a"}


def test_only_what_a_person_was_asked_is_resolved() -> None:
    """A call that a person was asked about is resolved when it ends; what a policy allowed just ends."""
    scene = Scene()
    scene.turn(calls=3)
    scene.call("a", *STARTED, "succeeded", index=0)
    scene.call("b", "proposed", "validated", "approval_requested", ["denied", {"by": "ann"}], index=1)
    scene.call("c", "proposed", "rejected", index=2)
    assert [entry.call.call_id for entry in scene.history.resolved] == ["b"]
    assert scene.history.settled == []


def test_a_superseded_call_is_not_told_but_its_successor_is() -> None:
    """A person's other arguments become a new call: its end is the note, the old one has none."""
    scene = Scene()
    scene.turn(calls=1)
    scene.call("a", "proposed", "validated", "approval_requested")
    scene.turn()
    scene.call("a", "superseded", turn=1)
    scene.call("a2", *STARTED, "succeeded", turn=1, revision=1)
    assert [entry.call.call_id for entry in scene.history.settled] == ["a2"]


def test_what_was_superseded_later_still_stands_where_the_model_read_it() -> None:
    """At its place in the conversation the model read the old call as waiting, not the new one as done."""
    scene = Scene()
    scene.turn(calls=1)
    scene.call("a", "proposed", "validated", "approval_requested")
    scene.turn()
    scene.call("a", "superseded", turn=1)
    scene.call("a2", *STARTED, "succeeded", turn=1, revision=1)
    read = scene.history.read_as(scene.history.calls["a2"])
    assert (read.call_id, read.state) == ("a", "awaiting-approval")


def test_what_was_superseded_before_the_next_turn_is_read_as_its_successor() -> None:
    """A call that superseded another before the model spoke again is what the model reads."""
    scene = Scene()
    scene.turn(calls=1)
    scene.call("a", "proposed", "validated", "approval_requested", "superseded")
    scene.call("a2", *STARTED, UNKNOWN, revision=1)
    assert scene.history.read_as(scene.history.calls["a2"]).state == "needs-review"
    scene.turn()
    scene.call("a2", HAPPENED, turn=1, revision=1)
    read = scene.history.read_as(scene.history.calls["a2"])
    assert (read.call_id, read.state) == ("a2", "needs-review")


def test_a_call_of_a_lost_turn_is_read_as_it_is() -> None:
    """Where the turn itself cannot be read, a call that superseded another is read as it stands."""
    scene = Scene()
    scene.call("a2", "proposed", turn=4, revision=1)
    assert scene.history.read_as(scene.history.calls["a2"]).state == "proposed"


def test_without_a_turn_nothing_was_told() -> None:
    """A call that no turn asked for was read by no model."""
    scene = Scene()
    scene.call("a", "proposed", turn=1)
    assert not scene.history.was_told(scene.history.calls["a"])


def test_what_the_provider_executed_is_no_note() -> None:
    """The provider tells its model itself what became of a call that it executed."""
    scene = Scene()
    scene.turn(calls=1)
    scene.call("p", ["proposed", {"executor": "provider"}])
    scene.turn()
    scene.call("p", "succeeded", turn=1)
    assert scene.history.calls["p"].state == "succeeded"
    assert scene.history.settled == []
