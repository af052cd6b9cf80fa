"""A session folded from its events."""

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calls import FOLLOWS, TERMINAL, Call
from ledger.errors import IllegalTransition
from ledger.events import (
    BatchPlanned,
    CallProposed,
    Event,
    LedgerPruned,
    SessionClaimed,
    SessionClosed,
    SessionErased,
    SessionResumed,
    ToolStageChanged,
    ToolVersionPublished,
    encode,
    read_event,
)
from ledger.history import Claim, History, Said, Settled, Turn, fold_session
from tests.calls.stories import said
from tests.calls.test_evolve import aligned
from tests.events.samples import choices, event
from tests.history.scenes import STARTED, UNKNOWN, Scene


@pytest.fixture
def scene() -> Scene:
    """Return a session that was opened."""
    found = Scene()
    found.open()
    return found


def test_a_session_knows_how_it_was_opened(scene: Scene) -> None:
    """Agent, principal, tenant, place and time of the last event are those of the events."""
    history = scene.history
    assert history.opened is not None
    assert (history.opened.agent, history.principal, history.tenant) == ("a", "ann", "acme")
    assert (history.sequence, history.last_at) == (1, scene.events[0].recorded_at)


def test_messages_keep_their_place_and_key(scene: Scene) -> None:
    """What the host said is kept in order; starting messages, keys and quoted answers can be found."""
    scene.say("be brief", role="system", start=True)
    scene.say("hello", key="k1")
    scene.say("I called it", role="assistant")
    history = scene.history
    assert [type(entry) for entry in history.entries] == [Said, Said, Said]
    assert [entry.sequence for entry in history.entries] == [2, 3, 4]
    assert [body.role for body in history.starts] == ["system"]
    assert history.keys.keys() == {"k1"}
    assert [quoted.sequence for quoted in history.quoted] == [4]


def test_turns_hold_their_calls_in_the_order_asked(scene: Scene) -> None:
    """The calls of a turn stand by their index, whatever order they were recorded in."""
    scene.turn(calls=2, response="r1")
    scene.call("b", "proposed", index=1)
    scene.call("a", "proposed", index=0)
    turn = scene.history.turns[0]
    assert (turn.number, turn.event_id, turn.call_ids) == (1, "turn-1", ("a", "b"))
    assert [call.call_id for call in scene.history.turn_calls(turn)] == ["a", "b"]
    assert scene.history.turn(1) is scene.history.responses["r1"] is turn
    assert scene.history.turn(2) is None


def test_a_turn_without_a_number_is_the_next(scene: Scene) -> None:
    """A turn that does not say which it is counts on from those before."""
    scene.turn()
    scene.add(scene.history.turns[0].body)
    assert [turn.number for turn in scene.history.turns] == [1, 2]


def test_an_empty_response_id_names_no_turn(scene: Scene) -> None:
    """As older releases recorded it where a server sent none."""
    scene.turn(response="")
    scene.turn(response="r")
    assert list(scene.history.responses) == ["r"]


def test_a_plan_belongs_to_the_last_turn(scene: Scene) -> None:
    """How a batch runs is kept with its turn."""
    plan = BatchPlanned(size=2, mode="parallel", groups=([0, 1],))
    scene.add(plan)
    scene.turn(calls=2)
    scene.add(plan)
    assert scene.history.turns[0].batch == plan


def test_open_calls_are_those_without_an_end(scene: Scene) -> None:
    """A call is open until it ends, in the order asked and not in that of its events."""
    scene.turn(calls=3)
    scene.call("b", "proposed", index=1)
    scene.call("c", *STARTED, "succeeded", index=2)
    scene.call("a", *STARTED, UNKNOWN, index=0)
    assert [call.call_id for call in scene.history.open_calls()] == ["a", "b"]
    assert scene.history.calls["c"].state == "succeeded"
    scene.call("a", ["reviewed", {"verdict": "abandon"}], index=0)
    assert [call.call_id for call in scene.history.open_calls()] == ["b"]


