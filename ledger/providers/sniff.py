"""Which format a transcript is in, from its first bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ledger.errors import JsonRejected, UsageError
from ledger.providers.bundle import is_bundle
from ledger.providers.claude_code import NAME as CLAUDE_CODE
from ledger.providers.plain import view
from ledger.strictjson import TRUSTED, Json, JsonObject, decode

LOOKED_AT: Final = 64 * 1024
"""Bytes that are enough to tell."""

BUNDLE: Final = "ledger"
READABLE: Final = ("openai", "responses", "anthropic", "bedrock", "gemini", CLAUDE_CODE, BUNDLE)
"""What `--format` may name."""

_KEYS: Final = (
    # In a part of a document, by what only one format has; a key in a text stands behind a backslash.
    (CLAUDE_CODE, r'"(parentUuid|isSidechain|leafUuid)"\s*:'),
    ("openai", r'"(tool_calls|tool_call_id|finish_reason)"\s*:'),
    ("bedrock", r'"(toolUse|toolResult|toolUseId|stopReason)"\s*:'),
    ("anthropic", r'"type"\s*:\s*"tool_(use|result)"|"(tool_use_id|stop_reason)"\s*:'),
    ("responses", r'"type"\s*:\s*"(function_call(_output)?|input_text|output_text)"|"input"\s*:\s*\['),
    ("gemini", r'"(functionCall|functionResponse|contents|candidates|parts)"\s*:'),
    ("openai", r'"messages"\s*:|"role"\s*:'),
)


_CONVERSE: Final = frozenset({"reasoningContent", "toolResult", "toolUse"})


def sniff(head: bytes) -> str:
    """
    Return the name of the format that a file begins in (`READABLE`); `head` are its first bytes, `LOOKED_AT` of them.

    Raises `UsageError` where it is none of them.
    """
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    for value in _values(text):
        if found := _format_of(value):
            return found
    for name, pattern in _KEYS:
        if re.search(rf"(?<!\\){pattern}", text):
            return name
    why = "its beginning holds neither messages nor calls" if text else "it is empty"
    hint = f"If it is one all the same, name its format (--format): {', '.join(READABLE)}."
    raise UsageError(f"This is no transcript that is known here: {why}.", hint=hint if text else None)


def _values(text: str) -> Iterator[Json]:
    """Yield the whole documents: the text itself, else its lines."""
    for part in (text, *text.splitlines()):
        try:
            yield decode(part, TRUSTED)
        except JsonRejected:
            continue


def _format_of(value: Json) -> str | None:
    if isinstance(value, list):
        return next((found for each in value if (found := _format_of(each))), None)
    whole = view(value)
    if whole is None:
        return None
    if is_bundle(whole):
        return BUNDLE
    if whole.keys() & {"parentUuid", "leafUuid", "isSidechain"} or ("sessionId" in whole and "type" in whole):
        return CLAUDE_CODE
    if isinstance(whole.get("request"), dict):  # the reply says more than what was asked
        return _format_of(whole.get("response")) or _format_of(whole["request"])
    return _of_document(whole)


def _of_document(whole: JsonObject) -> str | None:
    """Return the format of a request's body, a reply or a message; None where it could be several."""
    if whole.keys() & {"contents", "candidates", "parts"}:
        return "gemini"
    if "choices" in whole or whole.keys() & {"tool_calls", "tool_call_id"}:
        return "openai"
    if "stopReason" in whole or "inferenceConfig" in whole:
        return "bedrock"
    if "input" in whole or "output" in whole or whole.get("type") in ("function_call", "function_call_output"):
        return "responses"
    if isinstance(whole.get("messages"), list):
        kinds = (_format_of(message) for message in whole["messages"])
        return next(filter(None, kinds), "anthropic" if "system" in whole or _input_schemas(whole) else "openai")
    if "stop_reason" in whole:
        return "anthropic"
    content = whole.get("content")
    if isinstance(content, list) and any(isinstance(block, dict) and block.keys() & _CONVERSE for block in content):
        return "bedrock"
    types = {block.get("type") for block in content if isinstance(block, dict)} if isinstance(content, list) else set()
    if types & {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}:
        return "anthropic"
    return "responses" if types & {"input_text", "output_text"} else "openai" if whole.get("role") == "tool" else None


def _input_schemas(whole: JsonObject) -> bool:
    """Whether tools are declared as only Anthropic has them declared."""
    tools = whole.get("tools")
    return isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
