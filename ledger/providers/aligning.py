"""
Which message of a host's own transcript is which recorded turn: by ids, by order, and by what answers it there.

Ids repeat or are missing in real transcripts, hosts drop old messages, and a host may die before it hands a reply over:
a message that looks like a recorded turn may be another one. So a turn is named only where nothing else fits; where
something else does it is `UNCLEAR`, never a guess.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise
from typing import Final, TypeAlias

Key: TypeAlias = tuple[tuple[str, ...], tuple[str, ...] | None]

UNCLEAR: Final = -1
"""The place of a message that may be a recorded turn, or none."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """
    A turn: its tools, its arguments' digests (None: they are redacted), the ids of its calls.

    `own` are the provider's ids ("" where it gave none), `called` all the ways in which a transcript may name all calls
    of the turn. `answers`: what was told of the calls once they had ended. `by_model`: a model asked for it.
    """

    names: tuple[str, ...]
    digests: tuple[str, ...] | None
    own: tuple[str, ...]
    called: frozenset[tuple[str, ...]]
    answers: Callable[[], frozenset[tuple[str, ...]]]
    by_model: bool = True

    @property
    def key(self) -> Key:
        """What a message with the same calls looks for."""
        return self.names, self.digests

    def is_called(self, ids: tuple[str, ...], *, given_once: bool) -> bool:
        """Whether ids name this turn and no other: the provider's do where it gives each once, the ledger's always."""
        return ids in self.called and (given_once or ids != self.own)

    def may_be_called(self, ids: Sequence[str]) -> bool:
        """Whether no call has two ids that differ; one that is missing says nothing."""
        given = zip(ids, self.own, zip(*self.called, strict=True), strict=True)
        return all(not (each and own) or each in others for each, own, others in given)

    def told(self, answers: Sequence[str | None]) -> bool:
        """Whether all that answers the message was told of this turn."""
        return any(
            all(each in (None, here) for each, here in zip(answers, told, strict=True)) for told in self.answers()
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """
    A message with calls: what it asks for, the ids ("" where there is none), what answers each call (None: nothing).

    `claims`: it may be a recorded turn; not where its answer says that it is none, or that nobody knows.
    """

    names: tuple[str, ...]
    digests: tuple[str, ...]
    ids: tuple[str, ...]
    answers: tuple[str | None, ...]
    claims: bool = True

    @property
    def keys(self) -> tuple[Key, Key]:
        """What a turn with the same calls is found under; of redacted ones the arguments are not known."""
        return (self.names, self.digests), (self.names, None)

    @property
    def answered(self) -> bool:
        """Whether some call has an answer: so the message had become a turn."""
        return any(each is not None for each in self.answers)


def align(turns: Sequence[Recorded], wanted: Sequence[Wanted]) -> list[int | None]:
    """Return the place of each message's turn, `UNCLEAR`, or None where it is none of the turns. Both in order."""
    found = _Alignment(turns, wanted)
    found.by_ids()
    found.by_answers()
    return found.places()


def ids_repeat(turns: Sequence[Recorded]) -> bool:
    """Whether the provider gave an id twice in the session: then the next message may have an old one as well."""
    given = [each for turn in turns for each in turn.own if each]
    return len(set(given)) < len(given)


class _Index:
    """The places of the turns by what they ask for, with their ids, and with their answers."""

    def __init__(self, turns: Sequence[Recorded]) -> None:
        self.same: dict[Key, list[int]] = defaultdict(list)
        self.called: dict[tuple[Key, tuple[str, ...]], list[int]] = defaultdict(list)
        self.unnamed: dict[Key, list[int]] = defaultdict(list)  # some call has no id of the provider's
        self._turns = turns
        self._told: dict[Key, dict[tuple[str | None, ...], list[int]]] = {}
        for place, turn in enumerate(turns):
            self.same[turn.key].append(place)
            if not all(turn.own):
                self.unnamed[turn.key].append(place)
            for ids in turn.called:
                if all(ids):
                    self.called[turn.key, ids].append(place)

    def told(self, key: Key, answers: tuple[str | None, ...]) -> list[int]:
        """Return the turns of this key whose calls were all answered so; worked out only where it is asked for."""
        if key not in self._told:
            found: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
            for place in self.same.get(key, ()):
                for each in self._turns[place].answers():
                    found[each].append(place)
            self._told[key] = found
        return self._told[key].get(answers, [])