def test_the_last_call_of_each_tool_is_known(scene: Scene) -> None:
    """The last proposal of a tool can be found by its name, also where its turn cannot be read."""
    scene.turn(calls=2)
    scene.call("a", "proposed", index=0)
    scene.call("b", "proposed", index=1, tool="grep")
    scene.call("c", "proposed", turn=7)
    assert scene.history.last_of == {"send_email": "c", "grep": "b"}


def test_a_providers_id_belongs_to_its_first_call(scene: Scene) -> None:
    """Providers repeat their ids; the first call with one is known, and a call that superseded it has none."""
    scene.turn(calls=1)
    scene.call("a", ["proposed", {"providerCallId": "p1"}], "validated", "approval_requested", "superseded")
    scene.call("a2", ["proposed", {"providerCallId": "p2"}], revision=1)
    scene.turn(calls=1)
    scene.call("b", ["proposed", {"providerCallId": "p1"}])
    assert scene.history.provider_ids == {"p1": "a"}


def test_what_the_provider_executed_stands_beside_the_slots(scene: Scene) -> None:
    """A call that the provider executed belongs to its turn but takes no slot, and is nobody's last call."""
    hosted = ["proposed", {"executor": "provider", "providerCallId": "p1"}]
    scene.turn(calls=2)
    scene.call("p", hosted, index=0)
    scene.call("a", "proposed", index=1)
    scene.call("q", hosted, turn=9)
    turn = scene.history.turns[0]
    assert (turn.hosted, turn.slots, turn.call_ids) == (["p"], [[], ["a"]], ("a",))
    assert (scene.history.last_of, scene.history.provider_ids) == ({"send_email": "a"}, {})
    assert [call.call_id for call in scene.history.open_calls()] == ["p", "a", "q"]


def test_a_place_that_the_provider_has_taken_is_not_free(scene: Scene) -> None:
    """The place of a call that the provider executed is unique as any other."""
    scene.turn(calls=1)
    scene.call("p", ["proposed", {"executor": "provider"}], index=0)
    with pytest.raises(IllegalTransition, match="another call is at turn 1, index 0, revision 0"):
        scene.history.apply(said("proposed", {}, {"call_id": "b"}), 4)


def test_a_superseding_call_answers_for_its_slot(scene: Scene) -> None:
    """The last revision at a place answers for it; the first stays known."""
    scene.turn(calls=1)
    scene.call("a", "proposed", "validated", "approval_requested", "superseded")
    scene.call("a2", "proposed", revision=1)
    turn = scene.history.turns[0]
    assert (turn.slots, turn.call_ids) == ([["a", "a2"]], ("a2",))
    assert [call.call_id for call in scene.history.open_calls()] == ["a2"]


def test_claims_say_who_came_between(scene: Scene) -> None:
    """Another owner has claimed the session since a call's start if a later claim has a higher token."""
    assert scene.history.token == 0
    scene.add(SessionClaimed(owner="w1", token=1))
    scene.turn(calls=1)
    scene.call("a", *STARTED)
    call = scene.history.calls["a"]
    assert (scene.history.token, scene.history.claimed_since(call)) == (1, False)
    scene.add(SessionClaimed(owner="w2", token=2))
    assert scene.history.claimed_since(call)
    assert scene.history.claims == [Claim(2, "w1", 1), Claim(8, "w2", 2)]


def test_a_session_is_closed_once_it_says_so(scene: Scene) -> None:
    """The reason of the end is kept."""
    scene.add(SessionClosed(reason="aborted", turns=0, calls=0))
    assert scene.history.closed is not None
    assert scene.history.closed.reason == "aborted"


