"""Events to the exact stored bytes and back, old formats upgraded on read, for ever; stored bytes never change."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from typing import Any, Final, Protocol, TypeAlias

from ledger.errors import UsageError
from ledger.events.envelope import Event, event_with
from ledger.events.fields import WireError, camel, from_wire, to_wire, values_of
from ledger.events.names import BODIES, type_of
from ledger.events.session_bodies import Json, JsonObject, Unreadable
from ledger.strictjson import loads
from ledger.strictjson.canonical import to_bytes, to_text

Upgrade: TypeAlias = Callable[[JsonObject], JsonObject]

FORMATS: Final[dict[str, int]] = {}
"""
Types whose body form has moved on from 1: the current format.

What an older release would misread is a new format: a new value of a closed set, another meaning, a key that must not
be passed over. One more key that may be (its absence reads as the class default) is none.
"""

UPGRADES: Final[dict[tuple[str, int], Upgrade]] = {}
"""(type, format) -> the function that carries such a body to format + 1. Never removed."""

_TEXTS: Final = (
    *("actor", "call_id", "causation_id", "event_id", "on_behalf_of", "principal", "recorded_at"),
    *("schema_digest", "session_id", "tenant", "tool"),
)
_NUMBERS: Final = ("attempt", "format", "index", "revision", "schema_version", "turn")
_MEMBERS: Final = tuple(sorted((*_TEXTS, *_NUMBERS), key=camel))  # in the canonical order of the record
_KEYS: Final = tuple(map(camel, _MEMBERS))
_VALUES: Final = values_of([*_MEMBERS])
_PREFIXES: Final = tuple(f'"{key}":' for key in _KEYS)
_BODY: Final = sum(key < "body" for key in _KEYS)  # where the body stands among them, and the sequence
_GAP: Final = sum(key < "sequence" for key in _KEYS)
ENVELOPE: Final[dict[str, tuple[str, type]]] = {camel(name): (name, str) for name in _TEXTS} | {
    camel(name): (name, int) for name in (*_NUMBERS, "sequence")
}
"""The keys around the body, each with its field of `Event` and its type."""
_NEEDED: Final = frozenset({"session_id", "event_id", "recorded_at", "sequence", "format"})
_NEEDED_OF_CALLS: Final = _NEEDED | {"call_id"}
_FAULTS: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


class Row(Protocol):
    """The columns that stand beside a record: copies, read only where the record itself cannot be."""

    @property
    def session_id(self) -> str:
        """The stream it is in."""

    @property
    def sequence(self) -> int:
        """Its place there, from 1."""

    @property
    def event_id(self) -> str:
        """Made by its writer."""

    @property
    def type(self) -> str:
        """Its name."""

    @property
    def call_id(self) -> str | None:
        """Its call, if it is of one."""

    @property
    def tool(self) -> str | None:
        """That call's tool."""


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


def encode(event: Event, *, formats: Mapping[str, int] = FORMATS) -> Draft:
    """
    Encode an event for appending, its body in the current form.

    Raises `JsonRejected` where a body holds what JSON cannot, `UsageError` where a value is of another kind than its
    field, `TypeError` for an event that could not be read.
    """
    body = event.body
    if isinstance(body, Unreadable):
        raise TypeError(f"an event that cannot be read is never written again: {body.type}")
    name = type_of(body)
    form = formats.get(name, 1)
    if event.format != form:
        event = dataclasses.replace(event, format=form)
    # The envelope is texts and numbers in a known order: written member by member, twice as fast as from an object.
    members = [
        prefix + (quoted(value) if type(value) is str else _number(value)) if value is not None else ""
        for prefix, value in zip(_PREFIXES, _VALUES(event), strict=True)
    ]
    try:
        content = '"body":' + to_text(to_wire(body))
    except WireError as error:
        raise UsageError(f"{name} cannot be recorded: {error}", hint="Nothing was recorded.") from None
    head = ",".join(filter(None, (*members[:_BODY], content, *members[_BODY:_GAP])))
    tail = ",".join(filter(None, (*members[_GAP:], f'"type":"{name}"')))
    return Draft(event, name, to_bytes("{" + head), to_bytes(tail + "}"))


