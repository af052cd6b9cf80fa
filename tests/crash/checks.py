"""What a crash must not do: the ledger's promises, checked on what is in it and in the world outside."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ledger.calls import Call, CallRow, call_row
from ledger.events.wire import chain
from ledger.history import History
from ledger.providers.check import check_openai
from ledger.recovery import MAX_ATTEMPTS
from ledger.replay.reading import session_at
from ledger.store.port import EventFilter, Reader, StoredEvent
from ledger.store.urls import open_store
from tests.crash.host import SESSION
from tests.crash.world import World

PLAIN = {"send", "wire", "put", "move", "pay"}
"""Tools whose author declared no way to run them again: one effect at most, whatever happens."""


@dataclass(slots=True)
class Snapshot:
    """What is recorded and what happened, at one moment between two processes."""

    events: list[StoredEvent]
    calls: dict[str, Call]
    effects: list[dict[str, Any]]
    problems: list[str] = field(default_factory=list)

    @property
    def doubts(self) -> dict[str, Call]:
        """Side-effecting calls that were started and have no outcome."""
        return {key: call for key, call in self.calls.items() if call.state == "started" and call.side_effecting}

    def effects_of(self, call_id: str) -> int:
        return sum(1 for line in self.effects if line["call"] == call_id)


def look(world: World) -> Snapshot:
    """Read all there is, and check what must hold at any moment."""
    store = open_store(world.place.url, create=False, read_only=True)
    try:
        events = list(store.events(EventFilter(), limit=100_000))
        session = session_at(store, SESSION) if store.head(SESSION) else History(SESSION)
        found = Snapshot(events, session.calls, world.effects())
        found.problems += _lost(world, events)
        found.problems += _chain(store, events)
        found.problems += [f"broken call {call_id}" for call_id in session.broken]
        found.problems += _projection(store, session)
        found.problems += _effects(found)
        return found
    finally:
        store.close()


def acknowledged(world: World) -> list[tuple[str, str]]:
    """Return session and id of every event whose append has returned."""
    if not world.acknowledged.exists():
        return []
    lines = world.acknowledged.read_text().splitlines()
    return [(session, event) for session, _, event in (line.partition(" ") for line in lines)]


def _lost(world: World, events: list[StoredEvent]) -> list[str]:
    there = {(event.session_id, event.event_id) for event in events}
    return [
        f"acknowledged event {event} of {session} is lost"
        for session, event in acknowledged(world)
        if (session, event) not in there
    ]  # fmt: skip - a table reads better as one


def _chain(reader: Reader, events: list[StoredEvent]) -> Iterator[str]:
    for session_id in {event.session_id for event in events}:
        digest, rows = b"", [event for event in events if event.session_id == session_id]
        for place, row in enumerate(rows, 1):
            digest = chain(digest, row.record)
            if row.sequence != place or row.digest != digest:
                yield f"the chain of {session_id} breaks at {place}"
        head = reader.head(session_id)
        if head is None or (head.sequence, head.digest) != (len(rows), digest):
            yield f"the head of {session_id} is not its last event"


def _projection(store: Any, session: History) -> Iterator[str]:
    rows: list[CallRow] = [call_row(call) for call in session.calls.values()]
    for call_id, stored, folded in store.rebuild(iter(rows), write=False):
        yield f"projection of {call_id}: {stored} is folded as {folded}"


def _effects(found: Snapshot) -> Iterator[str]:
    starts = Counter(call_id for event in found.events if event.type == "call.started" for call_id in [event.call_id])
    for call_id, count in Counter(line["call"] for line in found.effects).items():
        if call_id not in found.calls or starts[call_id] < count:
            yield f"call {call_id} has {count} effects and {starts[call_id]} durable starts"
    plain = Counter((line["tool"], line["number"]) for line in found.effects if line["tool"] in PLAIN)
    yield from (f"a second effect of {what}" for what, count in plain.items() if count > 1)
    keys: dict[Any, set[str]] = {}
    for line in found.effects:
        if line["tool"] == "charge":
            keys.setdefault(line["number"], set()).add(line["key"])
    yield from (f"charge {number} was sent under {used}" for number, used in keys.items() if len(used) > 1)
    bought = Counter(line["number"] for line in found.effects if line["tool"] == "buy")
    yield from (f"a second effect of buy {number}" for number, count in bought.items() if count > 1)


def settled(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Check what recovery made of the calls that the crash left."""
    for call_id, call in before.calls.items():
        now = after.calls.get(call_id)
        if now is None:
            yield f"call {call_id} is gone"
        elif call.state == "succeeded" and after.effects_of(call_id) != before.effects_of(call_id):
            yield f"the finished call {call_id} ran again"
        elif call.state == "started" and call.side_effecting:
            yield from _doubt(call, now, before.effects_of(call_id))


def _doubt(call: Call, now: Call, effects: int) -> Iterator[str]:
    right: tuple[str, ...] = ("needs-review",)
    reason = "outcome-unknown"
    asked_in_vain = call.tool == "charge" or (call.tool == "buy" and not effects)
    if asked_in_vain and call.attempt >= MAX_ATTEMPTS:
        reason = "attempts-exhausted"  # killed in each of its attempts: now a person is asked
    elif call.tool in ("charge", "buy") or (call.tool == "pay" and effects):
        right = ("succeeded",)
    if now.state not in right:
        yield f"{call.tool}, started with {effects} effects and no outcome, is {now.state}: {now.code}"
    if call.tool == "pay" and effects and not now.reconciled:
        yield "a payment that was found is not recorded as reconciled"
    if now.state == "needs-review" and now.reason != reason:
        yield f"{call.tool} may have run, but is flagged {now.reason}"


def unchanged(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Check that a second resume did nothing."""
    if len(after.events) != len(before.events):
        types = [event.type for event in after.events[len(before.events) :]]
        yield f"a second resume added {types}"
    if len(after.effects) != len(before.effects):
        yield "a second resume had effects"


def told(world: World) -> Iterator[str]:
    """Check that a provider would accept what the host has to send next."""
    messages = json.loads((world.folder / "messages.json").read_text())
    yield from (f"the export is refused: {problem}" for problem in check_openai(messages))
