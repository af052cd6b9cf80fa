"""What the Chat APIs of OpenAI and Mistral would refuse in a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from ledger.errors import JsonRejected
from ledger.providers.problems import Problem, broken, unanswered
from ledger.strictjson import JsonObject, decode

_ROLES: Final = frozenset({"assistant", "developer", "system", "tool", "user"})
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID: Final = re.compile(r".{1,40}", re.DOTALL)
_NINE: Final = re.compile(r"[a-zA-Z0-9]{9}")
_INSTEAD_OF_TEXT: Final = ("audio", "function_call", "refusal", "tool_calls")


_Assistant: TypeAlias = Callable[[JsonObject, set[str], list[str]], Iterator[tuple[str, str]]]


def check_openai(messages: Sequence[Any]) -> list[Problem]:
    """
    Return what OpenAI's Chat API would refuse in a conversation; empty: nothing.

    Each call has exactly one result, directly behind its message, in call order; ids are unique; arguments are the
    text of a JSON object; all is strict JSON without NUL and lone surrogates.
    """
    return _check(messages, partial(_assistant, rule=_ID))


def check_mistral(messages: Sequence[Any]) -> list[Problem]:
    """Return the same for Mistral's API, whose ids are exactly nine letters and digits."""
    return _check(messages, partial(_assistant, rule=_NINE))


def _check(messages: Sequence[Any], assistant: _Assistant) -> list[Problem]:
    found: list[Problem] = []
    seen: set[str] = set()
    waiting: list[str] = []
    for place, message in enumerate(messages):
        fault = _broken(message)
        if fault is not None:
            found.append(Problem(place, "message", fault))
            continue
        if message["role"] == "tool":
            found += [Problem(place, *fault) for fault in _result(message, waiting)]
            continue
        found += unanswered(place, waiting, "before this message")
        waiting = []
        if message["role"] == "assistant":
            found += [Problem(place, *fault) for fault in assistant(message, seen, waiting)]
        elif message.get("content") is None:
            found.append(Problem(place, "content", "there is no content"))
    return found + unanswered(len(messages), waiting, "at the end")


def _broken(message: object) -> str | None:
    found = broken(message)
    if found is not None or not isinstance(message, dict):
        return found
    role = message.get("role")
    return None if isinstance(role, str) and role in _ROLES else f"there is no role {role!r}"


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


def _assistant(
    message: JsonObject, seen: set[str], waiting: list[str], *, rule: re.Pattern[str]
) -> Iterator[tuple[str, str]]:
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
        if not isinstance(given, str) or not rule.fullmatch(given):
            yield "id", f"a call's id matches {rule.pattern}, this one is {given!r}"
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
