"""A host's own transcript whose results are blocks of the user's next message (Anthropic, Gemini), completed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ledger.providers.names import IdRule
from ledger.providers.plain import said, view
from ledger.providers.port import Asked, FindAnswers, ProposedCall, Told
from ledger.strictjson import Json, JsonObject

_Place: TypeAlias = tuple[int, int]  # of a block: its message, and which of that message's blocks


class Blocks(Protocol):
    """How a format spells calls and results."""

    @property
    def rule(self) -> IdRule | None:
        """What an id has to be; None: a call without one needs none."""

    @property
    def in_order(self) -> bool:
        """Whether results have to stand in the order of the calls."""

    def calls(self, message: JsonObject) -> tuple[ProposedCall, ...]:
        """Return the calls of a model's message; of any other none."""

    def blocks(self, message: JsonObject) -> list[JsonObject] | None:
        """Return the blocks of a user's message; None if it is none."""

    def answers(self, block: JsonObject) -> tuple[str | None, str | None] | None:
        """Return the id and the tool's name (None: results carry none) that a result names; None: it is no result."""

    def content(self, block: JsonObject) -> Json:
        """Return what a result says."""

    def result(self, call: ProposedCall, call_id: str | None, told: Told) -> JsonObject:
        """Return the block that answers a call."""

    def with_blocks(self, message: JsonObject, blocks: list[JsonObject]) -> JsonObject:
        """Return a user's message with these blocks; of an empty one a new message."""

    def with_ids(self, message: JsonObject, ids: dict[int, str]) -> JsonObject:
        """Return a model's message in which the calls of these numbers have these ids."""


@dataclass(slots=True)
class _Asking:
    """A message with calls: its place, the end of what may answer it, and the block that answers each call."""

    place: int
    end: int
    calls: tuple[ProposedCall, ...]
    answers: list[_Place | None]


class BlockTranscript:
    """A host's messages: SDK objects and dicts, kept as they are wherever nothing is missing."""

    def __init__(self, messages: Sequence[Any], dialect: Blocks) -> None:
        self._messages = messages
        self._dialect = dialect
        self._views = [view(message) or {} for message in messages]
        self._blocks = [dialect.blocks(each) for each in self._views]
        self._asking = list(self._find_asking())

    def complete(self, find: FindAnswers, *, every: bool) -> tuple[list[Any], set[str]]:
        """Return the transcript with the missing results, first in the message behind their calls."""
        if not every and all(map(self._whole, self._asking)):
            return list(self._messages), set()
        out: list[Any] = []
        told: set[str] = set()
        done = 0
        asked = [Asked(each.calls, tuple(map(self._says, each.answers))) for each in self._asking]
        for each, answers in zip(self._asking, find(asked, self._said), strict=True):
            told |= {
                told.call_id
                for n, told in enumerate(answers)
                if self._says(each.answers[n]) in (None, self._said(told))
            }
            if self._whole(each):
                continue
            out += self._messages[done : each.place]
            out += self._filled(each, answers)
            done = each.end
        return out + list(self._messages[done:]), told

    def _find_asking(self) -> Iterator[_Asking]:
        found: list[_Asking] = []
        for place, message in enumerate(self._views):
            if calls := self._dialect.calls(message):
                if found:
                    found[-1].end = place
                found.append(_Asking(place, len(self._views), calls, [None] * len(calls)))
        for each in found:
            for place in range(each.place + 1, each.end):
                for number, block in enumerate(self._blocks[place] or ()):
                    self._assign(each, (place, number), self._dialect.answers(block))
            yield each

    def _assign(self, asking: _Asking, place: _Place, named: tuple[str | None, str | None] | None) -> None:
        """Take a result for the first unanswered call that it names (ids repeat, and both may be missing)."""
        if named is None:
            return
        for number, call in enumerate(asking.calls):
            same = (call.provider_call_id or None) == (named[0] or None) and named[1] in (None, call.name)
            if asking.answers[number] is None and same:
                asking.answers[number] = place
                return

    def _whole(self, asking: _Asking) -> bool:
        """Whether the next message begins with exactly the results of the calls."""
        wanted: list[_Place | None] = [(asking.place + 1, number) for number in range(len(asking.calls))]
        if self._dialect.in_order:
            return asking.answers == wanted
        return None not in asking.answers and set(asking.answers) == set(wanted)

    def _says(self, place: _Place | None) -> str | None:
        """Return what answers a call already."""
        return None if place is None else said(self._dialect.content(self._at(place)))

    def _said(self, told: Told) -> str:
        """Return what the transcript says where a call is answered so."""
        return said(self._dialect.content(self._dialect.result(ProposedCall(name=""), None, told)))

    def _at(self, place: _Place) -> JsonObject:
        return (self._blocks[place[0]] or [])[place[1]]

    def _filled(self, asking: _Asking, answers: Sequence[Told]) -> list[Any]:
        """Return the model's message, the user's that begins with all results, and what stands behind them."""
        ids: dict[int, str] = {}
        results = [self._result(asking, number, answers, ids) for number in range(len(asking.calls))]
        asked: Any = self._messages[asking.place]
        if ids:
            asked = self._dialect.with_ids(self._views[asking.place], ids)
        used = set(asking.answers)
        start = asking.place + 1
        message: JsonObject = {}
        if start < asking.end and self._blocks[start] is not None:
            message = self._views[start]
            results += self._left(start, used)
            start += 1
        found = [asked, self._dialect.with_blocks(message, results)]
        for place in range(start, asking.end):
            if not any(each is not None and each[0] == place for each in used):
                found.append(self._messages[place])
            elif left := self._left(place, used):
                found.append(self._dialect.with_blocks(self._views[place], left))
        return found

    def _left(self, place: int, used: set[_Place | None]) -> list[JsonObject]:
        return [block for number, block in enumerate(self._blocks[place] or ()) if (place, number) not in used]

    def _result(self, asking: _Asking, number: int, answers: Sequence[Told], ids: dict[int, str]) -> JsonObject:
        place, call = asking.answers[number], asking.calls[number]
        if place is not None:
            return self._at(place)
        told = answers[number]
        if not call.provider_call_id and self._dialect.rule is not None:
            ids[number] = self._dialect.rule.derived(told.call_id)
        return self._dialect.result(call, call.provider_call_id or ids.get(number), told)


def holds_text(messages: Sequence[Any], message: JsonObject, blocks: Callable[[JsonObject], list[JsonObject]]) -> bool:
    """Whether a message of the transcript, of this one's role, holds all its texts."""
    wanted = {block.get("text") for block in blocks(message)}
    views = (view(each) or {} for each in messages)
    return any(
        each.get("role") == message["role"] and wanted <= {block.get("text") for block in blocks(each)}
        for each in views
    )
