"""Bedrock's Converse format: messages, tools and answers as its servers take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ledger.catalog.definition import ToolVersion
from ledger.events.session_bodies import TurnRecorded
from ledger.providers import anthropic_parse, converse
from ledger.providers.anthropic import Anthropic, AnthropicBlocks, sendable
from ledger.providers.blocks import BlockTranscript, holds_text
from ledger.providers.converse import from_blocks, to_blocks
from ledger.providers.names import IdRule, Ids, wire_name
from ledger.providers.plain import plain
from ledger.providers.port import Answered, FindAnswers, HostMessages, ProposedCall, Reply
from ledger.providers.quoted import Quoted
from ledger.providers.rendering import offers
from ledger.strictjson import Json, JsonObject, export_safe, export_text

IDS: Final = IdRule(re.compile(r"[a-zA-Z0-9_.:-]{1,64}"), "tooluse_")
"""Other models than Anthropic's use dots and colons, and their ids are taken back."""


class Bedrock(Anthropic):
    """The wire format `bedrock`; see `WireFormat` for what the methods promise."""

    name = converse.NAME
    ids = IDS

    def parse(self, reply: object) -> Reply:
        """Read the response of `converse`, or an assistant message."""
        return converse.parse(reply)

    def assistant(self, turn: TurnRecorded, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return the assistant message; none where nothing is left that may be sent."""
        return [each | {"content": from_blocks(each["content"])} for each in super().assistant(turn, answered)]

    def results(self, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return the one user message that answers all calls of a message."""
        return [each | {"content": from_blocks(each["content"])} for each in super().results(answered)]

    def tools(self, versions: Sequence[ToolVersion]) -> list[JsonObject]:
        """Return the tools as `toolConfig` takes them under `tools`; the schemas are copies."""
        found = offers(self.name, versions, wire_name)
        return [
            {"toolSpec": {"name": name, "description": text, "inputSchema": {"json": schema}}}
            for name, text, schema in found
        ]

    def system(self, text: str) -> JsonObject:
        """Return instructions, as a request holds them beside the messages."""
        return {"role": "system", "content": [{"text": export_text(text, nul=True)}]}

    def user(self, text: str) -> JsonObject:
        """Return a user message."""
        return {"role": "user", "content": [{"text": export_text(text, nul=True)}]}

    def host(self, ids: Ids) -> HostMessages:
        """Return the way in for the host's messages of one conversation."""
        return Quoted(self, ids, _own, system_apart=True)

    def request(self, system: str | None, messages: Sequence[JsonObject]) -> JsonObject:
        """Return the messages, and the instructions beside them, as a request's body holds them."""
        return ({} if system is None else {"system": self.system(system)["content"]}) | {"messages": list(messages)}

    def complete(self, messages: Sequence[Any], find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """Return the transcript with the missing results, first in the message behind the calls."""
        return BlockTranscript(messages, _Blocks()).complete(find, every=every)

    def holds(self, messages: Sequence[Any], message: JsonObject) -> bool:
        """Whether a message of this role in the transcript holds the same text."""
        return holds_text(messages, message, lambda each: to_blocks(each.get("content")))


class _Blocks(AnthropicBlocks):
    """How this format spells calls and results (see `Blocks`): read as Anthropic's, written as its own."""

    def calls(self, message: JsonObject) -> tuple[ProposedCall, ...]:
        return anthropic_parse.calls_of(to_blocks(message.get("content"))) if message.get("role") == "assistant" else ()

    def blocks(self, message: JsonObject) -> list[JsonObject] | None:
        return to_blocks(message.get("content")) if message.get("role") == "user" else None

    def content(self, block: JsonObject) -> Json:
        return from_blocks([block])[0]["toolResult"]["content"]

    def with_blocks(self, message: JsonObject, blocks: list[JsonObject]) -> JsonObject:
        return super().with_blocks(message, from_blocks(blocks))

    def with_ids(self, message: JsonObject, ids: dict[int, str]) -> JsonObject:
        content = super().with_ids(message | {"content": to_blocks(message.get("content"))}, ids)["content"]
        return message | {"content": from_blocks(content)}


def _own(role: str, message: JsonObject) -> list[JsonObject]:
    """Return a host's message in this format; blank texts, which are refused, are left out."""
    blocks = [plain(block) for block in to_blocks(message.get("content")) if sendable(block)]
    cleaned: JsonObject = export_safe({"role": role, "content": from_blocks(blocks)}, nul=True)
    return [cleaned] if blocks else []
