"""Questions to the record, answered row by row: pages are read as the rows are taken, nothing is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from ledger.audit.filters import call_filter, check_count, check_limit, event_filter
from ledger.audit.names import NO_NAMES, Names
from ledger.audit.reading import placed_calls, stored_events
from ledger.audit.rows import Row, call_to_wire, stored_to_wire
from ledger.audit.story import call_of
from ledger.audit.torun import to_run
from ledger.calls import WAITING, Kind, kind_of
from ledger.errors import UsageError
from ledger.events import Event, read_event
from ledger.events.names import BODIES
from ledger.ids import parse_iso
from ledger.store.port import CallFilter, EventFilter, PlacedCall, Reader, StoredEvent


def call_rows(
    reader: Reader, *, after: int = 0, limit: int | None = None, names: Names = NO_NAMES, **filters: Any
) -> Iterator[Row]:
    """
    Yield calls in the order they were asked, as plain rows.

    `carriedTo` is the name of its tool that a call's version has, where it was recorded under an earlier one; the
    filter `tool` finds it by either. `names` know that (`Names.of` a catalog).

    Filters are the fields of `CallFilter`, also by the command line's words (`session`, `call`, `state`, `reason`,
    `type`, `label`, `duplicates`). `after` is the `position` of the last row of the page before. Raises `UsageError`
    at once.
    """
    where = call_filter(filters, names)
    check_types(reader, where.types)
    found = placed_calls(reader, where, after=check_count("after", after), limit=check_limit(limit))
    return (
        call_to_wire(placed) | {"carriedTo": names.carried_to(placed.row.tool, placed.row.schema_version)}
        for placed in found
    )


def event_rows(
    reader: Reader, *, after: int = 0, limit: int | None = None, names: Names = NO_NAMES, **filters: Any
) -> Iterator[Row]:
    """
    Yield events by position, as plain rows; those that cannot be read are shown raw.

    Filters are the fields of `EventFilter`, also by the command line's words (`session`, `call`, `type`, `label`);
    those of calls beyond (`state`, `code`, `resource` …) leave the events of the calls that fit. `tool` also finds
    what a call recorded from where it was carried to this name on, by `names` as for calls. Raises `UsageError` at
    once.
    """
    where = asked_events(reader, filters, names)
    return (stored_to_wire(*pair) for pair in placed_events(reader, where, after=after, limit=limit))


def asked_events(reader: Reader, filters: Mapping[str, Any], names: Names = NO_NAMES) -> EventFilter:
    """Return the filter of events by words; raises `UsageError` also for types that no event has."""
    where = event_filter(filters, names)
    check_types(reader, (*where.types, *(where.of.types if where.of else ())))
    return where


def check_types(reader: Reader, types: Sequence[str]) -> None:
    """Raise `UsageError` for a type that this release does not know and no event of the ledger has."""
    for name in types:
        if name not in BODIES and not reader.events(EventFilter(types=(name,)), limit=1):
            hint = f"There are: {', '.join(sorted(BODIES))}."
            raise UsageError(f"there is no type {name!r} of events", hint=hint)


def placed_events(
    reader: Reader, where: EventFilter, *, after: int = 0, limit: int | None = None
) -> Iterator[tuple[StoredEvent, Event]]:
    """Yield events by position, as they are stored and as they are read. Raises `UsageError` at once."""
    found = stored_events(reader, where, after=check_count("after", after), limit=check_limit(limit))
    return ((stored, read_event(stored.record, stored)) for stored in found)


def review_rows(
    reader: Reader,
    *,
    kind: Kind | None = None,
    max_age: timedelta | float | None = None,
    now: datetime | None = None,
    names: Names = NO_NAMES,
    **filters: Any,
) -> Iterator[Row]:
    """
    Yield the calls that wait for a person, the oldest question first.

    `ageSeconds` is how long each waits. With `max_age` (seconds, or a timedelta) `overdue` says whether that is
    longer; nothing is left out. Other filters, and `names`, as for `call_rows`. Raises `UsageError` at once.
    """
    if kind is not None and kind not in get_args(Kind):
        raise UsageError(f"there is no kind {kind!r} of review", hint=f"There are: {', '.join(get_args(Kind))}.")
    where = call_filter({"states": sorted(WAITING)} | filters, names)
    longest = max_age.total_seconds() if isinstance(max_age, timedelta) else max_age
    found = _questions(reader, where, kind, _Ages(now or datetime.now(UTC), longest))
    return (row | {"carriedTo": names.carried_to(row["tool"], row["schemaVersion"])} for row in found)


class _Ages:
    """How long each question waits, and whether that is too long."""

    def __init__(self, now: datetime, longest: float | None) -> None:
        self._now = now
        self._longest = longest

    def to_wire(self, since: str | None) -> Row:
        age = self._now - parse_iso(since) if since else timedelta()
        return {
            "ageSeconds": max(0, round(age.total_seconds())),
            "overdue": None if self._longest is None else age.total_seconds() > self._longest,
        }


def _questions(reader: Reader, where: CallFilter, kind: Kind | None, ages: _Ages) -> Iterator[Row]:
    waiting = [
        placed
        for placed in placed_calls(reader, where)
        if kind is None or kind_of(placed.row.state, placed.row.reason) == kind
    ]
    waiting.sort(key=lambda placed: (placed.row.waiting_since or "", placed.position))
    for placed in waiting:
        yield _question(reader, placed, ages)


def _question(reader: Reader, placed: PlacedCall, ages: _Ages) -> Row:
    row, call = placed.row, call_of(reader, placed.row.session_id, placed.row.call_id)
    asked = call.approval if row.state == "awaiting-approval" else None
    bounded = call.approval if row.reason == "approval-mismatch" else asked
    return {
        "callId": row.call_id,
        "sessionId": row.session_id,
        "turn": row.turn,
        "index": row.idx,
        "tool": row.tool,
        "schemaVersion": row.schema_version,
        "effect": row.effect,
        "kind": kind_of(row.state, row.reason),
        "state": row.state,
        "reason": row.reason if row.state == "needs-review" else None,
        "duplicateOf": row.duplicate_of,
        "attempt": row.attempt,
        "neverRan": call.never_ran,
        "arguments": to_run(reader, call),
        "argumentsDigest": row.arguments_digest,
        "who": list(asked.who) if asked and asked.who is not None else None,
        "message": asked.message if asked else None,
        "expiresAt": bounded.expires_at if bounded else None,
        "principal": row.principal,
        "tenant": row.tenant or None,
        "waitingSince": row.waiting_since,
        **ages.to_wire(row.waiting_since),
    }
