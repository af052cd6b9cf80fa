"""OpenAI's Responses format: input items, tools and outputs as its servers take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ledger.catalog.definition import ToolVersion
from ledger.events.session_bodies import TurnRecorded
from ledger.providers import responses_parse
from ledger.providers.names import IdRule, Ids, wire_name
from ledger.providers.openai_chat import arguments_text
from ledger.providers.plain import plain, view
from ledger.providers.port import Answered, FindAnswers, HostMessages, Reply
from ledger.providers.quoted import Quoted
from ledger.providers.rendering import filled, offers
from ledger.providers.responses_parse import is_result
from ledger.providers.responses_transcript import ItemTranscript, function_output
from ledger.strictjson import JsonObject, export_safe, export_text

IDS: Final = IdRule(re.compile(r"[a-zA-Z0-9_-]{1,64}"), "call_")
"""Calls and outputs are tied by `call_id`, of at most 64 characters."""


class Responses:
    """The wire format `responses`; see `WireFormat` for what the methods promise."""

    name = responses_parse.NAME
    ids = IDS
    system_apart = False

    def parse(self, reply: object) -> Reply:
        """Read a Response, a list of output items, or the events of a stream."""
        return responses_parse.parse(reply)

    def assistant(self, turn: TurnRecorded, answered: Sequence[Answered]) -> list[JsonObject]:
        """
        Return the model's items in their order.

        Reasoning goes back to this provider only, verbatim, and never without the item that follows it: alone it is
        refused (https://github.com/openai/openai-node/issues/1791).
        """
        items = turn.items if turn.provider == self.name and isinstance(turn.items, dict) else {}
        kept = items.get("output")
        if not isinstance(kept, list):
            kept = [{"role": "assistant", "content": turn.text}] if turn.text else []
        found = filled(kept, answered, _function_call)
        while found and found[-1].get("type") == "reasoning":
            found.pop()
        return found

    def results(self, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return one output item for each call."""
        return [_output(each) for each in answered]

    def tools(self, versions: Sequence[ToolVersion]) -> list[JsonObject]:
        """Return the tools as `tools=` of a request takes them; the schemas are copies."""
        found = offers(self.name, versions, wire_name)
        return [
            {"type": "function", "name": name, "description": text, "parameters": schema, "strict": False}
            for name, text, schema in found
        ]

    def system(self, text: str) -> JsonObject:
        """Return a system message."""
        return {"role": "system", "content": export_text(text, nul=True)}

    def user(self, text: str) -> JsonObject:
        """Return a user message."""
        return {"role": "user", "content": export_text(text, nul=True)}

    def follow(self, before: JsonObject | None, message: JsonObject) -> list[JsonObject]:
        """Return both: any order of items is taken."""
        return [message] if before is None else [before, message]

    def host(self, ids: Ids) -> HostMessages:
        """Return the way in for the host's messages of one conversation."""
        return Quoted(self, ids, _own, system_apart=False)

    def request(self, system: str | None, messages: Sequence[JsonObject]) -> JsonObject:
        """Return the items as a request's body holds them."""
        return ({} if system is None else {"instructions": system}) | {"input": list(messages)}

    def complete(self, messages: Sequence[Any], find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """Return the transcript with the missing outputs, directly behind their calls."""
        return ItemTranscript(messages, self.ids).complete(find, every=every)

    def holds(self, messages: Sequence[Any], message: JsonObject) -> bool:
        """Whether a message of this role and content stands in the transcript."""
        views = (view(each) or {} for each in messages)
        return any(all(each.get(key) == value for key, value in message.items()) for each in views)


def _function_call(each: Answered, kept: JsonObject) -> JsonObject:
    """
    Return the call's item.

    That of another tool than a function is told as a function's, unless its own kind of output answers it.
    """
    if _native(each):
        return kept | {"call_id": each.id}
    others = {key: value for key, value in kept.items() if key != "type"} if kept.get("type") == "function_call" else {}
    name, arguments = wire_name(each.call.tool), arguments_text(each.call)
    return {"type": "function_call", "call_id": each.id, "name": name, "arguments": arguments} | others


def _native(each: Answered) -> bool:
    """Whether the answer is the output item of a custom or a built-in tool."""
    return isinstance(each.content, dict) and is_result({"call_id": ""} | each.content)


def _output(each: Answered) -> JsonObject:
    if _native(each):
        native: JsonObject = each.content | {"call_id": each.id}
        return native
    return function_output(each.id, each.content if isinstance(each.content, list) else each.text)


def _own(role: str, message: JsonObject) -> list[JsonObject]:
    """Return a host's item."""
    cleaned: JsonObject = export_safe(plain(message), nul=True)
    if cleaned.get("type", "message") == "message":
        cleaned = {"role": role} | cleaned
        if not isinstance(cleaned.get("content"), str | list):
            cleaned["content"] = ""
    return [cleaned]
