"""Puts a transcript's messages together to turns: each result to its own call, however ids repeat or are missing."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ledger.providers.apart import Given
from ledger.providers.imported import Item, Outcome, Requestor, Said, Skipped, Turn
from ledger.providers.port import ProposedCall, Reply
from ledger.strictjson import JsonObject

WINDOW: Final = 64
"""Behind so many later items a call without a result counts as open: it does not hold up a long transcript."""

_Matches: TypeAlias = Callable[[ProposedCall, Given], bool]


@dataclass(slots=True)
class _Open:
    """A turn whose results are still to come."""

    reply: Reply
    requestor: Requestor
    at: str | None
    reserialized: frozenset[int]
    outcomes: list[Outcome | None]

    @property
    def whole(self) -> bool:
        """Whether every call has its result."""
        return None not in self.outcomes

    def turn(self) -> Turn:
        """Return it as it stands."""
        return Turn(
            reply=self.reply,
            outcomes=tuple(self.outcomes),
            requestor=self.requestor,
            at=self.at,
            reserialized=self.reserialized,
        )


@dataclass(slots=True)
class Assembler:
    """One session's items, in their order; `ready` hands out those that nothing to come can change."""

    _items: deque[Item | _Open] = field(default_factory=deque)

    def say(self, role: str, provider: str, message: JsonObject, at: str | None = None) -> None:
        """Take in a message of the host."""
        self._items.append(Said(role=role, provider=provider, message=message, at=at))

    def skip(self, place: int, what: str) -> None:
        """Take in that something was passed over."""
        self._items.append(Skipped(place=place, what=what))

    def turn(
        self,
        reply: Reply,
        at: str | None = None,
        requestor: Requestor = "model",
        reserialized: frozenset[int] = frozenset(),
    ) -> None:
        """Take in a model's message (or a user's calls)."""
        self._items.append(_Open(reply, requestor, at, reserialized, [None] * len(reply.calls)))

    def answer(self, given: Given, at: str | None = None, requestor: Requestor = "model") -> bool:
        """Put a result to its call; false where there is none."""
        outcome = Outcome(content=given.content, error=given.error, at=at)
        for matches in (_same_id, _same_name):
            for turn in reversed(self._items):
                if isinstance(turn, _Open) and turn.requestor == requestor and _take(turn, given, outcome, matches):
                    return True
        return False

    def orphan(self, role: str, provider: str, message: JsonObject, at: str | None = None) -> None:
        """Take in a result without a call."""
        self._items.append(Said(role=role, provider=provider, message=message, at=at, orphan=True))

    def ready(self) -> Iterator[Item]:
        """Yield the items up to the first turn that still waits for a result."""
        while self._items:
            item = self._items[0]
            if isinstance(item, _Open) and not item.whole and len(self._items) <= WINDOW:
                return
            self._items.popleft()
            yield item.turn() if isinstance(item, _Open) else item

    def end(self) -> Iterator[Item]:
        """Yield all that is left: what has no result now is an open call."""
        while self._items:
            item = self._items.popleft()
            yield item.turn() if isinstance(item, _Open) else item


def _same_id(call: ProposedCall, given: Given) -> bool:
    named = given.name in (None, call.name)
    return (call.provider_call_id or None) == (given.id or None) and named


def _same_name(call: ProposedCall, given: Given) -> bool:
    """Where a result names no call but a tool, the first one of that tool is meant."""
    return not given.id and given.name is not None and given.name == call.name


def _take(turn: _Open, given: Given, outcome: Outcome, matches: _Matches) -> bool:
    for number, call in enumerate(turn.reply.calls):
        if turn.outcomes[number] is None and matches(call, given):
            turn.outcomes[number] = outcome
            return True
    return False
