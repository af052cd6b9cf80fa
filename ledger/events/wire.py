"""Events to the exact stored bytes and back, old formats upgraded on read, for ever; stored bytes never change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ledger.events.envelope import Event
from ledger.events.fields import WireError, from_wire, to_wire
from ledger.events.names import BODIES, type_of
from ledger.events.session_bodies import JsonObject, Unreadable
from ledger.strictjson import canonical, loads

Upgrade: TypeAlias = Callable[[JsonObject], JsonObject]

FORMATS: Final[dict[str, int]] = {}
"""Types whose body form has moved on from 1: the current format."""

UPGRADES: Final[dict[tuple[str, int], Upgrade]] = {}
"""(type, format) -> the function that carries such a body to format + 1. Never removed."""

_BEFORE: Final = (
    ("actor", "actor"),
    ("attempt", "attempt"),
    ("callId", "call_id"),
    ("causationId", "causation_id"),
    ("eventId", "event_id"),
    ("format", "format"),
    ("index", "index"),
    ("onBehalfOf", "on_behalf_of"),
    ("principal", "principal"),
    ("recordedAt", "recorded_at"),
    ("revision", "revision"),
    ("schemaDigest", "schema_digest"),
    ("schemaVersion", "schema_version"),
)
_AFTER: Final = (("sessionId", "session_id"), ("tenant", "tenant"), ("tool", "tool"), ("turn", "turn"))
_NAMES: Final = dict(_BEFORE + _AFTER) | {"sequence": "sequence"}


@dataclass(frozen=True, slots=True)
class Draft:
    """
    An event encoded once, outside any transaction: its record with a gap where the store puts the sequence.

    The gap is where `"sequence"` falls in the canonical key order, so the finished record is canonical JSON.
    """

    event: Event
    type: str
    head: bytes
    tail: bytes

    def record(self, sequence: int) -> bytes:
        """Return the exact bytes to store for this place in the session."""
        return b'%b,"sequence":%d,%b' % (self.head, sequence, self.tail)


def encode(event: Event) -> Draft:
    """Encode an event for appending. Raises `JsonRejected` where a body holds what JSON cannot."""
    name = type_of(event.body)
    before: JsonObject = {"body": to_wire(event.body)}
    for key, attribute in _BEFORE:
        value = getattr(event, attribute)
        if value is not None:
            before[key] = value
    after: JsonObject = {"type": name}
    for key, attribute in _AFTER:
        value = getattr(event, attribute)
        if value is not None:
            after[key] = value
    return Draft(event, name, canonical(before)[:-1], canonical(after)[1:])


def chain(previous: bytes, record: bytes) -> bytes:
    """Return the event's digest: SHA-256(previous digest of the session, then the record). The first has b''."""
    return hashlib.sha256(previous + record).digest()


def read_event(
    record: bytes,
    *,
    upgrades: Mapping[tuple[str, int], Upgrade] = UPGRADES,
    formats: Mapping[str, int] = FORMATS,
) -> Event:
    """
    Decode a stored record.

    What this release cannot read becomes an event with an `Unreadable` body: it never raises for one bad row, so that
    the other rows of the session still load (https://github.com/anomalyco/opencode/issues/29908).
    """
    try:
        wire = loads(record)
        envelope = {name: wire[key] for key, name in _NAMES.items() if key in wire}
        body, form, name = wire["body"], wire["format"], wire["type"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        return _broken(record, error)
    current = formats.get(name, 1)
    if name not in BODIES or form > current:
        newer = "a newer release wrote this event"
        return Event(**envelope, body=Unreadable(type=name, format=form, reason=newer, raw=wire, newer=True))
    try:
        while form < current:
            body = upgrades[name, form](body)
            form += 1
        return Event(**envelope, body=from_wire(BODIES[name], body))
    except (WireError, TypeError, KeyError, AttributeError) as error:
        bad = Unreadable(type=name, format=form, reason=f"this row cannot be read: {error}", raw=wire, newer=False)
        return Event(**envelope, body=bad)


def _broken(record: bytes, error: Exception) -> Event:
    raw: Any = record[:4096].decode("utf-8", "backslashreplace")
    body = Unreadable(type="?", format=0, reason=f"this row is not a record: {error}", raw=raw, newer=False)
    return Event(session_id="", event_id="", recorded_at="", body=body)


def event_to_wire(event: Event) -> JsonObject:
    """Return the event as the JSON object that people and exports see (wire names, body in its current form)."""
    wire: JsonObject = {"type": event.type, "sequence": event.sequence}
    for key, attribute in _BEFORE + _AFTER:
        value = getattr(event, attribute)
        if value is not None:
            wire[key] = value
    body = event.body
    wire["body"] = body.raw if isinstance(body, Unreadable) else to_wire(body)
    return wire
