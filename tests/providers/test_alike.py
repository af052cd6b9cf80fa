"""What holds for every wire format, whatever was recorded through whichever of them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings

from ledger.providers import complete, conversation, get_format, turn_messages
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.strictjson import canonical
from tests.providers.odd import FORMATS, sessions
from tests.providers.recording import Recording
from tests.providers.sessions import recordings

UNCOUNTED = pytest.mark.uncounted  # the other half of the tests reaches all that these do
EVERY = pytest.mark.parametrize("name", FORMATS)
FEWER = settings(max_examples=40)  # of each format: 240 in all


@EVERY
@FEWER
@given(sessions())
def test_every_conversation_is_accepted(name: str, recording: Recording) -> None:
    """Whatever happened, and through whichever provider, the conversation has nothing that this one refuses."""
    told = conversation(recording.history, get_format(name))
    assert check(name, told) == []


@UNCOUNTED
@EVERY
@FEWER
@given(recordings())
def test_calls_that_went_any_legal_way_are_accepted(name: str, recording: Recording) -> None:
    """However calls ended, were flagged, settled, replaced: each has its one answer."""
    assert check(name, export(recording.history, get_format(name))) == []


@UNCOUNTED
@EVERY
@FEWER
@given(sessions())
def test_the_same_events_give_the_same_bytes(name: str, recording: Recording) -> None:
    """A conversation is told twice alike, changes nothing that was recorded, and hands out nothing of it."""
    before = canonical([event.body.message for event in recording.events if hasattr(event.body, "message")])
    told = conversation(recording.history, get_format(name))
    again = deepcopy(told)
    told.clear()
    assert canonical(conversation(recording.history, get_format(name))) == canonical(again)
    after = [event.body.message for event in recording.events if hasattr(event.body, "message")]
    assert canonical(after) == before


@UNCOUNTED
@EVERY
@FEWER
@given(sessions())
def test_a_whole_transcript_is_left_alone(name: str, recording: Recording) -> None:
    """What the ledger wrote lacks nothing: completed, it comes back object for object."""
    wire = get_format(name)
    told = conversation(recording.history, wire)
    completed = complete(recording.history, told, wire)
    assert all(one is other for one, other in zip(completed, told, strict=True))


def without_results(name: str, messages: list[Any]) -> list[Any]:
    """Return a conversation from which every result was lost."""
    marks = {
        "anthropic": "tool_result",
        "bedrock": "toolResult",
        "gemini": "functionResponse",
        "responses": "_output",
    }
    if name in ("openai", "mistral"):
        return [message for message in messages if message["role"] != "tool"]
    if name == "responses":
        return [item for item in messages if not item.get("type", "").endswith(marks[name])]
    key = "parts" if name == "gemini" else "content"
    found = []
    for message in messages:
        content = message[key]
        if isinstance(content, list):
            content = [each for each in content if each.get("type") != marks[name] and marks[name] not in each]
        if content:
            found.append(message | {key: content})
    return found


@EVERY
@FEWER
@given(sessions())
def test_lost_results_are_found_again(name: str, recording: Recording) -> None:
    """A transcript without any result, completed, is one that the provider takes; a second time adds nothing."""
    wire = get_format(name)
    lost = without_results(name, conversation(recording.history, wire))
    completed = complete(recording.history, lost, wire)
    codes = {problem.code for problem in check(name, completed) if "in a row" not in problem.message}
    assert codes <= {"unpaired"}  # two messages of the assistant stay two
    assert complete(recording.history, completed, wire) == completed


@EVERY
@FEWER
@given(sessions())
def test_a_turn_alone_is_what_it_is_in_the_conversation(name: str, recording: Recording) -> None:
    """What a dispatch returns are the messages of the whole, but where the provider wants two made one."""
    wire = get_format(name)
    whole = json.dumps(conversation(recording.history, wire))
    for turn in recording.history.turns:
        for message in turn_messages(recording.history, turn, wire):
            parts = message.get("parts", message.get("content"))
            for part in parts if isinstance(parts, list) and name in ("anthropic", "bedrock", "gemini") else [message]:
                # A search that was under way is dropped where the user speaks instead, with the thinking before it.
                assert json.dumps(part) in whole or part["type"] in ("server_tool_use", "thinking", "redacted_thinking")
