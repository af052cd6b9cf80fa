"""A host's own transcript beside the recorded session: which of its messages is which turn, and what answers it."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ledger.calls import Call
from ledger.errors import JsonRejected
from ledger.history import History, Turn
from ledger.providers.answer import SHOWN_BYTES
from ledger.providers.conversation import honest, note_message
from ledger.providers.names import Ids, key_name
from ledger.providers.port import ProposedCall, Told, WireFormat
from ledger.providers.verbatim import told_text
from ledger.strictjson import canonical, check, decode

_Key: TypeAlias = tuple[object, ...]


def complete(history: History, messages: Sequence[Any], wire: WireFormat, limit: int = SHOWN_BYTES) -> list[Any]:
    """
    Return a host's transcript with an answer for each call that has none.

    Its messages are matched with the recorded turns by order and content, from the end: ids repeat or are missing in
    real transcripts, and hosts drop old messages. A call is answered as it stands now; one that the ledger does not
    know is answered by just that. What ended after the model had read it as open is told in notes at the end, unless
    the transcript tells it.
    """

    def find(asked: Sequence[Sequence[ProposedCall]]) -> list[list[Told] | None]:
        turns = _align(history, asked, wire)
        return [None if turn is None else _texts(history, turn, limit) for turn in turns]

    completed, told = wire.complete(messages, find, every=bool(history.settled))
    answered = {(history.calls[call_id].turn, history.calls[call_id].index) for call_id in told}
    for entry in history.settled:
        note = note_message(entry, wire, limit)
        if (entry.call.turn, entry.call.index) not in answered and not wire.holds(messages, note):
            completed.append(note)
    return completed


def _texts(history: History, turn: Turn, limit: int) -> list[Told]:
    calls = [(slot[0], honest(history, history.calls[slot[-1]])) for slot in turn.slots if slot]
    return [Told(first, told_text(call, limit), error=call.state != "succeeded") for first, call in calls]


def _align(history: History, asked: Sequence[Sequence[ProposedCall]], wire: WireFormat) -> list[Turn | None]:
    """Return the turn of each assistant message; later messages are later turns."""
    turns = [turn for turn in history.turns if any(turn.slots)]
    places = _index(history, turns, wire)
    found: list[Turn | None] = []
    bound = len(turns)
    for calls in reversed(asked):
        place = _latest(places, _asked_keys(calls), bound)
        found.append(None if place is None else turns[place])
        bound = bound if place is None else place
    return found[::-1]


def _latest(places: dict[_Key, list[int]], keys: Iterable[_Key], bound: int) -> int | None:
    """Return the last turn before `bound` under the first of the keys that has one."""
    for key in keys:
        listed = places.get(key, [])
        at = bisect_left(listed, bound)
        if at:
            return listed[at - 1]
    return None


def _index(history: History, turns: Sequence[Turn], wire: WireFormat) -> dict[_Key, list[int]]:
    """Return the places of the turns under every key by which a host's message may name them."""
    places: dict[_Key, list[int]] = defaultdict(list)
    ids = Ids(wire.ids)
    for place, turn in enumerate(turns):
        calls = [history.calls[slot[0]] for slot in turn.slots if slot]
        names = tuple(key_name(call.tool) for call in calls)
        digests = None if any(call.redacted for call in calls) else tuple(map(_digest, calls))
        own = tuple(call.provider_call_id or "" for call in calls)
        here = tuple(ids.give(call.provider_call_id, call.call_id) for call in calls)
        for key in {(names, digests, own), (names, digests, here), (names, digests)}:
            places[key].append(place)
    return places


def _asked_keys(calls: Sequence[ProposedCall]) -> list[_Key]:
    """Return the keys of a host's message, the surest first; of redacted calls the arguments are not known."""
    names = tuple(key_name(call.name) for call in calls)
    ids = tuple(call.provider_call_id or "" for call in calls)
    digests = tuple(_hash(_value(call.raw, call.arguments)) for call in calls)
    return [(names, digests, ids), (names, None, ids), (names, digests), (names, None)]


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
