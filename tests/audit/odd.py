"""Events that no release of this project writes: of a newer release, and such as do not follow."""

from __future__ import annotations

from dataclasses import replace

from ledger import Ledger
from ledger.calls import Call
from ledger.events import Body, CallNoted, Event, SessionClaimed, encode
from ledger.store.port import Append, Take


def of_call(call: Call, body: Body, *, event_id: str) -> Event:
    """An event of a call at its place, whatever it says."""
    return Event(
        session_id=call.session_id,
        event_id=event_id,
        recorded_at="2026-12-01T00:00:00.000000Z",
        body=body,
        call_id=call.call_id,
        tool=call.tool,
        schema_version=call.schema_version,
        turn=call.turn,
        index=call.index,
        revision=call.revision,
    )


def append(ledger: Ledger, call: Call, body: Body, *, event_id: str = "odd", named: str | None = None) -> None:
    """Append an event of a call without asking whether it follows; `named` gives it a type nobody here knows."""
    draft = encode(of_call(call, body, event_id=event_id))
    if named is not None:
        tail = draft.tail.replace(f'"{draft.type}"'.encode(), f'"{named}"'.encode())
        draft = replace(draft, type=named, tail=tail)
    ledger._wiring.store.append(Append(session_id=call.session_id, drafts=(draft,)))


def newer(ledger: Ledger, call: Call) -> None:
    """Append an event of a newer release."""
    append(ledger, call, CallNoted(by="x", text="from the future"), event_id="newer", named="call.teleported")


def held(ledger: Ledger, session_id: str, owner: str, *, seconds: float = 3600.0) -> None:
    """Let another owner hold the session's lease."""
    store = ledger._wiring.store
    head = store.head(session_id)
    assert head is not None
    token = head.token + 1
    claim = Event(
        session_id=session_id,
        event_id=f"claim-{token}",
        recorded_at="2026-12-01T00:00:00.000000Z",
        body=SessionClaimed(owner=owner, token=token),
    )
    take = Take(owner=owner, token=token, seconds=seconds, dead=head.token)
    store.append(Append(session_id=session_id, drafts=(encode(claim),), take=take))
