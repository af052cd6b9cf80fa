"""Places under limits: who has one, for how long, and whether there is one more. The same for every adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from ledger.errors import RateLimited
from ledger.ids import iso, parse_iso
from ledger.store.port import RateGuard

RUNNING: Final = ""
"""When a place becomes free that a call has as long as it runs."""


class Places(Protocol):
    """The places of one store, inside one transaction; times are ISO 8601 UTC."""

    def free_until(self, key: str, now: str) -> None:
        """Free the places whose time is over."""

    def free_ended(self, key: str) -> None:
        """Free the places of calls that are not in state "started"."""

    def not_after(self, key: str, latest: str) -> bool:
        """Let what is taken longer than to this moment be free then; return whether there was any."""

    def taken(self, key: str) -> int:
        """Return how many places are taken."""

    def free_at(self, key: str, skip: int) -> str:
        """Return when the first place becomes free, or that many after it; there is one."""

    def take(self, key: str, call_id: str, free_at: str) -> None:
        """Give a place to a call until then (`RUNNING`: while it runs); the same twice is the same as once."""

    def sweep(self, now: str) -> None:
        """Forget some places of any key that are free again: most keys (principals) are never asked for again."""


def set_back(guards: Sequence[RateGuard], places: Places, now: datetime) -> bool:
    """
    Let places that were taken in what is now the future count from now on; return whether there was any.

    The clock was set back since: they must not be free at once, nor taken for ever. It is kept also where the append
    is refused.
    """
    # Each of them, not only up to the first.
    moved = [places.not_after(guard.key, _free_at(guard, now)) for guard in guards if guard.seconds is not None]
    return any(moved)


def admit(guards: Sequence[RateGuard], places: Places, now: datetime) -> None:
    """Raise `RateLimited` for the first guard that has no place for all its calls."""
    for guard in guards:
        if guard.seconds is None:
            places.free_ended(guard.key)
        else:
            places.free_until(guard.key, iso(now))
        taken = places.taken(guard.key)
        if taken + len(guard.calls) > guard.max:
            room = max(0, guard.max - taken)
            raise RateLimited(guard.key, max=guard.max, room=room, retry_after=_wait(guard, places, taken, now))


def _wait(guard: RateGuard, places: Places, taken: int, now: datetime) -> float | None:
    """Return the seconds until the next place becomes free, once those that are free now are taken."""
    if guard.seconds is None:
        return None
    if not taken:
        return guard.seconds
    return (parse_iso(places.free_at(guard.key, max(0, taken - guard.max))) - now).total_seconds()


def _free_at(guard: RateGuard, now: datetime) -> str:
    return RUNNING if guard.seconds is None else iso(now + timedelta(seconds=guard.seconds))


def together(guards: Sequence[RateGuard]) -> tuple[RateGuard, ...]:
    """Return one guard for each limit, over the calls of all guards of it."""
    found: dict[tuple[str, int], RateGuard] = {}
    for guard in guards:
        known = found.get((guard.key, guard.max))
        found[guard.key, guard.max] = guard if known is None else replace(known, calls=known.calls + guard.calls)
    return tuple(found.values())


def take(guards: Sequence[RateGuard], places: Places, now: datetime) -> None:
    """Give every call of the guards its places."""
    for guard in guards:
        for call_id in guard.calls:
            places.take(guard.key, call_id, _free_at(guard, now))
    if guards:
        places.sweep(iso(now))
