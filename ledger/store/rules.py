"""What every adapter decides alike about an append: leases, expected sequences, repeats. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from ledger.calls import CallRow
from ledger.errors import (
    IdempotencyConflict,
    KeyConflict,
    LeaseLost,
    LedgerError,
    SessionOwned,
    StoreError,
    UsageError,
    WrongSequence,
)
from ledger.events import Draft
from ledger.events.wire import chain
from ledger.ids import iso
from ledger.store.port import Append, Appended, Head, StoredEvent, Take
from ledger.strictjson import canonical, loads

EMPTY: Final = Head(sequence=0, digest=b"")
"""The head of a session that has no event yet."""

OUTCOMES: Final = frozenset({"call.succeeded", "call.failed", "call.outcome_arrived_late"})
"""What was learned from the world: it can't be asked again, so its append waits without a deadline."""

SHORTEST_PART: Final = 4
"""How many characters of a call's id find it; ids made within a minute share their first eight."""

SHOWN_TAIL: Final = 8
"""How many characters of an id's tail lists show; people type the beginning of those too."""

_LARGEST: Final = 2**63 - 1
_NAMED: Final = 40
"""How many characters of a name that is too long a message gives back."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """Prolong a lease, in the queue of appends; answered by whether it was."""

    session_id: str
    token: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Return:
    """Give a lease back, in the queue of appends; answered by whether it was."""

    session_id: str
    token: int


class Link(NamedTuple):
    """A draft at its place: ready to be stored."""

    draft: Draft
    sequence: int
    record: bytes
    digest: bytes


def check_request(request: Append) -> None:
    """Raise `UsageError` where an append cannot be meant."""
    if not request.drafts:
        raise UsageError("an append holds at least one event")
    for draft in request.drafts:
        if draft.event.session_id != request.session_id:
            raise UsageError(f"an event of session {draft.event.session_id!r} in an append to {request.session_id!r}")


def too_large(request: Append) -> UsageError | None:
    """Return the refusal of a number that databases cannot hold (above 2^63 - 1), or None."""
    for draft in request.drafts:
        event = draft.event
        for value in (event.turn, event.index, event.revision, event.attempt, event.schema_version, event.format):
            if value is not None and not -_LARGEST <= value <= _LARGEST:
                return UsageError(f"{value} is too large for a turn, index, revision, attempt or version")
    return None


def too_long(session_id: str, *, why: str) -> UsageError:
    """Return the refusal of a text that an index cannot hold; PostgreSQL's take some 2,700 bytes a row, compressed."""
    return UsageError(
        f"session {session_id[:_NAMED]!r}: one of the names is too long to be looked up, nothing was recorded ({why})",
        hint="Use a shorter session id, tenant or idempotency key.",
    )


def is_outcome(request: Append) -> bool:
    """Return whether the append holds what cannot be asked again, and so waits without a deadline."""
    for draft in request.drafts:  # noqa: SIM110 - a generator costs more than the test
        if draft.type in OUTCOMES:
            return True
    return False


def leased(head: Head, owner: str | None, token: int, expires_at: str) -> Head:
    """Return the head with another lease. `dataclasses.replace` takes four times as long, at every append."""
    return Head(sequence=head.sequence, digest=head.digest, owner=owner, token=token, expires_at=expires_at)


def moved(head: Head, last: Link) -> Head:
    """Return the head after the last of some new events."""
    return Head(
        sequence=last.sequence,
        digest=last.digest,
        owner=head.owner,
        token=head.token,
        expires_at=head.expires_at,
    )


def admit(request: Append, head: Head, now: datetime) -> Head:
    """
    Return the head with the lease as it is after the append, or raise why it is refused.

    Who may write comes first: a stale owner is to hear that, not that it should read on and try again.
    """
    after = head
    if request.take is not None:
        after = _taken(request.session_id, request.take, head, now)
        if after.token != request.take.token:
            raise WrongSequence(request.session_id, expected=request.expected, actual=head.sequence)
    if request.token is not None and request.token != after.token:
        raise LeaseLost(request.session_id, token=request.token, current=after.token)
    if not _as_expected(request, head.sequence):
        raise WrongSequence(request.session_id, expected=request.expected, actual=head.sequence)
    return leased(after, after.owner, after.token, "") if request.release else after


def _taken(session_id: str, take: Take, head: Head, now: datetime) -> Head:
    until = iso(now + timedelta(seconds=take.seconds))
    if head.owner == take.owner and take.claims == 1:
        return leased(head, take.owner, head.token, until)
    if head.expires_at > iso(now) and head.token != take.dead:
        raise SessionOwned(session_id, owner=head.owner or "", until=head.expires_at)
    return leased(head, take.owner, head.token + take.claims, until)


def _as_expected(request: Append, sequence: int) -> bool:
    match request.expected:
        case "any":
            return True
        case "none":
            return sequence == 0
        case "exists":
            return sequence > 0
        case number:
            return sequence == number


