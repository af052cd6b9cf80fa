"""The events of a Responses stream put together to its response."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ledger.errors import UsageError
from ledger.providers.plain import view
from ledger.strictjson import JsonObject

_ENDS: Final = frozenset({"response.completed", "response.failed", "response.incomplete", "response.cancelled"})
_HINT: Final = "Give every event of the stream, in its order: response.created first."


def is_stream(given: Sequence[object]) -> bool:
    """Whether a list holds events of a stream, and not output items."""
    first = view(given[0]) if given else None
    kind = first.get("type") if first is not None else None
    return isinstance(kind, str) and (kind.startswith("response.") or kind == "error")


def accumulate(events: Iterable[object]) -> JsonObject:
    """
    Return the response that the events make: the last one told, or what its parts came to.

    A stream that ends before it said how gets the status `stream_cut`; an item that was not done has its arguments as
    far as they came. Raises `UsageError` where the events are not of such a stream.
    """
    response: JsonObject = {}
    items: dict[Any, JsonObject] = {}
    ended = False
    for given in events:
        event = view(given)
        kind = event.get("type") if event is not None else None
        if event is None or not isinstance(kind, str) or kind == "error":
            what = "the stream ended with an error" if kind == "error" else "the list holds something else than events"
            raise UsageError(f"responses: {what}.", hint=_HINT)
        response |= {key: value for key, value in (view(event.get("response")) or {}).items() if value != ""}
        ended = ended or kind in _ENDS
        _grow(items, kind, event)
    if not response.get("output"):
        response["output"] = [items[place] for place in sorted(items, key=str)]
    if not ended:
        response["status"] = "stream_cut"
        response["incomplete_details"] = None
    return response


def _grow(items: dict[Any, JsonObject], kind: str, event: JsonObject) -> None:
    place = event.get("output_index")
    if kind in ("response.output_item.added", "response.output_item.done"):
        items[place] = dict(view(event.get("item")) or {})
        return
    delta = event.get("delta")
    if place not in items or not isinstance(delta, str):
        return
    item = items[place]
    if kind == "response.function_call_arguments.delta":
        item["arguments"] = (item.get("arguments") or "") + delta
    elif kind == "response.custom_tool_call_input.delta":
        item["input"] = (item.get("input") or "") + delta
    elif kind == "response.output_text.delta":
        item["content"] = [{"type": "output_text", "text": _so_far(item) + delta}]


def _so_far(item: JsonObject) -> str:
    content = item.get("content")
    return content[-1]["text"] if isinstance(content, list) and content else ""
