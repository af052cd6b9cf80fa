"""A host's own transcript, completed from the ledger."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from ledger.events import CallProposed, MessageRecorded, TurnRecorded
from ledger.providers import complete, conversation, get_format
from ledger.providers.check import check_openai
from ledger.providers.port import ProposedCall, Reply
from tests.providers.odd import FORMATS
from tests.providers.recording import Recording, flagged, happened, ok
from tests.providers.sessions import recordings
from tests.providers.test_openai_host import asking, call, result

WIRE = get_format("openai")
USER = {"role": "user", "content": "Hi"}


def recorded(*rounds: list[tuple[str, Any, str | None]], run: bool = True) -> Recording:
    """Return a session of turns; each call as (name, arguments, id), its result its number in the session."""
    recording = Recording()
    number = 0
    for calls in rounds:
        sent = tuple(
            ProposedCall(name=name, raw=json.dumps(arguments), arguments=arguments, provider_call_id=given_id)
            for name, arguments, given_id in calls
        )
        for each in recording.turn(Reply(kind="tool_calls", provider="openai", calls=sent)):
            number += 1
            if run:
                recording.run(each, ok(number))
    return recording


def data(messages: list[Any]) -> list[Any]:
    """Return what the results that the ledger wrote say."""
    written = [m for m in messages if isinstance(m, dict) and m["role"] == "tool" and m["content"].startswith("{")]
    return [json.loads(m["content"]).get("data", json.loads(m["content"]).get("code")) for m in written]


@given(recordings())
def test_a_whole_conversation_is_complete(recording: Recording) -> None:
    """What the ledger itself wrote lacks nothing: it comes back object for object."""
    messages = conversation(recording.history, WIRE)
    completed = complete(recording.history, messages, WIRE)
    assert all(one is other for one, other in zip(completed, messages, strict=True))


@given(recordings())
def test_lost_results_are_found_again(recording: Recording) -> None:
    """A transcript without any result, completed, is one that a provider takes; a second time adds nothing."""
    messages = [m for m in conversation(recording.history, WIRE) if m["role"] != "tool"]
    completed = complete(recording.history, messages, WIRE)
    assert check_openai(completed) == []
    assert [m for m in completed if m["role"] != "tool"] == messages
    assert complete(recording.history, completed, WIRE) == completed


def test_only_what_is_missing_is_added() -> None:
    """The host's own results stay, the missing one comes at its place in call order."""
    recording = recorded([("f", {"n": 1}, "a"), ("f", {"n": 2}, "b"), ("f", {"n": 3}, "c")])
    sent = asking(call("a", '{"n": 1}', "f"), call("b", '{"n": 2}', "f"), call("c", '{"n": 3}', "f"))
    found = complete(recording.history, [USER, sent, result("a"), result("c"), USER], WIRE)
    assert found[:3] == [USER, sent, result("a")]
    assert found[3]["tool_call_id"] == "b"
    assert data(found) == [2]
    assert found[4:] == [result("c"), USER]


def test_turns_that_lack_nothing_are_left_alone() -> None:
    """Between turns that were interrupted, a whole one stays object for object."""
    recording = recorded([("f", {}, "a")], [("f", {}, "b")], [("f", {}, "c")])
    messages = [asking(call("a", "{}", "f")), asking(call("b", "{}", "f")), result("b"), asking(call("c", "{}", "f"))]
    found = complete(recording.history, messages, WIRE)
    assert [m.get("tool_call_id") for m in found] == [None, "a", None, "b", None, "c"]
    assert found[2] is messages[1]
    assert found[3] is messages[2]


def test_a_result_that_came_too_late_is_moved_to_its_call() -> None:
    """A result behind another message is no second answer: it moves up, and nothing is added."""
    recording = recorded([("f", {}, "a"), ("f", {}, "b")])
    found = complete(recording.history, [asking(call("a"), call("b")), USER, result("a"), result("b"), USER], WIRE)
    assert found == [asking(call("a"), call("b")), result("a"), result("b"), USER, USER]


