"""SIGTERM and Ctrl-C: the first lets started calls end in some time and starts no others, the second leaves at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from ledger.cli.streams import shout
from ledger.session.ledger import Ledger

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

GRACE: Final = 30.0
"""Seconds that started calls have to end after the first signal; the usual limit of process managers."""

_MORE: Final = 1.0
"""Seconds after the grace at which a tool on the main thread, which nobody can stop waiting for, is interrupted."""


class Drain:
    """What was asked of this process; `wait` is what a worker sleeps on; `grace` in seconds."""

    def __init__(self, ledger: Ledger, grace: float) -> None:
        self._ledger = ledger
        self._grace = grace
        self._asked = threading.Event()
        self.signal: int | None = None

    def asked(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal: in its handler nothing may wait, nor print through a stream that is being printed to."""
        if self.signal is not None:
            os._exit(128 + number)  # what had started is flagged at the next resume, as after a crash
        self.signal = number
        self._ledger.stop(within=self._grace)
        _alarm(self._grace + _MORE)
        self._asked.set()
        shout(f"Stopping: calls that have started may end within {self._grace:g} s. Once more leaves at once.\n")

    def over(self, _number: int, _frame: FrameType | None) -> None:
        """Interrupt what holds the main thread, as Ctrl-C does in any program: it is recorded as interrupted."""
        raise KeyboardInterrupt

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until a signal comes; say whether one came."""
        return self._asked.wait(seconds)


@contextmanager
def draining(ledger: Ledger, grace: float = GRACE) -> Iterator[Drain]:
    """Handle both signals inside of the block, and give them back behind it; the limit ends the block quietly."""
    drain = Drain(ledger, grace)
    kept: dict[int, Any] = {number: signal.signal(number, drain.asked) for number in SIGNALS}
    if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
        pass  # no alarm there: a tool that holds the main thread is left by the second signal
    else:
        kept[signal.SIGALRM] = signal.signal(signal.SIGALRM, drain.over)
    try:
        yield drain
    except KeyboardInterrupt:
        if (
            drain.signal is None
        ):  # pragma: no cover - it is handled here: only a tool that raises it itself gets through
            raise
    finally:
        _alarm(0)
        for number, handler in kept.items():
            signal.signal(number, handler)


def _alarm(seconds: float) -> None:
    """Have SIGALRM sent to this process after so many seconds; 0: never."""
    if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
