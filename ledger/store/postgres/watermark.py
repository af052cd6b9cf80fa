"""
Up to which position a ledger is final, though positions become visible out of order.

A writer has its transaction's number before its first position. So whoever reads the largest position and takes a
number of his own afterwards knows: once all smaller numbers have ended, nothing can appear at or below that position.
A reader that goes by the largest position alone missed 8 to 14 % of the events of concurrent writers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final

from ledger.store.port import Settled

WAIT: Final = 0.5
"""Seconds that one question waits for writers that are under way."""

_PAUSE: Final = 0.002
_LARGEST: Final = "SELECT coalesce(max(position), 0) FROM event"
_OWN: Final = "SELECT pg_current_xact_id()::text::bigint"
_OLDEST: Final = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
_HOLDER: Final = (
    "SELECT pid, datname, usename, application_name, state, extract(epoch FROM clock_timestamp() - xact_start)"
    " FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()"
    " ORDER BY age(backend_xid) DESC LIMIT 1"
)

_Rows = list[tuple[Any, ...]]


class Watermark:
    """What one reader of the ledger knows to be final; `ask` runs a SELECT in a transaction of its own."""

    def __init__(self, ask: Callable[[str], _Rows], wait: float = WAIT) -> None:
        self._ask = ask
        self._wait = wait
        self._guard = threading.Lock()
        self._final = 0
        self._next: tuple[int, int] | None = None  # a position, and the number that all before must have passed

    def settled(self) -> Settled:
        """Return up to where everything is final, waiting a little where writers are under way."""
        with self._guard:
            end = time.monotonic() + self._wait
            while not self._moved():
                if time.monotonic() >= end:
                    return Settled(self._final, self._holder())
                time.sleep(_PAUSE)
            return Settled(self._final)

    def _moved(self) -> bool:
        """Return whether the largest position that was seen is final."""
        if self._next is None:
            ((largest,),) = self._ask(_LARGEST)
            if largest == self._final:
                return True
            ((own,),) = self._ask(_OWN)
            self._next = largest, own
        position, own = self._next
        ((oldest,),) = self._ask(_OLDEST)
        if oldest < own:
            return False
        self._final, self._next = position, None
        return True

    def _holder(self) -> str:
        for pid, database, user, program, state, seconds in self._ask(_HOLDER):
            return (
                f"process {pid} ({user}, {program or 'no name'}, database {database}, {state} for {seconds or 0:.0f} s)"
            )
        return "a transaction that the server does not show, perhaps a prepared one"
