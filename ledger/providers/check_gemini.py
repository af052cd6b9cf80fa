"""What Gemini's API would refuse in a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from ledger.providers.problems import Problem, broken
from ledger.strictjson import JsonObject

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")

_Faults: TypeAlias = Iterator[tuple[str, str]]


def check_gemini(messages: Sequence[Any]) -> list[Problem]:
    """
    Return what Gemini's API would refuse in a list of contents; empty: nothing.

    The user begins. Behind the model's calls comes a user's content with as many responses, of the same names, in the
    same order. Arguments and responses are objects; ids, where there are any, are unique and
    come back. All is strict JSON without NUL and lone surrogates.
    """
    found: list[Problem] = []
    seen: set[str] = set()
    waiting: list[JsonObject] = []
    for place, message in enumerate(messages):
        fault = _fault(message, first=place == 0)
        if fault is not None:
            found.append(Problem(place, "message", fault))
            continue
        parts = [part for part in message["parts"] if isinstance(part, dict)]
        calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
        results = [part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)]
        faults = [*_parts(message, parts), *(each for call in calls for each in _call(call, seen))]
        if message["role"] == "user":
            faults += _results(results, waiting)
            waiting = []
        found += [Problem(place, *each) for each in faults]
        waiting += calls
    return found + [Problem(len(messages), *each) for each in _results([], waiting)]


def _fault(message: Any, *, first: bool) -> str | None:
    found = broken(message)
    if found is not None:
        return found
    role = message.get("role")
    if role not in ("model", "user"):
        return f"there is no role {role!r}"
    if not isinstance(message.get("parts"), list) or not message["parts"]:
        return "a content has parts"
    return "the first content is the user's" if first and role != "user" else None


def _parts(message: JsonObject, parts: Sequence[JsonObject]) -> _Faults:
    if len(parts) != len(message["parts"]):
        yield "content", "a part is an object"
    for part in parts:
        if not part or part == {"text": ""}:
            yield "content", "a part is not empty"
        if "functionCall" in part and message["role"] != "model":
            yield "content", "only the model calls functions"
        if "functionResponse" in part and message["role"] != "user":
            yield "content", "only the user answers calls"


def _call(call: JsonObject, seen: set[str]) -> _Faults:
    given = call.get("id")
    if given is not None and (not isinstance(given, str) or not given):
        yield "id", f"an id is a text, this one is {given!r}"
    elif given in seen:
        yield "id", f"the id {given!r} is used twice"
    elif given is not None:
        seen.add(given)
    if not isinstance(call.get("name"), str) or not _NAME.fullmatch(call["name"]):
        yield "name", f"Gemini does not take the name {call.get('name')!r}"
    if not isinstance(call.get("args", {}), dict):
        yield "arguments", "the arguments are an object"


def _results(results: Sequence[JsonObject], waiting: Sequence[JsonObject]) -> _Faults:
    """Compare the responses with the calls of the content before."""
    for call in waiting[len(results) :]:
        yield "unanswered", f"the call of {call.get('name')!r} has no response in the next content"
    for result in results[len(waiting) :]:
        yield "orphan", f"the response of {result.get('name')!r} has no call in the content before"
    for call, result in zip(waiting, results, strict=False):
        if call.get("name") != result.get("name"):
            yield "order", f"the response of {result.get('name')!r} stands at the place of {call.get('name')!r}"
        elif call.get("id") != result.get("id"):
            yield "id", f"the response has the id {result.get('id')!r}, its call {call.get('id')!r}"
    for result in results:
        if not isinstance(result.get("response"), dict):
            yield "content", "a response is an object"
