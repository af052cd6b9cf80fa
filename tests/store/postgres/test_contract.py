"""The contract over PostgreSQL, and its leases once more by the server's own clock."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.ids import Clock
from ledger.store.port import Store
from ledger.store.urls import open_store
from ledger.testing.contract import StoreContract
from ledger.testing.contract.building import HandClock
from ledger.testing.contract.leases import LeaseContract
from tests.helpers import postgres


class TestPostgres(StoreContract):
    """What memory and SQLite keep, PostgreSQL keeps."""

    @pytest.fixture(autouse=True)
    def _database(self, url: str) -> None:
        self.url = url

    def make_store(self, folder: Path, clock: Clock) -> Store:
        return open_store(self.url, create=True, clock=clock)


class TestServersClock(LeaseContract):
    """Leases end by the clock of the server, whatever that of this process says."""

    @pytest.fixture(autouse=True)
    def _database(self, url: str) -> None:
        self.url = url

    @pytest.fixture
    def time(self) -> HandClock:
        time = HandClock()
        time.moment = datetime.now(UTC)
        return time

    def make_store(self, folder: Path, clock: Clock) -> Store:
        return open_store(self.url, create=True)

    def let_pass(self, store: Store, time: HandClock, seconds: float) -> None:
        """Leases end earlier: the same as if the server's clock had gone on."""
        with postgres.connect(self.url) as connection:
            connection.execute(
                "UPDATE session_head SET expires_at = to_char(expires_at::timestamptz AT TIME ZONE 'UTC'"
                " - make_interval(secs => %s), 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') WHERE expires_at <> ''",
                (seconds,),
            )
