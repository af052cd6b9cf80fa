"""Anthropic's Messages format: messages, tools and answers as its servers take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ledger.catalog.definition import ToolVersion
from ledger.events.session_bodies import TurnRecorded
from ledger.providers import anthropic_parse
from ledger.providers.anthropic_parse import HOSTED, blocks_of, is_hosted_result
from ledger.providers.blocks import BlockTranscript, holds_text
from ledger.providers.names import IdRule, Ids, wire_name
from ledger.providers.plain import plain, view
from ledger.providers.port import Answered, FindAnswers, HostMessages, ProposedCall, Reply, Told
from ledger.providers.quoted import Quoted
from ledger.providers.rendering import arguments_object, filled, offers
from ledger.strictjson import Json, JsonObject, export_safe, export_text

IDS: Final = IdRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "toolu_")
"""`^[a-zA-Z0-9_-]+$`, the whole conversation refused otherwise; 64 is what servers that speak the format take."""

OPENING: Final = "(The assistant begins.)"
"""What the user says where the assistant began: its servers take no assistant's message first."""

_THINKING: Final = frozenset({"redacted_thinking", "thinking"})


class Anthropic:
    """The wire format `anthropic`; see `WireFormat` for what the methods promise."""

    name = anthropic_parse.NAME
    ids = IDS
    system_apart = True

    def parse(self, reply: object) -> Reply:
        """Read a Message, an assistant message, or the events of a stream."""
        return anthropic_parse.parse(reply)

    def assistant(self, turn: TurnRecorded, answered: Sequence[Answered]) -> list[JsonObject]:
        """
        Return the assistant message, its blocks in their order; none where nothing is left that may be sent.

        Thinking goes back to this provider only, verbatim and never as the last block.
        """
        items = turn.items if turn.provider == self.name and isinstance(turn.items, dict) else {}
        kept = items.get("content")
        if not isinstance(kept, list):
            kept = [] if turn.text is None else [{"type": "text", "text": turn.text}]
        blocks = [block for block in filled(kept, answered, _tool_use) if sendable(block)]
        if turn.stop_reason != "pause_turn":  # the next answer begins with the results
            blocks = without_unpaired(blocks)
        blocks = without_last_thoughts(blocks)
        return [{"role": "assistant", "content": blocks}] if blocks else []

    def results(self, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return the one user message that answers all calls of a message."""
        blocks = [_tool_result(each.id, _said(each), error=each.error) for each in answered]
        return [{"role": "user", "content": blocks}] if blocks else []

    def tools(self, versions: Sequence[ToolVersion]) -> list[JsonObject]:
        """Return the tools as `tools=` of a request takes them; the schemas are copies."""
        found = offers(self.name, versions, wire_name)
        return [{"name": name, "description": text, "input_schema": schema} for name, text, schema in found]

    def system(self, text: str) -> JsonObject:
        """Return a system message; only newer models take one, and only behind a user's."""
        return {"role": "system", "content": export_text(text, nul=True)}

    def user(self, text: str) -> JsonObject:
        """Return a user message."""
        return {"role": "user", "content": [{"type": "text", "text": export_text(text, nul=True)}]}

    def follow(self, before: JsonObject | None, message: JsonObject) -> list[JsonObject]:
        """Return two messages of one role as one; where the assistant begins, the user opens."""
        if before is None:
            return [message] if message["role"] == "user" else [self.user(OPENING), message]
        if before["role"] == message["role"]:
            return [{"role": message["role"], "content": [*_content(before), *_content(message)]}]
        if before["role"] == "assistant":
            left = without_last_thoughts(without_unpaired(_content(before)))
            if not left:
                return [message]
            if len(left) != len(before["content"]):
                before = before | {"content": left}
        return [before, message]

    def host(self, ids: Ids) -> HostMessages:
        """Return the way in for the host's messages of one conversation."""
        return Quoted(self, ids, _own, system_apart=True)

    def request(self, system: str | None, messages: Sequence[JsonObject]) -> JsonObject:
        """Return the messages, and the instructions beside them, as a request's body holds them."""
        return ({} if system is None else {"system": system}) | {"messages": list(messages)}

    def complete(self, messages: Sequence[Any], find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """Return the transcript with the missing tool_result blocks, first in the message behind the calls."""
        return BlockTranscript(messages, AnthropicBlocks()).complete(find, every=every)

    def holds(self, messages: Sequence[Any], message: JsonObject) -> bool:
        """Whether a message of this role in the transcript holds the same text."""
        return holds_text(messages, message, lambda each: blocks_of(each.get("content")))


class AnthropicBlocks:
    """How this format spells calls and results (see `Blocks`)."""

    rule = IDS
    in_order = False

    def calls(self, message: JsonObject) -> tuple[ProposedCall, ...]:
        """Return the calls of an assistant's message."""
        found = blocks_of(message.get("content")) if message.get("role") == "assistant" else []
        return anthropic_parse.calls_of(found)

    def blocks(self, message: JsonObject) -> list[JsonObject] | None:
        """Return the blocks of a user's message."""
        return blocks_of(message.get("content")) if message.get("role") == "user" else None

    def answers(self, block: JsonObject) -> tuple[str | None, str | None] | None:
        """Return the id that a result names."""
        return (block.get("tool_use_id"), None) if block.get("type") == "tool_result" else None

    def content(self, block: JsonObject) -> Json:
        """Return what a result says."""
        return block.get("content")

    def result(self, call: ProposedCall, call_id: str | None, told: Told) -> JsonObject:
        """Return the block that answers a call."""
        del call
        return _tool_result(call_id or "", told.text, error=told.error)

    def with_blocks(self, message: JsonObject, blocks: list[JsonObject]) -> JsonObject:
        """Return a user's message with these blocks."""
        return (message or {"role": "user"}) | {"content": blocks}

    def with_ids(self, message: JsonObject, ids: dict[int, str]) -> JsonObject:
        """Return an assistant's message in which the calls of these numbers have these ids."""
        content = blocks_of(message.get("content"))
        calls = [block for block in content if block.get("type") == "tool_use"]
        for number, here in ids.items():
            calls[number]["id"] = here
        return message | {"content": content}


def without_unpaired(blocks: Sequence[JsonObject]) -> list[JsonObject]:
    """
    Return the blocks without calls of the provider's own tools that have no result.

    Beside calls of the host they stay: they are under way, and their results begin the next answer.
    """
    ended = {block.get("tool_use_id") for block in blocks if is_hosted_result(block)}
    if any(block.get("type") == "tool_use" for block in blocks):
        return list(blocks)
    return [block for block in blocks if block.get("type") not in HOSTED or block.get("id") in ended]


def without_last_thoughts(blocks: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the blocks without thinking at their end, which is refused."""
    left = list(blocks)
    while left and left[-1].get("type") in _THINKING:
        left.pop()
    return left


def sendable(block: JsonObject) -> bool:
    """Whether a request may hold the block: no blank texts, no thinking whose signature was lost."""
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return isinstance(text, str) and bool(text.strip())
    return kind != "thinking" or bool(block.get("signature"))


def _tool_use(each: Answered, kept: JsonObject) -> JsonObject:
    call = each.call
    return {"type": "tool_use", "id": each.id, "name": wire_name(call.tool), "input": arguments_object(call)} | {
        key: value for key, value in kept.items() if key != "type"
    }


def _tool_result(call_id: str, content: Any, *, error: bool) -> JsonObject:
    found: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return found | {"is_error": True} if error else found


def _said(each: Answered) -> str | list[Json]:
    return each.content if isinstance(each.content, list) else each.text


def _content(message: JsonObject) -> list[JsonObject]:
    """Return a message's content as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _own(role: str, message: JsonObject) -> list[JsonObject]:
    """Return a host's message in this format; blank texts, which are refused, are left out."""
    content = message.get("content")
    if isinstance(content, str):
        kept: Any = content if content.strip() else ""
    else:
        views = [view(block) for block in content] if isinstance(content, list | tuple) else []
        kept = [plain(block) for block in views if block is not None and sendable(block)]
    if not kept:
        return []
    cleaned: JsonObject = export_safe({"role": "user" if role != "assistant" else role, "content": kept}, nul=True)
    return [cleaned]
