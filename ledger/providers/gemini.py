"""Gemini's format: contents, function declarations and responses as its servers take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ledger.catalog.definition import ToolVersion
from ledger.events.session_bodies import TurnRecorded
from ledger.providers import gemini_parse
from ledger.providers.blocks import BlockTranscript, holds_text
from ledger.providers.gemini_parse import parts_of
from ledger.providers.names import IdRule, Ids, letter_name
from ledger.providers.plain import plain
from ledger.providers.port import Answered, FindAnswers, HostMessages, ProposedCall, Reply, Told
from ledger.providers.quoted import Quoted
from ledger.providers.rendering import arguments_object, filled, offers
from ledger.strictjson import Json, JsonObject, export_safe, export_text, loads

IDS: Final = IdRule(re.compile(r"[a-zA-Z0-9_.:-]{1,64}"), "call_")
"""Ids are optional here: those that the ledger made up are never sent."""

UNSIGNED: Final = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""What stands for the signature of a call that another model made; newer models refuse calls without one."""

OPENING: Final = "(The model begins.)"
"""What the user says where the model began: a history may not begin with a call."""


class Gemini:
    """The wire format `gemini`; see `WireFormat` for what the methods promise."""

    name = gemini_parse.NAME
    ids = IDS
    system_apart = True

    def parse(self, reply: object) -> Reply:
        """Read a GenerateContentResponse, a candidate, a content, or a stream's responses."""
        return gemini_parse.parse(reply)

    def assistant(self, turn: TurnRecorded, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return the model's content; its own parts with their signatures verbatim, none where nothing is left."""
        own = turn.provider == self.name
        items = turn.items if own and isinstance(turn.items, dict) else {}
        kept = items.get("parts")
        if not isinstance(kept, list):
            kept = [] if turn.text is None else [{"text": turn.text}]
        named = _named(answered)
        parts = filled(kept, answered, lambda each, rest: _function_call(each, rest, named=named))
        parts = [part for part in parts if part != {"text": ""}]
        if not own:
            _sign(parts)
        return [{"role": "model", "parts": parts}] if parts else []

    def results(self, answered: Sequence[Answered]) -> list[JsonObject]:
        """Return the one content that answers all calls of a content: as many parts, in their order."""
        named = _named(answered)
        parts = [
            _function_response(
                each.call.tool, each.id if named else None, _response(each.text, each.content, each.error)
            )
            for each in answered
        ]
        return [{"role": "user", "parts": parts}] if parts else []

    def tools(self, versions: Sequence[ToolVersion]) -> list[JsonObject]:
        """Return the tools as `tools=` of a request takes them; the schemas are copies."""
        found = offers(self.name, versions, letter_name)
        declared = [{"name": name, "description": text, "parametersJsonSchema": schema} for name, text, schema in found]
        return [{"functionDeclarations": declared}] if declared else []

    def system(self, text: str) -> JsonObject:
        """Return instructions, as `systemInstruction` of a request takes them."""
        return {"role": "system", "parts": [{"text": export_text(text, nul=True)}]}

    def user(self, text: str) -> JsonObject:
        """Return a user's content."""
        return {"role": "user", "parts": [{"text": export_text(text, nul=True)}]}

    def follow(self, before: JsonObject | None, message: JsonObject) -> list[JsonObject]:
        """Return two contents of the model as one: a call is taken only behind the user. Where it begins, he opens."""
        if before is None:
            return [message] if message["role"] == "user" else [self.user(OPENING), message]
        if before["role"] == message["role"] == "model":
            return [{"role": "model", "parts": [*before["parts"], *message["parts"]]}]
        return [before, message]

    def host(self, ids: Ids) -> HostMessages:
        """Return the way in for the host's messages of one conversation."""
        return Quoted(self, ids, _own, system_apart=True)

    def request(self, system: str | None, messages: Sequence[JsonObject]) -> JsonObject:
        """Return the contents, and the instructions beside them, as a request's body holds them."""
        body: JsonObject = {"contents": list(messages)}
        return body if system is None else {"systemInstruction": {"parts": self.system(system)["parts"]}} | body

    def complete(self, messages: Sequence[Any], find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """Return the transcript with the missing responses, first in the content behind the calls."""
        return BlockTranscript(messages, _Parts()).complete(find, every=every)

    def holds(self, messages: Sequence[Any], message: JsonObject) -> bool:
        """Whether a content of this role in the transcript holds the same text."""
        return holds_text(messages, message, parts_of)


class _Parts:
    """How this format spells calls and results (see `Blocks`)."""

    rule = None
    in_order = True

    def calls(self, message: JsonObject) -> tuple[ProposedCall, ...]:
        return gemini_parse.calls_of(parts_of(message)) if message.get("role") == "model" else ()

    def blocks(self, message: JsonObject) -> list[JsonObject] | None:
        return parts_of(message) if message.get("role") in ("user", "function") else None

    def answers(self, block: JsonObject) -> tuple[str | None, str | None] | None:
        given = block.get("functionResponse")
        return (given.get("id"), given.get("name")) if isinstance(given, dict) else None

    def content(self, block: JsonObject) -> Json:
        return block["functionResponse"].get("response")

    def result(self, call: ProposedCall, call_id: str | None, told: Told) -> JsonObject:
        return _function_response(call.name, call_id, _response(told.text, None, told.error))

    def with_blocks(self, message: JsonObject, blocks: list[JsonObject]) -> JsonObject:
        return (message or {"role": "user"}) | {"parts": blocks}

    def with_ids(self, message: JsonObject, ids: dict[int, str]) -> JsonObject:  # pragma: no cover - never asked for
        del ids
        return message


def _named(answered: Sequence[Answered]) -> bool:
    """Whether the provider itself (or another) gave ids to all of these calls; else they are told apart by order."""
    return all(each.id == each.call.provider_call_id for each in answered)


def _function_call(each: Answered, kept: JsonObject, *, named: bool) -> JsonObject:
    body = {"name": letter_name(each.call.tool), "args": arguments_object(each.call)}
    if named:
        body = {"id": each.id} | body
    return {"functionCall": body | kept.get("functionCall", {})} | {
        key: value for key, value in kept.items() if key != "functionCall"
    }


def _function_response(tool: str, call_id: str | None, response: JsonObject) -> JsonObject:
    body: JsonObject = {"name": letter_name(tool), "response": response}
    return {"functionResponse": body if call_id is None else {"id": call_id} | body}


def _response(text: str, content: Json, error: bool) -> JsonObject:  # noqa: FBT001 - as it stands in Answered
    """Return the object that a response has to be: the ledger's answers as objects, other texts as they are."""
    if isinstance(content, dict):
        return content
    try:
        answer = loads(text)
    except (ValueError, RecursionError):
        answer = None
    ours = isinstance(answer, dict) and {"status", "next"} <= answer.keys()
    return {"error" if error else "output": export_safe(answer, nul=True) if ours else text}


def _sign(parts: list[JsonObject]) -> None:
    """Mark the first call of another model's message as unsigned."""
    for part in parts:
        if "functionCall" in part:
            part.setdefault("thoughtSignature", UNSIGNED)
            return


def _own(role: str, message: JsonObject) -> list[JsonObject]:
    """Return a host's content; empty texts, which are refused, are left out."""
    parts = [part for part in map(plain, parts_of(message)) if part != {"text": ""}]
    cleaned: JsonObject = export_safe({"role": "model" if role == "model" else "user", "parts": parts}, nul=True)
    return [cleaned] if parts else []
