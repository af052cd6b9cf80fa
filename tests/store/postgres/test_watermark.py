"""Who reads on from what is final misses nothing, though positions become visible out of order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ledger.audit import Tail
from ledger.store.port import EventFilter, Settled
from ledger.store.postgres.watermark import Watermark
from ledger.store.urls import open_store
from ledger.testing.contract.building import add, everything
from tests.helpers import postgres

ROW = "VALUES (%s, 1, 'e', 't', 1, '', 'now', '\\x00', '\\x00')"
COLUMNS = "session_id, sequence, event_id, type, format, tenant, recorded_at, record, digest"
INSERT = f"INSERT INTO event ({COLUMNS}) {ROW}"
HEAD = "INSERT INTO session_head (session_id, sequence, digest, token, expires_at) VALUES (%s, 1, '', 0, '')"


@pytest.fixture
def store(url: str) -> Iterator[Any]:
    store = open_store(url, create=True)
    yield store
    store.close()


def test_a_tail_misses_nothing_where_a_naive_reader_may(url: str, store: Any) -> None:
    """Eight writers at once: a tail gives each event once and in order; the largest position seen is no cursor."""
    careless, careful = tailing(url, 60)
    stored = [event.position for event in store.events(EventFilter(), limit=10_000)]
    assert len(stored) == 8 * 60 * 2
    assert careful == stored
    assert set(careless) <= set(stored)


def tailing(url: str, count: int) -> tuple[list[int], list[int]]:
    """Let eight writers append `count` times each; return the positions a naive reader and a tail saw."""
    done = threading.Event()

    def write(number: int) -> None:
        own = open_store(url, create=True)
        for step in range(count):
            add(own, f"s{number}", f"{number}-{step}", f"{number}-{step}b")
        own.close()

    def naive() -> list[int]:
        reader, found = open_store(url, create=False, read_only=True), list[int]()
        while True:
            last = done.is_set()
            page = reader.events(EventFilter(), after=max(found, default=0), limit=500)
            found += [event.position for event in page]
            if last:
                reader.close()
                return found

    def tailed() -> list[int]:
        reader, found = open_store(url, create=False, read_only=True), list[int]()
        tail = Tail(reader)
        while True:
            last = done.is_set()
            page = tail.read()
            found += [event.position for event in page]
            if last and not page:
                reader.close()
                return found

    with ThreadPoolExecutor(10) as pool:
        readers = pool.submit(naive), pool.submit(tailed)
        list(pool.map(write, range(8)))
        done.set()
        careless, careful = (reader.result() for reader in readers)
    return careless, careful


def test_a_position_that_is_not_visible_yet_is_waited_for(url: str, store: Any) -> None:
    """A slow writer has the smaller position: a naive reader goes past it for good, a tail waits and says for whom."""
    add(store, "s1", "a")
    watermark = Watermark(lambda statement: store._readers.rows(statement, ()), wait=0.05)
    assert watermark.settled() == Settled(1)
    with postgres.connect(url) as slow:
        with slow.transaction():
            slow.execute(HEAD, ("slow",))
            slow.execute(INSERT, ("slow",))
            add(store, "s1", "b")
            naive = max(event.position for event in store.events(EventFilter(), limit=10))
            held = watermark.settled()
            assert (naive, held.position) == (3, 1)
            assert held.held_by is not None
            assert f"process {slow.info.backend_pid} " in held.held_by
            assert "idle in transaction" in held.held_by
        assert watermark.settled() == Settled(3)
    assert [event.position for event in store.events(EventFilter(), after=naive, limit=10)] == []
    assert len(everything(store, "slow")) == 1


def test_a_holder_that_is_not_shown_is_told_as_well() -> None:
    """A prepared transaction belongs to no process."""
    answers: dict[str, list[tuple[Any, ...]]] = {"coalesce": [(5,)], "xact_id": [(7,)], "xmin": [(6,)], "stat": []}
    watermark = Watermark(lambda statement: next(v for k, v in answers.items() if k in statement), wait=0.0)
    held_by = watermark.settled().held_by
    assert held_by is not None
    assert "prepared" in held_by


def test_a_reader_that_may_only_read_has_a_watermark(url: str, store: Any) -> None:
    """It takes a number of its own also where transactions are read-only."""
    add(store, "s1", "a")
    reader = open_store(url, create=False, read_only=True)
    assert reader.settled() == Settled(1)
    reader.close()
