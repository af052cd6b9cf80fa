"""A host's own transcript beside the recorded session: what answers each of its calls."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, TypeAlias

from ledger.calls import TERMINAL, Call
from ledger.errors import JsonRejected
from ledger.history import History, Turn
from ledger.providers.aligning import UNCLEAR, Recorded, Wanted, align, ids_repeat
from ledger.providers.answer import SHOWN_BYTES, unclear, unrecorded
from ledger.providers.conversation import answers, honest, note_message
from ledger.providers.names import Ids, key_name
from ledger.providers.port import HOST, USER, Asked, Says, Told, WireFormat
from ledger.providers.verbatim import told_text
from ledger.strictjson import canonical, check, decode

_One: TypeAlias = tuple[str, str, str]
"""Of a call: its tool, its arguments' digest, its id."""


def complete(history: History, messages: Sequence[Any], wire: WireFormat, limit: int = SHOWN_BYTES) -> list[Any]:
    """
    Return a host's transcript with an answer for each call that has none.

    Its messages are matched with the recorded turns by ids, by order and content, and by the answers that stand there
    already: ids repeat or are missing in real transcripts, and hosts drop old messages. A call is answered as it stands
    now; one that the ledger does not know is answered by just that, and one that may be a recorded call or another like
    it by that nobody knows. What ended after the model had read it as open is told in notes at the end, unless the
    transcript tells it.
    """

    def find(asked: Sequence[Asked], says: Says) -> list[list[Told]]:
        return _Matching(history, wire, limit, says).told(asked)

    completed, told = wire.complete(messages, find, every=bool(history.settled))
    known = (history.calls[call_id] for call_id in told if call_id in history.calls)
    answered = {(call.turn, call.index) for call in known}
    for entry in history.settled:
        note = note_message(entry, wire, limit)
        if (entry.call.turn, entry.call.index) not in answered and not wire.holds(messages, note):
            completed.append(note)
    return completed


