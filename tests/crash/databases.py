"""The ledger of a world as a database of the run's server; loaded only where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import ledger.store.postgres.opening  # noqa: F401 - loaded once, for all the children
from tests.helpers import postgres


@dataclass(frozen=True, slots=True)
class Database:
    """
    A database of its own. No connection is kept: those who look here fork.

    A server's process outlives the client that it works for: it commits what that had sent, and then ends.
    """

    url: str

    def quiet(self) -> None:
        postgres.wait_until_alone(self.url)

    def copied(self, folder: Path) -> Database:
        return Database(postgres.made(self.url))

    def remove(self) -> None:
        postgres.drop(self.url)


def begin() -> None:
    """Start the run's server if nobody has yet; for a child: nothing else needs what that loads."""
    postgres.server()


def new() -> Database:
    """Return a database with a ledger's tables."""
    return Database(postgres.made(postgres.template()))
