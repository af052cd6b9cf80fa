"""A ledger in this process's memory: for tests and throwaway use, with the rules of the real ones."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from ledger.calls import TERMINAL, WAITING, CallRow
from ledger.errors import StoreUnavailable
from ledger.events import Event
from ledger.ids import Clock
from ledger.store import places, rules
from ledger.store.fits import call_fits, event_fits, tallies
from ledger.store.port import (
    Append,
    Appended,
    CallFilter,
    EventFilter,
    GroupKey,
    Head,
    PlacedCall,
    SessionRow,
    Settled,
    StoredEvent,
    Tally,
)
from ledger.store.tags import Tag, resources_of, tags_of


class Entry(NamedTuple):
    """A stored event, with the envelope that columns hold elsewhere."""

    stored: StoredEvent
    event: Event


@dataclass(slots=True)
class Stream:
    """One session."""

    head: Head = rules.EMPTY
    entries: list[Entry] = field(default_factory=list)
    by_id: dict[str, StoredEvent] = field(default_factory=dict)


class MemoryPlaces:
    """Who has a place under a limit: (when it becomes free, the call), the first one first."""

    def __init__(self, calls: Mapping[str, PlacedCall]) -> None:
        self._calls = calls
        self._of: dict[str, list[tuple[str, str]]] = {}

    def free_until(self, key: str, now: str) -> None:
        """Free old places; see `Places.free_until`."""
        self._of[key] = [place for place in self._of.get(key, ()) if place[0] > now]

    def free_ended(self, key: str) -> None:
        """Free the places of calls that run no more; see `Places.free_ended`."""
        self._of[key] = [place for place in self._of.get(key, ()) if self._runs(place[1])]

    def _runs(self, call_id: str) -> bool:
        placed = self._calls.get(call_id)
        return placed is not None and placed.row.state == "started"

    def not_after(self, key: str, latest: str) -> bool:
        """Shorten what is taken too long; see `Places.not_after`."""
        before = self._of.get(key, [])
        self._of[key] = [(min(at, latest), call_id) for at, call_id in before]
        return self._of[key] != before

    def taken(self, key: str) -> int:
        """Count; see `Places.taken`."""
        return len(self._of.get(key, ()))

    def free_at(self, key: str, skip: int) -> str:
        """Return the time of a place; see `Places.free_at`."""
        return self._of[key][skip][0]

    def take(self, key: str, call_id: str, free_at: str) -> None:
        """Give a place to a call; see `Places.take`."""
        of_key = self._of.setdefault(key, [])
        if (free_at, call_id) not in of_key:
            of_key.append((free_at, call_id))

    def sweep(self, now: str) -> None:
        """Forget the keys under which nothing is taken any more."""
        for key in [key for key, taken in self._of.items() if not any(self._counts(*place, now) for place in taken)]:
            del self._of[key]

    def _counts(self, free_at: str, call_id: str, now: str) -> bool:
        return self._runs(call_id) if free_at == places.RUNNING else free_at > now


class MemoryStore:
    """A `Store` without a database; every operation holds one lock."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._lock = threading.RLock()
        self._streams: dict[str, Stream] = {}
        self._entries: list[Entry] = []
        self._calls: dict[str, PlacedCall] = {}
        self._places: dict[tuple[str, int, int, int], str] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._limited = MemoryPlaces(self._calls)
        self._firsts: dict[str, int] = {}
        self._of_session: defaultdict[str, set[str]] = defaultdict(set)
        self._of_call: defaultdict[str, list[Entry]] = defaultdict(list)
        self._tags: set[Tag] = set()
        self._resources: set[tuple[str, str]] = set()
        self._closed = False

    # -- writing

    def append(self, request: Append) -> Appended:
        """Record events; see `Store.append`."""
        rules.check_request(request)
        with self._lock:
            self._usable()
            stream = self._streams.get(request.session_id) or Stream()
            asked = [draft.event.event_id for draft in request.drafts]
            known = {event_id: stream.by_id[event_id] for event_id in asked if event_id in stream.by_id}
            repeated = rules.repeat(request, known, stream.head)
            if repeated is not None:
                return repeated
            now = self._clock.now()
            after = rules.admit(request, stream.head, now)
            places.set_back(request.guards, self._limited, now)
            places.admit(request.guards, self._limited, now)
            refusal = rules.too_large(request) or rules.twice(request.drafts)
            if refusal is not None:
                raise refusal
            self._check_calls(request.calls)
            self._streams[request.session_id] = stream
            appended = self._record(request, stream, after)
            places.take(request.guards, self._limited, now)
            return appended

    def _check_calls(self, rows: Sequence[CallRow]) -> None:
        rules.freed_keys(rows, lambda tenant, key: self._keys.get((tenant, key)))
        places: dict[tuple[str, int, int, int], str] = {}
        for row in rows:
            place = row[1:5]
            if places.setdefault(place, self._places.get(place, row.call_id)) != row.call_id:
                raise rules.place_taken(row)

    def _record(self, request: Append, stream: Stream, after: Head) -> Appended:
        links = rules.linked(request.drafts, after.sequence, after.digest)
        positions = []
        for draft, sequence, record, digest in links:
            event = draft.event
            position = len(self._entries) + 1
            where = (position, event.session_id, sequence, event.event_id)
            entry = Entry(StoredEvent(*where, draft.type, event.call_id, event.tool, record, digest), event)
            self._entries.append(entry)
            stream.entries.append(entry)
            stream.by_id[event.event_id] = entry.stored
            self._tags.update(tags_of(event))
            if event.call_id is not None:
                self._firsts.setdefault(event.call_id, position)
                self._of_call[event.call_id].append(entry)
                self._resources.update((event.call_id, resource) for resource in resources_of(event))
            positions.append(position)
        stream.head = rules.moved(after, links[-1])
        for row in request.calls:
            self._drop(row.call_id)
        for row in request.calls:
            self._put(row)
        sequences = tuple(link.sequence for link in links)
        return Appended(sequences=sequences, positions=tuple(positions), head=stream.head)

    def _put(self, row: CallRow) -> None:
        self._calls[row.call_id] = PlacedCall(self._firsts.get(row.call_id, 0), row)
        self._places[row[1:5]] = row.call_id
        self._of_session[row.session_id].add(row.call_id)
        if row.idempotency_key is not None:
            self._keys[row.tenant, row.idempotency_key] = row.call_id

    def _drop(self, call_id: str) -> None:
        placed = self._calls.pop(call_id, None)
        if placed is not None:
            row = placed.row
            self._places.pop(row[1:5])
            self._of_session[row.session_id].discard(call_id)
            if row.idempotency_key is not None:
                self._keys.pop((row.tenant, row.idempotency_key), None)

    def renew(self, session_id: str, *, token: int, seconds: float) -> bool:
        """Prolong a lease; see `Store.renew`."""
        request = rules.Renewal(session_id, token, seconds)
        with self._lock:
            return self._lease(session_id, rules.renewed(self._head(session_id), request, self._clock.now()))

    def release(self, session_id: str, *, token: int) -> None:
        """Give a lease back; see `Store.release`."""
        with self._lock:
            self._lease(session_id, rules.returned(self._head(session_id), rules.Return(session_id, token)))

    def _lease(self, session_id: str, head: Head | None) -> bool:
        if head is not None:
            self._streams[session_id].head = head
        return head is not None

    def rebuild(self, rows: Iterator[CallRow], *, write: bool) -> Sequence[tuple[str, CallRow | None, CallRow | None]]:
        """Compare the projection with folded rows; see `Store.rebuild`."""
        with self._lock:
            self._usable()
            folded = {row.call_id: row for row in rows}
            stored = {call_id: placed.row for call_id, placed in self._calls.items()}
            both = [(call_id, stored.get(call_id), folded.get(call_id)) for call_id in sorted(folded | stored)]
            different = [(call_id, old, new) for call_id, old, new in both if old != new]
            if write:
                for call_id, _, _ in different:
                    self._drop(call_id)
                for _, _, row in different:
                    if row is not None:
                        self._put(row)
            return different

    def reindex(self, *, write: bool) -> Sequence[tuple[str, int]]:  # noqa: ARG002 - others need it
        """Keep nothing of the kind; see `Store.reindex`."""
        return ()

    def close(self) -> None:
        """Close; what was recorded is gone."""
        self._closed = True

    def _usable(self) -> None:
        if self._closed:
            raise StoreUnavailable("this ledger is closed")

    def _head(self, session_id: str) -> Head:
        self._usable()
        stream = self._streams.get(session_id)
        return stream.head if stream is not None else rules.EMPTY

    # -- reading

    def head(self, session_id: str) -> Head | None:
        """Return where the session stands; see `Reader.head`."""
        with self._lock:
            head = self._head(session_id)
            return head if head.sequence else None

    def read(self, session_id: str, *, after: int = 0, until: int | None = None, limit: int) -> Sequence[StoredEvent]:
        """Return events of one session; see `Reader.read`."""
        with self._lock:
            self._usable()
            stream = self._streams.get(session_id) or Stream()
            found = stream.entries[max(after, 0) : until]
            return [entry.stored for entry in found[:limit]]

    def events(self, where: EventFilter, *, after: int = 0, limit: int) -> Sequence[StoredEvent]:
        """Return events over all sessions; see `Reader.events`."""
        with self._lock:
            self._usable()
            of = where.of
            calls = None if of is None else {row.call_id for _, row in self._calls.values() if call_fits(of, row, self)}
            fitting = (
                stored
                for stored, event in self._entries[max(after, 0) :]
                if event_fits(where, event, stored.type, self, calls)
            )
            return list(islice(fitting, limit))

    def settled(self) -> Settled:
        """Return the last position: here events come one after the other; see `Reader.settled`."""
        with self._lock:
            self._usable()
            return Settled(len(self._entries))

    def calls(self, where: CallFilter, *, after: int = 0, limit: int) -> Sequence[PlacedCall]:
        """Return calls; see `Reader.calls`."""
        with self._lock:
            self._usable()
            found = [c for c in self._calls.values() if c.position > after and call_fits(where, c.row, self)]
            return sorted(found, key=lambda placed: placed.position)[:limit]

    def tally(self, where: CallFilter, by: tuple[GroupKey, ...]) -> Sequence[Tally]:
        """Count calls; see `Reader.tally`."""
        with self._lock:
            self._usable()
            return tallies((row for _, row in self._calls.values() if call_fits(where, row, self)), by, self)

    def tagged(self, session_id: str, name: str, value: str) -> bool:
        """Return whether a session has a tag; see `Facts.tagged`."""
        return (name, value, session_id) in self._tags

    def touched(self, call_id: str, resource: str) -> bool:
        """Return whether a call touched a resource; see `Facts.touched`."""
        return (call_id, resource) in self._resources

    def events_of(self, call_id: str) -> Iterator[tuple[str, str | None]]:
        """Yield type and actor of a call's events; see `Facts.events_of`."""
        return ((stored.type, event.actor) for stored, event in self._of_call.get(call_id, ()))

    def proposed_under(self, call_id: str) -> int | None:
        """Return the version that a call was proposed under; see `Facts.proposed_under`."""
        return self._of_call[call_id][0].event.schema_version

    def call(self, call_id: str) -> CallRow | None:
        """Return a call's row."""
        with self._lock:
            self._usable()
            placed = self._calls.get(call_id)
            return placed.row if placed is not None else None

    def keyed(self, tenant: str, idempotency_key: str) -> CallRow | None:
        """Return the call that holds a host's idempotency key."""
        with self._lock:
            self._usable()
            holder = self._keys.get((tenant, idempotency_key))
            return self._calls[holder].row if holder is not None else None

    def sessions(self, *, after: str = "", limit: int, unfinished: bool = False) -> Sequence[SessionRow]:
        """Return sessions by id; see `Reader.sessions`."""
        with self._lock:
            self._usable()
            shown = [
                name for name in self._streams if not name.startswith("_") and rules.order(name) > rules.order(after)
            ]
            rows = (self._session(name, self._streams[name]) for name in sorted(shown, key=rules.order))
            return list(islice((row for row in rows if not unfinished or (row.open and row.closed is None)), limit))

    def _session(self, session_id: str, stream: Stream) -> SessionRow:
        states = [self._calls[call_id].row.state for call_id in self._of_session[session_id]]
        closing = next((e.stored for e in stream.entries if e.stored.type == "session.closed"), None)
        return SessionRow(
            session_id=session_id,
            sequence=stream.head.sequence,
            opened_at=stream.entries[0].event.recorded_at,
            last_at=stream.entries[-1].event.recorded_at,
            closed=rules.close_reason(closing.record) if closing is not None else None,
            calls=len(states),
            waiting=sum(state in WAITING for state in states),
            open=sum(state not in TERMINAL for state in states),
            owner=stream.head.owner,
            owned_until=stream.head.expires_at,
        )
