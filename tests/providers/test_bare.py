"""Beside a call with a secret nothing is kept that may quote its arguments, but all that a provider wants back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.providers.bare import bare
from tests.session.agents import opened

CANARY = "CANARY77"
PIN = {"pin": CANARY}
BROKEN = f"pin is {CANARY}"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}}


def chat(message: dict[str, Any], *others: Any, **more: Any) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant"} | each, "finish_reason": "stop"} for each in (message, *others)]
    return {"choices": choices} | more


def called(given: str = json.dumps(PIN), **more: Any) -> dict[str, Any]:
    function = {"name": "set_pin", "arguments": given} | more
    return {"content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]}


def gemini(*candidates: Any, **more: Any) -> dict[str, Any]:
    found = [{"content": {"role": "model", "parts": parts}} | more for parts in candidates]
    return {"candidates": found}


def part(**body: Any) -> dict[str, Any]:
    return {"functionCall": {"name": "set_pin"} | body}


REPLIES: dict[str, tuple[str, Any]] = {
    "a custom tool's text": (
        "responses",
        [{"type": "custom_tool_call", "call_id": "a", "name": "set_pin", "input": BROKEN}],
    ),
    "another choice": ("openai", chat({"content": "no"}, called())),
    "another choice, the old way": (
        "openai",
        chat({"content": "no"}, {"function_call": {"name": "set_pin", "arguments": json.dumps(PIN)}}),
    ),
    "another candidate": ("gemini", gemini([{"text": "no"}], [{"text": "b"}, part(args=PIN)])),
    "a copy beside the calls": (
        "openai",
        chat(called(BROKEN) | {"function_call": {"name": "set_pin", "arguments": BROKEN}}),
    ),
    "parsed by the SDK": ("openai", chat(called(BROKEN, parsed_arguments=PIN))),
    "tokens with their probabilities": (
        "openai",
        {"choices": [{"message": {"role": "assistant"} | called(BROKEN), "logprobs": {"content": [CANARY]}}]},
    ),
    "in a field that nobody knows": ("openai", chat(called(BROKEN) | {"extra": BROKEN})),
    "the words about a call that is none": ("gemini", gemini([part(args=BROKEN)], finishMessage=BROKEN)),
    "the words about no call at all": (
        "gemini",
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": BROKEN}]},
    ),
    "a block's other fields": (
        "anthropic",
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "set_pin", "input": BROKEN, "raw": BROKEN}],
        },
    ),
}


def hiding(folder: Path) -> Ledger:
    ledger = opened(folder)
    ledger.tool("set_pin", effect="write", schema=SCHEMA)(lambda pin="": None)
    return ledger


@pytest.mark.parametrize("name", REPLIES)
def test_no_part_of_a_reply_carries_a_secret_to_the_disk(tmp_path: Path, name: str) -> None:
    """Wherever a provider, its SDK or another choice repeats the arguments, be they JSON or not."""
    form, reply = REPLIES[name]
    with hiding(tmp_path) as ledger:
        ledger.session("s").dispatch(reply, format=form)
    assert [path.name for path in tmp_path.iterdir() if CANARY.encode() in path.read_bytes()] == []


def test_thinking_and_signatures_are_kept(tmp_path: Path) -> None:
    """What a provider checks in the next request goes back to it whole, at its place."""
    with hiding(tmp_path) as ledger:
        session = ledger.session("a")
        thinking = {"type": "thinking", "thinking": "t", "signature": "s"}
        use = {"type": "tool_use", "id": "a", "name": "set_pin", "input": PIN, "cache_control": {"type": "ephemeral"}}
        session.dispatch({"role": "assistant", "content": [thinking, use]}, format="anthropic")
        assert session.messages("anthropic")[1]["content"][0] == thinking
        session = ledger.session("g")
        session.dispatch(gemini([part(args=PIN) | {"thoughtSignature": "s"}]), format="gemini")
        assert [each["thoughtSignature"] for each in session.messages("gemini")[1]["parts"]] == ["s"]
        session = ledger.session("r")
        reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"}
        item = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "set_pin", "arguments": json.dumps(PIN)}
        session.dispatch([reasoning, item], format="responses")
        told = session.messages("responses")
        assert (told[0], told[1]["id"], told[1]["type"]) == (reasoning, "fc_1", "function_call")
        session = ledger.session("o")
        session.dispatch(chat(called() | {"reasoning_content": "r"}, id="x", created=1), format="openai")
        assert session.messages("openai")[0]["reasoning_content"] == "r"
        kept = session.history.turns[0].body.items
        assert kept == {"message": {"reasoning_content": "r"}, "reply": {"created": 1}}


@pytest.mark.parametrize("items", [None, "text", {}, {"candidate": {"a": 1}}, {"message": {"a": "b"}}])
def test_what_nobody_knows_is_left_out(items: Any) -> None:
    """Nothing is left: nothing is recorded."""
    assert bare(items) is None


def test_blocks_without_a_mark_stay() -> None:
    """They are no call of this turn; beside them a message's plain facts, as such formats have no other."""
    items = {"content": [{"type": "text"}, 5], "message": {"at": 1, "container": {"id": "c"}}}
    assert bare(items) == {"content": [{"type": "text"}, 5], "message": {"at": 1}}
