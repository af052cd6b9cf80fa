"""Turns of every provider through the public API: dispatched, recorded, answered in the provider's own form."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.events import CallFailed, CallProposed, CallSucceeded, TurnRecorded
from ledger.providers.check import check
from tests.session.agents import opened, recorded, types

SEARCH = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [{"type": "web_search_result", "url": "u"}],
}
REPLIES: dict[str, Any] = {
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {"number": 7}}],
    },
    "bedrock": {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "a", "name": "look", "input": {"number": 7}}}],
    },
    "gemini": {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"number": 7}}}]},
    "mistral": {
        "role": "assistant",
        "tool_calls": [{"id": "a1B2c3D4e", "function": {"name": "look", "arguments": '{"number": 7}'}}],
    },
    "openai": {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": '{"number": 7}'}}],
    },
    "responses": {"output": [{"type": "function_call", "call_id": "a", "name": "look", "arguments": '{"number": 7}'}]},
}
STARTS: dict[str, Any] = {
    "bedrock": {"role": "user", "content": [{"text": "Hi"}]},
    "gemini": {"role": "user", "parts": [{"text": "Hi"}]},
}
STREAM = [
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "a", "name": "look", "input": {}},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"number": 7}'}},
]


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        yield found


def reader(ledger: Ledger) -> list[int]:
    """Register a read that keeps what it was called with."""
    seen: list[int] = []

    @ledger.tool("look", effect="read")
    def look(number: int) -> dict[str, int]:
        """Look something up."""
        seen.append(number)
        return {"number": number}

    return seen


@pytest.mark.parametrize("name", REPLIES)
def test_a_call_of_any_provider_runs(ledger: Ledger, name: str) -> None:
    """It runs once, is answered in that provider's form, and the conversation has nothing that it refuses."""
    seen = reader(ledger)
    start = [STARTS.get(name, {"role": "user", "content": "Hi"})]
    with ledger.session("s") as session:
        session.messages(name, start=start)
        results = session.dispatch(REPLIES[name], format=name)
        told = session.messages(name)
    assert seen == [7]
    assert [call.state for call in results.calls] == ["succeeded"]
    assert check(name, told) == []
    assert told == [*start, *results.messages]
    assert '{"number": 7}' in json.dumps(told).replace("\\", "").replace('":7', '": 7')


@pytest.mark.parametrize("name", REPLIES)
def test_a_session_goes_on_with_another_provider(ledger: Ledger, name: str) -> None:
    """What one provider's model asked is told to each of the others, and the same turn is not run again."""
    seen = reader(ledger)
    with ledger.session("s") as session:
        session.dispatch(REPLIES["openai"])
        assert check(name, session.messages(name)) == []
    with ledger.session("s") as session:
        session.dispatch(REPLIES[name], format=name, turn=1)
    assert seen == [7]


def test_what_the_provider_executed_is_recorded_and_not_dispatched(ledger: Ledger) -> None:
    """Its call stands beside those of the host, with its end; nobody here ran it, and nobody answers it."""
    seen = reader(ledger)
    content = [SEARCH, FOUND, *REPLIES["anthropic"]["content"]]
    with ledger.session("s") as session:
        results = session.dispatch({"role": "assistant", "content": content}, format="anthropic")
        told = session.messages("anthropic")
    assert seen == [7]
    assert [call.tool for call in results.calls] == ["look"]
    assert told[1]["content"] == content
    assert len(told[2]["content"]) == 1
    events = [event for event in recorded(ledger, "s") if event.tool == "web_search"]
    proposed, ended = (event.body for event in events)
    assert isinstance(proposed, CallProposed)
    assert (proposed.executor, proposed.arguments, proposed.provider_call_id) == ("provider", {"query": "x"}, "srv_1")
    assert isinstance(ended, CallSucceeded)
    assert ended.result == FOUND["content"]
    assert [(event.turn, event.index, event.actor) for event in events] == [(1, 1, "model"), (1, 1, "provider")]


def test_a_hosted_call_may_end_with_a_later_answer(ledger: Ledger) -> None:
    """A paused turn's search is open until the answer that brings its result; resuming does not touch it."""
    paused = {"role": "assistant", "content": [SEARCH], "stop_reason": "pause_turn"}
    with ledger.session("s") as session:
        session.dispatch(paused, format="anthropic")
        assert session.resume().decisions == []
        session.dispatch({"role": "assistant", "content": [FOUND]}, format="anthropic")
        told = session.messages("anthropic")
        assert [call.state for call in session.history.calls.values()] == ["succeeded"]
    assert check("anthropic", told) == []
    assert [block["type"] for block in told[1]["content"][:2]] == ["server_tool_use", "web_search_tool_result"]
    assert "[Note" not in json.dumps(told)


