"""What OpenAI's Responses API would refuse in a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from ledger.errors import JsonRejected
from ledger.providers.problems import Problem, broken, unanswered
from ledger.providers.responses_parse import is_call, is_output, is_result
from ledger.strictjson import JsonObject, decode

_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES: Final = frozenset({"assistant", "developer", "system", "user"})

_Faults: TypeAlias = Iterator[tuple[str, str]]


def check_responses(messages: Sequence[Any]) -> list[Problem]:
    """
    Return what OpenAI's Responses API would refuse in a list of input items; empty: nothing.

    Each call has exactly one output behind it, in call order; `call_id`s are unique and at most 64 long; arguments are
    the text of a JSON object; reasoning stands before the model's item that it led to. All is strict JSON without NUL
    and lone surrogates.
    """
    found: list[Problem] = []
    seen: set[str] = set()
    waiting: list[str] = []
    reasoned = False
    for place, item in enumerate(messages):
        fault = broken(item) or _fault(item)
        if fault is not None:
            found.append(Problem(place, "message", fault))
            continue
        if reasoned and not is_output(item):
            found.append(Problem(place, "reasoning", "there is reasoning without the item that follows it before this"))
        reasoned = item.get("type") == "reasoning"
        found += [Problem(place, *each) for each in _item(item, seen, waiting)]
    end = len(messages)
    if reasoned:
        found.append(Problem(end, "reasoning", "there is reasoning without the item that follows it at the end"))
    return found + unanswered(end, waiting, "at the end")


def _fault(item: JsonObject) -> str | None:
    kind = item.get("type", "message")
    if not isinstance(kind, str):
        return "an item's type is a text"
    role = item.get("role")
    if kind == "message" and (not isinstance(role, str) or role not in _ROLES):
        return f"there is no role {role!r}"
    return None


def _item(item: JsonObject, seen: set[str], waiting: list[str]) -> _Faults:
    kind: str = item.get("type", "message")
    if kind == "message":
        if not isinstance(item.get("content"), str | list):
            yield "content", "the content is a text or a list of parts"
    elif kind == "function_call":
        yield from _call(item, seen, waiting)
    elif is_result(item):
        yield from _output(item, waiting)
    elif is_call(item):
        waiting.append(str(item.get("call_id")))  # of a custom or a built-in tool


def _call(item: JsonObject, seen: set[str], waiting: list[str]) -> _Faults:
    given = item.get("call_id")
    if not isinstance(given, str) or not _ID.fullmatch(given):
        yield "id", f"a call_id matches {_ID.pattern}, this one is {given!r}"
    elif given in seen:
        yield "id", f"the call_id {given!r} is used twice"
    if isinstance(given, str):
        seen.add(given)
        waiting.append(given)
    if not isinstance(item.get("name"), str) or not _NAME.fullmatch(item["name"]):
        yield "name", f"no provider takes the name {item.get('name')!r}"
    arguments = item.get("arguments")
    try:
        whole = isinstance(arguments, str) and isinstance(decode(arguments), dict)
    except JsonRejected:
        whole = False
    if not whole:
        yield "arguments", "arguments are a text that holds a JSON object"


def _output(item: JsonObject, waiting: list[str]) -> _Faults:
    given = item.get("call_id")
    if given not in waiting:
        yield "orphan", f"the output {given!r} has no call before it"
    else:
        if given != waiting[0]:
            yield "order", f"the output {given!r} comes before that of {waiting[0]!r}"
        waiting.remove(given)
    if item["type"] == "function_call_output" and not isinstance(item.get("output"), str | list):
        yield "content", "an output is a text or a list of parts"
