"""A model's answer in the OpenAI Chat format, read as it came: raw argument texts byte for byte, the rest verbatim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ledger.errors import UsageError
from ledger.events.session_bodies import TurnKind
from ledger.providers.openai_stream import accumulate
from ledger.providers.plain import id_or_none, named, plain, rest, text_of, text_or_none, view
from ledger.providers.port import ProposedCall, Reply
from ledger.strictjson import Json, JsonObject

NAME: Final = "openai"
CUT_OFF: Final = frozenset(
    {
        "abort",
        "cancelled",
        "content_filter",
        "error",
        "insufficient_system_resource",
        "length",
        "malformed_function_call",
        "max_output_tokens",
        "max_tokens",
        "model_context_window_exceeded",
        "model_length",
        "recitation",
        "refusal",
        "safety",
    }
)
"""Reasons to stop that leave a turn incomplete: OpenAI's own and those of servers that speak its format."""

_TAKEN: Final = (
    "Give the ChatCompletion (object or dict), its choices[0] or the assistant message; "
    "of a stream, what was accumulated, or its chunks as a list."
)
_FOREIGN_PARTS: Final = frozenset({"tool_use", "tool_call", "functionCall"})


def parse(reply: object) -> Reply:
    """
    Read a ChatCompletion, a choice, a message or the list of a stream's chunks; SDK objects and dicts alike.

    Only tool-call items (and the legacy `function_call`) become calls: JSON in a text that looks like one never does.
    Raises `UsageError` naming what was given.
    """
    whole = view(accumulate(reply) if isinstance(reply, list | tuple) and reply else reply)
    if whole is None:
        raise UsageError(f"{NAME}: this is no reply: {named(reply)}.", hint=_TAKEN)
    choice, message = _message(whole)
    _refuse_foreign(message)
    sent = _calls(message)
    stop = choice.get("finish_reason")
    refusal = message.get("refusal")
    text = text_of(message.get("content"))
    return Reply(
        kind=_kind(stop, message, sent=bool(sent)),
        provider=NAME,
        calls=tuple(call for call, _ in sent),
        text=refusal if text is None and isinstance(refusal, str) else text,
        response_id=id_or_none(whole.get("id")),
        stop_reason=text_or_none(stop),
        items=_items(whole, choice, message, [rest for _, rest in sent]),
        usage=plain(whole.get("usage")),
        model=text_or_none(whole.get("model")),
    )


def calls_of(message: Mapping[str, Any]) -> tuple[ProposedCall, ...]:
    """Return the calls of an assistant message."""
    return tuple(call for call, _ in _calls(message))


def _message(whole: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Return the choice (empty where only a message was given) and its message."""
    if "choices" in whole:
        choices = whole["choices"]
        choice = view(choices[0]) if isinstance(choices, list | tuple) and choices else None
        if choice is None:
            raise UsageError(f"{NAME}: the reply has no choice.", hint=_TAKEN)
    elif "message" in whole:
        choice = whole
    elif whole.get("role") == "assistant" and whole.get("object") != "response":
        return {}, whole
    else:
        given = "an error" if "error" in whole else f"an object with the keys {sorted(map(str, whole))[:8]}"
        raise UsageError(f"{NAME}: this is no reply: {given}.", hint=_TAKEN)
    message = view(choice.get("message"))
    if message is None:
        what = "a part of a stream" if "delta" in choice else "a choice without a message"
        raise UsageError(f"{NAME}: this is no reply: {what}.", hint=_TAKEN)
    return choice, message


def _refuse_foreign(message: JsonObject) -> None:
    """Refuse another provider's message: read as this format, its calls would be lost without a word."""
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and (part.get("type") in _FOREIGN_PARTS or _FOREIGN_PARTS & part.keys()):
            raise UsageError(f"{NAME}: the content holds calls of another provider's format.", hint=_TAKEN)


def _calls(message: Mapping[str, Any]) -> list[tuple[ProposedCall, JsonObject]]:
    """Return the calls in their order, each with what else the provider sent in it."""
    given = message.get("tool_calls")
    items = [found for item in given if (found := view(item))] if isinstance(given, list | tuple) else []
    places = [item.get("index") for item in items]
    if all(type(place) is int for place in places) and len(set(places)) == len(places):
        items.sort(key=lambda item: int(item["index"]))  # accumulated parts of a stream may come in any order
    sent = [_call(item) for item in items]
    legacy = view(message.get("function_call"))
    if legacy and legacy.get("name") and not sent:  # one real server sends an empty one with every message
        sent.append(_call({"function": legacy}))
    return sent


def _call(item: JsonObject) -> tuple[ProposedCall, JsonObject]:
    custom = item.get("type") == "custom"
    body = view(item.get("custom" if custom else "function")) or {}
    given = body.pop("input" if custom else "arguments", None)
    name = body.pop("name", None)
    call = ProposedCall(
        name=name if isinstance(name, str) else "",
        raw=given if isinstance(given, str) else None,
        arguments=None if isinstance(given, str) else given,
        provider_call_id=text_or_none(item.get("id")),
    )
    known = {"id", "index", "custom" if custom else "function"} | (set() if custom else {"type"})
    others = rest(item, known)
    if extra := rest(body):
        others["function"] = extra
    return call, others


def _kind(stop: object, message: JsonObject, *, sent: bool) -> TurnKind:
    if isinstance(stop, str) and stop.lower() in CUT_OFF:
        return "incomplete"
    if sent:
        return "incomplete" if message.get("refusal") else "tool_calls"
    return "text" if message.get("parsed") is None else "structured"


def _items(whole: JsonObject, choice: JsonObject, message: JsonObject, calls: list[JsonObject]) -> Json:
    """Keep what was not understood, by the place where it stood; None if there is nothing."""
    content = message.get("content")
    listed = isinstance(message.get("tool_calls"), list | tuple)
    known = {"role"} | ({"tool_calls"} if listed else {"function_call"} if calls else set())
    known |= set() if isinstance(content, list) else {"content"}
    items: JsonObject = {"message": rest(message, known)}
    if any(calls):
        items["calls"] = calls
    if choice is not whole:
        items["reply"] = rest(whole, {"choices", "id", "model", "object", "usage"}) if choice else {}
    items["choice"] = rest(choice, {"message", "finish_reason", "index"})
    others = whole.get("choices")
    if isinstance(others, list | tuple) and len(others) > 1:
        items["choices"] = [_other(other) for other in others[1:]]
    return {key: value for key, value in items.items() if value} or None


def _other(choice: object) -> Json:
    """Return another choice without its calls: nobody runs them, and no schema says what in them is sensitive."""
    whole = view(choice)
    message = view(whole.get("message")) if whole is not None else None
    if whole is None or message is None:
        return plain(whole or choice)
    said = {key: value for key, value in message.items() if key not in ("function_call", "tool_calls")}
    return plain({key: value for key, value in whole.items() if key != "logprobs"} | {"message": said})
