"""A transcript beside what is recorded of it: what is there already is passed over, what differs is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ledger.events import Event, read_event
from ledger.importing.identity import is_made_from_content
from ledger.importing.plan import Planned
from ledger.importing.refusals import another, changed, of_another_tenant, went_on
from ledger.importing.writing import Outbox, Writer
from ledger.store.port import Store, StoredEvent

_PAGE: Final = 500
_ENDS: Final = frozenset({"call.succeeded", "call.failed", "call.outcome_arrived_late"})
_GOES_ON: Final = frozenset({"message.recorded", "turn.recorded", "session.closed"})
"""What is recorded where a session went on in the ledger; verdicts, notes and the like are no obstacle."""


class Meeting:
    """
    One session's plan, event by event, against the store.

    A result whose call was imported as open comes late: it is appended as such. `state` says in the end what the
    transcript was.
    """

    def __init__(self, outbox: Outbox, session_id: str) -> None:
        store = outbox.store
        head = store.head(session_id)
        sequence = head.sequence if head is not None else 0
        self.known = sequence > 0
        self.writer = Writer(outbox, session_id, sequence)
        self._session_id = session_id
        self._store = store
        self._opening: Event | None = None
        self._stored = _stored(store, session_id, sequence) if self.known else iter(())
        self._owed: dict[str, Planned] = {}
        self._foreign: int | None = None
        self._beyond = not self.known

    def take(self, planned: Planned) -> None:
        """Take in the next event of the plan; raises `TranscriptChanged`."""
        if not self._beyond and self._is_recorded(planned):
            return
        self._append(planned)

    def _append(self, planned: Planned) -> None:
        if not self._beyond:
            self._beyond = True
            if self._foreign is not None:
                raise went_on(self._session_id, self._foreign)
            self._settle()
        self.writer.add(self._owned(planned.event))

    def _owned(self, event: Event) -> Event:
        """Return an event that goes on with a recorded session: it has its tenant, and its principal if none."""
        if not self.known:
            return event
        if self._opening is None:
            [stored] = self._store.read(self._session_id, until=1, limit=1)
            self._opening = read_event(stored.record, stored)
        tenant = self._opening.tenant
        if event.tenant not in (None, tenant):
            raise of_another_tenant(self._session_id, event.tenant)
        principal = self._opening.principal if event.principal is None else event.principal
        return replace(event, tenant=tenant, principal=principal)

    def _is_recorded(self, planned: Planned) -> bool:
        """Whether the event stands at its place; false: the record ends before it."""
        for stored in self._stored:
            if self._passes(stored):
                continue
            if stored.event_id == planned.event.event_id:
                return True
            if stored.event_id == planned.flag:
                self._owed[planned.event.event_id] = planned
                return True
            if planned.is_flag and stored.call_id == planned.event.call_id and stored.type in _ENDS:
                return True  # an older state of the transcript: the result is recorded meanwhile
            if stored.sequence == 1:
                raise another(self._session_id)
            raise changed(self._session_id, stored.sequence, planned.place)
        return False

    def _passes(self, stored: StoredEvent) -> bool:
        """Whether a recorded event is none of the plan's: somebody else's, or a result that came late."""
        if self._owed.pop(stored.event_id, None) is not None:
            return True
        if is_made_from_content(stored.event_id):
            return False
        if stored.type in _GOES_ON and self._foreign is None:
            self._foreign = stored.sequence
        return stored.sequence > 1

    def end(self) -> None:
        """Take in that the plan is at its end, and have committed what is left."""
        if not self._beyond:
            waiting = {planned.event.call_id: planned for planned in self._owed.values()}
            for stored in self._stored:
                if not self._passes(stored) and stored.call_id in waiting and stored.type in _ENDS:
                    raise changed(self._session_id, stored.sequence, waiting[stored.call_id].place)
            self._settle()
        self.writer.finish()

    def _settle(self) -> None:
        """Append the results that have come since for calls that were imported as open."""
        for planned in self._owed.values():
            self.writer.add(self._owned(planned.late()))
        self._owed.clear()


def _stored(store: Store, session_id: str, until: int) -> Iterator[StoredEvent]:
    after = 0
    while page := store.read(session_id, after=after, until=until, limit=_PAGE):
        yield from page
        after = page[-1].sequence
