"""A host's own OpenAI messages on their way into a conversation: repaired where a provider would refuse them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Final

from ledger.errors import JsonRejected
from ledger.events import MessageRecorded
from ledger.providers import openai_parse
from ledger.providers.answer import unrecorded
from ledger.providers.names import Ids, wire_name
from ledger.providers.plain import plain, text_of
from ledger.strictjson import JsonObject, canonical, decode, export_safe, export_text

_CHAT: Final = frozenset({openai_parse.NAME, "mistral"})  # formats with the same messages
_ROLES: Final = frozenset({"system", "developer", "user", "assistant"})
_INSTEAD_OF_TEXT: Final = frozenset({"audio", "function_call", "refusal"})
_ORPHAN: Final = "[Result of a call that is not in this conversation]"


@dataclass(slots=True)
class _Waiting:
    """A call of the host's: the id it came with, the id it has here, and its answer once that is there."""

    given: str
    here: str
    answer: JsonObject | None = None


class OpenAIHost:
    """The host's messages of one conversation (see `HostMessages`)."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._asked = 0
        self._waiting: list[_Waiting] = []

    def note(self, body: MessageRecorded) -> None:
        """Take in the ids that the message uses."""
        for call in _calls(body.message) if body.provider in _CHAT else ():
            self._ids.give(_id(call, "id"), "")

    def push(self, body: MessageRecorded) -> list[JsonObject]:
        """Return the next messages; results wait until those of all calls beside them are there."""
        if body.provider not in _CHAT or not isinstance(body.message, dict):
            return [*self.flush(), _foreign(body)]
        message: JsonObject = {"role": body.role} | export_safe(plain(body.message), nul=True)
        if message["role"] != "assistant" and not isinstance(message.get("content"), str | list):
            message["content"] = _text(message.get("content"))
        if message["role"] == "tool":
            return self._answer(message)
        before = self.flush()
        self._ask(message)
        return [*before, message]

    def flush(self) -> list[JsonObject]:
        """Return the results that waited, and answers for the calls that stay without one."""
        text = canonical(unrecorded()).decode()
        found = [each.answer or tool_message(each.here, text) for each in self._waiting]
        self._waiting.clear()
        return found

    def _ask(self, message: JsonObject) -> None:
        calls = _calls(message)
        self._asked += bool(calls)
        for place, call in enumerate(calls):
            here = self._ids.give(_id(call, "id"), f"message {self._asked}, call {place}")
            self._waiting.append(_Waiting(_id(call, "id") or "", here))
            call |= {"id": here, "type": "function", "function": _function(call)}
        if calls:
            message["tool_calls"] = calls
            return
        message.pop("tool_calls", None)
        if message["role"] == "assistant" and message.get("content") is None and not message.keys() & _INSTEAD_OF_TEXT:
            message["content"] = ""

    def _answer(self, message: JsonObject) -> list[JsonObject]:
        """Put a result beside its call; one without a call becomes a text of the user."""
        given = _id(message, "tool_call_id") or ""
        for each in self._waiting:
            if each.given == given and each.answer is None:
                each.answer = message | {"tool_call_id": each.here}
                return self.flush() if all(other.answer for other in self._waiting) else []
        return [*self.flush(), {"role": "user", "content": f"{_ORPHAN} {_text(message['content'])}"}]


def tool_message(call_id: str, text: str) -> JsonObject:
    """Return what answers a call."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _calls(message: Any) -> list[JsonObject]:
    """Return the calls of an assistant's message; nobody else's are taken by a provider."""
    asks = isinstance(message, dict) and message.get("role", "assistant") == "assistant"
    calls = message.get("tool_calls") if asks else None
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _id(message: JsonObject, key: str) -> str | None:
    given = message.get(key)
    return given if isinstance(given, str) else None


def _function(call: JsonObject) -> JsonObject:
    """Return what is called, under a name and with arguments that a provider takes."""
    (sent,) = openai_parse.calls_of({"tool_calls": [call]})
    arguments = canonical(sent.arguments).decode() if isinstance(sent.arguments, dict) else "{}"
    if sent.raw is not None:
        with contextlib.suppress(JsonRejected):
            arguments = sent.raw if isinstance(decode(sent.raw), dict) else arguments
    return {"name": wire_name(sent.name), "arguments": arguments}


def _foreign(body: MessageRecorded) -> JsonObject:
    """Return another provider's message as its role and text."""
    from ledger.providers.apart import take_apart  # with every format's parser: seldom needed

    role = "assistant" if body.role == "model" else body.role if body.role in _ROLES else "user"
    return {"role": role, "content": export_text(take_apart(body.provider, body.role, body.message).words, nul=True)}


def _text(content: Any) -> str:
    text = text_of(content)
    if text is not None:
        return text
    return "" if content is None else canonical(plain(content)).decode()
