"""The OpenAI Chat format: messages, tools and answers as its servers take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final

from ledger.calls import Call
from ledger.catalog.definition import ToolVersion, describe
from ledger.errors import JsonRejected, UsageError
from ledger.events.session_bodies import TurnRecorded
from ledger.providers import openai_host, openai_parse, openai_transcript
from ledger.providers.names import IdRule, Ids, wire_name
from ledger.providers.plain import view
from ledger.providers.port import Answered, FindAnswers, HostMessages, Reply
from ledger.strictjson import JsonObject, canonical, decode, export_safe, export_text

IDS: Final = IdRule(re.compile(r"[a-zA-Z0-9_.:-]{1,40}"), "call_")
"""OpenAI takes ids of at most 40 characters; servers that speak its format use dots and colons too."""

_NOT_SENT: Final = frozenset({"audio", "content", "function_call", "parsed", "role", "tool_calls"})


class OpenAIChat:
    """The wire format `openai`; see `WireFormat` for what the methods promise."""

    name = openai_parse.NAME
    ids = IDS
    system_apart = False

    def parse(self, reply: object) -> Reply:
        """Read a ChatCompletion, a choice or an assistant message."""
        return openai_parse.parse(reply)

    def assistant(self, turn: TurnRecorded, answered: Sequence[Answered]) -> list[JsonObject]:
        """
        Return the assistant message; `arguments` are always a string that holds a JSON object.

        What else the provider sent (reasoning, signatures) goes back to it verbatim, never to another.
        """
        items = turn.items if turn.provider == self.name and isinstance(turn.items, dict) else {}
        kept = items.get("message") or {}
        message: JsonObject = {"role": "assistant", "content": kept.get("content", turn.text)}
        if kept.get("refusal") is not None and message["content"] == kept["refusal"]:
            message["content"] = None  # a refusal without a text is kept as the turn's text
        message |= {key: deepcopy(value) for key, value in kept.items() if key not in _NOT_SENT}
        message |= _audio(kept.get("audio"))
        if answered:
            extras = items.get("calls") or []
            message["tool_calls"] = [_tool_call(each, extras) for each in answered]
        elif message["content"] is None and "refusal" not in message:
            message["content"] = ""
        cleaned: JsonObject = export_safe(message, nul=True)
        return [cleaned]

    def results(self, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return one tool message for each call."""
        return [openai_host.tool_message(each.id, each.text) for each in answered]

    def tools(self, versions: Sequence[ToolVersion]) -> list[JsonObject]:
        """Return the tools as `tools=` of a request takes them; the schemas are copies."""
        taken: dict[str, str] = {}
        found: list[JsonObject] = []
        for version in versions:
            name = wire_name(version.tool)
            if taken.setdefault(name, version.tool) != version.tool:
                raise UsageError(f"{self.name}: the tools {taken[name]} and {version.tool} both get the name {name}.")
            body = {"name": name, "description": describe(version), "parameters": deepcopy(version.schema)}
            found.append({"type": "function", "function": body})
        return found

    def system(self, text: str) -> JsonObject:
        """Return a system message."""
        return {"role": "system", "content": export_text(text, nul=True)}

    def user(self, text: str) -> JsonObject:
        """Return a user message."""
        return {"role": "user", "content": export_text(text, nul=True)}

    def follow(self, before: JsonObject | None, message: JsonObject) -> list[JsonObject]:
        """Return both: any order of roles is taken."""
        return [message] if before is None else [before, message]

    def host(self, ids: Ids) -> HostMessages:
        """Return the way in for the host's messages of one conversation."""
        return openai_host.OpenAIHost(ids)

    def request(self, system: str | None, messages: Sequence[JsonObject]) -> JsonObject:
        """Return the messages as a request's body holds them."""
        return {"messages": [*([] if system is None else [self.system(system)]), *messages]}

    def complete(self, messages: Sequence[Any], find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """Return the transcript with the missing tool messages, each after its call's message."""
        return openai_transcript.Transcript(messages, self.ids).complete(find, every=every)

    def holds(self, messages: Sequence[Any], message: JsonObject) -> bool:
        """Whether a message of this role and content stands in the transcript."""
        views = (view(each) or {} for each in messages)
        return any(all(each.get(key) == value for key, value in message.items()) for each in views)


def _audio(spoken: Any) -> JsonObject:
    """Return the audio of a reply as a request takes it: by its id, if it has one."""
    given = spoken.get("id") if isinstance(spoken, dict) else None
    return {"audio": {"id": given}} if given else {}


def _tool_call(each: Answered, extras: Sequence[JsonObject]) -> JsonObject:
    call = each.call
    extra = extras[call.index] if call.index < len(extras) else {}
    function = {"name": wire_name(call.tool), "arguments": arguments_text(call)}
    kept = {key: deepcopy(value) for key, value in extra.items() if key not in {"function", "type"}}
    return {"id": each.id, "type": "function", "function": function} | kept


def arguments_text(call: Call) -> str:
    """Return the exact text that the model sent if it is a JSON object, else one that is (`{}` where it is none)."""
    if call.raw_arguments is not None:
        try:
            if isinstance(decode(call.raw_arguments), dict):
                return call.raw_arguments
        except JsonRejected:
            pass
    safe = export_safe(call.arguments, nul=True)
    return canonical(safe).decode() if isinstance(safe, dict) else "{}"
