"""What differs between two sessions: place by place, whatever their ids and times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from ledger.calls import Call
from ledger.history import Said, Settled
from ledger.providers.answer import answer
from ledger.replay.told import AskedCall, Ending, Passage, passages
from ledger.store.port import Reader
from ledger.strictjson import Json, JsonObject, canonical

Fields: TypeAlias = dict[str, Json]
Places: TypeAlias = dict[int | None, Fields]
"""What is compared of a turn (None), and of each of its calls (by index); the first field says that it is there."""

_WHOLE: Final = 2**40  # bytes of an answer: nothing is cut before it is compared, so no pointer names a callId
_IDS: Final = frozenset({"id", "tool_call_id"})


@dataclass(frozen=True, slots=True)
class Difference:
    """
    One place where two sessions differ: `turn` (from 1), `index` (None: the turn itself), the field, both values.

    `turn` is None for what stands behind the last turn. A value is None where one session has nothing there.
    """

    turn: int | None
    index: int | None
    field: str
    a: Json
    b: Json

    def to_wire(self) -> JsonObject:
        """Return the difference as a flat row."""
        return {"turn": self.turn, "index": self.index, "field": self.field, "a": self.a, "b": self.b}


def compare(reader: Reader, a: str, b: str) -> list[Difference]:
    """
    Return how session `b` differs from session `a`; empty: they are equal.

    Compared are the host's messages, each turn's kind and text, each call's tool, arguments, state and answer, and how
    the sessions end. Ids, times and notes are not. Raises `UnknownSession`.
    """
    ours, theirs = passages(reader, a), passages(reader, b)
    found: list[Difference] = []
    number = 0
    one, other = next(ours), next(theirs)
    while isinstance(one, Passage) or isinstance(other, Passage):
        number += 1
        found += _differences(number, _turn(one), _turn(other))
        one = next(ours) if isinstance(one, Passage) else one
        other = next(theirs) if isinstance(other, Passage) else other
    return found + list(_differences(None, _end(one), _end(other)))


def _differences(turn: int | None, a: Places, b: Places) -> Iterator[Difference]:
    for index in a | b:
        ours, theirs = a.get(index), b.get(index)
        for field in ours or theirs or {}:
            one, other = (ours or {}).get(field), (theirs or {}).get(field)
            if canonical(one) != canonical(other):
                yield Difference(turn, index, field, one, other)
            if ours is None or theirs is None:
                break


def _turn(passage: Passage | Ending) -> Places:
    if isinstance(passage, Ending):
        return {}
    body = passage.turn.body
    places: Places = {None: {"kind": body.kind, "text": body.text, "messages": _messages(passage.before)}}
    places |= {asked.intent.index: _call(asked) for asked in passage.calls}
    return places | {call.index: _hosted(call) for call in passage.hosted}


def _call(asked: AskedCall) -> Fields:
    intent, now = asked.intent, asked.now
    return {
        "tool": intent.tool,
        "arguments": intent.raw_arguments if intent.arguments is None else intent.arguments,
        "state": now.state,
        "answer": _told(now),
    }


def _told(now: Call) -> JsonObject:
    """Return what the model reads, without the time to wait of a limit: that is of the moment, no two runs share it."""
    told = answer(now, _WHOLE)
    if now.state == "denied":
        told.pop("retryAfter", None)
    return told


def _hosted(call: Call) -> Fields:
    return {
        "tool": call.tool,
        "arguments": call.raw_arguments if call.arguments is None else call.arguments,
        "state": call.state,
        "result": call.message if call.result is None else call.result,
        "executor": "provider",
    }


def _end(passage: Passage | Ending) -> Places:
    closed = passage.history.closed if isinstance(passage, Ending) else None
    return {None: {"messages": _messages(passage.before), "closed": closed and closed.reason}}


def _messages(before: tuple[Said | Settled, ...]) -> list[Json]:
    return [_anonymous(entry.body.message) for entry in before if isinstance(entry, Said)]


def _anonymous(message: Json) -> Json:
    if isinstance(message, list):
        return [_anonymous(item) for item in message]
    if isinstance(message, dict):
        return {key: _anonymous(value) for key, value in message.items() if key not in _IDS}
    return message