@pytest.mark.parametrize(
    ("told", "final"),
    [
        ((), False),
        (("text",), True),
        (("structured",), True),
        (("incomplete",), False),
        (("tool_calls",), False),
        (("text", "user"), False),
        (("user", "text"), True),
    ],
)
def test_the_last_word_is_the_models(scene: Scene, told: tuple[str, ...], final: bool) -> None:
    """A session is final if the model's answer without a call was the last word."""
    for kind in told:
        if kind == "user":
            scene.say("go on")
        else:
            scene.turn(kind=kind)
    assert scene.history.final is final


def test_a_verdict_after_the_last_word_does_not_take_it_back(scene: Scene) -> None:
    """A call that is settled after the final answer leaves the session final."""
    scene.turn(calls=1)
    scene.call("a", *STARTED, UNKNOWN)
    scene.turn()
    scene.call("a", ["reviewed", {"verdict": "abandon"}], turn=1)
    assert isinstance(scene.history.entries[-1], Settled)
    assert scene.history.final


def test_a_cut_result_is_known(scene: Scene) -> None:
    """Whether some result was too large to be shown whole is known of the session."""
    scene.turn(calls=1)
    scene.call("a", *STARTED)
    found = [scene.history.truncated]
    scene.call("a", ["succeeded", {"truncatedForModel": True}])
    found.append(scene.history.truncated)
    scene.turn(calls=1)
    scene.call("b", "proposed")
    assert [*found, scene.history.truncated] == [False, True, True]


@pytest.mark.parametrize(
    "body",
    [
        SessionResumed(decisions=()),
        SessionErased(by="ann"),
        LedgerPruned(sessions=(), proof=None, by="ann"),
        ToolVersionPublished(schema={}, contract={}, description="", description_digest=""),
        ToolStageChanged(stage="hidden"),
    ],
)
def test_facts_for_people_change_only_the_place(scene: Scene, body: Any) -> None:
    """Events that no later one depends on move the session on and change nothing else."""
    before = copy.deepcopy(scene.history)
    scene.add(body)
    before.sequence += 1
    assert scene.history == before


def test_an_event_of_the_session_never_makes_a_call(scene: Scene) -> None:
    """A call id on an event that is not of a call is passed over."""
    scene.add(SessionResumed(decisions=()), call_id="c9")
    assert scene.history.calls == scene.history.open_ids == {}


# -- taking in what was just recorded


def test_a_place_and_a_call_worked_out_before_are_taken(scene: Scene) -> None:
    """The writer gives the sequence and the call as it is now: they are not worked out again."""
    scene.turn(calls=1)
    after = Call(call_id="a", state="proposed", turn=1, tool="t")
    scene.history.apply(event(CallProposed(), call_id="a"), 9, after)
    assert scene.history.calls["a"] is after
    assert (scene.history.sequence, scene.history.turns[0].slots) == (9, [["a"]])


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ({"index": 2}, "turn 1 has no call 2"),
        ({"index": -1}, "turn 1 has no call -1"),
        ({"index": 10**9}, "turn 1 has no call 1000000000"),
        ({"index": 0}, "another call is at turn 1, index 0, revision 0"),
    ],
)
def test_a_proposal_needs_a_free_place_in_its_turn(scene: Scene, place: dict[str, int], why: str) -> None:
    """(turn, index, revision) is unique, and no call stands far beyond the others; nothing changes otherwise."""
    scene.turn(calls=1)
    scene.call("a", "proposed")
    before = copy.deepcopy(scene.history)
    with pytest.raises(IllegalTransition, match=why):
        scene.history.apply(said("proposed", {}, {"call_id": "b", **place}), 4)
    assert scene.history == before


def test_a_place_beside_an_unreadable_proposal_can_be_taken(scene: Scene) -> None:
    """Where the proposal before it is lost, a call still stands at its own index."""
    scene.turn(calls=3)
    scene.call("c", "proposed", index=2)
    assert scene.history.turns[0].slots == [[], [], ["c"]]
    assert scene.history.turns[0].call_ids == ("c",)


