"""The door to the clock and to randomness: ids, times and who this process is."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from weakref import WeakSet

_AHEAD: Final = 32
"""Ids whose randomness is fetched at once: whoever asks the system lets all other threads go first, 7 times a call."""


class Uuid7:
    """
    Make UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, 12 of a counter, 62 random.

    Ids of one maker only grow, also within a millisecond and when the clock is set back (RFC 9562, 6.2 method 1). A
    forked child takes no randomness that its parent has fetched.
    """

    def __init__(self, now_ms: Callable[[], int], entropy: Callable[[int], bytes]) -> None:
        self._now_ms = now_ms
        self._entropy = entropy
        self._last = 0  # milliseconds << 12 | counter
        self._lock = threading.Lock()
        self._ahead: tuple[int, list[int]] = 0, []  # the process that fetched it, and what is left of it
        _MAKERS.add(self)

    def __call__(self) -> str:
        """Return the next id."""
        noise = self._noise()
        with self._lock:
            fresh = self._now_ms() << 12
            self._last = fresh if fresh > self._last else self._last + 1
            stamp = self._last
        high = (stamp >> 12) << 16 | 0x7000 | stamp & 0xFFF
        text = f"{high:016x}{0x8000000000000000 | noise & 0x3FFFFFFFFFFFFFFF:016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def _noise(self) -> int:
        """Return 64 random bits; no two threads take the same ones, as `pop` is one step of the interpreter."""
        pid, (fetched_by, left) = os.getpid(), self._ahead
        if fetched_by == pid:
            with suppress(IndexError):
                return left.pop()
        some = memoryview(self._entropy(8 * _AHEAD)).cast("Q").tolist()
        noise = some.pop()
        self._ahead = pid, some
        return noise

    def forget(self) -> None:
        """Start anew in a forked child: the thread that held the lock is not here, and may never give it back."""
        self._lock = threading.Lock()
        self._ahead = 0, []


_MAKERS: Final[WeakSet[Uuid7]] = WeakSet()


def _forget_all() -> None:
    for maker in list(_MAKERS):
        maker.forget()


if hasattr(os, "register_at_fork"):  # pragma: no branch - only Windows cannot fork
    os.register_at_fork(after_in_child=_forget_all)


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
    if moment.tzinfo is not UTC:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:-6] + "Z"  # the offset is always +00:00


def parse_iso(text: str) -> datetime:
    """Return the moment of a text made by `iso`."""
    return datetime.fromisoformat(text)


_UNITS: Final = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_AGE: Final = re.compile(r"(?:\d{1,9}[wdhms])+", re.ASCII)
_PIECE: Final = re.compile(r"(\d+)([wdhms])", re.ASCII)


def age(text: str) -> timedelta:
    """Return a length of time: `15m`, `24h`, `7d`, `2w`, or several together (`1h30m`). Raises ValueError."""
    if not _AGE.fullmatch(text):
        raise ValueError(f"{text!r} is not a length of time: write 15m, 24h, 7d or 1h30m")
    try:
        return sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in _PIECE.findall(text)), timedelta())
    except OverflowError:
        raise ValueError(f"{text!r} is too long") from None


def moment(text: str, now: datetime) -> datetime:
    """
    Return the instant, in UTC: an ISO 8601 date or time, or an age counted back from `now`.

    Without an offset it is UTC; a date is its first instant. Raises ValueError.
    """
    try:
        if _AGE.fullmatch(text):
            return now.astimezone(UTC) - age(text)
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is outside of the calendar") from None
    except ValueError:
        raise ValueError(f"{text!r} is not a time: write 7d, 24h, 2026-05-01 or 2026-05-01T12:00:00Z") from None
