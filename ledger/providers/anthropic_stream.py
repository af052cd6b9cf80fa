"""The events of an Anthropic stream put together to its message, the arguments' text byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ledger.errors import UsageError
from ledger.providers.plain import view
from ledger.strictjson import JsonObject

_GROWING: Final = {"text_delta": "text", "thinking_delta": "thinking"}
_HINT: Final = "Give every event of the stream, in its order: message_start first."


def accumulate(events: Iterable[object]) -> JsonObject:
    """
    Return the message that the events make, with the arguments of its calls as the text they came as.

    A stream that ends before it said why it stopped gets the stop reason `stream_cut`. Raises `UsageError` where the
    events are not of such a stream.
    """
    message: JsonObject | None = None
    blocks: dict[object, JsonObject] = {}
    for given in events:
        event = view(given)
        if event is None or not isinstance(event.get("type"), str):
            raise UsageError("anthropic: the list holds something else than events of a stream.", hint=_HINT)
        if event["type"] == "message_start":
            message = dict(view(event.get("message")) or {})
        elif message is None:
            raise UsageError(f"anthropic: the stream begins with {event['type']}.", hint=_HINT)
        elif event["type"] == "content_block_start":
            blocks[event.get("index")] = dict(view(event.get("content_block")) or {})
        elif event["type"] == "content_block_delta":
            _grow(blocks.setdefault(event.get("index"), {}), view(event.get("delta")) or {})
        elif event["type"] == "message_delta":
            _finish(message, event)
        elif event["type"] == "error":
            raise UsageError("anthropic: the stream ended with an error.", hint="There is no answer to take in.")
    found = message or {}
    found["content"] = list(blocks.values())
    found["stop_reason"] = found.get("stop_reason") or "stream_cut"
    return found


def _grow(block: JsonObject, delta: JsonObject) -> None:
    kind = delta.get("type")
    if kind in _GROWING:
        key = _GROWING[kind]
        block[key] = _joined(block.get(key), delta.get(key))
    elif kind == "input_json_delta":
        part = delta.get("partial_json")
        if part:  # an empty one says nothing: the input stays the object that the block started with
            block["input"] = _joined(block.get("input"), part)
    elif kind == "signature_delta":
        block["signature"] = delta.get("signature")
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta.get("citation")]


def _joined(before: Any, part: Any) -> str:
    return (before if isinstance(before, str) else "") + (part if isinstance(part, str) else "")


def _finish(message: JsonObject, event: JsonObject) -> None:
    """Take over what the last event knows better; its counts are totals."""
    delta = view(event.get("delta")) or {}
    message |= {key: value for key, value in delta.items() if value is not None}
    usage = view(event.get("usage")) or {}
    known = {key: value for key, value in usage.items() if value is not None}
    message["usage"] = (view(message.get("usage")) or {}) | known
