"""
Events as they are recorded, none missed and none twice, with a cursor to go on from after any stop.

Positions of concurrent writers may become visible out of order; the store says up to which one everything is final, and
nothing beyond is read. The cursor is a position: it is the same for every back end, and grows also where no event fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event as Flag
from typing import Any, Final

from ledger.audit.filters import check_count
from ledger.audit.names import NO_NAMES, Names
from ledger.audit.queries import asked_events
from ledger.audit.reading import PAGE
from ledger.audit.rows import Row, stored_to_wire
from ledger.events import Event, read_event
from ledger.store.port import Reader, StoredEvent

POLL: Final = 0.25
"""Seconds between two looks at a ledger in which nothing happens."""


class Tail:
    """
    Follow a ledger: iterate for rows as `event_rows` gives them, on and on, until `stop` is called.

    `cursor`: every event up to it was given, or did not fit. Keep it, and give it as `after` the next time. Filters are
    those of `event_rows`, and so are `names`. `wait` is slept on between two looks and says whether to stop; `held`
    hears in words who keeps events from being final. Raises `UsageError` at once, and what the store raises while it
    is read.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        after: int = 0,
        wait: Callable[[float], bool] | None = None,
        held: Callable[[str], None] = lambda _: None,
        names: Names = NO_NAMES,
        **filters: Any,
    ) -> None:
        self.cursor = check_count("after", after)
        self._reader = reader
        self._where = asked_events(reader, filters, names)
        self._stopped = Flag()
        self._wait = wait or self._stopped.wait
        self._held = held

    def __iter__(self) -> Iterator[Row]:
        for stored, event in self.events():
            yield stored_to_wire(stored, event)

    def events(self) -> Iterator[tuple[StoredEvent, Event]]:
        """Yield events as they are stored and as they are read, on and on."""
        while not self._stopped.is_set():
            began = self.cursor
            for stored in self.read():
                yield stored, read_event(stored.record, stored)
            if self.cursor == began and self._wait(POLL):
                return

    def read(self) -> list[StoredEvent]:
        """Return the next events that are final, at most a page, and move the cursor behind them; does not wait."""
        final, held_by = self._reader.settled()
        if held_by is not None:
            self._held(held_by)
        if final <= self.cursor:
            return []
        page = self._reader.events(self._where, after=self.cursor, limit=PAGE)
        found = [stored for stored in page if stored.position <= final]
        self.cursor = found[-1].position if len(found) == PAGE else final
        return found

    def stop(self) -> None:
        """End the iteration, from any thread."""
        self._stopped.set()