@given(data=st.data())
def test_a_refused_event_leaves_the_history_unchanged(data: st.DataObject) -> None:
    """Whatever event of a call comes, it is taken in or the history is exactly as it was."""
    scene = Scene()
    scene.turn(calls=2)
    scene.call("a", *data.draw(st.sampled_from([STARTED[:n] for n in range(5)])))
    if data.draw(st.booleans()):
        scene.turn()
    before = copy.deepcopy(scene.history)
    cls = data.draw(st.sampled_from([cls for follow in FOLLOWS.values() for cls in follow]))
    body: Any = aligned(data.draw(choices(cls)), scene.history.calls.get("a") or Call())  # type: ignore[arg-type]  # a call's
    call_id = data.draw(st.sampled_from(["a", "b"]))
    try:
        scene.history.apply(event(body, call_id=call_id), before.sequence + 1)
    except IllegalTransition:
        assert scene.history == before
    else:
        assert scene.history.calls[call_id].sequence == scene.history.sequence == before.sequence + 1


# -- any session


@st.composite
def sessions(draw: Callable[..., Any]) -> list[Event]:
    """Draw a legal session of some turns, calls and messages."""
    scene = Scene()
    scene.open()
    for _ in range(draw(st.integers(0, 25))):
        calls = list(scene.history.calls.values())
        match draw(st.sampled_from(["say", "turn", "propose", "claim", *["go on"] * 6])):
            case "say":
                scene.say("text", key=draw(st.none() | st.just("k")))
            case "turn":
                scene.turn(calls=draw(st.integers(0, 2)))
            case "claim":
                scene.add(SessionClaimed(owner="w", token=scene.history.token + 1))
            case "propose" if scene.turns:
                number = len(calls)
                with_room = {"call_id": f"c{number}", "turn": scene.turns, "index": len(scene.history.turns[-1].slots)}
                scene.record(said("proposed", {"effect": draw(st.sampled_from(["read", "write"]))}, with_room))
            case "go on" if calls:
                call = draw(st.sampled_from(calls))
                cls = draw(st.sampled_from(FOLLOWS[call.state]))
                body: Any = aligned(draw(choices(cls)), call)
                place = {"call_id": call.call_id, "turn": call.turn, "index": call.index, "tool": call.tool}
                try:
                    scene.history.apply(event(body, **place), len(scene.events) + 1)
                except IllegalTransition:
                    continue
                scene.events.append(event(body, **place, sequence=len(scene.events) + 1))
    return scene.events


@given(sessions())
def test_a_session_folds_the_same_at_once_step_by_step_and_from_what_is_stored(events: list[Event]) -> None:
    """Applied as they came, all at once, and from the stored records: one and the same session."""
    stepwise = History("s1")
    for each in events:
        stepwise.apply(dataclasses.replace(each, sequence=0), each.sequence)
    stored = [read_event(encode(each).record(each.sequence)) for each in events]
    assert stepwise == fold_session("s1", events) == fold_session("s1", stored)
    assert stepwise.broken == set()


@given(sessions())
def test_a_session_keeps_its_books(events: list[Event]) -> None:
    """Open calls are those not terminal; every call is placed once; notes are of calls that ended, each once."""
    history = fold_session("s1", events)
    assert {call.call_id for call in history.open_calls()} == {
        call.call_id for call in history.calls.values() if call.state not in TERMINAL
    }
    placed = [call_id for turn in history.turns for slot in turn.slots for call_id in slot]
    assert sorted(placed) == sorted(history.calls)
    notes = [entry.call.call_id for entry in history.entries if isinstance(entry, Settled)]
    assert len(notes) == len(set(notes)) == len(history.settled)
    assert all(history.calls[call_id].state in TERMINAL for call_id in notes)
    assert [entry for entry in history.entries if isinstance(entry, Turn)] == history.turns
