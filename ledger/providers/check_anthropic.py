"""What Anthropic's Messages API would refuse in a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

from ledger.providers.anthropic_parse import HOSTED, is_hosted_result
from ledger.providers.problems import Problem, broken, unanswered
from ledger.strictjson import JsonObject

_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES: Final = frozenset({"assistant", "system", "user"})

_Faults: TypeAlias = Iterator[tuple[str, str]]


def check_anthropic(messages: Sequence[Any], ids: re.Pattern[str] = _ID) -> list[Problem]:
    """
    Return what Anthropic's API would refuse in a conversation; empty: nothing.

    The user begins. Behind the assistant's calls comes one user message that begins with exactly their results. Ids
    are of its alphabet and unique, inputs objects, texts not blank; thinking is signed and never the last block; what
    the provider's own tools were asked has its result. All is strict JSON without NUL and lone surrogates.
    """
    found: list[Problem] = []
    seen: set[str] = set()
    hosted: set[object] = set()
    waiting: list[str] = []
    before: JsonObject = {}
    for place, message in enumerate(messages):
        fault = _fault(message, before)
        if fault is not None:
            found.append(Problem(place, "message", fault))
            continue
        blocks = _blocks(message)
        faults = [*_contents(message, blocks)]
        if message["role"] == "user":
            faults += _user(blocks, waiting)
        if message["role"] == "assistant":
            faults += _assistant(blocks, seen, waiting, ids)
            faults += _hosted(blocks, hosted, last=place + 1 == len(messages))
        found += [Problem(place, *each) for each in faults]
        if message["role"] != "assistant":
            found += unanswered(place, waiting, "in this message")
            waiting.clear()
        before = message
    return found + unanswered(len(messages), waiting, "at the end")


def _fault(message: Any, before: JsonObject) -> str | None:
    found = broken(message)
    if found is not None:
        return found
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        return f"there is no role {role!r}"
    if not before and role != "user":
        return "the first message is the user's"
    if role == "system" and before["role"] != "user":
        return "instructions stand beside the messages, or directly behind a user's"
    return None


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _contents(message: JsonObject, blocks: Sequence[JsonObject]) -> _Faults:
    content = message.get("content")
    if not blocks or (isinstance(content, list) and len(content) != len(blocks)):
        yield "content", "the content is a text or blocks, and not empty"
    for block in blocks:
        kind, text = block.get("type"), block.get("text")
        if not isinstance(kind, str):
            yield "content", "a block has a type"
        if kind == "text" and not (isinstance(text, str) and text.strip()):
            yield "content", "a text is not blank"
        if kind == "tool_use" and message["role"] != "assistant":
            yield "content", "only the assistant calls tools"
        if kind == "tool_result" and message["role"] != "user":
            yield "content", "only the user answers calls"


def _user(blocks: Sequence[JsonObject], waiting: list[str]) -> _Faults:
    """Take the results of a user's message, each once, before anything else."""
    begun = False
    for block in blocks:
        if block.get("type") != "tool_result":
            begun = True
            continue
        given = block.get("tool_use_id")
        if begun:
            yield "order", "results come first in a message"
        if given not in waiting:
            yield "orphan", f"the result {given!r} has no call directly before it"
        else:
            waiting.remove(given)
        if not isinstance(block.get("content", ""), str | list):
            yield "content", "a result is a text or a list of blocks"
        if not isinstance(block.get("is_error", False), bool):
            yield "content", "is_error is true or false"


def _assistant(blocks: Sequence[JsonObject], seen: set[str], waiting: list[str], ids: re.Pattern[str]) -> _Faults:
    for block in blocks:
        if block.get("type") == "tool_use":
            yield from _call(block, seen, waiting, ids)
        if block.get("type") == "thinking" and not block.get("signature"):
            yield "thinking", "thinking without its signature"
    if blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
        yield "thinking", "the last block is thinking"


def _call(block: JsonObject, seen: set[str], waiting: list[str], ids: re.Pattern[str]) -> _Faults:
    given = block.get("id")
    if not isinstance(given, str) or not ids.fullmatch(given):
        yield "id", f"a call's id matches {ids.pattern}, this one is {given!r}"
    elif given in seen:
        yield "id", f"the id {given!r} is used twice"
    if isinstance(given, str):
        seen.add(given)
        waiting.append(given)
    if not isinstance(block.get("name"), str) or not _NAME.fullmatch(block["name"]):
        yield "name", f"no provider takes the name {block.get('name')!r}"
    if not isinstance(block.get("input"), dict):
        yield "arguments", "the input is an object"


def _hosted(blocks: Sequence[JsonObject], asked: set[object], *, last: bool) -> _Faults:
    """Compare the provider's own calls with their results; those beside calls of the host may still be under way."""
    here = [block.get("id") for block in blocks if block.get("type") in HOSTED]
    ended = [block.get("tool_use_id") for block in blocks if is_hosted_result(block)]
    asked.update(given for given in here if isinstance(given, str))  # an id may be anything in a file
    for given in ended:
        if given not in asked:
            yield "orphan", f"the result {given!r} of the provider's own tool has no call before it"
    under_way = last or any(block.get("type") == "tool_use" for block in blocks)
    for given in here:
        if given not in ended and not under_way:
            yield "unpaired", f"the provider's own call {given!r} has no result"
