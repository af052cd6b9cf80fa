"""A store one of whose rows does not hold what was appended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ledger.store.memory import MemoryStore
from ledger.store.port import EventFilter, StoredEvent
from tests.providers.recording import Recording


class SpoiledStore(MemoryStore):
    """A store that gives out another record for one sequence."""

    sequence = 0
    record = b""

    def read(self, session_id: str, *, after: int = 0, until: int | None = None, limit: int) -> Sequence[StoredEvent]:
        return [self._spoil(each) for each in super().read(session_id, after=after, until=until, limit=limit)]

    def events(self, where: EventFilter, *, after: int = 0, limit: int) -> Sequence[StoredEvent]:
        return [self._spoil(each) for each in super().events(where, after=after, limit=limit)]

    def _spoil(self, stored: StoredEvent) -> StoredEvent:
        return stored._replace(record=self.record) if stored.sequence == self.sequence else stored


def spoiled(recording: Recording, sequence: int, record: bytes) -> Any:
    """Return a store that holds the session, one row of it spoiled."""
    store = SpoiledStore()
    recording.stored(store)
    store.sequence, store.record = sequence, record
    return store
