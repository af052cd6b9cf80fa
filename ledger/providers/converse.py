"""Bedrock's Converse blocks as Anthropic's and back: the same things under other names, for models of any make."""

from __future__ import annotations

from typing import Any, Final

from ledger.errors import UsageError
from ledger.providers import anthropic_parse
from ledger.providers.plain import named, plain, rest, text_or_none, view
from ledger.providers.port import Reply
from ledger.strictjson import Json, JsonObject

NAME: Final = "bedrock"
OPAQUE: Final = "converse"
"""The type under which a block of another kind is carried, as it is."""

_TYPE: Final = "converseType"
_TAKEN: Final = "Give the response of `converse` (a dict) or its message."
_CUT_OFF: Final = frozenset(
    {"content_filtered", "guardrail_intervened", "malformed_model_output", "malformed_tool_use"}
)


def parse(reply: object) -> Reply:
    """Read the response of `converse`, or an assistant message. Raises `UsageError` naming what was given."""
    whole = view(reply) or {}
    output = view(whole.get("output")) or whole
    message = view(output.get("message")) or output
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list | tuple):
        given = f"an object with the keys {sorted(map(str, whole))[:8]}" if whole else named(reply)
        raise UsageError(f"{NAME}: this is no reply: {given}.", hint=_TAKEN)
    stop = text_or_none(whole.get("stopReason"))
    others = rest(whole, {"content", "message", "metrics", "output", "role", "stopReason", "usage"})
    found = anthropic_parse.parse(others | {"role": "assistant", "content": to_blocks(content)})
    return Reply(
        kind="incomplete" if stop in anthropic_parse.CUT_OFF | _CUT_OFF else found.kind,
        provider=NAME,
        calls=found.calls,
        hosted=found.hosted,
        text=found.text,
        stop_reason=stop,
        items=found.items,
        usage=plain(whole.get("usage")),
    )


def to_blocks(content: Any) -> list[JsonObject]:
    """Return Converse blocks in Anthropic's form."""
    views = map(view, content) if isinstance(content, list | tuple) else ()
    return [_to_block(block) for block in views if block is not None]


def _to_block(block: JsonObject) -> JsonObject:
    call, result = view(block.get("toolUse")), view(block.get("toolResult"))
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    if call is not None:
        hosted = call.get("type") == "server_tool_use"  # executed by the provider
        found = {"type": "server_tool_use" if hosted else "tool_use", "id": call.get("toolUseId")}
        return found | {"name": call.get("name"), "input": call.get("input")} | _kept(call, {"input", "name"})
    if result is not None:
        found = {"type": "server_tool_result" if "type" in result else "tool_result"}
        found |= {"tool_use_id": result.get("toolUseId"), "content": to_blocks(result.get("content"))}
        return found | {"is_error": result.get("status") == "error"} | _kept(result, {"content", "status"})
    thought = view((view(block.get("reasoningContent")) or {}).get("reasoningText"))
    if thought is not None:
        return {"type": "thinking", "thinking": thought.get("text"), "signature": thought.get("signature")}
    return {"type": OPAQUE, "block": plain(block)}


def _kept(whole: JsonObject, known: set[str]) -> JsonObject:
    """Return what else a call or a result holds; its `type` under another name."""
    others = rest(whole, known | {"toolUseId", "type"})
    return others if whole.get("type") is None else others | {_TYPE: whole["type"]}


def from_blocks(blocks: list[JsonObject]) -> list[JsonObject]:
    """Return blocks in Anthropic's form as Converse takes them."""
    return [_from_block(block) for block in blocks]


def _from_block(block: JsonObject) -> JsonObject:
    kind = {"type": block[_TYPE]} if _TYPE in block else {}
    match block["type"]:
        case "text":
            return {"text": block["text"]}
        case "tool_use" | "server_tool_use":
            kept = rest(block, {"id", "input", "name", "type", _TYPE})
            return {"toolUse": {"toolUseId": block["id"], "name": block["name"], "input": block["input"]} | kept | kind}
        case "tool_result" | "server_tool_result":
            kept = rest(block, {"content", "is_error", "tool_use_id", "type", _TYPE})
            result = {"toolUseId": block["tool_use_id"], "content": _content(block["content"])} | kept | kind
            return {"toolResult": result | ({"status": "error"} if block.get("is_error") else {})}
        case "thinking":
            thought = {"text": block["thinking"], "signature": block["signature"]}
            return {"reasoningContent": {"reasoningText": thought}}
        case _:
            return dict(block["block"])


def _content(content: Json) -> list[JsonObject]:
    """Return what a result says; a blank text is refused."""
    if isinstance(content, str):
        return [{"text": content}] if content.strip() else []
    return from_blocks(content)
