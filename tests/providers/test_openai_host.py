"""A host's own messages, with calls and results of their own, on their way into a conversation."""

from __future__ import annotations

import json
from typing import Any

from ledger.events import MessageRecorded
from ledger.providers import conversation, get_format, turn_messages
from ledger.providers.check import check_openai
from ledger.providers.port import ProposedCall, Reply
from tests.providers.recording import Recording

WIRE = get_format("openai")


def call(given_id: Any, arguments: Any = "{}", name: str = "look") -> dict[str, Any]:
    """Return a call as a host's transcript holds it."""
    return {"id": given_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asking(*calls: Any) -> dict[str, Any]:
    """Return an assistant message with calls."""
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def result(given_id: Any, content: Any = "seen") -> dict[str, Any]:
    """Return a result as a host's transcript holds it."""
    return {"role": "tool", "tool_call_id": given_id, "content": content}


def told(*messages: Any) -> list[dict[str, Any]]:
    """Return the conversation of a session that holds these messages; it has nothing to refuse."""
    recording = Recording()
    for message in messages:
        recording.add(MessageRecorded(role=message["role"], provider="openai", message=message))
    found = conversation(recording.history, WIRE)
    assert check_openai(found) == []
    return found


def test_a_sound_transcript_stays_as_it_is() -> None:
    """Calls with their results in order are not touched."""
    messages = [{"role": "user", "content": "Hi"}, asking(call("a"), call("b")), result("a"), result("b", [])]
    assert told(*messages) == messages


def test_results_are_put_into_the_order_of_their_calls() -> None:
    """Results that came in the order of their ends stand in the order of the calls."""
    assert told(asking(call("a"), call("b")), result("b", "2"), result("a", "1"))[1:] == [
        result("a", "1"),
        result("b", "2"),
    ]


def test_a_call_without_a_result_gets_an_honest_one() -> None:
    """A result that never came is told as not recorded, at its place, before the next message and at the end."""
    found = told(asking(call("a"), call("b")), result("b"), {"role": "user", "content": "And?"}, asking(call("c")))
    assert [message.get("tool_call_id") for message in found] == [None, "a", "b", None, None, "c"]
    assert json.loads(found[1]["content"])["code"] == json.loads(found[5]["content"])["code"] == "not_recorded"


def test_a_result_without_a_call_becomes_a_text() -> None:
    """Nothing is lost: the text of an orphan is the user's, marked."""
    found = told(result("x", [{"type": "text", "text": "seen"}]), result("y", None), asking(call("a")), result("b"))
    texts = [message["content"] for message in found if message["role"] == "user"]
    assert texts[0] == "[Result of a call that is not in this conversation] seen"
    assert len(texts) == 3


def test_ids_and_arguments_are_put_right() -> None:
    """Repeated and missing ids, arguments that are no object, names out of the alphabet: all made legal."""
    odd = [call("a", {"n": 1}), call("a", "nonsense", "rm -rf"), call(None, "[]"), "no call"]
    found = told(asking(*odd), result("a", "1"), result("a", "2"), result(None, None))
    first, second, third = found[0]["tool_calls"]
    assert [each["function"]["arguments"] for each in (first, second, third)] == ['{"n":1}', "{}", "{}"]
    assert [message["tool_call_id"] for message in found[1:]] == [first["id"], second["id"], third["id"]]
    assert [message["content"] for message in found[1:]] == ["1", "2", ""]
    assert first["id"] == "a"
    assert len({first["id"], second["id"], third["id"]}) == 3


def test_messages_without_ids_that_repeat_get_ids_of_their_own() -> None:
    """Two equal messages without ids do not end up under one id."""
    found = told(asking(call("")), result(""), asking(call("")), result(""))
    assert found[0]["tool_calls"][0]["id"] != found[2]["tool_calls"][0]["id"]


def test_a_message_without_content_gets_one() -> None:
    """Content that is null, or no text, is written as one."""
    odd = [{"role": "user"}, {"role": "user", "content": {"a": 1}}, {"role": "assistant"}]
    refusal = {"role": "assistant", "content": None, "refusal": "No."}
    assert [message["content"] for message in told(*odd, refusal)] == ["", '{"a":1}', "", None]


def test_an_empty_list_of_calls_is_left_out() -> None:
    """`tool_calls: []` is refused by the provider and says nothing."""
    assert told({"role": "assistant", "content": "Hi", "tool_calls": []}) == [{"role": "assistant", "content": "Hi"}]


def test_the_ids_of_the_hosts_calls_are_taken() -> None:
    """A recorded call does not get the id of a call in the host's own messages, in a turn alone neither."""
    recording = Recording()
    for message in (asking(call("a"), call(5)), result("a"), result(5)):
        recording.add(MessageRecorded(role=message["role"], provider="openai", message=message))
    recording.add(MessageRecorded(role="user", provider="gemini", message={"tool_calls": [call("b")]}))
    sent = (ProposedCall(name="f", provider_call_id="a"), ProposedCall(name="f", provider_call_id="b"))
    recording.turn(Reply(kind="tool_calls", provider="openai", calls=sent))
    alone = turn_messages(recording.history, recording.history.turns[0], WIRE)
    assert conversation(recording.history, WIRE)[-3:] == alone
    ids = [each["id"] for each in alone[0]["tool_calls"]]
    assert ids[0] != "a"
    assert ids[1] == "b"
