"""Sessions made of legal events, for tests of what is told of them."""

from __future__ import annotations

import dataclasses
from typing import Any

from ledger.calls import Call, call_row
from ledger.events import (
    BODIES,
    Body,
    CallAuthorized,
    CallFailed,
    CallFlagged,
    CallProposed,
    CallReviewed,
    CallStarted,
    CallSucceeded,
    CallValidated,
    Event,
    MessageRecorded,
    TurnRecorded,
    encode,
)
from ledger.events.fields import from_wire
from ledger.history import History
from ledger.providers.port import Reply
from ledger.store.memory import MemoryStore
from ledger.store.port import Append
from ledger.strictjson import decode

DIGEST = "d"
DEFAULTS: dict[str, dict[str, Any]] = {
    "call.validated": {"gates": ["schema"], "validator": "v", "argumentsDigest": DIGEST},
    "call.authorized": {"by": "policy", "argumentsDigest": DIGEST},
    "call.approval_requested": {"argumentsDigest": DIGEST},
    "call.started": {"idempotencyKey": "k", "worker": "w", "token": 1},
    "call.attempt_failed": {"code": "unavailable", "message": "It is closed.", "backoffSeconds": 1},
    "call.reviewed": {"by": "ann"},
    "call.superseded": {"by": "ann", "supersededBy": "other"},
    "call.noted": {"by": "ann", "text": "Look."},
    "call.outcome_arrived_late": {"token": 1},
}
RUN: tuple[Body, ...] = (
    CallValidated(gates=("schema",), validator="v", arguments_digest=DIGEST),
    CallAuthorized(by="policy", arguments_digest=DIGEST),
    CallStarted(idempotency_key="k", worker="w", token=1),
)


def body(kind: str, wire: dict[str, Any]) -> Body:
    """Return a body from its wire form, what every such event has filled in."""
    return from_wire(BODIES[kind], DEFAULTS.get(kind, {}) | wire)


class Recording:
    """A session that is recorded event by event; only what may follow is taken."""

    def __init__(self, session_id: str = "s", start: int = 0) -> None:
        self.history = History(session_id)
        self.events: list[Event] = []
        self._ids = start

    def add(self, body: Body, call: Call | None = None, **envelope: Any) -> Event:
        """Record an event; raises `IllegalTransition` where it cannot follow."""
        if call is not None:
            names = ("call_id", "tool", "turn", "index", "revision", "schema_version")
            envelope = {name: getattr(call, name) for name in names} | envelope
        event = Event(
            session_id=self.history.session_id,
            event_id=f"{self.history.session_id}-{self._ids + len(self.events)}",
            recorded_at="2026-11-29T20:00:00.000000Z",
            body=body,
            sequence=len(self.events) + 1,
            **envelope,
        )
        self.history.apply(event)
        self.events.append(event)
        return event

    def say(self, text: str, role: str = "user") -> None:
        """Record a host's message."""
        self.add(MessageRecorded(role=role, provider="openai", message={"role": role, "content": text}))

    def turn(self, reply: Reply, **known: Any) -> list[Call]:
        """Record a turn with its proposals; return the calls."""
        recorded = TurnRecorded(
            kind=reply.kind,
            provider=reply.provider,
            calls=len(reply.calls),
            text=reply.text,
            items=reply.items,
            stop_reason=reply.stop_reason,
        )
        number = len(self.history.turns) + 1
        self.add(recorded, turn=number)
        for index, sent in enumerate(reply.calls):
            arguments = known.get("arguments", sent.arguments)
            if "parse" in known and sent.raw is not None:
                arguments = decode(sent.raw)
            proposed = CallProposed(
                raw_arguments=sent.raw,
                arguments=arguments,
                provider_call_id=sent.provider_call_id,
                provider=reply.provider,
                effect=known.get("effect", "write"),
            )
            place: dict[str, Any] = {"turn": number, "index": index, "revision": 0, "schema_version": 1}
            self.add(proposed, call_id=self.new_id(), tool=sent.name, **place)
        return self.history.turn_calls(self.history.turns[-1])

    def new_id(self) -> str:
        """Return a call id as the ledger makes them."""
        number = self._ids + len(self.events)
        return f"01900000-0000-7000-8000-{number:012x}"

    def run(self, call: Call, *ends: Body) -> Call:
        """Start a call, and end it."""
        for each in (*RUN, *ends):
            self.add(each, call)
        return self.history.calls[call.call_id]

    def now(self, call: Call) -> Call:
        """Return the call as it stands."""
        return self.history.calls[call.call_id]

    def stored(self, store: MemoryStore | None = None) -> MemoryStore:
        """Return a store that holds the session."""
        found = store or MemoryStore()
        for event in self.events:
            draft = encode(dataclasses.replace(event, sequence=0))
            found.append(Append(session_id=event.session_id, drafts=(draft,)))
        rows = tuple(call_row(call) for call in self.history.calls.values())
        if rows:
            found.rebuild(iter(rows), write=True)
        return found


def flagged(reason: str = "outcome-unknown") -> CallFlagged:
    """Return a flag."""
    return CallFlagged(reason=reason)  # type: ignore[arg-type]  # a Literal by its tests


def happened(result: Any = None, *, known: bool = True) -> CallReviewed:
    """Return the verdict that it happened."""
    return CallReviewed(verdict="happened", by="ann", result=result, result_known=known)


def ok(result: Any) -> CallSucceeded:
    """Return a success."""
    return CallSucceeded(result=result)


def stopped() -> CallFailed:
    """Return the end of a call that never began."""
    return CallFailed(code="cancelled", error_class="environment", message="It was stopped.", not_started=True)
