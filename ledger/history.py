"""A session folded from its events: its turns, its messages and where each call stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeAlias, assert_never

from ledger.calls import NEW_CALL, TERMINAL, Call, evolve
from ledger.catalog.finding import FIND_TOOLS, found_names
from ledger.errors import IllegalTransition
from ledger.events import (
    BatchPlanned,
    CallBody,
    CallProposed,
    Event,
    LedgerPruned,
    MessageRecorded,
    SessionBody,
    SessionClaimed,
    SessionClosed,
    SessionErased,
    SessionOpened,
    SessionResumed,
    ToolStageChanged,
    ToolVersionPublished,
    TurnRecorded,
    Unreadable,
)


@dataclass(slots=True)
class Turn:
    """
    One assistant message and its calls.

    `slots` holds for each index the call ids of its revisions, oldest first; the last one answers for the slot.
    `hosted` are the calls that the provider executed itself: nobody here answers them.
    """

    number: int
    sequence: int
    event_id: str
    body: TurnRecorded
    slots: list[list[str]] = field(default_factory=list)
    hosted: list[str] = field(default_factory=list)
    batch: BatchPlanned | None = None

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The calls that answer for the turn's slots, in the order asked."""
        return tuple(slot[-1] for slot in self.slots if slot)


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
    A session as it is after the events applied so far; the only mutable value of the core, owned by one session.

    `told` keeps each call as it was when the next turn was recorded: that is what the model has read of it, and no
    later verdict rewrites it. `settled` are the calls that ended after the model had read them as open, `resolved`
    those that ended after a person was asked; `last_of` is the last call of each tool, `responses` the last turn of
    each response id, `provider_ids` the first call with each provider's id, `quoted` the host's messages in the
    assistant's role (they may hold calls with ids of their own).
    """

    session_id: str
    sequence: int = 0
    opened: SessionOpened | None = None
    closed: SessionClosed | None = None
    principal: str | None = None
    tenant: str | None = None
    opened_at: str = ""
    last_at: str = ""
    calls: dict[str, Call] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    resolved: list[Settled] = field(default_factory=list)
    responses: dict[str, Turn] = field(default_factory=dict)
    starts: list[MessageRecorded] = field(default_factory=list)
    told: dict[str, Call] = field(default_factory=dict)
    last_of: dict[str, str] = field(default_factory=dict)
    provider_ids: dict[str, str] = field(default_factory=dict)
    quoted: list[Said] = field(default_factory=list)
    keys: dict[str, MessageRecorded] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    unreadable: list[Event] = field(default_factory=list)
    open_ids: dict[str, None] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    started: int = 0  # calls that started at least once
    truncated: bool = False  # some result was too large to be shown whole
    found: dict[str, None] = field(default_factory=dict)  # the names that `find_tools` found so far

    def load(self, event: Event) -> None:
        """
        Take in a stored event, whatever it holds.

        A call with an event that cannot be read, or that does not follow, stays where it was and is named in
        `broken`: one bad row never makes a session unloadable.
        """
        if event.call_id is not None and isinstance(event.body, Unreadable):
            self.broken.add(event.call_id)
        try:
            self.apply(event)
        except IllegalTransition:
            self.broken.add(event.call_id or "")
            self._seen(event, self._place_of(event))

    def apply(self, event: Event, sequence: int | None = None, after: Call | None = None) -> None:
        """
        Take in one event, which must be the next one; `after` is its call where that was worked out already.

        Raises `IllegalTransition` where a call's event cannot follow its state; the history is unchanged then.
        """
        place = sequence or self._place_of(event)
        body = event.body
        if isinstance(body, CallBody):
            if event.call_id not in self.broken:
                self._call_event(event, place, after)
        else:
            self._session_event(event, body, place)
        self._seen(event, place)

    def _place_of(self, event: Event) -> int:
        return event.sequence or self.sequence + 1  # a row that is no record at all still takes its place

    def _seen(self, event: Event, place: int) -> None:
        self.sequence = place
        self.last_at = event.recorded_at or self.last_at

    def _session_event(self, event: Event, body: SessionBody, place: int) -> None:
        match body:
            case SessionOpened():
                self.opened = body
                self.principal, self.tenant = event.principal, event.tenant
                self.opened_at = event.recorded_at
            case SessionClaimed():
                self.claims.append(Claim(place, body.owner, body.token))
            case SessionClosed():
                self.closed = body
            case MessageRecorded():
                self._message(body, place)
            case TurnRecorded():
                self._turn(event, body, place)
            case BatchPlanned():
                if self.turns:  # else the turn itself could not be read
                    self.turns[-1].batch = body
            case Unreadable():
                self.unreadable.append(event)
            case SessionResumed() | SessionErased() | LedgerPruned() | ToolVersionPublished() | ToolStageChanged():
                pass  # facts for people: no later event depends on them
            case _:
                assert_never(body)

    def _message(self, body: MessageRecorded, place: int) -> None:
        said = Said(place, body)
        self.entries.append(said)
        if body.role in ("assistant", "model"):
            self.quoted.append(said)
        if body.start:
            self.starts.append(body)
        if body.key is not None:
            self.keys[body.key] = body

    def _turn(self, event: Event, body: TurnRecorded, place: int) -> None:
        for call_id in self.turns[-1].call_ids if self.turns else ():
            self.told[call_id] = self.calls[call_id]
        turn = Turn(event.turn or len(self.turns) + 1, place, event.event_id, body)
        self.turns.append(turn)
        if body.response_id:  # an empty one, as older releases kept it, names no turn
            self.responses[body.response_id] = turn
        self.entries.append(turn)

    def _call_event(self, event: Event, place: int, after: Call | None) -> None:
        call_id = event.call_id or ""
        before = self.calls.get(call_id) or NEW_CALL
        if after is None:
            after = evolve(before, event, place)
            self._require_room(after, event)
        self.calls[call_id] = after
        self.started += after.attempt > 0 and before.attempt == 0
        if isinstance(event.body, CallProposed):
            self._place(after)
        self.truncated = self.truncated or after.truncated_for_model
        if after.tool == FIND_TOOLS and after.state == "succeeded":
            self.found |= dict.fromkeys(found_names(after.result))
        if after.state in TERMINAL:
            self.open_ids.pop(call_id, None)
            if before.state in TERMINAL or after.state == "superseded":
                return
            if _was_asked(after):
                self.resolved.append(Settled(place, after))
            if after.executor == "host" and self.was_told(after):
                self.settled.append(Settled(place, after))
                self.entries.append(self.settled[-1])
        else:
            self.open_ids[call_id] = None

    def _place(self, call: Call) -> None:
        turn = self.turn(call.turn)
        if call.executor == "provider":
            if turn is not None:
                turn.hosted.append(call.call_id)
            return
        self.last_of[call.tool] = call.call_id
        if turn is not None:
            while len(turn.slots) <= call.index:
                turn.slots.append([])
            if call.provider_call_id is not None and not turn.slots[call.index]:
                self.provider_ids.setdefault(call.provider_call_id, call.call_id)
            turn.slots[call.index].append(call.call_id)

    def _require_room(self, call: Call, event: Event) -> None:
        """Refuse a proposal where another call stands already, or beside the calls of its turn."""
        turn = self.turn(call.turn) if isinstance(event.body, CallProposed) else None
        if turn is None:
            return
        # One more than the turn counts may be: a wrong count loses no call, but no place far out is made for one.
        if not 0 <= call.index < max(turn.body.calls, len(turn.slots) + len(turn.hosted) + 1):
            raise IllegalTransition(event.type, "unknown", call.call_id, f"turn {turn.number} has no call {call.index}")
        slot = turn.slots[call.index] if call.index < len(turn.slots) else []
        slot = slot + [other for other in turn.hosted if self.calls[other].index == call.index]
        if any(self.calls[other].revision == call.revision for other in slot if other in self.calls):
            where = f"turn {turn.number}, index {call.index}, revision {call.revision}"
            raise IllegalTransition(event.type, "unknown", call.call_id, f"another call is at {where}")

    def was_told(self, call: Call) -> bool:
        """Whether a later turn is recorded, so that the model has read some answer for this call."""
        return bool(self.turns) and call.turn < self.turns[-1].number

    def open_calls(self) -> list[Call]:
        """Return the calls that are not terminal, in the order they were asked."""
        return self._open(broken=False)

    def open_and_broken(self) -> list[Call]:
        """Return the calls that may not be terminal, as far as they can be read: more may have become of them."""
        return self._open(broken=True)

    def _open(self, *, broken: bool) -> list[Call]:
        found = [self.calls[call_id] for call_id in self.open_ids if (call_id in self.broken) is broken]
        return sorted(found, key=lambda call: (call.turn, call.index, call.revision))

    def ended_since(self, sequence: int) -> list[Settled]:
        """
        Return what ended behind this place after a model had read it as open, or after a person was asked.

        One that a person settled before the next turn may have been read as open by the model that now replies.
        """
        both = (
            takewhile(lambda entry: entry.sequence > sequence, reversed(each)) for each in (self.resolved, self.settled)
        )
        return [entry for each in both for entry in each]

    def turn(self, number: int) -> Turn | None:
        """Return the turn with this number (from 1), if recorded."""
        return next((turn for turn in reversed(self.turns) if turn.number == number), None)

    def turn_calls(self, turn: Turn) -> list[Call]:
        """Return the calls that answer for the turn's slots, as they stand."""
        return [self.calls[call_id] for call_id in turn.call_ids]

    def read_as(self, call: Call) -> Call:
        """
        Return the call as the model reads it at its place in the conversation.

        Where a person's answer superseded a call that the model had read as open, that is still what stands there.
        """
        turn = self.turn(call.turn) if call.revision else None
        asked = turn.slots[call.index] if turn is not None else (call.call_id,)
        return next((self.told[call_id] for call_id in asked if call_id in self.told), call)

    @property
    def read_only(self) -> bool:
        """Whether it holds events written by a newer release."""
        return any(isinstance(e.body, Unreadable) and e.body.newer for e in self.unreadable)

    @property
    def final(self) -> bool:
        """Whether the last word is the model's answer without a call."""
        for entry in reversed(self.entries):
            if not isinstance(entry, Settled):
                return isinstance(entry, Turn) and _answers(entry.body)
        return False

    @property
    def token(self) -> int:
        """The fencing token of the last claim; 0 if there was none."""
        return self.claims[-1].token if self.claims else 0

    def claimed_since(self, call: Call) -> bool:
        """Whether another owner claimed the session after the call's last start."""
        return self.token > call.token


def _answers(body: TurnRecorded) -> bool:
    """Whether the turn is an answer that stands: one that did not fit its schema was asked for again."""
    refused = body.structured is not None and body.structured.get("status") == "invalid"
    return body.kind in ("text", "structured") and not refused


def _was_asked(call: Call) -> bool:
    return call.flag is not None or (call.approval is not None and call.approval.by != "policy")


def fold_session(session_id: str, events: Iterable[Event]) -> History:
    """Fold a session from its events, in order."""
    history = History(session_id)
    for event in events:
        history.load(event)
    return history