def test_turns_are_told_apart_by_order_and_content() -> None:
    """Equal calls under one id are told apart by what answers them; where nothing does, that is what is said."""
    recording = recorded([("f", {}, "x")], [("f", {}, "x")], [("f", {"n": 1}, "x")])
    first = asking(call("x", "{}", "f"))
    last = asking(call("x", '{"n":1}', "f"))
    one, two = (
        result("x", json.dumps({"data": n, "next": "none", "status": "succeeded"}, separators=(",", ":")))
        for n in (1, 2)
    )
    assert data(complete(recording.history, [first, one, first, last], WIRE)) == [1, 2, 3]
    assert data(complete(recording.history, [first, two, last], WIRE)) == [2, 3]
    assert data(complete(recording.history, [first, two, first], WIRE)) == [2, "not_recorded"]
    assert data(complete(recording.history, [first, one, first, first], WIRE)) == [1, *["outcome_unknown"] * 2]
    assert data(complete(recording.history, [first, first, last], WIRE)) == ["outcome_unknown"] * 3


def test_ids_decide_between_equal_calls() -> None:
    """Among turns with equal calls the one with the same ids is meant."""
    recording = recorded([("f", {}, "x")], [("f", {}, "y")])
    assert data(complete(recording.history, [asking(call("x", "{}", "f"))], WIRE)) == [1]
    assert data(complete(recording.history, [asking(call("z", "{}", "f"))], WIRE)) == ["outcome_unknown"]


def test_ids_that_the_ledger_gave_are_known() -> None:
    """A host that keeps the ledger's messages names calls by the ids given there."""
    recording = recorded([("f", {}, None)], [("f", {}, None)])
    first = conversation(recording.history, WIRE)[0]
    assert data(complete(recording.history, [first], WIRE)) == [1]


def test_an_answer_is_as_the_call_stands_now() -> None:
    """A call that was settled meanwhile is answered with its end, not with what it was."""
    recording = recorded([("f", {}, "a")], run=False)
    (sent,) = recording.history.calls.values()
    recording.run(sent, flagged())
    recording.turn(Reply(kind="text", provider="openai", text="I wait."))
    recording.add(happened({"id": 7}), sent)
    found = complete(recording.history, [asking(call("a", "{}", "f"))], WIRE)
    assert data(found) == [{"id": 7}]
    assert len(found) == 2
    assert complete(recording.history, found, WIRE) == found


def test_a_later_end_is_told_once() -> None:
    """A host whose transcript says "under review" is told the verdict in a note, once it keeps it no second time."""
    recording = recorded([("f", {}, "a")], run=False)
    (sent,) = recording.history.calls.values()
    recording.run(sent, flagged())
    recording.turn(Reply(kind="text", provider="openai", text="I wait."))
    transcript = conversation(recording.history, WIRE)
    recording.add(happened({"id": 7}), sent)
    found = complete(recording.history, [*transcript, USER], WIRE)
    assert found[:-1] == [*transcript, USER]
    assert '"data":{"id":7}' in found[-1]["content"]
    assert complete(recording.history, found, WIRE) == found
    as_object = SimpleNamespace(model_dump=lambda: found[-1] | {"name": None})
    assert complete(recording.history, [*transcript, as_object, "?"], WIRE)[-2:] == [as_object, "?"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_later_end_is_told_once_in_every_format(name: str) -> None:
    """A transcript that has the note already, as the conversation has, gets no second one."""
    recording = recorded([("f", {}, "a")], run=False)
    (sent,) = recording.history.calls.values()
    recording.run(sent, flagged())
    recording.turn(Reply(kind="text", provider="openai", text="I wait."))
    wire = get_format(name)
    transcript = conversation(recording.history, wire)
    recording.add(happened({"id": 7}), sent)
    found = complete(recording.history, transcript, wire)
    assert found[:-1] == transcript
    assert '"id":7' in json.dumps(found[-1]).replace("\\", "")
    assert complete(recording.history, found, wire) == found


@pytest.mark.parametrize(
    "sent",
    [call("a", "{}", "g"), call("a", '{"n": 2}', "f"), call("a", '{"n": 1.0}', "f")],
    ids=["another tool", "other arguments", "another number"],
)
def test_the_outcome_of_one_call_never_answers_another(sent: dict[str, Any]) -> None:
    """A call that the ledger does not know is answered by just that, whatever stands at its place."""
    recording = recorded([("f", {"n": 1}, "a")])
    assert data(complete(recording.history, [asking(sent)], WIRE)) == ["not_recorded"]


def test_arguments_match_as_values() -> None:
    """White space, key order, dicts instead of text and names in the provider's alphabet make no difference."""
    recording = recorded([("fs.read", {"a": 1, "b": 2}, "a")])
    for arguments in ('{"b":2,  "a":1}', {"b": 2, "a": 1}):
        for name in ("fs.read", "fs_read_4074bc02"):
            assert data(complete(recording.history, [asking(call("a", arguments, name))], WIRE)) == [1]


def test_text_that_is_no_json_matches_what_was_exported_for_it() -> None:
    """A call with unparsable arguments is found under its own text and under the `{}` of an export."""
    recording = Recording()
    sent = ProposedCall(name="f", raw='{"a": ', provider_call_id="a")
    recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)))
    for raw in ('{"a": ', "{}", float("nan")):
        assert data(complete(recording.history, [asking(call("a", raw, "f"))], WIRE)) == ["not_executed"]


