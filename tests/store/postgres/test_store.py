"""The store as a whole: its reader that may not write, forks, the projection and the look-ups made again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import psycopg
import pytest

from ledger.calls import CallRow
from ledger.errors import StoreUnavailable, UsageError
from ledger.events import CallAuthorized, CallRejected, CallStarted, CallValidated
from ledger.store.port import Append, CallFilter, EventFilter, Store, Take
from ledger.store.postgres.store import PostgresStore
from ledger.store.urls import open_store
from ledger.testing.contract.building import DIGEST, Story, add, everything, ids
from tests.helpers import postgres


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    store = open_store(url, create=True)
    assert isinstance(store, PostgresStore)
    yield store
    store.close()


@pytest.fixture
def reader(store: PostgresStore, url: str) -> Iterator[Store]:
    """A reader of the same ledger, in which stands one call."""
    story = Story()
    start = CallStarted(idempotency_key="k", worker="w", token=1, resource_keys=("repo:a", "x" * 5000))
    drafts = (
        story.propose("c1"),
        story.of_call("c1", CallValidated(gates=(), validator="v", arguments_digest=DIGEST)),
        story.of_call("c1", CallAuthorized(by="policy", arguments_digest=DIGEST)),
        story.of_call("c1", start, attempt=1),
    )
    store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1")))
    reader = open_store(url, create=False, read_only=True)
    yield reader
    reader.close()


WRITES: dict[str, Callable[[Store], object]] = {
    "append": lambda store: add(store, "s1", "x"),
    "renew": lambda store: store.renew("s1", token=1, seconds=1),
    "release": lambda store: store.release("s1", token=1),
    "rebuild": lambda store: store.rebuild(iter(()), write=True),
    "reindex": lambda store: store.reindex(write=True),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_reader_writes_nothing(reader: Store, name: str) -> None:
    """Every write is refused in words."""
    with pytest.raises(UsageError, match="reading only"):
        WRITES[name](reader)


def test_the_server_refuses_a_readers_writes_too(reader: Any) -> None:
    """Its sessions are read-only."""
    with reader._server.lent() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        connection.execute("DELETE FROM call")


def test_a_reader_compares(reader: Store, store: Store) -> None:
    """What would be made again is told, and nothing is changed; a closed reader is unavailable."""
    row = store.call("c1")
    assert row is not None
    assert list(reader.rebuild(iter([row]), write=False)) == []
    assert list(reader.rebuild(iter(()), write=False)) == [("c1", row, None)]
    assert list(reader.reindex(write=False)) == []
    reader.close()
    with pytest.raises(StoreUnavailable):
        reader.head("s1")


def test_a_long_resource_is_found(reader: Store) -> None:
    """What an index could not hold is looked up by its digest."""
    assert [placed.row.call_id for placed in reader.calls(CallFilter(resource="x" * 5000), limit=5)] == ["c1"]
    assert list(reader.calls(CallFilter(resource="x" * 5001), limit=5)) == []


def test_a_long_name_is_kept_and_found(store: Store) -> None:
    """A model may call a tool by more than an index takes: it is kept, and found by its whole name."""
    lot, story = Random(3), Story("s7")
    name = "".join(chr(lot.randrange(0x4E00, 0x9FFF)) for _ in range(5000))
    draft = story.propose("long", tool=name, schema_version=None)
    refusal = CallRejected(gate="lookup", code=name, error_class="model", message="no")
    drafts = (draft, story.of_call("long", refusal))
    store.append(Append(session_id="s7", drafts=drafts, calls=story.rows("long")))
    for asked in (CallFilter(tool=name), CallFilter(code=name)):
        assert [placed.row.call_id for placed in store.calls(asked, limit=5)] == ["long"]
    assert len(store.events(EventFilter(tool=name), limit=5)) == 2


def test_wrong_look_ups_are_made_again(reader: Store, store: Store, url: str) -> None:
    """A tag too many, a resource too few: both are counted, and put right from the events."""
    with postgres.connect(url) as connection:
        connection.execute("INSERT INTO session_tag VALUES ('tenant', 'nobody', 's1')")
        connection.execute("DELETE FROM call_resource WHERE resource = 'repo:a'")
    found = [("session_tag", 1), ("call_resource", 1)]
    assert list(reader.reindex(write=False)) == found
    assert list(store.reindex(write=True)) == found
    assert list(store.reindex(write=False)) == []


def test_many_calls_are_compared_in_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows there are, they are fetched a few at a time."""
    monkeypatch.setattr("ledger.store.postgres.comparing.PAGE", 2)
    story = Story()
    drafts = tuple(story.propose(f"c{n}") for n in range(5))
    rows = story.rows(*(f"c{n}" for n in range(5)))
    store.append(Append(session_id="s1", drafts=drafts, calls=rows))
    assert list(store.rebuild(iter(rows), write=False)) == []
    assert [name for name, _, _ in store.rebuild(iter(rows[:3]), write=False)] == ["c3", "c4"]
    assert list(store.reindex(write=False)) == []


def test_a_call_id_of_two_sessions_does_not_stop_a_rebuild(store: Store) -> None:
    """Lost rows are written again, one a call id, also where two sessions have a call of the same id."""
    rows: list[CallRow] = []
    for name in ("s1", "s2"):
        story = Story(name)
        store.append(Append(session_id=name, drafts=(story.propose("c1"), story.propose("c2"))))
        rows += story.rows("c1", "c2")
    assert len(store.rebuild(iter(rows), write=True)) == 4
    assert [(call.position, call.row.call_id) for call in store.calls(CallFilter(), limit=9)] == [(1, "c1"), (2, "c2")]


def test_a_rebuild_that_fails_leaves_all(store: Store, url: str) -> None:
    """An error of the rows' source, or of the server, rolls all back, and the store goes on."""
    with pytest.raises(ZeroDivisionError):
        store.rebuild((1 // 0 for _ in "x"), write=True)  # type: ignore[misc]  # it never gets to a row
    with postgres.connect(url) as connection:
        connection.execute("ALTER TABLE session_tag RENAME TO elsewhere")
        try:
            with pytest.raises(StoreUnavailable, match="rebuild"):
                store.reindex(write=True)
        finally:
            connection.execute("ALTER TABLE elsewhere RENAME TO session_tag")
    assert add(store, "s1", "a").sequences == (1,)


def test_a_forked_child_starts_anew(store: PostgresStore) -> None:
    """Parent and child each use connections of their own, at the same time."""
    add(store, "s1", "a", take=Take(owner="me", token=1, seconds=30))
    store.head("s1")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            add(store, "s1", "child", token=1)
            status = 0 if len(everything(store, "s1")) == 2 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert add(store, "s1", "b", token=1).sequences == (3,)
    assert ids(everything(store, "s1")) == ["a", "child", "b"]


def test_a_child_of_a_store_that_was_never_used(url: str) -> None:
    """Nothing was inherited, so there is nothing to forget."""
    store = open_store(url, create=True)
    assert isinstance(store, PostgresStore)
    store._server.close()
    store.forget()
    reader: Any = open_store(url, create=True, read_only=True)
    reader.forget()
    assert add(store, "s1", "a").sequences == (1,)
    assert reader.head("s1") is not None
    reader.close()
    store.close()
