"""Whether a conversation would be accepted: the rules that providers refuse whole sessions for, checked offline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger.errors import JsonRejected
from ledger.strictjson import TRUSTED, JsonObject, check, decode

_ROLES: Final = frozenset({"assistant", "developer", "system", "tool", "user"})
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LONGEST_ID: Final = 40
_INSTEAD_OF_TEXT: Final = ("audio", "function_call", "refusal", "tool_calls")


@dataclass(frozen=True, slots=True)
class Problem:
    """What a provider would refuse: the message's place (from 0), a code for programs, and a sentence."""

    place: int
    code: str
    message: str


def check_openai(messages: Sequence[Any]) -> list[Problem]:
    """
    Return what OpenAI's Chat API would refuse in a conversation; empty: nothing.

    Each call has exactly one result, directly behind its message, in call order; ids are unique; arguments are the
    text of a JSON object; all is strict JSON without NUL and lone surrogates.
    """
    found: list[Problem] = []
    seen: set[str] = set()
    waiting: list[str] = []
    for place, message in enumerate(messages):
        broken = _broken(message)
        if broken is not None:
            found.append(Problem(place, "message", broken))
            continue
        if message["role"] == "tool":
            found += [Problem(place, *fault) for fault in _result(message, waiting)]
            continue
        found += [Problem(place, "unanswered", f"{call_id!r} has no result before this message") for call_id in waiting]
        waiting = []
        if message["role"] == "assistant":
            found += [Problem(place, *fault) for fault in _assistant(message, seen, waiting)]
        elif message.get("content") is None:
            found.append(Problem(place, "content", "there is no content"))
    end = len(messages)
    return found + [Problem(end, "unanswered", f"{call_id!r} has no result at the end") for call_id in waiting]


def _broken(message: object) -> str | None:
    if not isinstance(message, dict):
        return f"a message is an object, not {type(message).__name__}"
    try:
        check(message, TRUSTED)
    except JsonRejected as error:
        return f"it is no strict JSON: {error}"
    if _has_nul(message):
        return "it holds a NUL character"
    return None if message.get("role") in _ROLES else f"there is no role {message.get('role')!r}"


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_has_nul, value))


def _result(message: JsonObject, waiting: list[str]) -> Iterator[tuple[str, str]]:
    given = message.get("tool_call_id")
    if given not in waiting:
        yield "orphan", f"the result {given!r} has no call directly before it"
    else:
        if given != waiting[0]:
            yield "order", f"the result {given!r} comes before that of {waiting[0]!r}"
        waiting.remove(given)
    if not isinstance(message.get("content"), str | list):
        yield "content", "a result is a text or a list of parts"


def _assistant(message: JsonObject, seen: set[str], waiting: list[str]) -> Iterator[tuple[str, str]]:
    calls = message.get("tool_calls")
    if message.get("content") is None and all(message.get(key) is None for key in _INSTEAD_OF_TEXT):
        yield "content", "there is neither content nor a call"
    if calls is None:
        return
    if not isinstance(calls, list) or not calls:
        yield "tool_calls", "tool_calls is a list that is not empty"
        return
    for call in calls:
        if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
            yield "tool_calls", "a call is an object with a function"
            continue
        given = call.get("id")
        if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_ID:
            yield "id", f"a call's id has 1 to {_LONGEST_ID} characters, this one is {given!r}"
        elif given in seen:
            yield "id", f"the id {given!r} is used twice"
        if isinstance(given, str):
            seen.add(given)
            waiting.append(given)
        yield from _function(call)


def _function(call: JsonObject) -> Iterator[tuple[str, str]]:
    function = call["function"]
    if call.get("type") != "function":
        yield "tool_calls", f"a call's type is function, not {call.get('type')!r}"
    if not isinstance(function.get("name"), str) or not _NAME.fullmatch(function["name"]):
        yield "name", f"no provider takes the name {function.get('name')!r}"
    arguments = function.get("arguments")
    try:
        whole = isinstance(arguments, str) and isinstance(decode(arguments), dict)
    except JsonRejected:
        whole = False
    if not whole:
        yield "arguments", "arguments are a text that holds a JSON object"
