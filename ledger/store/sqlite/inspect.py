"""Looking at a file as a whole: its settings, every chain, the projection's edges. Reads in one snapshot, flat."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from ledger.events.wire import chain
from ledger.store.sqlite import sql
from ledger.strictjson import loads

MOST_SHOWN: Final = 20
"""Faults that are named; all are counted."""

_WIRE: Final = (
    "sessionId",
    "sequence",
    "eventId",
    "type",
    "format",
    "callId",
    "tool",
    "schemaVersion",
    "turn",
    "index",
    "revision",
    "attempt",
    "tenant",
    "principal",
    "recordedAt",
)
"""What the record calls the first of `sql.EVENT_COLUMNS`, its copies."""

GUARDS: Final = {
    "event_append": "30fc0a62a28b56e4cddff6879310289567385d7618ba4bb425f742f2b64bdf78",
    "event_no_delete": "950e69209e0ad0823c77b3ae18f7449fd216a6f5feb03db8cd99e54695d1ae27",
    "event_no_update": "778c862575ef8f09c9dd567ef3434d6ef2b2ea6ff1558131ff94d0941038db94",
}
"""The triggers that keep events as they are, each with the digest of its text."""

_TYPES: Final = (int, str, bytes, bytes)

_EVENTS: Final = (
    f"SELECT {', '.join(sql.EVENT_COLUMNS)}, position FROM event"  # noqa: S608 - our own names
    " ORDER BY session_id, sequence"
)
_LONE_HEADS: Final = (
    "SELECT session_id, sequence FROM session_head WHERE sequence > 0 AND NOT EXISTS"
    " (SELECT 1 FROM event WHERE event.session_id = session_head.session_id) ORDER BY session_id"
)
_NO_PROPOSAL: Final = (
    "FROM call WHERE NOT EXISTS"
    " (SELECT 1 FROM event WHERE event.call_id = call.call_id AND event.type = 'call.proposed')"
)
_NO_ROW: Final = (
    "FROM event WHERE type = 'call.proposed' AND call_id IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM call WHERE call.call_id = event.call_id)"
)


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first event of a session that is not what was appended there; `position` None: it is missing."""

    session_id: str
    sequence: int
    position: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Chains:
    """
    What became of every session's chain.

    `faults` names the first bad event of each bad session, at most `MOST_SHOWN`; `bad` counts the sessions.
    `clock_back` counts events recorded at an earlier time than the one before them: order is by sequence, so that is
    no fault.
    """

    sessions: int
    events: int
    bad: int
    faults: tuple[ChainFault, ...]
    clock_back: int


@dataclass(frozen=True, slots=True)
class Orphans:
    """Calls whose row has no proposal, and proposals without a row: how many, and the first of them."""

    rows: int
    proposals: int
    row_ids: tuple[str, ...]
    proposal_ids: tuple[str, ...]


@dataclass(slots=True)
class _Walk:
    """Where the walk along one session stands."""

    session_id: Any  # as it is stored
    sequence: int = 0
    digest: bytes = b""
    recorded_at: str = ""
    events: int = 0
    clock_back: int = 0
    fault: ChainFault | None = field(default=None)

    def blame(self, sequence: int, position: int | None, why: str) -> None:
        """Keep the first fault."""
        if self.fault is None:
            self.fault = ChainFault(sql.readable((self.session_id,))[0], sequence, position, why)


def chains(connection: sqlite3.Connection) -> Chains:
    """Verify every session: gapless places, chained digests, columns that copy their record, the head at the end."""
    sessions = events = bad = clock_back = 0
    faults: list[ChainFault] = []
    for session_id, rows in groupby(connection.execute(_EVENTS), key=itemgetter(0)):
        walk = _walked(session_id, rows, connection.execute(sql.HEAD, (session_id,)).fetchone())
        sessions += 1
        events += walk.events
        clock_back += walk.clock_back
        if walk.fault is not None:
            bad += 1
            faults = [*faults, walk.fault][:MOST_SHOWN]
    for session_id, sequence in connection.execute(_LONE_HEADS):
        bad += 1
        why = f"its head counts {sequence} events, and there is none"
        faults = [*faults, ChainFault(sql.readable((session_id,))[0], 1, None, why)][:MOST_SHOWN]
    return Chains(sessions, events, bad, tuple(faults), clock_back)


