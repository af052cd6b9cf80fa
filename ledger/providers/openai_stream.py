"""The chunks of an OpenAI Chat stream put together to its completion, argument texts byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ledger.errors import UsageError
from ledger.providers.plain import view
from ledger.strictjson import JsonObject

_SET: Final = frozenset({"index", "role", "type"})  # said again, not continued
_HINT: Final = "Give every chunk of the stream, in its order."


def accumulate(chunks: Iterable[object]) -> JsonObject:
    """
    Return the completion that the chunks make, of the first choice.

    A stream that ends before it said why it stopped gets the finish reason `error`. Raises `UsageError` where the
    list holds something else than chunks.
    """
    whole: JsonObject = {}
    choice: JsonObject = {}
    message: JsonObject = {"role": "assistant"}
    for given in chunks:
        chunk = view(given)
        choices = chunk.get("choices") if chunk is not None else None
        if chunk is None or not isinstance(choices, list | tuple):
            raise UsageError("openai: the list holds something else than chunks of a stream.", hint=_HINT)
        head = {key: value for key, value in chunk.items() if key not in ("choices", "object")}
        whole |= {key: value for key, value in head.items() if value not in (None, "")}  # those say nothing
        for each in choices:
            part = view(each) or {}
            if part.get("index") in (None, 0):
                _grow(message, view(part.get("delta")) or {})
                others = {"delta", "index"}
                choice |= {key: value for key, value in part.items() if key not in others and value is not None}
    ended = choice.get("finish_reason") or "error"
    return whole | {"choices": [choice | {"finish_reason": ended, "message": message}]}


def _grow(message: JsonObject, delta: JsonObject) -> None:
    for key, part in delta.items():
        if key == "tool_calls":
            calls = message.setdefault(key, [])
            for each in part if isinstance(part, list | tuple) else ():
                _grow_call(calls, view(each) or {})
        elif part is not None:
            message[key] = _continued(key, message.get(key), part)


def _grow_call(calls: list[JsonObject], part: JsonObject) -> None:
    """
    Go on with the call of this index, or begin one.

    Some servers give each of several whole calls the index 0, or none: another id is another call
    (https://github.com/NousResearch/hermes-agent/issues/62937: else their arguments run into one text).
    """
    index, given_id = part.get("index"), part.get("id") or None
    same = [call for call in calls if call.get("index") == index]
    call = same[-1] if same else None
    if call is None or (given_id is not None and call.get("id") not in (None, given_id)):
        call = {}
        calls.append(call)
    for key, value in part.items():
        inner = view(value)
        if inner is not None:
            body = call.setdefault(key, {})
            for name, text in inner.items():
                if text is not None and not (name == "name" and body.get(name) == text):
                    body[name] = _continued(name, body.get(name), text)
        elif value is not None and (key != "id" or value):  # an empty id says nothing
            call[key] = value


def _continued(key: str, before: Any, part: Any) -> Any:
    if key in _SET or before is None:
        return part
    if isinstance(before, str) and isinstance(part, str):
        return before + part
    if isinstance(before, list) and isinstance(part, list):
        return [*before, *part]
    if isinstance(before, dict) and isinstance(part, dict):
        return before | {name: _continued(name, before.get(name), value) for name, value in part.items()}
    return part