def _number(value: Any) -> str:
    if type(value) is not int:  # a subclass may write itself in any way: the record would not be JSON
        raise TypeError(f"an envelope holds texts and numbers, not {type(value).__name__}")
    return str(value)


def chain(previous: bytes, record: bytes) -> bytes:
    """Return the event's digest: SHA-256(previous digest of the session, then the record). The first has b''."""
    return hashlib.sha256(previous + record).digest()


def read_event(
    record: bytes,
    row: Row | None = None,
    *,
    upgrades: Mapping[tuple[str, int], Upgrade] = UPGRADES,
    formats: Mapping[str, int] = FORMATS,
) -> Event:
    """
    Decode a stored record; `row` says where it stands if the record itself does not.

    What this release cannot read becomes an event with an `Unreadable` body: it never raises for one bad row, so that
    the other rows of the session still load (https://github.com/anomalyco/opencode/issues/29908).
    """
    wire: Json = None
    try:
        wire = loads(record)
        envelope = _envelope(wire)
        name, form = _kind(wire, envelope)
        body = wire["body"]
    except _FAULTS as error:
        return _broken(record, wire, row, error)
    cls, current = BODIES.get(name), formats.get(name, 1)
    if cls is None or form > current:
        newer = "a newer release wrote this event"
        return event_with(envelope, Unreadable(type=name, format=form, reason=newer, raw=wire, newer=True), form)
    try:
        for step in range(form, current):
            body = upgrades[name, step](dict(body))
        return event_with(envelope, from_wire(cls, body), current)
    except _FAULTS as error:
        why = f"this row cannot be read: {_told(error)}"
        return event_with(envelope, Unreadable(type=name, format=form, reason=why, raw=wire, newer=False), form)


def _envelope(wire: JsonObject) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in wire.items():
        if slot := ENVELOPE.get(key):
            name, kind = slot
            if type(value) is not kind:
                raise WireError(f"{key} has the type {type(value).__name__}")
            found[name] = value
    return found


def _kind(wire: JsonObject, envelope: dict[str, Any]) -> tuple[str, int]:
    """Return type and format; raises where the envelope lacks what every event has."""
    name = wire["type"]
    if type(name) is not str:
        raise WireError(f"type has the type {type(name).__name__}")
    needed = _NEEDED_OF_CALLS if name.startswith("call.") else _NEEDED
    if not needed <= envelope.keys():
        raise WireError(f"{min(map(camel, needed - envelope.keys()))} is missing")
    return name, envelope["format"]


def _broken(record: bytes, wire: Json, row: Row | None, error: Exception) -> Event:
    raw: Json = record[:4096].decode("utf-8", "backslashreplace") if wire is None else wire
    why = f"this row is no record: {_told(error)}"
    if row is None:
        body = Unreadable(type="?", format=0, reason=why, raw=raw, newer=False)
        return Event(session_id="", event_id="", recorded_at="", body=body)
    return Event(
        session_id=row.session_id,
        event_id=row.event_id,
        recorded_at="",
        sequence=row.sequence,
        call_id=row.call_id,
        tool=row.tool,
        body=Unreadable(type=row.type, format=0, reason=why, raw=raw, newer=False),
    )


def _told(error: Exception) -> str:
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)


def event_to_wire(event: Event) -> JsonObject:
    """
    Return the event as the JSON object that people and exports see: wire names, the body in its current form.

    An event that cannot be read shows its recorded body, and why under `unreadable`.
    """
    body = event.body
    wire: JsonObject = {"type": type_of(body), "sequence": event.sequence}
    wire |= {key: value for key, value in zip(_KEYS, _VALUES(event), strict=True) if value is not None}
    if isinstance(body, Unreadable):
        raw = body.raw
        whole = isinstance(raw, dict) and "body" in raw
        return wire | {"format": body.format, "body": raw["body"] if whole else raw, "unreadable": body.reason}
    wire["body"] = to_wire(body)
    return wire
