"""What the side tables tell before a page is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.events import SessionOpened
from ledger.store.port import Append, EventFilter
from ledger.store.sqlite.hints import look
from ledger.store.sqlite.store import SqliteStore
from ledger.store.sqlite.where import NO_HINTS
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, ids, note


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Three sessions of one tenant: a short one, and two long ones."""
    store = open_store(f"sqlite:///{tmp_path}/ledger.db", create=True)
    assert isinstance(store, SqliteStore)
    for name, label, events in (("a", "x", 1), ("b", "y", 40), ("c", "z", 40)):
        story = Story(name)
        opened = story.event(SessionOpened(labels={"k": label}))
        store.append(Append(session_id=name, drafts=(opened, *(story.event(note("n")) for _ in range(events)))))
    yield store
    store.close()


def test_a_tag_leads_where_that_is_less_work(store: SqliteStore) -> None:
    """The tag of the fewest events leads if sorting those is less work than walking for a page."""
    with store._pool.connection() as connection:
        few = look(connection, EventFilter(tenant="acme", labels=(("k", "x"),)), 5)
        assert few.tag == ("label:k", "x")
        assert look(connection, EventFilter(tenant="acme"), 5).tag is None
        assert look(connection, EventFilter(tenant="acme"), 5000).tag == ("tenant", "acme")
        assert look(connection, EventFilter(session_id="a", tenant="acme"), 5000) == NO_HINTS
    assert ids(store.events(EventFilter(labels=(("k", "x"),)), limit=5)) == ["a-e1", "a-e2"]


def test_a_tag_of_too_many_sessions_leads_nowhere(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions are counted up to a limit only: counting is not to cost more than it saves."""
    monkeypatch.setattr("ledger.store.sqlite.hints.MOST_SESSIONS", 3)
    with store._pool.connection() as connection:
        assert look(connection, EventFilter(tenant="acme"), 5000).tag is None
        assert look(connection, EventFilter(labels=(("k", "x"),)), 5000).tag == ("label:k", "x")


def test_a_tag_that_no_session_has_leads_to_nothing(store: SqliteStore) -> None:
    """What nobody has is found out without a look at any event."""
    with store._pool.connection() as connection:
        assert look(connection, EventFilter(actor="nobody"), 5).tag == ("actor", "nobody")
    assert list(store.events(EventFilter(actor="nobody"), limit=5)) == []


def test_spans_bound_where_a_time_can_be(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """`since` is inclusive and `until` is not, to the very moment; what no span holds yet is looked at."""
    monkeypatch.setattr("ledger.store.tags.SPAN", 1)
    for day in (3, 4, 2, 5):
        story = Story(f"d{day}", at=f"2027-01-0{day}T00:00:00.000000Z")
        store.append(Append(session_id=story.session_id, drafts=(story.event(note("n")),)))
    with store._pool.connection() as connection:
        first: int = connection.execute("SELECT min(position) FROM event_span").fetchone()[0]

        def low(day: int) -> int:
            return look(connection, EventFilter(since=f"2027-01-0{day}T00:00:00.000000Z"), 5).low - first

        def high(day: int) -> int | None:
            return look(connection, EventFilter(until=f"2027-01-0{day}T00:00:00.000000Z"), 5).high

        assert [low(day) for day in (3, 4, 5, 6)] == [-first, 0, 2, 3]
        assert [high(day) for day in (2, 3, 4, 5, 6)] == [first, first + 2, first + 2, first + 2, first + 3]
    monkeypatch.setattr("ledger.store.tags.SPAN", 1024)
    story = Story("tail", at="2027-01-01T00:00:00.000000Z")
    store.append(Append(session_id="tail", drafts=(story.event(note("n")),)))
    with store._pool.connection() as connection:
        assert look(connection, EventFilter(until="2027-01-02T00:00:00.000000Z"), 5).high is None