class _Alignment:
    """
    The messages' turns as far as they are known: `_spans` holds the first and the last that each may be.

    `_taken` are the turns that are some message's for certain.
    """

    def __init__(self, turns: Sequence[Recorded], wanted: Sequence[Wanted]) -> None:
        self._turns, self._wanted = turns, wanted
        self._index = _Index(turns)
        self._may_be = [self._candidates(each) if each.claims else [] for each in wanted]
        self._spans: dict[int, tuple[int, int]] = {}
        self._taken: set[int] = set()
        self._ordered = True

    def _candidates(self, each: Wanted) -> list[int]:
        """Return the turns that a message may be: those with its ids, else those whose ids do not differ."""
        named = _merged(*(self._index.called.get((key, each.ids), []) for key in each.keys))
        if named:
            return named
        if not any(each.ids):
            return self._same(each)
        listed = self._index.unnamed if all(each.ids) else self._index.same
        same = _merged(*(listed.get(key, []) for key in each.keys))
        return [place for place in same if self._turns[place].may_be_called(each.ids)]

    def _same(self, each: Wanted) -> list[int]:
        return _merged(*(self._index.same.get(key, []) for key in each.keys))

    def by_ids(self) -> None:
        """
        Place what one turn alone is called, where no other message is called so.

        Where ids repeat (see `ids_repeat`) only those do that the ledger gave.
        """
        repeat = ids_repeat(self._turns)
        named = {
            number: may_be[0]
            for number, (each, may_be) in enumerate(zip(self._wanted, self._may_be, strict=True))
            if len(may_be) == 1 and all(each.ids) and self._turns[may_be[0]].is_called(each.ids, given_once=not repeat)
        }
        claims = Counter(named.values())
        sure = {number: place for number, place in named.items() if claims[place] == 1}
        self._spans |= {number: (place, place) for number, place in sure.items()}
        self._taken |= set(sure.values())
        self._ordered = all(one < other for one, other in pairwise(sure.values()))  # else the transcript was edited

    def _bounds(self) -> list[tuple[int, int]]:
        """Return between which turns each message stands, as far as the others are known."""
        last = len(self._turns)
        if not self._ordered:
            return [(-1, last)] * len(self._wanted)
        spans = [self._spans.get(number, (-1, last)) for number in range(len(self._wanted))]
        before = accumulate((low for low, _ in spans), max, initial=-1)
        behind = [*accumulate((high for _, high in reversed(spans)), min, initial=last)]
        return list(zip(before, behind[-2::-1], strict=False))

    def by_answers(self) -> None:
        """Place the messages that are answered, as early and as late as may be: each is a turn, later ones later."""
        bounds = self._bounds()
        first: dict[int, int] = {}
        at = -1
        for number, each in enumerate(self._wanted):
            if number not in self._spans and each.claims and each.answered:
                self._may_be[number] = self._narrowed(each, self._may_be[number])
                low = next(self._between(self._may_be[number], max(at, bounds[number][0]), bounds[number][1]), None)
                if low is not None:
                    first[number] = at = low
        at = len(self._turns)
        for number, low in reversed(first.items()):
            window = (bounds[number][0], min(at, bounds[number][1]))
            at = next(self._between(self._may_be[number], *window, last=True))
            self._spans[number] = (low, at)
        self._taken |= {self._spans[number][0] for number in first if self._certain(number)}

    def _certain(self, number: int) -> bool:
        low, high = self._spans[number]
        return low == high

    def _narrowed(self, each: Wanted, may_be: list[int]) -> list[int]:
        """Return those of the turns whose answers stand in the transcript; all where it has them in other words."""
        if None in each.answers:
            return [place for place in may_be if self._turns[place].told(each.answers)] or may_be
        told = _merged(*(self._index.told(key, each.answers) for key in each.keys))
        return [place for place in told if _holds(may_be, place)] or may_be or told

    def _between(self, places: Sequence[int], low: int, high: int, *, last: bool = False) -> Iterator[int]:
        """Yield the places between two that no message has for certain, from the first or from the last on."""
        numbers = range(bisect_right(places, low), bisect_left(places, high))
        yield from (places[n] for n in (reversed(numbers) if last else numbers) if places[n] not in self._taken)

    def places(self) -> list[int | None]:
        """Return where each message is; one without an answer is a turn only if that one can be no other message."""
        bounds = self._bounds()
        unplaced = [n for n, each in enumerate(self._wanted) if n not in self._spans and not each.answered]
        free = {n: [*islice(self._between(self._may_be[n], *bounds[n]), 2)] for n in unplaced}
        single = {n: places[0] for n, places in free.items() if len(places) == 1}
        kept = self._kept(set(single.values()))
        found: list[int | None] = []
        for number, each in enumerate(self._wanted):
            place = single.get(number)
            if number in self._spans and self._certain(number):
                found.append(self._spans[number][0])
            elif place is not None and place > kept[number] and not self._rivals(number, place, bounds):
                found.append(place)
            else:
                same = self._between(self._same(each), *bounds[number]) if each.claims else iter(())
                found.append(None if next(same, None) is None else UNCLEAR)
        return found

    def _kept(self, single: set[int]) -> list[int]:
        """
        Return for each message the turn behind which no message can have been dropped from the transcript.

        Old messages are dropped, one by one or all before a summary: what is behind a turn whose message is there was
        not. Where each turn has its message, the last turn's was not either; and none was if the host keeps no results.
        """
        last = len(self._turns)
        highs = (self._spans.get(number, (last, last))[1] for number in range(len(self._wanted)))
        kept = list(accumulate(highs, min, initial=last))[:-1]
        asked = [place for place, turn in enumerate(self._turns) if turn.by_model]
        if asked and all(place in self._taken or place in single for place in asked):
            whole = asked[-1] - 1 if any(each.answered for each in self._wanted) else -1
            kept = [min(least, whole) for least in kept]
        return kept

    def _rivals(self, number: int, place: int, bounds: Sequence[tuple[int, int]]) -> bool:
        """Whether another message may be this turn as well."""
        for other in self._asking.get(self._turns[place].key, ()):
            low, high = self._spans.get(other, (bounds[other][0] + 1, bounds[other][1] - 1))
            if other != number and low <= place <= high and _holds(self._may_be[other], place):
                return True
        return False

    @cached_property
    def _asking(self) -> dict[Key, list[int]]:
        """The messages that claim a turn, by what they may be found under."""
        found: dict[Key, list[int]] = defaultdict(list)
        for number, each in enumerate(self._wanted):
            for key in each.keys if each.claims else ():
                found[key].append(number)
        return found


def _merged(*lists: list[int]) -> list[int]:
    """Return the places of all lists in their order."""
    filled = [each for each in lists if each]
    return filled[0] if len(filled) == 1 else sorted(chain(*filled))


def _holds(places: Sequence[int], place: int) -> bool:
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place
