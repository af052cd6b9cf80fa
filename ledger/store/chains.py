"""
Every session's chain verified, row by row: gapless places, chained digests, copies that say what the record says.

Pure: the adapters read the rows, in one state of the ledger, by session and sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ledger.counting import counted
from ledger.events.wire import chain
from ledger.strictjson import loads

Row: TypeAlias = tuple[Any, ...]

MOST_SHOWN: Final = 20
"""Faults that are named; all are counted."""

COLUMNS: Final = {
    "session_id": "sessionId",
    "sequence": "sequence",
    "event_id": "eventId",
    "type": "type",
    "format": "format",
    "call_id": "callId",
    "tool": "tool",
    "schema_version": "schemaVersion",
    "turn": "turn",
    "idx": "index",
    "revision": "revision",
    "attempt": "attempt",
    "tenant": "tenant",
    "principal": "principal",
    "recorded_at": "recordedAt",
}
"""The columns that copy the record, in the order of the table, each with the record's word for it."""

_TYPES: Final = (int, str, bytes, bytes)


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

    `sessions` counts those of agents, `own` names the streams that the ledger keeps for itself (`_catalog`).
    `faults` names the first bad event of each bad session, at most `MOST_SHOWN`; `bad` counts the sessions.
    `clock_back` counts events recorded at an earlier time than the one before them: order is by sequence, so that is
    no fault.
    """

    sessions: int
    events: int
    bad: int
    faults: tuple[ChainFault, ...]
    clock_back: int
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Orphans:
    """Calls whose row has no proposal, and proposals without a row: how many, and the first of them."""

    rows: int
    proposals: int
    row_ids: tuple[str, ...]
    proposal_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerHealth:
    """
    What a check found. `sound` is whether nothing is wrong with what is recorded.

    `place` is the URL without its password; `size` bytes of the ledger's tables, their indexes included; `notes` are
    for people: settings that deserve a look, no integrity failure among them.
    """

    place: str
    revision: str
    server_version: str
    synchronous_commit: str
    size: int
    chains: Chains
    orphans: Orphans
    unguarded: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether chains, triggers and projection are in order."""
        return not (self.chains.bad or self.unguarded or self.orphans.rows or self.orphans.proposals)


@dataclass(slots=True)
class Walk:
    """Where the walk along one session stands."""

    session_id: str
    sequence: int = 0
    digest: bytes = b""
    recorded_at: str = ""
    position: int = 0
    events: int = 0
    clock_back: int = 0
    fault: ChainFault | None = field(default=None)

    def blame(self, sequence: int, position: int | None, why: str) -> None:
        """Keep the first fault."""
        if self.fault is None:
            self.fault = ChainFault(self.session_id, sequence, position, why)


@dataclass(slots=True)
class Tally:
    """What all walks together found, while they are counted."""

    sessions: int = 0
    events: int = 0
    bad: int = 0
    clock_back: int = 0
    faults: list[ChainFault] = field(default_factory=list)
    own: list[str] = field(default_factory=list)

    def add(self, walk: Walk) -> None:
        """Count one session's walk."""
        if str(walk.session_id).startswith("_"):  # no session of an agent may begin so
            self.own.append(walk.session_id)
        else:
            self.sessions += 1
        self.events += walk.events
        self.clock_back += walk.clock_back
        if walk.fault is not None:
            self.blame(walk.fault)

    def lone_head(self, session_id: str, sequence: int) -> None:
        """Count a session whose head counts events that are not there."""
        self.blame(ChainFault(session_id, 1, None, f"its head counts {counted(sequence, 'event')}, and there is none"))

    def blame(self, fault: ChainFault) -> None:
        """Count a fault; the first are named."""
        self.bad += 1
        if len(self.faults) < MOST_SHOWN:
            self.faults.append(fault)

    def chains(self) -> Chains:
        """Return what was found."""
        return Chains(self.sessions, self.events, self.bad, tuple(self.faults), self.clock_back, tuple(self.own))


def stranger(trigger: str, table: str) -> str:
    """Return the note on a trigger of somebody else."""
    return f"The trigger {trigger} on {table} is not the ledger's: it may change what is recorded there."


def walked(session_id: str, rows: Iterable[Row], head: Row | None, bindable: Callable[[Row], Sequence[Any]]) -> Walk:
    """
    Walk along one session.

    `rows` hold the columns of `COLUMNS`, record, digest and position, as they are stored; `head` begins with sequence
    and digest, None where there is none; `bindable` returns values as they are written: what reads alike but is stored
    in another way is found by no query.
    """
    walk = Walk(session_id)
    for row in rows:
        _step(walk, row, bindable)
    if head is None:
        walk.blame(walk.sequence, None, "the session has no head")
    elif isinstance(head[0], int) and head[0] > walk.sequence:
        walk.blame(walk.sequence + 1, None, f"missing: the head counts {counted(head[0], 'event')}")
    elif (head[0], head[1]) != (walk.sequence, walk.digest):
        walk.blame(walk.sequence, None, "the head is that of other events")
    return walk


def _step(walk: Walk, row: Row, bindable: Callable[[Row], Sequence[Any]]) -> None:
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
    elif position <= walk.position:
        walk.blame(sequence, position, f"its position is not behind {walk.position}, that of the event before it")
    else:
        column = _false_copy(row, record, bindable)
        if column is not None:
            walk.blame(sequence, position, f"the column {column} differs from the record")
    walk.sequence, walk.digest, walk.recorded_at, walk.position = sequence, digest, recorded_at, position


def _false_copy(row: Row, record: bytes, bindable: Callable[[Row], Sequence[Any]]) -> str | None:
    """Return the first column that is not what the record says, as it is written, or None."""
    try:
        wire = loads(record)
        told = {name: wire.get(key) for name, key in COLUMNS.items()}
    except (ValueError, AttributeError):
        return "record"
    told["tenant"] = told["tenant"] or ""
    written = bindable(tuple(told.values()))
    copies = zip(COLUMNS, row, written, strict=False)  # behind the copies stand record, digest and position
    return next((name for name, ours, right in copies if ours != right), None)
