"""The tables that audit looks up: written once, compared with the events, made again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.errors import StoreUnavailable, UsageError
from ledger.events import CallAuthorized, CallStarted, CallValidated
from ledger.store import tags
from ledger.store.port import Append, Appended, CallFilter, EventFilter
from ledger.store.sqlite import lookups
from ledger.store.sqlite.store import SqliteStore
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add, ids, note


@pytest.fixture
def path(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/ledger.db"


@pytest.fixture
def store(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """A ledger with a resource, tags, and spans of 4 events."""
    monkeypatch.setattr(tags, "SPAN", 4)
    store = open_store(path, create=True)
    assert isinstance(store, SqliteStore)
    story = Story()
    passed = CallValidated(gates=(), validator="v", arguments_digest="d")
    allowed = CallAuthorized(by="policy", arguments_digest="d")
    first = [story.event(note("x"), actor="na\udce9me"), story.propose("c1")]
    first += [story.of_call("c1", passed), story.of_call("c1", allowed)]
    store.append(Append(session_id="s1", drafts=tuple(first), calls=story.rows("c1")))
    start = CallStarted(idempotency_key="k", worker="w", token=1, resource_keys=("repo:\udce9", "b"))
    store.append(Append(session_id="s1", drafts=(story.of_call("c1", start, attempt=1),), calls=story.rows("c1")))
    add(store, "s2", *"abcdefghi")
    yield store
    store.close()


def harm(path: str, *statements: str) -> None:
    """Change the side tables behind the ledger's back."""
    connection = sqlite3.connect(path.removeprefix("sqlite:///"), isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_spans_are_closed_by_appends(store: SqliteStore) -> None:
    """An append that crosses a multiple closes one span at its end, however many multiples it crosses."""
    with store._pool.connection() as connection:
        assert [row[0] for row in connection.execute("SELECT position FROM event_span")] == [4, 14]
    assert list(store.reindex(write=False)) == []


def test_a_span_is_closed_once_a_group(store: SqliteStore) -> None:
    """A group closes one span at its end too, however many of its appends cross a multiple."""
    requests = [
        Append(session_id=name, drafts=tuple(Story(name).event(note("x"), event_id=each) for each in "abcd"))
        for name in ("s3", "s4", "s5")
    ]
    assert all(isinstance(answer, Appended) for answer in store.append_all(requests))
    with store._pool.connection() as connection:
        assert [row[0] for row in connection.execute("SELECT position FROM event_span")] == [4, 14, 26]
    assert list(store.reindex(write=False)) == []


DIFFERENCES = (
    ("DELETE FROM session_tag WHERE name = 'actor'", [("session_tag", 1)]),
    ("INSERT INTO session_tag VALUES ('tenant', 'forged', 's1')", [("session_tag", 1)]),
    ("UPDATE session_tag SET value = 'x' WHERE name = 'principal'", [("session_tag", 4)]),
    ("UPDATE call_resource SET position = 1", [("call_resource", 4)]),
    ("DELETE FROM call_resource WHERE resource = 'b'", [("call_resource", 1)]),
    ("UPDATE event_span SET latest = '2020' WHERE position = 4", [("event_span", 1)]),
    ("UPDATE event_span SET position = 99 WHERE position = 12", [("event_span", 2)]),
    ("INSERT INTO event_span VALUES (98, '', ''), (99, '', '')", [("event_span", 2)]),
    ("DELETE FROM event_span", [("event_span", 1)]),
)


def test_a_difference_is_found_and_put_right(store: SqliteStore, path: str) -> None:
    """What differs from the events is counted; only with `write` it is made again from them, in the same answers."""
    reader = open_store(path, create=False, read_only=True)
    for statement, what in DIFFERENCES:
        harm(path, statement)
        assert reader.reindex(write=False) == store.reindex(write=False) == what, statement
        assert store.reindex(write=True) == what, statement
        assert store.reindex(write=False) == [], statement
        assert [placed.row.call_id for placed in store.calls(CallFilter(resource="repo:\udce9"), limit=9)] == ["c1"]
        assert ids(store.events(EventFilter(actor="na\udce9me"), limit=9)) == ["s1-e1"]
    with pytest.raises(UsageError, match="reading only"):
        reader.reindex(write=True)
    reader.close()


def test_a_failure_while_they_are_made_again_is_the_ledgers(store: SqliteStore, path: str) -> None:
    """An error of the database is one of the ledger's, and nothing is half done."""
    harm(path, "DROP TABLE event_span")
    with pytest.raises(StoreUnavailable, match="event_span"):
        store.reindex(write=True)


def test_what_was_written_is_not_asked_for_again(store: SqliteStore, path: str) -> None:
    """A writer remembers which tags it wrote; where it knows too many it begins anew."""
    harm(path, "DELETE FROM session_tag")
    add(store, "s2", "again")
    assert store.reindex(write=False) == [("session_tag", 5)]


def test_a_writer_forgets_when_it_knows_too_much(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory is bounded; what it forgot is written once more, which changes nothing."""
    monkeypatch.setattr("ledger.store.sqlite.writer.MOST_KNOWN", 2)
    for name in "wxyz":
        add(store, name, "a")
    assert len(store._writer._known) <= 2
    add(store, "w", "b")
    assert store.reindex(write=False) == []


def test_a_refused_append_tags_nothing(store: SqliteStore) -> None:
    """Tags share the append's transaction, and are not taken for known where it was refused."""
    story = Story("s9", tenant="new")
    drafts = (story.event(note("a")),)
    with pytest.raises(Exception, match="sequence"):
        store.append(Append(session_id="s9", drafts=drafts, expected=7))
    assert store.reindex(write=False) == []
    store.append(Append(session_id="s9", drafts=drafts))
    assert store.reindex(write=False) == []
    assert ids(store.events(EventFilter(tenant="new"), limit=9)) == ["s9-e1"]
    assert lookups.MOST_KNOWN > 1000
