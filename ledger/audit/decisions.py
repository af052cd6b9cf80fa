"""What people decided about a call: who, when, in which words, and what they had looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ledger.audit.reading import stored_events
from ledger.audit.rows import Row
from ledger.calls import Call
from ledger.events import CallAuthorized, CallDenied, CallReviewed, CallSuperseded, Event, read_event
from ledger.store.port import EventFilter, Reader


def decisions(events: Iterable[Event]) -> Iterator[Row]:
    """
    Yield what people decided, of the events of one call, the oldest first.

    `decision` is approved, denied, superseded or the verdict; `run` whether the call runs by it. `by` is a claim unless
    `verified`; `settledBy` is the original whose end a copy took over.
    """
    for event in events:
        match event.body:
            case CallAuthorized(by="person") as body:
                yield _row(event, "approved", body.person)
            case CallDenied(by=str()) as body:
                yield _row(event, "denied", body.by)
            case CallReviewed() as body:
                yield _row(event, body.verdict, body.by)
            case CallSuperseded() as body:
                yield _row(event, "superseded", body.by)
            case _:
                pass  # not a person's word


def _row(event: Event, decision: str, by: str | None) -> Row:
    body: Any = event.body
    return {
        "at": event.recorded_at,
        "eventId": event.event_id,
        "decision": decision,
        "run": decision in ("approved", "run") or getattr(body, "run", False),
        "didNotHappen": decision == "did-not-happen" or getattr(body, "did_not_happen", False),
        "by": by,
        "verified": body.verified,
        "osUser": body.os_user,
        "host": body.host,
        "note": body.note,
        "evidence": list(body.evidence),
        "settledBy": getattr(body, "settled_by", None),
        "supersededBy": getattr(body, "superseded_by", None),
    }


def replaced_by(reader: Reader, call: Call) -> str | None:
    """Return the id of the call whose place this one took by a person's word; None: it took nobody's."""
    if not call.revision:
        return None
    for stored in stored_events(reader, EventFilter(session_id=call.session_id, types=("call.superseded",))):
        body = read_event(stored.record, stored).body
        if isinstance(body, CallSuperseded) and body.superseded_by == call.call_id:
            return stored.call_id
    return None
