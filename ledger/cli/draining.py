"""SIGTERM and Ctrl-C: the first lets started calls end and starts no others, the second leaves at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from ledger.cli.streams import shout
from ledger.session.ledger import Ledger

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class Drain:
    """What was asked of this process; `wait` is what a worker sleeps on."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._asked = threading.Event()
        self.signal: int | None = None

    def asked(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal: in its handler nothing may wait, nor print through a stream that is being printed to."""
        if self.signal is not None:
            os._exit(128 + number)  # what had started is flagged at the next resume, as after a crash
        self.signal = number
        self._ledger.stop()
        self._asked.set()
        shout("Stopping: calls that have started may end. Once more leaves at once.\n")

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until a signal comes; say whether one came."""
        return self._asked.wait(seconds)


@contextmanager
def draining(ledger: Ledger) -> Iterator[Drain]:
    """Handle both signals inside of the block, and give them back behind it."""
    drain = Drain(ledger)
    kept = {number: signal.signal(number, drain.asked) for number in SIGNALS}
    try:
        yield drain
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
