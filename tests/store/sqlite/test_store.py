"""One store in forked children, opened for reading, and rebuilt."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.errors import IntegrityFailure, StoreUnavailable, UsageError, WrongSequence
from ledger.ids import Clock
from ledger.store.maintenance import check
from ledger.store.port import Append, Appended, EventFilter, Store
from ledger.store.sqlite.store import ReadOnlySqliteStore, SqliteStore
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add, everything, ids, note


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = open_store(str(path), create=True)
    yield store
    store.close()


def forked(work: Callable[[], None]) -> int:
    """Run something in a forked child; return its exit code (99: it raised)."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_forked_child_has_its_own_connections(store: Store, path: Path) -> None:
    """Parent and child go on with the same store object: neither writes through the other's connection or lock."""
    assert isinstance(store, SqliteStore)
    add(store, "s1", "parent")
    store.read("s1", limit=1)
    inherited = store._writer._connection

    def child() -> None:
        assert ids(store.read("s1", limit=10)) == ["parent"]
        assert store._writer._connection is None
        add(store, "s1", "child")
        assert store._writer._connection is not inherited
        store.close()

    assert forked(child) == 0
    assert store._writer._connection is inherited
    add(store, "s1", "parent again")
    assert ids(everything(store, "s1")) == ["parent", "child", "parent again"]
    assert check(str(path)).sound


def test_a_child_that_only_ends_harms_nothing(store: Store) -> None:
    """A child that leaves by the interpreter's own end does not close what it inherited."""
    add(store, "s1", "a")
    assert forked(lambda: None) == 0
    add(store, "s1", "b")
    assert len(everything(store, "s1")) == 2


def test_a_child_does_not_keep_the_lock(store: Store, path: Path) -> None:
    """A child that was forked while its parent held the lock, and lives on, keeps nobody out."""
    assert isinstance(store, SqliteStore)
    add(store, "s1", "a")
    store._writer.lock.acquire(None)
    waits, ends = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ends)
        os.read(waits, 1)
        os._exit(0)
    store._writer.lock.close()  # as when the parent dies: the last descriptor but the child's
    other = open_store(str(path), create=False, patience=20)
    add(other, "s1", "b")
    other.close()
    os.close(ends)
    os.waitpid(pid, 0)
    os.close(waits)


class Slow:
    """A clock that is read in a transaction, and takes its time there once."""

    def __init__(self) -> None:
        self.read, self.go = threading.Event(), threading.Event()
        self.patience = 0.0

    def now(self) -> datetime:
        seconds, self.patience = self.patience, 0.0
        if seconds:
            self.read.set()
            self.go.wait(seconds)
        return datetime.now(UTC)


@pytest.mark.parametrize(("slow", "patient"), [(0.02, 20.0), (20.0, 0.01)])
def test_a_fork_waits_for_a_transaction(
    path: Path, monkeypatch: pytest.MonkeyPatch, slow: float, patient: float
) -> None:
    """A child made in the middle of one could not write; a transaction that does not end keeps nobody from forking."""
    monkeypatch.setattr("ledger.store.sqlite.writer.FORK_SECONDS", patient)
    clock = Slow()
    store = open_store(str(path), create=True, clock=Clock(now=clock.now))
    clock.patience = slow
    other = threading.Thread(target=add, args=(store, "s1", "parent"))
    other.start()
    clock.read.wait()
    told = ["child"] if slow < patient else []

    def child() -> None:
        for text in told:
            add(store, "s1", text)

    assert forked(child) == 0
    clock.go.set()
    other.join()
    add(store, "s1", "parent again")
    assert ids(everything(store, "s1")) == ["parent", *told, "parent again"]
    store.close()


def test_a_child_of_an_unused_store_starts_anew(store: Store) -> None:
    """Forking before the first use is as good as after it."""

    def child() -> None:
        add(store, "s1", "child")

    assert forked(child) == 0
    assert ids(store.read("s1", limit=10)) == ["child"]


def test_reading_only_writes_nothing(store: Store, path: Path) -> None:
    """A store opened for reading refuses every write, in words."""
    add(store, "s1", "a")
    reader = open_store(str(path), create=False, read_only=True)
    assert isinstance(reader, ReadOnlySqliteStore)
    assert ids(reader.events(EventFilter(), limit=10)) == ["a"]
    draft = Story().event(note("b"))
    writes: list[Callable[[], object]] = [
        lambda: reader.append(Append(session_id="s1", drafts=(draft,))),
        lambda: reader.renew("s1", token=1, seconds=1),
        lambda: reader.release("s1", token=1),
        lambda: reader.rebuild(iter(()), write=True),
    ]
    for write in writes:
        with pytest.raises(UsageError, match="reading only"):
            write()
    assert list(reader.rebuild(iter(()), write=False)) == []
    reader.close()
    reader.close()
    with pytest.raises(StoreUnavailable):
        reader.head("s1")


