"""Rows under their wire names: every row of a kind has the same keys, so that all formats can carry it."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from ledger.calls import CallRow
from ledger.events import Event, Unreadable, event_to_wire
from ledger.events.fields import camel, to_wire
from ledger.store.port import PlacedCall, StoredEvent

Row: TypeAlias = dict[str, Any]

_CALL_KEYS: Final = tuple("index" if name == "idx" else camel(name) for name in CallRow._fields)

_EVENT_KEYS: Final = (
    *("position", "sessionId", "sequence", "recordedAt", "type", "callId", "tool", "schemaVersion"),
    *("turn", "index", "revision", "attempt", "actor", "principal", "tenant", "onBehalfOf"),
    *("eventId", "causationId", "format", "schemaDigest", "digest", "body", "unreadable"),
)


def call_to_wire(placed: PlacedCall) -> Row:
    """Return a call's row; `position` is that of its proposal, the cursor of pages."""
    row = {"position": placed.position} | dict(zip(_CALL_KEYS, placed.row, strict=True))
    return row | {"tenant": placed.row.tenant or None, "modelCanRepair": bool(placed.row.model_can_repair)}


def stored_to_wire(stored: StoredEvent, event: Event) -> Row:
    """Return an event's row; one that cannot be read shows its record in `body`, and why in `unreadable`."""
    wire = event_to_wire(event) | {
        "position": stored.position,
        "sessionId": stored.session_id,
        "sequence": stored.sequence,
        "type": stored.type,
        "digest": stored.digest.hex(),
    }
    if not isinstance(event.body, Unreadable):
        wire["body"] = plain_wire(event.body)
    return {key: wire.get(key) for key in _EVENT_KEYS}


def plain_wire(body: object) -> Row:
    """Return an event's body under its wire names, with lists where Python has tuples: as JSON gives it back."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in to_wire(body).items()}


def changed_keys(one: CallRow, other: CallRow) -> list[str]:
    """Return the wire names of what differs between two rows of a call."""
    return [key for key, a, b in zip(_CALL_KEYS, one, other, strict=True) if a != b]
