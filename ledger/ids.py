"""The door to the clock and to randomness: ids, times and who this process is."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


class Uuid7:
    """
    Make UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, 12 of a counter, 62 random.

    Ids of one maker only grow, also within a millisecond and when the clock is set back (RFC 9562, 6.2 method 1).
    """

    def __init__(self, now_ms: Callable[[], int], entropy: Callable[[int], bytes]) -> None:
        self._now_ms = now_ms
        self._entropy = entropy
        self._last = 0  # milliseconds << 12 | counter
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """Return the next id."""
        noise = int.from_bytes(self._entropy(8), "big")
        with self._lock:
            fresh = self._now_ms() << 12
            self._last = fresh if fresh > self._last else self._last + 1
            stamp = self._last
        high = (stamp >> 12) << 16 | 0x7000 | stamp & 0xFFF
        text = f"{high:016x}{0x8000000000000000 | noise & 0x3FFFFFFFFFFFFFFF:016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@dataclass(frozen=True, slots=True)
class Clock:
    """
    Time and ids as the ledger sees them; tests pass their own.

    `now` returns UTC, `monotonic` seconds that never go back, `new_id` a UUIDv7 as text.
    """

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    monotonic: Callable[[], float] = time.monotonic
    new_id: Callable[[], str] = field(default_factory=lambda: Uuid7(lambda: time.time_ns() // 1_000_000, os.urandom))

    def stamp(self) -> str:
        """Return now as `recordedAt` has it: ISO 8601 UTC with microseconds."""
        return iso(self.now())

    def after(self, seconds: float) -> str:
        """Return the time in so many seconds, in the form of `stamp`."""
        return iso(self.now() + timedelta(seconds=seconds))


def iso(moment: datetime) -> str:
    """
    Return a moment as ISO 8601 UTC with microseconds and a Z: texts that sort as the moments do.

    One without an offset is UTC by rule: the same on every machine.
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def parse_iso(text: str) -> datetime:
    """Return the moment of a text made by `iso`."""
    return datetime.fromisoformat(text)
