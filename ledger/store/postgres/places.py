"""The places under limits, in the open transaction; see `ledger.store.places.Places`."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from ledger.store.port import RateGuard
from ledger.store.postgres import sql
from ledger.store.postgres.door import Connection
from ledger.store.postgres.texts import kept, short


def hold(connection: Connection, guards: Iterable[RateGuard]) -> None:
    """Let nobody else count under these limits until the transaction ends; in one order for all."""
    for number in sorted({_number(guard.key) for guard in guards}):
        connection.execute(sql.ONE_AT_A_TIME, (number,))


def _number(key: str) -> int:
    digest = sha256(b"ledger limit " + key.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


class ServerPlaces:
    """Counts, and gives places to calls."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def free_until(self, key: str, now: str) -> None:
        """Free old places."""
        self._run(sql.FREE_UNTIL, short(key), now)

    def free_ended(self, key: str) -> None:
        """Free the places of calls that run no more."""
        self._run(sql.FREE_ENDED, short(key))

    def not_after(self, key: str, latest: str) -> bool:
        """Shorten what is taken too long; return whether there was any."""
        key = short(key)
        return bool(self._run(sql.NOT_AFTER, key, latest, key, latest).fetchall())

    def taken(self, key: str) -> int:
        """Count."""
        return int(self._run(sql.TAKEN, short(key)).fetchall()[0][0])

    def free_at(self, key: str, skip: int) -> str:
        """Return the time of a place."""
        return str(self._run(sql.FREE_AT, short(key), skip).fetchall()[0][0])

    def take(self, key: str, call_id: str, free_at: str) -> None:
        """Give a place to a call."""
        self._run(sql.TAKE_PLACE, short(key), free_at, kept(call_id))

    def sweep(self, now: str) -> None:
        """Forget a few places that are free again."""
        self._run(sql.SWEEP_TIMED, now)
        self._run(sql.SWEEP_RUNNING)

    def _run(self, statement: str, *values: Any) -> Any:
        return self._connection.execute(statement, values)
