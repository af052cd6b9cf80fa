"""The few things the ledger needs of a database; three adapters keep the same contract suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from ledger.calls import CallRow
from ledger.errors import LedgerError
from ledger.events import Draft

Expected: TypeAlias = int | Literal["any", "none", "exists"]

GroupKey: TypeAlias = Literal[
    "tool",
    "schema_version",
    "description_digest",
    "provider",
    "model",
    "stage",
    "effect",
    "state",
    "gate",
    "code",
    "error_class",
    "reason",
    "tenant",
    "principal",
    "recorded_version",
]
"""Columns by which calls are counted; `recorded_version`: the one that a call had before an upcast carried it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """
    Where a session stands.

    `owner` is the last owner, also after its lease was given back (`expires_at` "" then); `token` only grows;
    `expires_at` is ISO 8601 UTC by the store's clock.
    """

    sequence: int
    digest: bytes
    owner: str | None = None
    token: int = 0
    expires_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """
    Take or renew the lease in the append's transaction.

    Granted where the last owner is `owner` itself (the token stays), or where the lease is free (never taken, given
    back, expired) or held under exactly the token `dead` (the caller knows that holder is gone); then the token grows
    by one. `token` is what the caller counted on (its events carry it): another result is `WrongSequence`. A lease
    held by somebody else is `SessionOwned`. `seconds` count from now, by the store's clock. `claims`: how many takes
    by different owners the append tells, `owner` being the last; above 1 the lease must be free, and the token grows
    by as many, also where the last owner is `owner`: that one was followed, and came back.
    """

    owner: str
    token: int
    seconds: float
    dead: int | None = None
    claims: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RateGuard:
    """
    A limit on starts, counted in the transaction that records them, by the store's clock.

    `key` names what is counted together; `calls` are those that this append starts, each takes a place. A place is
    taken for `seconds`; None: as long as the call stands in state "started" (a call in review runs no more, one whose
    process died counts until it is recovered). Where more than `max` places would be taken, the append is
    `RateLimited`.
    """

    key: str
    max: int
    seconds: float | None
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """
    Events of one session for one transaction, with the rows of the calls they touch.

    `expected`: the sequence the session must be at; "any"; "none" (no event yet); "exists" (at least one).
    `token`: the fencing token of a worker; a stale one is `LeaseLost`. Verdicts, notes and late outcomes give none.
    Beside `take` it is compared with the token after it. `release`: give the lease back with this commit. `calls`:
    full rows, replaced by call id. `guards`: the limits on the calls that it starts. There is at least one draft.
    """

    session_id: str
    drafts: tuple[Draft, ...]
    calls: tuple[CallRow, ...] = ()
    expected: Expected = "any"
    token: int | None = None
    take: Take | None = None
    release: bool = False
    guards: tuple[RateGuard, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What was recorded: the sequences and positions of the drafts, and the head after them."""

    sequences: tuple[int, ...]
    positions: tuple[int, ...]
    head: Head
    repeated: bool = False  # every event id was recorded already with the same content


class StoredEvent(NamedTuple):
    """One row as it is stored: `record` holds the exact bytes, `digest` chains it to the one before."""

    position: int
    session_id: str
    sequence: int
    event_id: str
    type: str
    call_id: str | None
    tool: str | None
    record: bytes
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFilter:
    """
    Which calls; None or () = all. Times are over `proposed_at`: `since` <= it < `until`.

    `carried`: beside those of `tool` also those that have one of these recorded names with this version: what was
    carried to it from an earlier name. `types` and `actor`: calls that have an event of one of these types, by this
    actor. `labels`: (key, value) pairs of the session, all of which must fit; a value that is no text is asked for by
    its canonical JSON. `resource`: calls that were started with this resource key.
    """

    session_id: str | None = None
    call_id: str | None = None
    call_id_part: str | None = None  # 4 or more characters of a head, a tail or of the tail's 8 from the first
    tool: str | None = None
    states: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    schema_version: int | None = None
    stage: str | None = None
    gate: str | None = None
    code: str | None = None
    error_class: str | None = None
    tenant: str | None = None
    principal: str | None = None
    idempotency_key: str | None = None
    duplicate_of: str | None = None
    since: str | None = None
    until: str | None = None
    types: tuple[str, ...] = ()
    actor: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    resource: str | None = None
    carried: tuple[tuple[str, int], ...] = ()


EQUAL_OF_CALLS: Final = (
    "session_id",
    "call_id",
    "schema_version",
    "stage",
    "gate",
    "code",
    "error_class",
    "tenant",
    "principal",
    "idempotency_key",
    "duplicate_of",
)
"""Fields of a `CallFilter` that ask for one value of the column of their name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """
    Which events; None or () = all. Times are over `recorded_at`: `since` <= it < `until`.

    `carried` and `labels` as for calls; `of`: events of the calls that fit that filter.
    """

    session_id: str | None = None
    call_id: str | None = None
    types: tuple[str, ...] = ()
    tool: str | None = None
    schema_version: int | None = None
    tenant: str | None = None
    principal: str | None = None
    actor: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    since: str | None = None
    until: str | None = None
    of: CallFilter | None = None
    carried: tuple[tuple[str, int], ...] = ()


EQUAL_OF_EVENTS: Final = ("session_id", "call_id", "schema_version", "tenant", "principal")
"""The same of an `EventFilter`."""


class Settled(NamedTuple):
    """
    Up to which position everything is final: no event will appear at or below it any more.

    `held_by` says who keeps a higher position from being final, in words; None where nobody does.
    """

    position: int
    held_by: str | None = None


class PlacedCall(NamedTuple):
    """A call's row with the position of its proposal, the key for pages."""

    position: int
    row: CallRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """
    What became of a group of calls: `key` holds its values in the order asked, `states` how many stand in which state.

    `repairable` counts those that ended in a way the model can put right, `timed` those with a duration. `p50` and
    `p95` are exact, by nearest rank, in milliseconds; None where no call has a duration.
    """

    key: tuple[str | int | None, ...]
    calls: int
    states: Mapping[str, int]
    repairable: int
    timed: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """
    A session as lists show it; times ISO 8601 UTC; `closed` is the reason or None.

    `open` counts its calls that have not ended, `waiting` those among them that wait for a person.
    """

    session_id: str
    sequence: int
    opened_at: str
    last_at: str
    closed: str | None
    calls: int
    waiting: int
    open: int
    owner: str | None
    owned_until: str


class Reader(Protocol):
    """The read side; never changes anything."""

    def head(self, session_id: str) -> Head | None:
        """Return where the session stands, or None if no event of it is recorded."""

    def read(self, session_id: str, *, after: int = 0, until: int | None = None, limit: int) -> Sequence[StoredEvent]:
        """Return up to `limit` events of a session with `after` < sequence <= `until`, in order."""

    def events(self, where: EventFilter, *, after: int = 0, limit: int) -> Sequence[StoredEvent]:
        """Return up to `limit` events over all sessions with position > `after`, by position."""

    def settled(self) -> Settled:
        """Return up to which position the ledger is final; who reads on from there misses nothing."""

    def calls(self, where: CallFilter, *, after: int = 0, limit: int) -> Sequence[PlacedCall]:
        """Return up to `limit` calls whose proposal's position > `after`, by it."""

    def call(self, call_id: str) -> CallRow | None:
        """Return a call's row."""

    def tally(self, where: CallFilter, by: tuple[GroupKey, ...]) -> Sequence[Tally]:
        """Return the calls that fit, counted by the values of these columns; those with the most calls first."""

    def keyed(self, tenant: str, idempotency_key: str) -> CallRow | None:
        """Return the call that holds a host's idempotency key in this tenant ('' = none)."""

    def sessions(self, *, after: str = "", limit: int, unfinished: bool = False) -> Sequence[SessionRow]:
        """
        Return up to `limit` sessions with id > `after`, by id (the catalog's stream is not among them).

        `unfinished`: only those that are not closed and have calls that have not ended; what ended is not looked at.
        """


class Store(Reader, Protocol):
    """The write side."""

    def append(self, request: Append) -> Appended:
        """
        Record events durably, or raise and record nothing.

        Raises `WrongSequence`, `IdempotencyConflict` (event id with other content), `LeaseLost`, `SessionOwned`,
        `KeyConflict` (host's idempotency key taken by another call), `RateLimited` (a guard is full), `StoreBusy`,
        `StoreReplaced`, `StoreUnavailable`. An error of the commit itself is looked up by event id before it is
        answered.
        """

    def renew(self, session_id: str, *, token: int, seconds: float) -> bool:
        """Prolong the lease if `token` is still current and not given back; False otherwise."""

    def release(self, session_id: str, *, token: int) -> None:
        """Give the lease back if `token` is still current."""

    def rebuild(self, rows: Iterator[CallRow], *, write: bool) -> Sequence[tuple[str, CallRow | None, CallRow | None]]:
        """Compare the projection with rows folded from events: (callId, stored, folded) where they differ."""

    def reindex(self, *, write: bool) -> Sequence[tuple[str, int]]:
        """
        Compare what is looked up beside the calls with the events; with `write` it is made again where it differs.

        Returns (what, how many rows differ); empty where all is well, or nothing of the kind is kept.
        """

    def close(self) -> None:
        """Close; further use raises `StoreUnavailable`."""


@runtime_checkable
class Batching(Protocol):
    """What a store may be able to do besides: the appends of several sessions in one commit."""

    def append_all(self, requests: Sequence[Append]) -> Sequence[Appended | LedgerError]:
        """
        Record the appends of different sessions, each as `append` does, in one commit.

        Returns for each its answer, or the error that `append` would raise for it: one that is refused leaves no trace,
        and the others stand.
        """
