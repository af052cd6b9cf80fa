"""A model's answer in OpenAI's Responses format: output items, reasoning verbatim beside what it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ledger.errors import UsageError
from ledger.events.session_bodies import TurnKind
from ledger.providers.plain import id_or_none, named, plain, rest, text_or_none, view
from ledger.providers.port import HostedCall, ProposedCall, Reply
from ledger.providers.responses_stream import accumulate, is_stream
from ledger.strictjson import Json, JsonObject

NAME: Final = "responses"
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
_NOT_ARGUMENTS: Final = frozenset(
    {"call_id", "error", "id", "output", "outputs", "result", "results", "status", "type"}
)
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
    done = {item.get("call_id"): item for item in items if is_result(item)}  # the provider itself has answered these
    asked = [item for item in items if is_call(item) and item.get("call_id") not in done]
    executed = [item for item in items if is_call(item) or item.get("type") in HOSTED]
    calls = tuple(map(_call, asked))
    status, stop = text_or_none(whole.get("status")), _stop(whole)
    return Reply(
        kind=_kind(status, calls),
        provider=NAME,
        calls=calls,
        hosted=tuple(_hosted(item, done.get(item.get("call_id"))) for item in executed if item not in asked),
        text=_text(items),
        response_id=id_or_none(whole.get("id")),
        stop_reason=stop or status,
        items=_items(whole, items, asked),
        usage=plain(whole.get("usage")),
        model=text_or_none(whole.get("model")),
    )


def is_call(item: Mapping[str, Any]) -> bool:
    """Whether an item is a call that the host answers: a function's, a custom tool's, a built-in tool's."""
    kind = item.get("type")
    if not isinstance(kind, str) or not kind.endswith("_call"):
        return False
    if kind in ("function_call", "custom_tool_call"):
        return True
    return isinstance(item.get("call_id"), str) and (kind not in HOSTED or item.get("execution") == "client")


def is_result(item: Mapping[str, Any]) -> bool:
    """Whether an item answers a call of the host's."""
    kind = item.get("type")
    if not isinstance(kind, str) or item.get("execution") == "server":
        return False
    return kind.endswith("_call_output" if item.get("call_id") is None else "_output")


def is_output(item: Mapping[str, Any]) -> bool:
    """Whether an item of a conversation is the model's: reasoning, its messages, calls, and what belongs to those."""
    if item.get("type", "message") == "message":
        return item.get("role") == "assistant"
    return not is_result(item) and item.get("role") is None


def _call(item: JsonObject) -> ProposedCall:
    kind: str = item["type"]
    given = item.get("input" if kind == "custom_tool_call" else "arguments")
    if given is None and kind not in ("custom_tool_call", "function_call"):
        given = rest(item, _NOT_ARGUMENTS)  # a built-in tool says what to do under names of its own
    return ProposedCall(
        name=text_or_none(item.get("name")) or ("" if kind == "function_call" else kind.removesuffix("_call")),
        raw=given if isinstance(given, str) else None,
        arguments=None if isinstance(given, str) else given,
        provider_call_id=text_or_none(item.get("call_id")),
    )


def _hosted(item: JsonObject, output: JsonObject | None) -> HostedCall:
    kind: str = item["type"]
    given = item.get("arguments")
    failed = item.get("status") in ("failed", "incomplete") or item.get("error") is not None
    done = output is not None or item.get("status") in (None, "completed")
    results = (output or item).get
    found = next((value for key in ("output", "outputs", "results") if (value := results(key)) is not None), None)
    return HostedCall(
        name=text_or_none(item.get("name")) or HOSTED.get(kind, kind.removesuffix("_call")),
        raw=given if isinstance(given, str) else None,
        arguments=_asked_of(item, given),
        provider_call_id=text_or_none(item.get("id")),
        ended="failed" if failed else "succeeded" if done else None,
        result=None if failed else plain(found),
        message=f"The provider says: {plain(item.get('error')) or 'it failed'}." if failed else None,
    )


def _asked_of(item: JsonObject, given: object) -> Json:
    """Return what a hosted tool was asked: its arguments where they are an object, else what else the item says."""
    if isinstance(given, str):
        return None
    return plain(given) if isinstance(given, dict) else rest(item, _NOT_ARGUMENTS)


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


def _items(whole: JsonObject, items: Sequence[JsonObject], asked: Sequence[JsonObject]) -> Json:
    """Keep what was not understood; the items only where text and calls alone would not give them back."""
    kept: JsonObject = {}
    if not _simple(items):
        kept["output"] = _marked(items, asked)
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


def _marked(items: Sequence[JsonObject], asked: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the items with a mark in place of each call: which one of the turn's it is."""
    kept: list[JsonObject] = []
    calls = 0
    for item in items:
        if not any(item is each for each in asked):
            kept.append(plain(item))  # nulls too: some of them a request has to hold
            continue
        function = item["type"] == "function_call"
        known = {"arguments", "call_id", "name"} if function else {"call_id"}
        kept.append({"call": calls} | rest(item, known))
        calls += 1
    return kept