def _walked(session_id: Any, rows: Iterable[sql.Row], head: sql.Row | None) -> _Walk:
    walk = _Walk(session_id)
    for row in rows:
        _step(walk, row)
    if head is None:
        walk.blame(walk.sequence, None, "the session has no head")
    elif isinstance(head[0], int) and head[0] > walk.sequence:
        walk.blame(walk.sequence + 1, None, f"missing: the head counts {head[0]} events")
    elif (head[0], head[1]) != (walk.sequence, walk.digest):
        walk.blame(walk.sequence, None, "the head is that of other events")
    return walk


def _step(walk: _Walk, row: sql.Row) -> None:
    sequence, recorded_at, record, digest, position = row[1], *row[-4:]
    walk.events += 1
    if tuple(map(type, (sequence, recorded_at, record, digest))) != _TYPES:
        walk.blame(walk.sequence + 1, position, "a column has another type than it was written with")
        return
    walk.clock_back += recorded_at < walk.recorded_at
    if sequence != walk.sequence + 1:
        walk.blame(walk.sequence + 1, None, f"missing: {sequence} follows {walk.sequence}")
    elif digest != chain(walk.digest, record):
        walk.blame(sequence, position, "the digest does not fit this record and the event before it")
    else:
        column = _false_copy(row, record)
        if column is not None:
            walk.blame(sequence, position, f"the column {column} differs from the record")
    walk.sequence, walk.digest, walk.recorded_at = sequence, digest, recorded_at


def _false_copy(row: sql.Row, record: bytes) -> str | None:
    """Return the first column that is not what the record says, or None."""
    try:
        wire = loads(record)
        told = [wire.get(key) for key in _WIRE]
    except (ValueError, AttributeError):
        return "record"
    told[_WIRE.index("tenant")] = told[_WIRE.index("tenant")] or ""
    copies = sql.readable(row[: len(_WIRE)])
    for name, ours, theirs in zip(sql.EVENT_COLUMNS, copies, told, strict=False):
        if ours != theirs:
            return name
    return None


def orphans(connection: sqlite3.Connection) -> Orphans:
    """Find calls and proposals that lack each other."""
    counts, names = [], []
    for condition in (_NO_PROPOSAL, _NO_ROW):
        counts.append(connection.execute(f"SELECT count(*) {condition}").fetchone()[0])
        rows = connection.execute(f"SELECT call_id {condition} ORDER BY call_id LIMIT {MOST_SHOWN}")
        names.append(tuple(sql.readable(row)[0] for row in rows))
    return Orphans(counts[0], counts[1], names[0], names[1])


def unguarded(connection: sqlite3.Connection, *, exact: bool) -> tuple[str, ...]:
    """
    Return what is wrong with the triggers that keep events from being changed, in words; empty where they stand.

    `exact`: their text has to be this release's; a newer one may have written them anew.
    """
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'event'")
    there = {str(name): str(text) for name, text in rows}
    missing = [f"the trigger {name} is missing" for name in GUARDS if name not in there]
    changed = [
        f"the trigger {name} is not as it was made"
        for name, digest in GUARDS.items()
        if exact and name in there and trigger_digest(there[name]) != digest
    ]
    return (*missing, *changed)


def trigger_digest(text: str) -> str:
    """Return the SHA-256 of a trigger's text, however it is laid out."""
    return sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def damage(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return what SQLite's own quick check says of the file; empty where it is sound."""
    found = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({MOST_SHOWN})")]
    return () if found == ["ok"] else tuple(found)


def pragma(connection: sqlite3.Connection, name: str) -> Any:
    """Return the value of a setting."""
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