class _Matching:
    """The recorded turns, and what a transcript of one format is told of their calls."""

    def __init__(self, history: History, wire: WireFormat, limit: int, says: Says) -> None:
        self._history, self._limit, self._says = history, limit, says
        self._turns = [turn for turn in history.turns if any(turn.slots) and turn.body.provider != USER]
        ids = Ids(wire.ids)
        self._recorded = [self._as_recorded(turn, ids, wire) for turn in self._turns]
        self._not_recorded = says(_unknown(0, 0, None))
        self._unclear = says(_unknown(0, 0, UNCLEAR))

    def told(self, asked: Sequence[Asked]) -> list[list[Told]]:
        """Return what answers the calls of each message, as they stand now."""
        wanted = list(map(self._as_wanted, asked))
        places = align(self._recorded, wanted)
        taken = {place for place in places if place is not None}
        named = Counter(one for each in wanted for one in _ones(each))
        behind, found = -1, []
        for number, (place, each) in enumerate(zip(places, wanted, strict=True)):
            if place is not None and place != UNCLEAR:
                behind = max(behind, place)
                found.append([self._now(slot) for slot in self._turns[place].slots if slot])
                continue
            unsure = place == UNCLEAR or self._unclear in each.answers or self._gaps
            ones: list[Told | int | None] = [UNCLEAR if unsure else None] * len(each.names)
            if each.claims and not unsure:
                ones = [self._alone(one, taken, behind, once=named[one] == 1) for one in _ones(each)]
            found.append([one if isinstance(one, Told) else _unknown(number, n, one) for n, one in enumerate(ones)])
        return found

    @cached_property
    def _gaps(self) -> bool:
        """Whether a turn or some of its calls cannot be read: what seems to be recorded nowhere may be one of them."""
        turns = self._history.turns
        return bool(self._history.unreadable) or any(turn.body.calls > sum(map(bool, turn.slots)) for turn in turns)

    @cached_property
    def _ids_repeat(self) -> bool:
        return ids_repeat(self._recorded)

    def _as_recorded(self, turn: Turn, ids: Ids, wire: WireFormat) -> Recorded:
        calls = [self._history.calls[slot[0]] for slot in turn.slots if slot]
        own = tuple(call.provider_call_id or "" for call in calls)
        here = tuple(ids.give(call.provider_call_id, call.call_id) for call in calls)
        derived = tuple(wire.ids.derived(call.call_id) for call in calls)
        return Recorded(
            names=tuple(key_name(call.tool) for call in calls),
            digests=None if any(call.redacted for call in calls) else tuple(map(_digest, calls)),
            own=own,
            called=frozenset((own, here, derived)),
            answers=cache(lambda: frozenset(self._answers(turn))),
            by_model=turn.body.provider != HOST,
        )

    def _answers(self, turn: Turn) -> Iterator[tuple[str, ...]]:
        """Yield what a transcript says for a turn's calls once all have ended: other calls wait in the same words."""
        now = [self._history.calls[slot[-1]] for slot in turn.slots if slot]
        for calls in (answers(self._history, turn), now):
            if all(call.state in TERMINAL for call in calls):
                yield tuple(self._says(self._told("", call)) for call in calls)

    def _now(self, slot: Sequence[str]) -> Told:
        return self._told(slot[0], honest(self._history, self._history.calls[slot[-1]]))

    def _told(self, call_id: str, call: Call) -> Told:
        return Told(call_id, told_text(call, self._limit), error=call.state != "succeeded")

    def _as_wanted(self, each: Asked) -> Wanted:
        return Wanted(
            names=tuple(key_name(call.name) for call in each.calls),
            digests=tuple(_hash(_value(call.raw, call.arguments)) for call in each.calls),
            ids=tuple(call.provider_call_id or "" for call in each.calls),
            answers=each.answers,
            claims=not {self._not_recorded, self._unclear} & set(each.answers),
        )

    def _alone(self, one: _One, taken: Collection[int], behind: int, *, once: bool) -> Told | int | None:
        """
        Return the answer of a call that stands among others here than in its turn, as in an edited transcript.

        The id has to be that of one call alone, asked for `once`. `UNCLEAR`: an equal call stands in a later turn that
        no message has.
        """
        name, digest, given = one
        same = [spot for key in ((name, digest), (name, None)) for spot in self._spots.get(key, ())]
        called = [
            (place, n) for place, n in same if given and any(ids[n] == given for ids in self._recorded[place].called)
        ]
        if len(called) == 1 and once and not self._ids_repeat:
            place, n = called[0]
            return self._now([slot for slot in self._turns[place].slots if slot][n])
        return UNCLEAR if any(place > behind and place not in taken for place, _ in same) else None

    @cached_property
    def _spots(self) -> dict[tuple[str, str | None], list[tuple[int, int]]]:
        """Where calls of a tool and arguments stand: the turn's place, and the call's in it."""
        found: dict[tuple[str, str | None], list[tuple[int, int]]] = defaultdict(list)
        for place, turn in enumerate(self._recorded):
            for n, name in enumerate(turn.names):
                found[name, None if turn.digests is None else turn.digests[n]].append((place, n))
        return found


def _ones(each: Wanted) -> Iterator[_One]:
    return zip(each.names, each.digests, each.ids, strict=True)


def _unknown(number: int, n: int, place: int | None) -> Told:
    """Return the answer for a call that is no recorded one, or may be one; the name is a call's of the transcript."""
    answer = unrecorded() if place is None else unclear()
    return Told(f"unknown {number}, {n}", canonical(answer).decode(), error=True)


def _digest(call: Call) -> str:
    return _hash(call.arguments if isinstance(call.arguments, dict) else _value(call.raw_arguments, call.arguments))


def _value(raw: str | None, arguments: object) -> object:
    """Return the arguments as a value; what is no JSON stands as `{}` in transcripts that were exported."""
    try:
        return check(arguments) if raw is None else decode(raw)
    except JsonRejected:
        return {}


def _hash(value: object) -> str:
    return hashlib.sha256(canonical({} if value is None else value)).hexdigest()
