"""What is handed to an append: items to record, and the same encoded, with the calls as they will be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ledger.calls import Call
from ledger.events import (
    Body,
    CallDenied,
    CallNoted,
    CallOutcomeArrivedLate,
    CallReviewed,
    Draft,
    MessageRecorded,
    SessionResumed,
    TurnRecorded,
)
from ledger.events import SessionClosed as Closing
from ledger.store.port import RateGuard

AFTER_CLOSE: Final = (CallReviewed, CallDenied, CallNoted, CallOutcomeArrivedLate)
"""What may still be said of a closed session."""
DECIDED: Final = (TurnRecorded, SessionResumed, MessageRecorded, Closing)
"""What follows from how the session stands: where somebody else was faster it has to be decided again."""


@dataclass(frozen=True, slots=True)
class Item:
    """
    One event to record: its body, and the call it is about (identity fields only).

    A proposal brings its call as a stub in state "unknown"; every other event takes the call from the history.
    `causation` is the id of the event that led to this one; none: the call's last one, for a proposal the turn or the
    superseded call that it stands for. `seen` is the call's place in the session as a person saw it: once the call
    has moved on, their word is about something else.
    """

    body: Body
    call: Call | None = None
    turn: int | None = None
    actor: str = "ledger"
    attempt: int | None = None
    causation: str | None = None
    guards: tuple[RateGuard, ...] = ()
    seen: int | None = None


@dataclass(slots=True)
class Prepared:
    """Items encoded for one append, with the calls as they will be; `cause` is what a new call comes from."""

    cause: str | None = None
    drafts: list[Draft] = field(default_factory=list)
    calls: dict[str, Call] = field(default_factory=dict)
    afters: list[Call | None] = field(default_factory=list)
    refused: list[Item] = field(default_factory=list)
    guards: list[RateGuard] = field(default_factory=list)
