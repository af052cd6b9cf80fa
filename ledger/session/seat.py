"""Who works on a session in this process: one at a time, as long as it lives."""

from __future__ import annotations

import threading
import weakref


class Worker:
    """One that works on a session in this process, as long as it lives."""


class Seat:
    """
    The one place of a session.

    It is held by a weak reference: whoever was cut off (Ctrl-C at any instruction) holds it no longer.
    """

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._holder: weakref.ref[Worker] | None = None

    def take(self, who: Worker) -> bool:
        """Return whether this one has the place now, having had it or having found it empty."""
        with self._gate:
            holder = self._holder() if self._holder is not None else None
            if holder is None:
                self._holder = weakref.ref(who)
                return True
        return holder is who

    def held_by(self, who: Worker) -> bool:
        """Return whether this one has the place."""
        with self._gate:
            return self._holder is not None and self._holder() is who

    def leave(self, who: Worker) -> None:
        """Leave the place; one who did not get in changes nothing."""
        if self.held_by(who):
            self._holder = None