def test_reading_leaves_no_trace(store: Store, path: Path) -> None:
    """After a reader of a closed ledger there are the files there were, with the bytes there were."""
    add(store, "s1", "a")
    store.close()
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    reader = open_store(str(path), create=False, read_only=True)
    assert len(reader.read("s1", limit=10)) == 1
    reader.close()
    after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert after.keys() == before.keys()
    assert after[path.name] == before[path.name]


def test_a_closed_reader_forks_too(store: Store, path: Path) -> None:
    """A store that is closed has nothing to leave alone in a child."""
    reader = open_store(str(path), create=False, read_only=True)
    reader.close()
    assert forked(lambda: None) == 0
    assert isinstance(reader, ReadOnlySqliteStore)
    reader.forget()


def test_a_reader_forks_too(store: Store, path: Path) -> None:
    """A store opened for reading can be used on both sides of a fork."""
    add(store, "s1", "a")
    reader = open_store(str(path), create=False, read_only=True)
    assert len(reader.read("s1", limit=10)) == 1

    def child() -> None:
        assert len(reader.read("s1", limit=10)) == 1
        reader.close()

    assert forked(child) == 0
    assert len(reader.read("s1", limit=10)) == 1
    reader.close()


@pytest.mark.parametrize(("stored", "told"), [("CAST(X'61FF' AS TEXT)", "a\\xff"), ("CAST(call_id AS BLOB)", "c1")])
def test_a_rebuild_takes_a_call_whose_id_is_no_text_away(store: Store, path: Path, stored: str, told: str) -> None:
    """A damaged id keeps its place taken, and no comparison finds it: the row goes, and the call has one again."""
    story = Story()
    drafts = (story.event(note("x")), story.propose("c1"))
    store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1")))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE call SET call_id = {stored}")
    found = [call_id for call_id, _, _ in store.rebuild(iter(story.rows("c1")), write=True)]
    assert told in found
    assert list(store.rebuild(iter(story.rows("c1")), write=False)) == []
    assert (store.call("c1"),) == story.rows("c1")


def test_a_rebuild_that_fails_changes_nothing(store: Store) -> None:
    """An error in the caller's fold rolls back; SQLite's own is put into words."""
    story = Story()
    store.append(Append(session_id="s1", drafts=(story.propose("c1"),), calls=story.rows("c1")))

    def broken() -> Iterator[object]:
        yield story.rows("c1")[0]._replace(state="failed")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.rebuild(broken(), write=True)  # type: ignore[arg-type]  # passed on as it comes
    assert (store.call("c1"),) == story.rows("c1")
    assert isinstance(store, SqliteStore)
    wrong = story.rows("c1")[0]._replace(turn=2**70)
    with pytest.raises(OverflowError):
        store.rebuild(iter([wrong]), write=True)
    connection = store._writer._connection
    assert connection is not None
    connection.execute("DROP TABLE call")
    with pytest.raises(StoreUnavailable, match="rebuild"):
        store.rebuild(iter(story.rows("c1")), write=True)


def test_repeats_are_known_where_a_session_has_an_odd_name(store: Store) -> None:
    """Again and again: CPython tells of a text it cannot bind by the last error of the connection, if there was one."""
    told = add(store, "s\udce9", "a")
    for _ in range(3):
        again = add(store, "s\udce9", "a")
        assert (again.repeated, again.positions) == (True, told.positions)


def test_a_damaged_head_is_no_business_of_other_sessions(path: Path, store: Store) -> None:
    """In a group the session whose head was damaged hears of it; the appends to the others stand."""
    assert isinstance(store, SqliteStore)
    add(store, "b", "b1")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE session_head SET token = 'x'")
    drafts = {name: (Story(name).event(note("x"), event_id=f"{name}2"),) for name in "abc"}
    first, damaged, third = store.append_all([Append(session_id=name, drafts=drafts[name]) for name in "abc"])
    assert isinstance(damaged, IntegrityFailure)
    assert isinstance(first, Appended)
    assert isinstance(third, Appended)
    assert [ids(store.read(name, limit=9)) for name in "abc"] == [["a2"], ["b1"], ["c2"]]


def test_sessions_are_appended_together(path: Path, store: Store) -> None:
    """Each request has its own answer: one that is refused leaves no trace, the others stand; repeats are known."""
    assert isinstance(store, SqliteStore)
    drafts = {name: (Story(name).event(note("x"), event_id=f"{name}1"),) for name in "abc"}
    requests = [
        Append(session_id="a", drafts=drafts["a"], expected="none"),
        Append(session_id="b", drafts=drafts["b"], expected=7),
        Append(session_id="c", drafts=drafts["c"], expected="none"),
    ]
    first, refused, third = store.append_all(requests)
    assert isinstance(refused, WrongSequence)
    assert isinstance(first, Appended)
    assert isinstance(third, Appended)
    assert (first.sequences, third.sequences) == ((1,), (1,))
    assert [ids(store.read(name, limit=9)) for name in "abc"] == [["a1"], [], ["c1"]]
    again = store.append_all(requests)[0]
    assert isinstance(again, Appended)
    assert again.repeated
    with pytest.raises(UsageError):
        store.append_all([Append(session_id="a", drafts=())])
    store.close()
    assert isinstance(store.append_all(requests)[0], StoreUnavailable)
