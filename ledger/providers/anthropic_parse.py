"""A model's answer in Anthropic's Messages format, block by block, thinking and its signatures verbatim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ledger.errors import UsageError
from ledger.events.session_bodies import TurnKind
from ledger.providers.anthropic_stream import accumulate
from ledger.providers.plain import id_or_none, named, plain, rest, text_or_none, view
from ledger.providers.port import HostedCall, ProposedCall, Reply
from ledger.strictjson import Json, JsonObject

NAME: Final = "anthropic"
CUT_OFF: Final = frozenset({"max_tokens", "model_context_window_exceeded", "pause_turn", "refusal", "stream_cut"})
"""Reasons to stop that leave a turn incomplete; `stream_cut` is ours, for a stream that ended before its end."""

HOSTED: Final = frozenset({"mcp_tool_use", "server_tool_use"})
"""Blocks in which the provider calls a tool of its own (or one of an MCP server)."""

_TAKEN: Final = "Give the Message (object or dict), an assistant message, or the events of its stream as a list."
_FOREIGN: Final = ("candidates", "choices", "output", "tool_calls")


def parse(reply: object) -> Reply:
    """
    Read a Message, an assistant message or the list of a stream's events; SDK objects and dicts alike.

    Raises `UsageError` naming what was given.
    """
    whole = view(accumulate(reply) if isinstance(reply, list | tuple) and reply else reply)
    if whole is None:
        raise UsageError(f"{NAME}: this is no reply: {named(reply)}.", hint=_TAKEN)
    content = whole.get("content")
    if whole.get("role") != "assistant" or not isinstance(content, str | list | tuple) or _foreign(whole):
        given = "an error" if "error" in whole else f"an object with the keys {sorted(map(str, whole))[:8]}"
        raise UsageError(f"{NAME}: this is no reply: {given}.", hint=_TAKEN)
    blocks = blocks_of(content)
    calls = calls_of(blocks)
    stop = text_or_none(whole.get("stop_reason"))
    return Reply(
        kind=_kind(stop, sent=bool(calls)),
        provider=NAME,
        calls=calls,
        hosted=hosted_of(blocks),
        text=_text(blocks),
        response_id=id_or_none(whole.get("id")),
        stop_reason=stop,
        items=_items(whole, blocks),
        usage=plain(whole.get("usage")),
        model=text_or_none(whole.get("model")),
    )


def blocks_of(content: Any) -> list[JsonObject]:
    """Return a message's content as blocks; what is no block is left out, nulls as well. Arguments stay as they are."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    views = map(view, content) if isinstance(content, list | tuple) else ()
    return [_block(found) for found in views if found is not None]


def _block(whole: JsonObject) -> JsonObject:
    given = whole.get("input")  # nested as it may be: the gates judge it, and refuse what is no JSON
    return {key: given if key == "input" else plain(value) for key, value in whole.items() if value is not None}


def calls_of(blocks: Sequence[JsonObject]) -> tuple[ProposedCall, ...]:
    """Return the calls that the host executes, in their order."""
    return tuple(_call(block) for block in blocks if block.get("type") == "tool_use")


def _call(block: JsonObject) -> ProposedCall:
    given = block.get("input")
    return ProposedCall(
        name=text_or_none(block.get("name")) or "",
        raw=given if isinstance(given, str) else None,  # as a stream's parts spell it
        arguments=None if isinstance(given, str) else given,
        provider_call_id=text_or_none(block.get("id")),
    )


def hosted_of(blocks: Sequence[JsonObject]) -> tuple[HostedCall, ...]:
    """Return the calls that the provider executed, and ends of earlier ones."""
    ends = {block.get("tool_use_id"): block for block in blocks if is_hosted_result(block)}
    found = []
    for block in blocks:
        if block.get("type") in HOSTED:
            given = block.get("id")
            found.append(_hosted(block, ends.pop(given, None) if isinstance(given, str) else None))
    return (*found, *(_hosted({"id": given}, end) for given, end in ends.items()))


def is_hosted_result(block: JsonObject) -> bool:
    """Whether a block holds the result of a tool that the provider executed."""
    kind = block.get("type")
    return isinstance(kind, str) and kind.endswith("_tool_result") and isinstance(block.get("tool_use_id"), str)


def _hosted(block: JsonObject, end: JsonObject | None) -> HostedCall:
    given = block.get("input")
    content = None if end is None else end.get("content")
    error = content.get("error_code") if isinstance(content, dict) else None
    failed = error is not None or (end is not None and end.get("is_error") is True)
    return HostedCall(
        name=text_or_none(block.get("name")) or ("" if "type" in block else None),
        raw=given if isinstance(given, str) else None,
        arguments=None if isinstance(given, str) else given,
        provider_call_id=text_or_none(block.get("id")),
        ended=None if end is None else "failed" if failed else "succeeded",
        result=None if failed else content,
        message=f"The provider says: {error or 'it failed'}." if failed else None,
    )


def _foreign(whole: JsonObject) -> bool:
    """Whether it is another provider's message: read as this format, its calls would be lost without a word."""
    return any(whole.get(key) for key in _FOREIGN)


def _kind(stop: str | None, *, sent: bool) -> TurnKind:
    if stop in CUT_OFF:
        return "incomplete"
    return "tool_calls" if sent else "text"


def _text(blocks: Sequence[JsonObject]) -> str | None:
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    found = [text for text in texts if isinstance(text, str)]
    return "".join(found) if found else None


def _items(whole: JsonObject, blocks: Sequence[JsonObject]) -> Json:
    """Keep what was not understood; the blocks only where text and calls alone would not give them back."""
    items: JsonObject = {}
    if not _simple(blocks):
        items["content"] = _kept(blocks)
    known = {"content", "id", "model", "role", "stop_reason", "type", "usage"}
    if others := rest(whole, known):
        items["message"] = others
    return items or None


def _simple(blocks: Sequence[JsonObject]) -> bool:
    """Whether it is at most one plain text and then plain calls."""
    kinds = [block.get("type") for block in blocks]
    known = {"text": {"type", "text"}, "tool_use": {"type", "id", "name", "input"}}
    plainly = all(kind in known and block.keys() <= known[kind] for kind, block in zip(kinds, blocks, strict=True))
    return plainly and "text" not in kinds[1:]


def _kept(blocks: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the blocks with a mark in place of each call: which one of the turn's it is."""
    kept: list[JsonObject] = []
    calls = 0
    for block in blocks:
        if block.get("type") != "tool_use":
            kept.append(rest(block))
            continue
        kept.append({"type": "tool_use", "call": calls} | rest(block, {"id", "input", "name", "type"}))
        calls += 1
    return kept
