"""A session of any length that takes no memory: its events are made as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ledger.events import CallProposed, Event, MessageRecorded, TurnRecorded, encode
from ledger.store.memory import MemoryStore
from ledger.store.port import EventFilter, Head, StoredEvent
from tests.providers.recording import RUN, flagged, happened, ok

ROUND = 9


class LargeSession(MemoryStore):
    """
    A reader over rounds of nine events, made on the fly.

    In each round a message, and a turn with one write that ends; every tenth is flagged and settled a round later.
    """

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.length = rounds * ROUND

    def head(self, session_id: str) -> Head | None:
        return Head(sequence=self.length, digest=b"")

    def read(self, session_id: str, *, after: int = 0, until: int | None = None, limit: int) -> Sequence[StoredEvent]:
        end = min(self.length if until is None else until, after + limit)
        return [self._stored(sequence) for sequence in range(after + 1, end + 1)]

    def events(self, where: EventFilter, *, after: int = 0, limit: int) -> Sequence[StoredEvent]:
        first = int((where.call_id or "").removeprefix("call-")) * ROUND
        places = [place for place in range(max(first, after) + 1, first + 2 * ROUND + 1) if place <= self.length]
        return [each for place in places if (each := self._stored(place)).call_id == where.call_id][:limit]

    def _stored(self, sequence: int) -> StoredEvent:
        number, place = divmod(sequence - 1, ROUND)
        event = replace(_event(number, place), session_id="s", event_id=f"e{sequence}", recorded_at="t")
        draft = encode(event)
        where = (sequence, "s", sequence, event.event_id)
        return StoredEvent(*where, draft.type, event.call_id, event.tool, draft.record(sequence), b"")


def _event(number: int, place: int) -> Event:
    doubtful, settled = number % 10 == 0, number % 10 == 1
    call = {"call_id": f"call-{number}", "tool": "send", "turn": number + 1, "index": 0, "revision": 0}
    earlier = call | {"call_id": f"call-{number - 1}", "turn": number}
    said = MessageRecorded(role="user", provider="openai", message={"role": "user", "content": f"question {number}"})
    turn = TurnRecorded(kind="tool_calls", provider="openai", calls=1)
    asked = CallProposed(
        raw_arguments='{"n":1}', arguments={"n": 1}, provider_call_id=f"provider-{number}", effect="write"
    )
    made = {"session_id": "", "event_id": "", "recorded_at": ""}
    if place == 0:
        return Event(**made, body=said)  # type: ignore[arg-type]  # the fields of a call, by name
    if place == 1:
        return Event(**made, body=turn, turn=number + 1)  # type: ignore[arg-type]  # the fields of a call, by name
    if place == 2:
        return Event(**made, body=asked, **call)  # type: ignore[arg-type]  # the fields of a call, by name
    if place < 6:
        return Event(**made, body=RUN[place - 3], **call)  # type: ignore[arg-type]  # the fields of a call, by name
    if place == 6:
        return Event(**made, body=flagged() if doubtful else ok("x" * 500), **call)  # type: ignore[arg-type]  # the fields of a call, by name
    if place == 7 and settled:
        return Event(**made, body=happened({"n": number}), **earlier)  # type: ignore[arg-type]  # the fields of a call, by name
    return Event(**made, body=said)  # type: ignore[arg-type]  # the fields of a call, by name
