"""What the contract's tests are made of: a clock one can set, and sessions written by hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger.calls import Call, CallRow, call_row, evolve
from ledger.events import (
    Body,
    CallAuthorized,
    CallProposed,
    CallStarted,
    CallSucceeded,
    CallValidated,
    Draft,
    Event,
    MessageRecorded,
    encode,
)
from ledger.ids import Clock, iso
from ledger.store.port import Append, Appended, Store, StoredEvent

DIGEST = "d" * 64


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def clock(self) -> Clock:
        """Return what a store is given."""
        return Clock(now=lambda: self.moment)

    def stamp(self, seconds: float = 0) -> str:
        """Return the time in so many seconds, as events have it."""
        return iso(self.moment + timedelta(seconds=seconds))

    def move(self, seconds: float) -> None:
        """Let time pass; a negative number sets the clock back."""
        self.moment += timedelta(seconds=seconds)


@dataclass(slots=True)
class Story:
    """
    A session written by hand: events with ids in order, and where each call stands.

    `told` counts the events so far: the sequence that the next append expects.
    """

    session_id: str = "s1"
    told: int = 0
    at: str = "2026-01-02T03:04:05.000000Z"
    tenant: str | None = "acme"
    principal: str | None = "ada"
    calls: dict[str, Call] = field(default_factory=dict)

    def event(self, body: Body, **envelope: Any) -> Draft:
        """Return the next event of the session."""
        self.told += 1
        values: dict[str, Any] = {
            "session_id": self.session_id,
            "event_id": f"{self.session_id}-e{self.told}",
            "recorded_at": self.at,
            "tenant": self.tenant,
            "principal": self.principal,
        }
        event = Event(body=body, sequence=self.told, **(values | envelope))
        call_id = event.call_id
        if call_id is not None:
            self.calls[call_id] = evolve(self.calls.get(call_id, Call()), event)
        return encode(event)

    def propose(self, call_id: str, body: CallProposed | None = None, **envelope: Any) -> Draft:
        """Return the proposal of a call: the first of its turn unless `turn` and `index` say where it stands."""
        values = {"tool": "send_email", "schema_version": 1, "turn": len(self.calls) + 1, "index": 0, "revision": 0}
        return self.event(
            body or CallProposed(raw_arguments="{}", arguments={}), call_id=call_id, **(values | envelope)
        )

    def of_call(self, call_id: str, body: Body, **envelope: Any) -> Draft:
        """Return the next event of a call."""
        call = self.calls[call_id]
        values = {"tool": call.tool, "schema_version": call.schema_version, "turn": call.turn, "index": call.index}
        return self.event(body, call_id=call_id, **(values | {"revision": call.revision} | envelope))

    def rows(self, *call_ids: str) -> tuple[CallRow, ...]:
        """Return the rows of calls as they stand."""
        return tuple(call_row(self.calls[call_id]) for call_id in call_ids)

    def run(self, call_id: str, result: Any = "sent") -> tuple[Draft, ...]:
        """Return what follows a proposal where all goes well."""
        return (
            self.of_call(call_id, CallValidated(gates=("schema",), validator="none", arguments_digest=DIGEST)),
            self.of_call(call_id, CallAuthorized(by="policy", arguments_digest=DIGEST)),
            self.of_call(call_id, CallStarted(idempotency_key=call_id, worker="w", token=1), attempt=1),
            self.of_call(call_id, CallSucceeded(result=result), attempt=1),
        )


def note(text: str) -> Body:
    """Return a small body that says a text."""
    return MessageRecorded(role="user", provider="test", message={"text": text})


def add(store: Store, session_id: str, *texts: str, **options: Any) -> Appended:
    """Append a message for each text to a session; the texts are the event ids."""
    story = Story(session_id)
    drafts = tuple(story.event(note(text), event_id=text) for text in texts)
    return store.append(Append(session_id=session_id, drafts=drafts, **options))


def ids(events: Any) -> list[str]:
    """Return the ids of events."""
    return [event.event_id for event in events]


def everything(store: Store, session_id: str) -> list[StoredEvent]:
    """Return all events of a session, read in small pages."""
    found: list[StoredEvent] = []
    while page := store.read(session_id, after=len(found), limit=7):
        found += page
    return found


class StoreCase(ABC):
    """What each part of the contract stands on."""

    @abstractmethod
    def make_store(self, folder: Path, clock: Clock) -> Store:
        """Return an empty store; `folder` is empty and gone after the test."""

    def let_pass(self, store: Store, time: HandClock, seconds: float) -> None:  # noqa: ARG002 - others need it
        """Let the clock by which the store ends leases go on; overridden where that is not the one it was given."""
        time.move(seconds)

    @pytest.fixture
    def time(self) -> HandClock:
        """The clock of the store under test."""
        return HandClock()

    @pytest.fixture
    def store(self, tmp_path: Path, time: HandClock) -> Iterator[Store]:
        """The store under test."""
        store = self.make_store(tmp_path, time.clock())
        yield store
        store.close()