def test_a_result_of_an_unknown_hosted_call_ends_no_other(ledger: Ledger) -> None:
    """It is kept with its turn, and the call that is open stays open."""
    with ledger.session("s") as session:
        session.dispatch({"role": "assistant", "content": [SEARCH], "stop_reason": "pause_turn"}, format="anthropic")
        stray = {"role": "assistant", "content": [FOUND | {"tool_use_id": "srv_9"}]}
        session.dispatch(stray, format="anthropic")
        assert [call.state for call in session.history.calls.values()] == ["proposed"]


def test_a_result_without_an_id_ends_no_hosted_call_without_one(ledger: Ledger) -> None:
    """Two empty ids are not the same one."""
    with ledger.session("s") as session:
        paused = {"role": "assistant", "content": [SEARCH | {"id": ""}], "stop_reason": "pause_turn"}
        session.dispatch(paused, format="anthropic")
        session.dispatch({"role": "assistant", "content": [FOUND | {"tool_use_id": ""}]}, format="anthropic")
        assert [call.state for call in session.history.calls.values()] == ["proposed"]


def test_a_hosted_call_that_failed_says_so(ledger: Ledger) -> None:
    """With the exact text of its arguments, parsed where they are an object."""
    calls = [
        {"type": "mcp_call", "id": "m1", "name": "ask", "arguments": '{"q": 1}', "error": "no"},
        {"type": "mcp_call", "id": "m2", "name": "ask", "arguments": '{"q"', "status": "failed"},
        {"type": "mcp_call", "id": "m3", "name": "ask", "arguments": "[1]", "status": "failed"},
        {"type": "web_search_call", "id": "w", "status": "in_progress", "action": {}},
    ]
    with ledger.session("s") as session:
        session.dispatch({"output": calls}, format="responses")
        found = list(session.history.calls.values())
    assert [call.state for call in found] == ["failed", "failed", "failed", "proposed"]
    assert [call.arguments for call in found] == [{"q": 1}, None, None, {"action": {}}]
    assert [call.raw_arguments for call in found] == ['{"q": 1}', '{"q"', "[1]", None]
    assert found[0].message == "The provider says: no."


def test_closing_ends_a_hosted_call_that_nobody_heard_of(ledger: Ledger) -> None:
    """It is not called cancelled: the provider may have run it."""
    with ledger.session("s") as session:
        session.dispatch({"role": "assistant", "content": [SEARCH], "stop_reason": "pause_turn"}, format="anthropic")
        session.close()
        (call,) = session.history.calls.values()
    assert (call.state, call.code) == ("failed", "no_result")
    last = [event.body for event in recorded(ledger, "s") if isinstance(event.body, CallFailed)]
    assert not last[0].not_started


def test_a_stream_that_was_cut_off_runs_nothing(ledger: Ledger) -> None:
    """Events up to a complete call, but without an end: recorded as incomplete, the call rejected."""
    seen = reader(ledger)
    with ledger.session("s") as session:
        (call,) = session.dispatch(STREAM, format="anthropic").calls
        assert (call.state, call.code) == ("rejected", "incomplete_turn")
        end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
        start = {"type": "message_start", "message": {"id": "n", "role": "assistant", "content": []}}
        (call,) = session.dispatch([start, *STREAM[1:], end], format="anthropic").calls
        assert call.state == "succeeded"
    assert seen == [7]
    kinds = [event.body.kind for event in recorded(ledger, "s") if isinstance(event.body, TurnRecorded)]
    assert kinds == ["incomplete", "tool_calls"]


def test_concatenated_arguments_never_run(ledger: Ledger) -> None:
    """Two objects in one text are rejected as trailing data, with the exact text kept."""
    seen = reader(ledger)
    raw = '{"number":1}{"number":2}'
    reply = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": raw}}]}
    with ledger.session("s") as session:
        (call,) = session.dispatch(reply).calls
        told = session.messages("gemini")
    assert seen == []
    assert (call.state, call.code) == ("rejected", "trailing_data")
    assert call.call.raw_arguments == raw
    assert check("gemini", told) == []


def test_tools_are_offered_in_every_form(ledger: Ledger) -> None:
    """Each provider's own shape; the call comes back under the name that was offered."""
    reader(ledger)
    with ledger.session("s") as session:
        for name in REPLIES:
            assert '"look"' in json.dumps(session.tools(name))
    assert types(ledger, "s") == []


def test_the_async_spelling_is_the_same(ledger: Ledger) -> None:
    """A dispatch in an event loop takes a format too."""
    seen = reader(ledger)

    async def main() -> list[dict[str, Any]]:
        async with ledger.session("s") as session:
            results = await session.adispatch(REPLIES["gemini"], format="gemini")
            return results.messages

    assert [message["role"] for message in asyncio.run(main())] == ["model", "user"]
    assert seen == [7]
