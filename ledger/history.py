"""A session folded from its events: its turns, its messages and where each call stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ledger.calls import TERMINAL, Call, evolve
from ledger.events import (
    BatchPlanned,
    CallProposed,
    Event,
    MessageRecorded,
    SessionClaimed,
    SessionClosed,
    SessionOpened,
    TurnRecorded,
    Unreadable,
)


@dataclass(slots=True)
class Turn:
    """
    One assistant message and its calls.

    `slots` holds for each index the call ids of its revisions, oldest first; the last one answers for the slot.
    """

    number: int
    sequence: int
    event_id: str
    body: TurnRecorded
    slots: list[list[str]] = field(default_factory=list)
    batch: BatchPlanned | None = None

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The calls that answer for the turn's slots, in the order asked."""
        return tuple(slot[-1] for slot in self.slots)


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the host at its place in the conversation."""

    sequence: int
    body: MessageRecorded


@dataclass(frozen=True, slots=True)
class Settled:
    """A call that ended after the model had read it as open: the conversation tells it as a note."""

    sequence: int
    call: Call


Entry: TypeAlias = Said | Turn | Settled


@dataclass(frozen=True, slots=True)
class Claim:
    """Who took the session's lease, and where in the session."""

    sequence: int
    owner: str
    token: int


@dataclass(slots=True)
class History:
    """
    A session as it is after the events applied so far; the only mutable value of the core, owned by one handle.

    `told` keeps each call as it was when the next turn was recorded: that is what the model has read of it, and no
    later verdict rewrites it.
    """

    session_id: str
    sequence: int = 0
    opened: SessionOpened | None = None
    closed: SessionClosed | None = None
    principal: str | None = None
    tenant: str | None = None
    last_at: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    told: dict[str, Call] = field(default_factory=dict)
    keys: dict[str, MessageRecorded] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    unreadable: list[Event] = field(default_factory=list)
    open_ids: dict[str, None] = field(default_factory=dict)

    def apply(self, event: Event, sequence: int | None = None) -> None:
        """
        Take in one event, which must be the next one.

        Raises `IllegalTransition` where a call's event cannot follow its state; the history is unchanged then.
        """
        place = sequence or event.sequence
        body = event.body
        if event.call_id is not None and not isinstance(body, Unreadable):
            self._call_event(event, place)
        match body:
            case SessionOpened():
                self.opened = body
                self.principal, self.tenant = event.principal, event.tenant
            case SessionClaimed():
                self.claims.append(Claim(place, body.owner, body.token))
            case SessionClosed():
                self.closed = body
            case MessageRecorded():
                self.entries.append(Said(place, body))
                if body.key is not None:
                    self.keys[body.key] = body
            case TurnRecorded():
                self._turn(event, body, place)
            case BatchPlanned():
                self.turns[-1].batch = body
            case Unreadable():
                self.unreadable.append(event)
            case _:
                pass
        self.sequence = place
        self.last_at = event.recorded_at

    def _turn(self, event: Event, body: TurnRecorded, place: int) -> None:
        for call_id in self.turns[-1].call_ids if self.turns else ():
            self.told[call_id] = self.calls[call_id]
        turn = Turn(event.turn or len(self.turns) + 1, place, event.event_id, body)
        self.turns.append(turn)
        self.entries.append(turn)

    def _call_event(self, event: Event, place: int) -> None:
        call_id = event.call_id or ""
        before = self.calls.get(call_id) or Call()
        after = evolve(before, event, place)
        self.calls[call_id] = after
        if isinstance(event.body, CallProposed):
            self._place(after)
        if after.state in TERMINAL:
            self.open_ids.pop(call_id, None)
            if before.state not in TERMINAL and after.state != "superseded" and self.was_told(after):
                self.entries.append(Settled(place, after))
        else:
            self.open_ids[call_id] = None

    def _place(self, call: Call) -> None:
        for turn in reversed(self.turns):
            if turn.number == call.turn:
                while len(turn.slots) <= call.index:
                    turn.slots.append([])
                turn.slots[call.index].append(call.call_id)
                return

    def was_told(self, call: Call) -> bool:
        """Whether a later turn is recorded, so that the model has read some answer for this call."""
        return bool(self.turns) and call.turn < self.turns[-1].number

    def open_calls(self) -> list[Call]:
        """Return the calls that are not terminal, in the order they were asked."""
        found = [self.calls[call_id] for call_id in self.open_ids]
        return sorted(found, key=lambda call: (call.turn, call.index, call.revision))

    def turn(self, number: int) -> Turn | None:
        """Return the turn with this number (from 1), if recorded."""
        return self.turns[number - 1] if 0 < number <= len(self.turns) else None

    def turn_calls(self, turn: Turn) -> list[Call]:
        """Return the calls that answer for the turn's slots, as they stand."""
        return [self.calls[call_id] for call_id in turn.call_ids]

    def read_as(self, call: Call) -> Call:
        """Return the call as the model reads it at its place in the conversation."""
        return self.told.get(call.call_id, call)

    @property
    def read_only(self) -> bool:
        """Whether it holds events written by a newer release."""
        return any(isinstance(e.body, Unreadable) and e.body.newer for e in self.unreadable)

    @property
    def final(self) -> bool:
        """Whether the last word is the model's answer without a call."""
        for entry in reversed(self.entries):
            if not isinstance(entry, Settled):
                return isinstance(entry, Turn) and entry.body.kind in ("text", "structured")
        return False

    @property
    def token(self) -> int:
        """The fencing token of the last claim; 0 if there was none."""
        return self.claims[-1].token if self.claims else 0

    def claimed_since(self, call: Call) -> bool:
        """Whether another owner claimed the session after the call's last start."""
        return self.token > call.token


def fold_session(session_id: str, events: Iterable[Event]) -> History:
    """Fold a session from its events, in order."""
    history = History(session_id)
    for event in events:
        history.apply(event)
    return history


def settled_after(history: History, sequence: int) -> Iterator[Settled]:
    """Yield what ended after this place and was told as a note (or still has to be)."""
    for entry in history.entries:
        if isinstance(entry, Settled) and entry.sequence > sequence:
            yield entry
