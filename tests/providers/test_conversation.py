"""A recorded session as a conversation that a provider accepts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from ledger.events import CallProposed, CallReviewed, CallSuperseded, Event, MessageRecorded, Unreadable
from ledger.history import Settled, Turn, fold_session
from ledger.providers import conversation, get_format, note_message, turn_messages
from ledger.providers.check import check_openai
from ledger.providers.port import ProposedCall, Reply
from ledger.strictjson import canonical
from tests.providers.recording import Recording, flagged, happened, ok
from tests.providers.sessions import recordings

WIRE = get_format("openai")


def reply(*calls: ProposedCall, **known: Any) -> Reply:
    """Return a model's answer with these calls."""
    return Reply(kind="tool_calls" if calls else "text", provider=known.pop("provider", "openai"), calls=calls, **known)


def asked(name: str = "send", given_id: str | None = "a", raw: str = '{"to": "b"}') -> ProposedCall:
    """Return a call as the model asks for it."""
    return ProposedCall(name=name, raw=raw, provider_call_id=given_id)


def answers_of(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the tool messages say."""
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def ids_of(messages: list[dict[str, Any]]) -> list[str]:
    """Return the ids of the calls, in order."""
    return [call["id"] for message in messages for call in message.get("tool_calls", ())]


@given(recordings())
def test_every_session_is_accepted_at_every_event(recording: Recording) -> None:
    """Whatever happened, and wherever it stopped, the provider takes the conversation."""
    for end in range(len(recording.events) + 1):
        told = conversation(fold_session("s", recording.events[:end]), WIRE)
        assert check_openai(told) == []


@given(recordings())
def test_what_was_told_stays_as_it_was_told(recording: Recording) -> None:
    """All that stands before the last turn is a prefix, byte for byte, of every later conversation."""
    whole = conversation(recording.history, WIRE)
    for end, event in enumerate(recording.events):
        if event.type == "turn.recorded":
            earlier = conversation(fold_session("s", recording.events[:end]), WIRE)
            assert canonical(whole[: len(earlier)]) == canonical(earlier)


@given(recordings())
def test_a_turn_alone_is_told_as_in_the_conversation(recording: Recording) -> None:
    """What `dispatch` hands out for a turn is exactly what the whole conversation holds for it."""
    history = recording.history
    whole = conversation(history, WIRE)
    for entry in history.entries:
        if isinstance(entry, Turn):
            alone = turn_messages(history, entry, WIRE)
            assert any(whole[n : n + len(alone)] == alone for n in range(len(whole)))


def test_each_call_is_answered_in_the_order_asked() -> None:
    """Results stand in call order, whatever finished first."""
    recording = Recording()
    first, second = recording.turn(reply(asked(given_id="a"), asked(given_id="b")), arguments={})
    recording.run(second, ok(2))
    recording.run(first, ok(1))
    told = conversation(recording.history, WIRE)
    assert [message.get("tool_call_id") for message in told] == [None, "a", "b"]
    assert [each["data"] for each in answers_of(told)] == [1, 2]


def test_a_killed_batch_is_answered_whole() -> None:
    """Four calls of which two ended: the open ones are answered as unknown, marked, and not stored as outcomes."""
    recording = Recording()
    calls = recording.turn(reply(*(asked(given_id=f"TaskOutput:{n}") for n in range(4))), arguments={})
    for call in calls[:2]:
        recording.run(call, ok("done"))
    for call in calls[2:]:
        recording.run(call)
    told = conversation(recording.history, WIRE)
    assert [each.get("synthetic", False) for each in answers_of(told)] == [False, False, True, True]
    assert answers_of(told)[3]["message"].startswith("OUTCOME UNKNOWN")
    assert ids_of(told) == [f"TaskOutput:{n}" for n in range(4)]
    assert recording.now(calls[3]).state == "started"


def test_ids_that_repeat_or_are_missing_are_made_unique() -> None:
    """Three rounds under one id, a message with one id twice, and calls without an id: each has its own answer."""
    recording = Recording()
    for n in range(3):
        (call,) = recording.turn(reply(asked(given_id="search_web:0", raw=f'{{"n": {n}}}')), arguments={})
        recording.run(call, ok(n))
    for n, call in enumerate(recording.turn(reply(asked(), asked(), asked(given_id=None)), arguments={})):
        recording.run(call, ok(10 + n))
    told = conversation(recording.history, WIRE)
    assert len(set(ids_of(told))) == 6
    assert ids_of(told)[0] == "search_web:0"
    assert [each["data"] for each in answers_of(told)] == [0, 1, 2, 10, 11, 12]


def test_a_verdict_is_told_as_a_note_and_rewrites_nothing() -> None:
    """What the model read stays; the end of the call comes behind the turn in which it was settled, as the user."""
    recording = Recording()
    (call,) = recording.turn(reply(asked()), arguments={"to": "b"})
    recording.run(call, flagged())
    recording.turn(reply(text="I wait."))
    before = conversation(recording.history, WIRE)
    recording.add(happened({"id": 7}), call)
    recording.say("And?")
    told = conversation(recording.history, WIRE)
    assert told[: len(before)] == before
    note, last = told[len(before) :]
    assert note["role"] == "user"
    assert note["content"].startswith("[Note from the tool-call ledger, not from the user] A call")
    assert json.loads(note["content"].split(": ", 1)[1]) == {
        "turn": 1,
        "index": 0,
        "tool": "send",
        "arguments": {"to": "b"},
        "answer": {"status": "succeeded", "data": {"id": 7}, "next": "none"},
    }
    assert last == {"role": "user", "content": "And?"}
    assert [note] == [note_message(entry, WIRE) for entry in recording.history.entries if isinstance(entry, Settled)]


def test_a_turn_after_a_note_is_told_alone_the_same() -> None:
    """A note before a turn changes nothing about its ids."""
    recording = Recording()
    (call,) = recording.turn(reply(asked()), arguments={})
    recording.run(call, flagged())
    recording.turn(reply(text="I wait."))
    recording.add(happened(), call)
    recording.turn(reply(asked(), asked(given_id="b")), arguments={})
    alone = turn_messages(recording.history, recording.history.turns[-1], WIRE)
    assert conversation(recording.history, WIRE)[-3:] == alone


def test_the_arguments_in_a_note_are_bounded() -> None:
    """A note repeats no megabyte of arguments."""
    recording = Recording()
    (call,) = recording.turn(reply(asked()), arguments={"text": "x" * 100_000})
    recording.run(call, flagged())
    recording.turn(reply(text="I wait."))
    recording.add(happened(), call)
    assert len(conversation(recording.history, WIRE)[-1]["content"]) < 2_000


def superseding(recording: Recording) -> None:
    """Record a call that a person sends with other arguments."""
    (call,) = recording.turn(reply(asked()), arguments={"to": "b"})
    recording.run(call, flagged())
    new = f"{call.call_id}-1"
    recording.add(CallSuperseded(superseded_by=new, by="ann", did_not_happen=True), call)
    recording.add(CallProposed(arguments={"to": "c"}), call, call_id=new, revision=1)
    recording.run(recording.history.calls[new], ok("sent"))


def test_a_superseding_call_answers_for_its_slot() -> None:
    """The assistant's message keeps what the model asked; the answer is of what ran, with its arguments."""
    recording = Recording()
    superseding(recording)
    assistant, result = conversation(recording.history, WIRE)
    assert json.loads(assistant["tool_calls"][0]["function"]["arguments"]) == {"to": "b"}
    told = json.loads(result["content"])
    assert (told["data"], told["arguments"]) == ("sent", {"to": "c"})


def test_a_superseding_call_after_the_fact_does_not_rewrite_the_answer() -> None:
    """A call that was replaced after the model had read its answer is told in a note only."""
    recording = Recording()
    (call,) = recording.turn(reply(asked()), arguments={"to": "b"})
    recording.run(call, flagged())
    recording.turn(reply(text="I wait."))
    before = conversation(recording.history, WIRE)
    new = f"{call.call_id}-1"
    recording.add(CallSuperseded(superseded_by=new, by="ann", did_not_happen=True), call)
    recording.add(CallProposed(arguments={"to": "c"}), call, call_id=new, revision=1)
    recording.run(recording.history.calls[new], ok("sent"))
    told = conversation(recording.history, WIRE)
    assert told[:-1] == before
    assert '"arguments":{"to":"c"}' in told[-1]["content"]


def test_a_call_with_an_unreadable_event_is_not_vouched_for() -> None:
    """Where an event of a call cannot be read, its outcome is unknown: it may have been the start."""
    recording = Recording()
    (call,) = recording.turn(reply(asked()), arguments={})
    unread = Unreadable(type="call.begun", format=1, reason="newer", raw={}, newer=True)
    event = Event(session_id="s", event_id="x", recorded_at="", sequence=9, call_id=call.call_id, body=unread)
    history = fold_session("s", [*recording.events, event])
    assert answers_of(conversation(history, WIRE))[0]["code"] == "outcome_unknown"


def test_a_proposal_that_cannot_be_read_leaves_the_others_answered() -> None:
    """A call whose proposal is lost is left out; the calls beside it keep their answers."""
    recording = Recording()
    recording.turn(reply(asked(given_id="a"), asked(given_id="b")), arguments={})
    events = [event for event in recording.events if event.index != 0]
    told = conversation(fold_session("s", events), WIRE)
    assert ids_of(told) == ["b"]
    assert check_openai(told) == []


def test_another_providers_messages_become_role_and_text() -> None:
    """What was said through another provider stays readable; its opaque items stay behind."""
    recording = Recording()
    blocks = [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}]
    for role, message in (
        ("user", {"role": "user", "content": blocks}),
        ("user", "plain\0"),
        ("tool", {"parts": []}),
        ("model", {"content": {"a": 1}}),
    ):
        recording.add(MessageRecorded(role=role, provider="anthropic", message=message))
    recording.turn(reply(text="Hi.", provider="anthropic", items={"message": {"signature": "s"}}))
    assert conversation(recording.history, WIRE) == [
        {"role": "user", "content": "Hello."},
        {"role": "user", "content": "plain\\u0000"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": '{"a":1}'},
        {"role": "assistant", "content": "Hi."},
    ]


def test_the_limit_of_results_is_the_hosts() -> None:
    """`limit` bounds the data of each result, in answers and notes alike."""
    recording = Recording()
    (call,) = recording.turn(reply(asked()), arguments={})
    recording.run(call, ok("x" * 1_000))
    assert answers_of(conversation(recording.history, WIRE, 100))[0]["truncated"]
    assert answers_of(turn_messages(recording.history, recording.history.turns[0], WIRE, 100))[0]["truncated"]
    assert "truncated" not in answers_of(conversation(recording.history, WIRE))[0]


def test_a_denied_verdict_is_a_note_too() -> None:
    """Every end after the fact is told: abandoned, failed or succeeded."""
    recording = Recording()
    (call,) = recording.turn(reply(asked()), arguments={})
    recording.run(call, flagged())
    recording.turn(reply(text="I wait."))
    recording.add(CallReviewed(verdict="abandon", by="ann"), call)
    assert '"code":"abandoned"' in conversation(recording.history, WIRE)[-1]["content"]