def test_redacted_arguments_match_by_name_and_order() -> None:
    """Of a call whose arguments are not recorded in the clear, only the name and the id are compared."""
    recording = Recording()
    recording.add(TurnRecorded(kind="tool_calls", provider="openai", calls=1), turn=1)
    proposed = CallProposed(arguments={"pin": "•"}, redacted=True, provider_call_id="a")
    recording.add(proposed, call_id="c", tool="f", turn=1, index=0, revision=0)
    for given_id, told in (("a", "not_executed"), (None, "not_executed"), ("b", "outcome_unknown")):
        assert data(complete(recording.history, [asking(call(given_id, '{"pin": 1}', "f"))], WIRE)) == [told]
    recording.run(recording.history.calls["c"], ok("first"))
    recording.add(TurnRecorded(kind="tool_calls", provider="openai", calls=1), turn=2)
    recording.add(CallProposed(redacted=True), call_id="d", tool="f", turn=2, index=0, revision=0)
    assert data(complete(recording.history, [asking(call("a", '{"pin": 1}', "f"))], WIRE)) == ["first"]


def test_a_call_without_an_id_gets_one_with_its_answer() -> None:
    """The host's message is not changed; the completed one holds an id that the answer names."""
    recording = recorded([("f", {}, None), ("f", {"n": 1}, "b")])
    sent = asking({"function": {"name": "f", "arguments": "{}"}}, call("b", '{"n":1}', "f"))
    found = complete(recording.history, [sent], WIRE)
    ids = [each["id"] for each in found[0]["tool_calls"]]
    assert ids == [found[1]["tool_call_id"], "b"] == [found[1]["tool_call_id"], found[2]["tool_call_id"]]
    assert "id" not in sent["tool_calls"][0]


def test_results_without_an_id_belong_to_calls_without_one() -> None:
    """Where neither side has an id, they are matched in order."""
    recording = recorded([("f", {}, None), ("f", {}, None)])
    messages = [asking(call(None), call("")), result(None, "1"), result("", "2")]
    assert complete(recording.history, messages, WIRE) == messages


def test_a_stray_result_stays_where_it_is() -> None:
    """A result of no call in sight is the host's affair."""
    recording = recorded([("f", {}, "a")])
    found = complete(recording.history, [result("x"), asking(call("a", "{}", "f")), result("y"), USER], WIRE)
    assert [m.get("tool_call_id") for m in found] == ["x", None, "a", "y", None]


