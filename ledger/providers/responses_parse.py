"""A model's answer in OpenAI's Responses format: output items, reasoning verbatim beside what it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ledger.errors import UsageError
from ledger.events.session_bodies import TurnKind
from ledger.providers.plain import named, plain, rest, text_or_none, view
from ledger.providers.port import HostedCall, ProposedCall, Reply
from ledger.providers.responses_stream import accumulate, is_stream
from ledger.strictjson import Json, JsonObject

NAME: Final = "responses"
CALLS: Final = frozenset({"custom_tool_call", "function_call"})
RESULTS: Final = frozenset({"custom_tool_call_output", "function_call_output"})
HOSTED: Final = {
    "code_interpreter_call": "code_interpreter",
    "file_search_call": "file_search",
    "image_generation_call": "image_generation",
    "mcp_call": "mcp",
    "tool_search_call": "tool_search",
    "web_search_call": "web_search",
}
"""Items of tools that the provider executed, and the names they are recorded under (mcp: the tool's own)."""

_TAKEN: Final = "Give the Response (object or dict), its output items, or the events of its stream as a list."
_NOT_ARGUMENTS: Final = frozenset({"error", "id", "output", "outputs", "result", "results", "status", "type"})
_KNOWN: Final = frozenset({"id", "model", "object", "output", "status", "usage"})


def parse(reply: object) -> Reply:
    """
    Read a Response, a list of output items or of a stream's events; SDK objects and dicts alike.

    Raises `UsageError` naming what was given.
    """
    if isinstance(reply, list | tuple) and reply:
        reply = accumulate(reply) if is_stream(reply) else {"output": reply}
    whole = view(reply)
    output = whole.get("output") if whole is not None else None
    if whole is None or not isinstance(output, list | tuple):
        given = named(reply) if whole is None else f"an object with the keys {sorted(map(str, whole))[:8]}"
        raise UsageError(f"{NAME}: this is no reply: {given}.", hint=_TAKEN)
    items = [found for each in output if (found := view(each)) is not None]
    calls = tuple(_call(item) for item in items if item.get("type") in CALLS)
    status, stop = text_or_none(whole.get("status")), _stop(whole)
    return Reply(
        kind=_kind(status, calls),
        provider=NAME,
        calls=calls,
        hosted=tuple(_hosted(item) for item in items if _is_hosted(item)),
        text=_text(items),
        response_id=text_or_none(whole.get("id")),
        stop_reason=stop or status,
        items=_items(whole, items),
        usage=plain(whole.get("usage")),
        model=text_or_none(whole.get("model")),
    )


def is_output(item: Mapping[str, Any]) -> bool:
    """Whether an item of a conversation is the model's: reasoning, its messages, calls, and what belongs to those."""
    kind = item.get("type")
    if kind in (None, "message"):
        return item.get("role") == "assistant"
    return kind not in RESULTS and item.get("role") is None


def _call(item: JsonObject) -> ProposedCall:
    given = item.get("input" if item["type"] == "custom_tool_call" else "arguments")
    return ProposedCall(
        name=text_or_none(item.get("name")) or "",
        raw=given if isinstance(given, str) else None,
        arguments=None if isinstance(given, str) else given,
        provider_call_id=text_or_none(item.get("call_id")),
    )


def _is_hosted(item: JsonObject) -> bool:
    return item.get("type") in HOSTED and item.get("execution") != "client"


def _hosted(item: JsonObject) -> HostedCall:
    kind = HOSTED[item["type"]]
    given = item.get("arguments")
    failed = item.get("status") in ("failed", "incomplete") or item.get("error") is not None
    done = item.get("status") in (None, "completed")
    results = {key: item.get(key) for key in ("output", "outputs", "results") if item.get(key) is not None}
    return HostedCall(
        name=text_or_none(item.get("name")) or kind,
        raw=given if isinstance(given, str) else None,
        arguments=plain(given) if isinstance(given, dict) else rest(item, _NOT_ARGUMENTS),
        provider_call_id=text_or_none(item.get("id")),
        ended="failed" if failed else "succeeded" if done else None,
        result=None if failed else plain(next(iter(results.values()), None)),
        message=f"The provider says: {plain(item.get('error')) or 'it failed'}." if failed else None,
    )


def _kind(status: str | None, calls: Sequence[ProposedCall]) -> TurnKind:
    if status not in (None, "completed"):
        return "incomplete"
    return "tool_calls" if calls else "text"


def _stop(whole: JsonObject) -> str | None:
    """Return why it is incomplete, or what failed."""
    details = view(whole.get("incomplete_details")) or view(whole.get("error")) or {}
    return text_or_none(details.get("reason", details.get("code")))


def _text(items: Sequence[JsonObject]) -> str | None:
    found: list[str] = []
    for item in items:
        if item.get("type", "message") == "message":
            content = item.get("content")
            parts = content if isinstance(content, list | tuple) else ({"text": content},)
            views = [part for each in parts if (part := view(each)) is not None]
            texts = [part.get("text", part.get("refusal")) for part in views]
            found += [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None


def _items(whole: JsonObject, items: Sequence[JsonObject]) -> Json:
    """Keep what was not understood; the items only where text and calls alone would not give them back."""
    kept: JsonObject = {}
    if not _simple(items):
        kept["output"] = _marked(items)
    if others := rest(whole, _KNOWN):
        kept["response"] = others
    return kept or None


def _simple(items: Sequence[JsonObject]) -> bool:
    """Whether it is at most one message of a plain text and then plain calls."""
    for place, item in enumerate(items):
        if item.get("type", "message") == "message":
            plainly = place == 0 and item.keys() <= {"type", "role", "content"} and isinstance(item.get("content"), str)
        else:
            known = {"type", "call_id", "name", "arguments"}
            plainly = item["type"] == "function_call" and item.keys() <= known
        if not plainly:
            return False
    return True


def _marked(items: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the items with a mark in place of each call: which one of the turn's it is."""
    kept: list[JsonObject] = []
    calls = 0
    for item in items:
        if item.get("type") not in CALLS:
            kept.append(rest(item))
            continue
        mark = {"type": item["type"], "call": calls}
        kept.append(mark | rest(item, {"arguments", "call_id", "input", "name", "type"}))
        calls += 1
    return kept
