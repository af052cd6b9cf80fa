"""A host's own OpenAI transcript, completed: each call gets the one answer it has to have, at its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ledger.providers.names import IdRule
from ledger.providers.openai_host import tool_message
from ledger.providers.openai_parse import calls_of
from ledger.providers.plain import said, view
from ledger.providers.port import Asked, FindAnswers, ProposedCall, Told
from ledger.strictjson import JsonObject


@dataclass(slots=True)
class _Asking:
    """An assistant message with calls: its place, the end of what may answer it, and who answers each call."""

    place: int
    end: int
    calls: tuple[ProposedCall, ...]
    answers: list[int | None]

    @property
    def whole(self) -> bool:
        """Whether every call is answered, and nothing stands between it and its answers."""
        return sorted(a for a in self.answers if a is not None) == [self.place + 1 + n for n in range(len(self.calls))]


class Transcript:
    """A host's messages: SDK objects and dicts, kept as they are."""

    def __init__(self, messages: Sequence[Any], rule: IdRule) -> None:
        self._messages = messages
        self._views = [view(message) for message in messages]
        self._rule = rule
        self._asking = _asking(self._views)

    def complete(self, find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """
        Return the transcript with the missing tool messages; see `WireFormat.complete`.

        What is there stays as it is, object for object; only an answer that stands too late is moved to its call, and
        a call without an id that gets an answer gets an id too.
        """
        if not every and all(each.whole for each in self._asking):
            return list(self._messages), set()
        out: list[Any] = []
        told: set[str] = set()
        done = 0
        asked = [Asked(each.calls, tuple(map(self._says, each.answers))) for each in self._asking]
        for each, answers in zip(self._asking, find(asked, lambda told: told.text), strict=True):
            told |= {told.call_id for n, told in enumerate(answers) if self._says(each.answers[n]) in (None, told.text)}
            if each.whole:
                continue
            out += self._messages[done : each.place]
            out += self._filled(each, answers)
            answered = set(each.answers)
            out += [self._messages[place] for place in range(each.place + 1, each.end) if place not in answered]
            done = each.end
        return out + list(self._messages[done:]), told

    def _says(self, place: int | None) -> str | None:
        """Return what answers a call already."""
        return None if place is None else said((self._views[place] or {}).get("content"))

    def _filled(self, asking: _Asking, answers: Sequence[Told]) -> list[Any]:
        """Return the assistant message and one answer for each of its calls, in their order."""
        ids: dict[int, str] = {}
        found: list[Any] = []
        for number, call in enumerate(asking.calls):
            place = asking.answers[number]
            if place is not None:
                found.append(self._messages[place])
                continue
            told = answers[number]
            if not call.provider_call_id:
                ids[number] = self._rule.derived(told.call_id)
            found.append(tool_message(call.provider_call_id or ids[number], told.text))
        return [_with_ids(self._messages[asking.place], ids), *found]


def _asking(views: Sequence[JsonObject | None]) -> list[_Asking]:
    found: list[_Asking] = []
    for place, message in enumerate(views):
        if message is not None and message.get("role") == "assistant" and message.get("tool_calls"):
            if found:
                found[-1].end = place
            calls = calls_of(message)
            found.append(_Asking(place, len(views), calls, [None] * len(calls)))
    for each in found:
        for place in range(each.place + 1, each.end):
            message = views[place]
            if message is not None and message.get("role") == "tool":
                _assign(each, place, message.get("tool_call_id") or None)
    return found


def _assign(asking: _Asking, place: int, given: object) -> None:
    """Take a tool message for the first unanswered call with its id (ids repeat, and both may be missing)."""
    for number, call in enumerate(asking.calls):
        if asking.answers[number] is None and (call.provider_call_id or None) == given:
            asking.answers[number] = place
            return


def _with_ids(message: Any, ids: dict[int, str]) -> Any:
    if not ids:
        return message
    copy = view(message) or {}
    calls = [view(call) or {} for call in copy["tool_calls"]]
    copy["tool_calls"] = [call | {"id": ids[n]} if n in ids else call for n, call in enumerate(calls)]
    return copy