def test_sdk_objects_stay_the_objects_they_are() -> None:
    """A transcript may hold the SDK's own messages: they are read, and handed back as they came."""
    recording = recorded([("f", {}, "a")])
    inner = SimpleNamespace(model_dump=lambda: call("a", "{}", "f"))
    message = SimpleNamespace(model_dump=lambda: {"role": "assistant", "tool_calls": [inner]})
    found = complete(recording.history, [message, "not a message"], WIRE)
    assert found[0] is message
    assert data(found) == [1]
    assert found[2] == "not a message"


def test_a_call_of_two_turns_with_a_gap_is_found() -> None:
    """Turns that the ledger holds and the host dropped are passed over; those it never saw are not recorded."""
    recording = recorded([("f", {}, "a")], [("g", {}, "b")], [("f", {}, "c")])
    transcript = [asking(call("a", "{}", "f")), asking(call("z", "{}", "own")), asking(call("c", "{}", "f"))]
    assert data(complete(recording.history, transcript, WIRE)) == [1, "not_recorded", 3]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("named", [True, False], ids=["ids", "no ids"])
def test_a_call_that_was_never_recorded_is_told_no_other_ones_end(name: str, named: bool) -> None:
    """The host died before it handed the reply over: the same call again has not happened, whatever the first did."""
    recording = recorded([("f", {}, "abcdefgh1" if named else None)])
    wire = get_format(name)
    again = recorded([("f", {}, "abcdefgh2" if named else None)], run=False)
    again.turn(Reply(kind="text", provider="openai", text="Well."))
    ((asked, *_),) = [conversation(again.history, wire)[-3:-2]]
    transcript = [*conversation(recording.history, wire), asked]
    found = json.dumps(complete(recording.history, transcript, wire)[-1])
    assert "not_recorded" in found
    assert '"data' not in found.replace("\\", "")


def test_what_was_told_as_not_recorded_claims_no_turn() -> None:
    """A host that keeps that answer has the call that came behind it found; the answer stays what it was."""
    recording = recorded([("f", {}, None)])
    sent = asking({"function": {"name": "f", "arguments": "{}"}})
    behind = conversation(recording.history, WIRE)
    told = complete(recording.history, [*behind, sent], WIRE)
    recording.turn(Reply(kind="tool_calls", provider="openai", calls=(ProposedCall(name="f", arguments={}),)))
    found = complete(recording.history, [*told, sent], WIRE)
    assert found[:-2] == told
    assert data(found) == [1, "not_recorded", "not_executed"]


def test_what_was_told_as_unclear_stays_unclear() -> None:
    """A second call of that message is told the same, and none of them takes a turn."""
    recording = recorded([("f", {}, "a"), ("g", {}, "b")])
    sent = asking(call("y", "{}", "f"), call("z", "{}", "g"))
    told = complete(recording.history, [sent], WIRE)
    assert data(told) == ["outcome_unknown"] * 2
    assert complete(recording.history, told[:2], WIRE) == told
    assert data(complete(recording.history, [*told, *conversation(recording.history, WIRE)[:1]], WIRE))[2:] == [1, 2]


def test_a_call_that_stands_among_others_now_is_known_by_its_id() -> None:
    """An edited transcript lost a call of a turn, or two turns became one: each id of one call alone still names it."""
    recording = recorded([("f", {"n": 1}, "a"), ("f", {"n": 2}, "b")], [("f", {"n": 3}, "c")])
    one, two, three = (call(given, f'{{"n": {n}}}', "f") for n, given in enumerate("abc", 1))
    assert data(complete(recording.history, [asking(two)], WIRE)) == [2]
    assert data(complete(recording.history, [asking(one, two, three)], WIRE)) == [1, 2, 3]
    assert data(complete(recording.history, [asking(one, call("z", "{}", "own"))], WIRE)) == [1, "not_recorded"]
    assert data(complete(recording.history, [asking(two), asking(two)], WIRE)) == ["outcome_unknown"] * 2
    assert data(complete(recording.history, [asking(call("z", '{"n": 2}', "f"))], WIRE)) == ["outcome_unknown"]
    assert data(complete(recording.history, [asking(three), asking(two | {"id": "z"})], WIRE)) == [3, "not_recorded"]