def renewed(head: Head, request: Renewal, now: datetime) -> Head | None:
    """Return the head with the lease prolonged, or None where that token holds it no more."""
    if head.token != request.token or not head.expires_at:
        return None
    return leased(head, head.owner, head.token, iso(now + timedelta(seconds=request.seconds)))


def returned(head: Head, request: Return) -> Head | None:
    """Return the head with the lease given back, or None where that token holds it no more."""
    if head.token != request.token or not head.expires_at:
        return None
    return leased(head, head.owner, head.token, "")


def linked(drafts: tuple[Draft, ...], sequence: int, digest: bytes) -> list[Link]:
    """Give the drafts their places after `sequence` and chain them to `digest`."""
    links = []
    for draft in drafts:
        sequence += 1
        record = draft.record(sequence)
        digest = chain(digest, record)
        links.append(Link(draft, sequence, record, digest))
    return links


def repeat(request: Append, stored: Mapping[str, StoredEvent], head: Head) -> Appended | None:
    """
    Return the answer to an append whose events are recorded already; None if none of them is.

    `stored` holds the session's events that have one of the append's event ids, by it. Raises `IdempotencyConflict`
    where only a part of them is there, or one with another type, call or body.
    """
    if not stored:
        return None
    found = []
    for draft in request.drafts:
        event = stored.get(draft.event.event_id)
        if event is not None and not same(draft, event):
            raise IdempotencyConflict(draft.event.event_id)
        if event is not None:
            found.append(event)
    if len(found) < len(request.drafts):
        raise IdempotencyConflict(found[0].event_id)
    sequences, positions = tuple(e.sequence for e in found), tuple(e.position for e in found)
    return Appended(sequences=sequences, positions=positions, head=head, repeated=True)


def same(draft: Draft, stored: StoredEvent) -> bool:
    """Return whether the stored event says the same: type, call and body. Its times may differ."""
    if draft.type != stored.type or draft.event.call_id != stored.call_id:
        return False
    ours = draft.record(stored.sequence)
    return ours == stored.record or _body(ours) == _body(stored.record)


def _body(record: bytes) -> bytes | None:
    try:
        return canonical(loads(record)["body"])
    except (ValueError, TypeError, KeyError):
        return None


def twice(drafts: tuple[Draft, ...]) -> IdempotencyConflict | None:
    """Return the conflict of an append that holds one event id twice, or None."""
    seen = set()
    for draft in drafts:
        if draft.event.event_id in seen:
            return IdempotencyConflict(draft.event.event_id)
        seen.add(draft.event.event_id)
    return None


def key_taken(row: CallRow, holder: str) -> KeyConflict:
    """Return the refusal of a host's idempotency key that another call holds."""
    return KeyConflict(row.idempotency_key or "", call_id=holder, other=row.call_id)


def freed_keys(rows: Sequence[CallRow], holder_of: Callable[[str, str], str | None]) -> list[str]:
    """
    Return the calls that must give up their stored key before `rows` are written.

    `holder_of(tenant, key)` names the call that holds a key in the store. Raises `KeyConflict` where a row asks for a
    key of a call that keeps it.
    """
    latest = {row.call_id: row for row in rows}
    claimed: dict[tuple[str, str], str] = {}
    freed = []
    for row in latest.values():
        if row.idempotency_key is None:
            continue
        key = (row.tenant, row.idempotency_key)
        holder = claimed.setdefault(key, row.call_id)
        if holder == row.call_id:
            holder = holder_of(*key) or row.call_id
            other = latest.get(holder)
            if other is not None and (other.tenant, other.idempotency_key) != key:
                freed.append(holder)
                continue
        if holder != row.call_id:
            raise key_taken(row, holder)
    return freed


def place_taken(row: CallRow) -> LedgerError:
    """Return the refusal of a call at a place of the conversation where another one stands."""
    place = f"turn {row.turn}, index {row.idx}, revision {row.revision}"
    return UsageError(f"session {row.session_id!r} has another call already at {place}")


def head_disagrees(session_id: str) -> StoreError:
    """Return the refusal of an append that the events themselves contradict: somebody changed the database."""
    return StoreError(
        f"session {session_id!r}: its head and its events disagree, nothing was recorded", hint="Run `ledger db check`."
    )


def close_reason(record: bytes) -> str:
    """Return why a session was closed, from the record of its `session.closed`; "?" where that cannot be read."""
    try:
        return str(loads(record)["body"]["reason"])
    except (ValueError, TypeError, KeyError):
        return "?"


def order(session_id: str) -> tuple[bool, str]:
    """Return the sort key of session ids: by code point, those with lone surrogates (stored as bytes) last."""
    return any("\ud800" <= character <= "\udfff" for character in session_id), session_id
