"""A transcript's format, told from its first bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.providers.bundle import write_bundle
from ledger.providers.sniff import sniff
from tests.providers.anthropic import making as anthropic
from tests.providers.bedrock import test_wire as bedrock
from tests.providers.gemini import making as gemini
from tests.providers.imports.test_claude_code import SESSION
from tests.providers.responses import making as responses
from tests.providers.test_openai_host import asking, call, result

USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"messages": [USER, asking(call("a")), result("a")]}, "openai"),
        ({"messages": [USER]}, "openai"),
        ([USER, result("a")], "openai"),
        (USER, "openai"),
        ({"choices": []}, "openai"),
        ({"request": {"messages": [USER, asking(call("a"))]}, "response": None}, "openai"),
        ({"system": "Be kind.", "messages": [USER]}, "anthropic"),
        ({"messages": [USER], "tools": ["?", {"name": "f", "input_schema": {}}]}, "anthropic"),
        ({"messages": [USER], "tools": [{"type": "function"}]}, "openai"),
        ({"request": {"messages": [USER]}, "response": {"content": [], "stop_reason": None}}, "anthropic"),
        ({"messages": [USER, anthropic.said(anthropic.use("a"))]}, "anthropic"),
        (anthropic.said(anthropic.THOUGHT), "anthropic"),
        ({"role": "assistant", "content": [], "stop_reason": "end_turn"}, "anthropic"),
        ({"messages": [bedrock.USER, bedrock.said(bedrock.use("a"))]}, "bedrock"),
        ({"messages": [bedrock.USER], "inferenceConfig": {}}, "bedrock"),
        ({"output": {"message": bedrock.said()}, "stopReason": "end_turn"}, "bedrock"),
        ({"contents": [gemini.USER]}, "gemini"),
        (gemini.USER, "gemini"),
        ({"candidates": []}, "gemini"),
        ({"input": "Hi"}, "responses"),
        ({"object": "response", "output": []}, "responses"),
        (responses.call("a"), "responses"),
        ({"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}, "responses"),
        (SESSION[0], "claude-code"),
        (SESSION[2], "claude-code"),
        ({"type": "permission-mode", "sessionId": "s"}, "claude-code"),
        ([7, {"type": "permission-mode", "sessionId": "s"}], "claude-code"),
    ],
)
def test_a_document_tells_its_format(value: Any, found: str) -> None:
    """Whole, indented, behind a byte order mark, and as the first of several lines."""
    text = json.dumps(value)
    assert sniff(text.encode()) == found
    assert sniff(b"\xef\xbb\xbf\n" + json.dumps(value, indent=2).encode()) == found
    assert sniff(f"{text}\n{text[:-5]}".encode()) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"messages": [{"role": "assistant", "content": null, "tool_calls": [', "openai"),
        ('{"messages": [{"role": "user", "content": "he said \\"tool_use_id\\": 1"}, {"role"', "openai"),
        ('{"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id"', "anthropic"),
        ('{"input": [{"type": "function_call", "call_id": "a"', "responses"),
        ('{"model": "gpt-5", "input": [{"role": "user", "content": "', "responses"),
        ('{"messages": [{"content": [{"toolUse": {"toolUseId": "', "bedrock"),
        ('{"contents": [{"parts": [{"text": "', "gemini"),
        ('{"parentUuid": null, "type": "us', "claude-code"),
        ('\0\0\0\n{"type": "summary", "leafUuid": "x", "summary": "', "claude-code"),
    ],
)
def test_a_part_of_a_document_is_enough(text: str, found: str) -> None:
    """By the first thing that only one format has; what stands in a text counts for nothing."""
    assert sniff(text.encode()) == found


def test_a_bundle_is_known_by_its_first_line() -> None:
    """The ledger's own export."""
    assert sniff(b"".join(write_bundle("s", []))) == "ledger"


@pytest.mark.parametrize("text", [b"Hello.", b"[1, 2]", b'{"a": 1}', b"\xff\xfe\x00"])
def test_anything_else_is_refused_with_the_names_there_are(text: bytes) -> None:
    """The error says what was looked for, and what may be named."""
    with pytest.raises(UsageError, match="neither messages nor calls") as refused:
        sniff(text)
    assert str(refused.value.hint).endswith(": openai, responses, anthropic, bedrock, gemini, claude-code, ledger.")


@pytest.mark.parametrize("text", [b"", b" \n"])
def test_a_file_with_nothing_in_it_is_told_as_such(text: bytes) -> None:
    """No name of a format would help."""
    with pytest.raises(UsageError, match="it is empty") as refused:
        sniff(text)
    assert refused.value.hint is None