def test_ids_that_repeat_name_no_call_among_others() -> None:
    """Where a provider gives each turn the same ids, an edited message tells nothing by them."""
    recording = recorded([("f", {}, "x"), ("g", {}, "y")], [("h", {}, "x")])
    first = asking(call("x", "{}", "f"))
    assert data(complete(recording.history, [first, asking(call("x", "{}", "h")), result("x")], WIRE)) == [
        "outcome_unknown"
    ]
    dropped = [asking(call("x", "{}", "h")), result("x"), first]
    assert data(complete(recording.history, dropped, WIRE)) == ["not_recorded"]


def test_ids_of_one_message_or_of_a_message_of_the_host_may_repeat() -> None:
    """The conversation gives such a call an id of the ledger's, and it is found by that one."""
    recording = recorded([("f", {"n": 1}, "x"), ("f", {"n": 2}, "x")], [("g", {}, "y")])
    assert data(complete(recording.history, conversation(recording.history, WIRE)[:1], WIRE)) == [1, 2]
    recording = Recording()
    quoted = asking(call("x", "{}", "own"))
    recording.add(MessageRecorded(role="assistant", provider="openai", message=quoted))
    for own in ("x", "y"):
        sent = ProposedCall(name="f", arguments={}, provider_call_id=own)
        (each,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)))
        recording.run(each, ok(own))
    message = next(m for m in conversation(recording.history, WIRE)[2:] if m.get("tool_calls"))
    assert message["tool_calls"][0]["id"] != "x"
    assert data(complete(recording.history, [message], WIRE)) == ["x"]


def test_words_from_before_a_call_ended_do_not_tell_which_it_is() -> None:
    """A call that waits now is told in the words in which another one waited then."""
    recording = recorded([("f", {}, None)], run=False)
    (first,) = recording.history.calls.values()
    recording.run(first, flagged())
    waits = conversation(recording.history, WIRE)[1]
    recording.add(happened({"id": 7}), first)
    (second,) = recording.turn(
        Reply(kind="tool_calls", provider="openai", calls=(ProposedCall(name="f", arguments={}),))
    )
    recording.run(second, flagged())
    sent = asking({"function": {"name": "f", "arguments": "{}"}})
    del waits["tool_call_id"]
    assert data(complete(recording.history, [sent, waits, sent], WIRE))[1:2] == ["outcome_unknown"]


def test_a_call_of_the_hosts_own_needs_no_message() -> None:
    """What `session.call` recorded need not stand in the host's transcript."""
    recording = Recording()
    for provider, name in (("host", "g"), ("openai", "f")):
        recording.turn(Reply(kind="tool_calls", provider=provider, calls=(ProposedCall(name=name, arguments={}),)))
    sent = asking({"function": {"name": "f", "arguments": "{}"}})
    assert data(complete(recording.history, [sent], WIRE)) == ["not_executed"]


def test_where_a_call_cannot_be_read_nothing_is_told_as_not_recorded() -> None:
    """The call in question may be that one."""
    recording = Recording()
    recording.add(TurnRecorded(kind="tool_calls", provider="openai", calls=2), turn=1)
    recording.add(CallProposed(arguments={}), call_id="c", tool="f", turn=1, index=0, revision=0)
    assert data(complete(recording.history, [asking(call("a", "{}", "g"))], WIRE)) == ["outcome_unknown"]


def test_a_users_call_is_no_turn_of_a_model() -> None:
    """No provider has read it, so no message of a transcript asks for it."""
    recording = Recording()
    recording.turn(Reply(kind="tool_calls", provider="user", calls=(ProposedCall(name="f", arguments={}),)))
    assert data(complete(recording.history, [asking(call("a", "{}", "f"))], WIRE)) == ["not_recorded"]
