"""Whatever is asked, PostgreSQL gives the same rows as memory: filters drawn by lot."""

from __future__ import annotations

from random import Random
from typing import get_args

from ledger.store.memory import MemoryStore
from ledger.store.port import CallFilter, EventFilter, GroupKey
from ledger.store.urls import open_store
from tests.store.test_agreement import appends, asked_calls, asked_events


def test_the_same_is_answered(url: str) -> None:
    """Calls, events and counts are the same rows in the same order, page by page."""
    memory, store = MemoryStore(), open_store(url, create=False)
    for append in appends(Random(7)):
        memory.append(append)
        store.append(append)
    lot, hits = Random(11), 0
    for _ in range(150):
        calls, events = CallFilter(**asked_calls(lot)), EventFilter(**asked_events(lot))
        after, limit = lot.choice((0, 0, 40, 200)), lot.choice((3, 1000))
        found = memory.calls(calls, after=after, limit=limit)
        assert store.calls(calls, after=after, limit=limit) == found, calls
        seen = memory.events(events, after=after, limit=limit)
        assert store.events(events, after=after, limit=limit) == seen, events
        by = tuple(lot.sample(get_args(GroupKey), lot.randrange(3)))
        assert store.tally(calls, by) == memory.tally(calls, by), (calls, by)
        hits += bool(found) + bool(seen)
    store.close()
    assert hits > 75
