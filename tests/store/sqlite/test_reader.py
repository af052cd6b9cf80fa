"""Connections for reading: lent, taken back, never able to write; also where nothing may be written at all."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ledger.errors import StoreError, StoreReplaced, StoreUnavailable
from ledger.store.maintenance import current, ready
from ledger.store.port import Append, CallFilter, EventFilter, Store
from ledger.store.schema import HEAD
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.reader import Readers
from ledger.store.sqlite.store import SqliteStore
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add, ids, note

NOBODY = 65534


@pytest.fixture
def path() -> Iterator[Path]:
    """A ledger's path in a folder that every user may look into."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-test-"))
    folder.chmod(0o755)
    yield folder / "ledger.db"
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = open_store(str(path), create=True)
    add(store, "s1", "a")
    yield store
    store.close()


@contextmanager
def nobody() -> Iterator[None]:
    """Act without root's rights, to which permissions mean nothing; who is not root is a nobody already."""
    user, group = os.geteuid(), os.getegid()
    os.setegid(NOBODY if user == 0 else group)
    os.seteuid(NOBODY if user == 0 else user)
    try:
        yield
    finally:
        os.seteuid(user)
        os.setegid(group)


def open_to_all(path: Path) -> None:
    """Let everybody read a ledger's files, and nobody write the folder."""
    for file in path.parent.iterdir():
        file.chmod(0o644)
    path.parent.chmod(0o555)


def read_it(path: Path) -> list[str]:
    reader = open_store(str(path), create=False, read_only=True)
    found = ids(reader.read("s1", limit=10))
    reader.close()
    return found


def test_connections_are_used_again(store: Store) -> None:
    """One after the other shares one connection; an error does not put a broken one back."""
    assert isinstance(store, SqliteStore)
    pool = store._pool
    for _ in range(3):
        store.read("s1", limit=1)
    assert len(pool._idle) == 1
    with pool.connection() as first, pool.connection() as second:
        assert first is not second
    assert len(pool._idle) == 2
    with pytest.raises(StoreUnavailable, match="no such table"), pool.connection() as connection:
        connection.execute("SELECT * FROM nowhere")
    assert len(pool._idle) == 1


def test_a_text_that_is_none_any_more_takes_no_other_row_with_it(store: Store, path: Path) -> None:
    """Columns that a flipped bit made invalid UTF-8 are read with an escape, and the next read is as quick as ever."""
    story = Story("s2")
    drafts = (story.event(note("hello")), story.propose("c1"))
    store.append(Append(session_id="s2", drafts=drafts, calls=story.rows("c1")))
    assert isinstance(store, SqliteStore)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER event_no_update")
        connection.execute("UPDATE event SET tool = CAST(X'61FF' AS TEXT) WHERE session_id = 's2' AND sequence = 2")
        connection.execute("UPDATE call SET tool = CAST(X'61FF' AS TEXT)")
        connection.execute("UPDATE session_head SET owner = CAST(X'61FF' AS TEXT) WHERE session_id = 's2'")
        connection.execute("UPDATE session_tag SET value = CAST(X'61FF' AS TEXT) WHERE name = 'tenant'")
    assert [event.tool for event in store.read("s2", limit=10)] == [None, "a\\xff"]
    assert [event.tool for event in store.events(EventFilter(), limit=10)] == [None, None, "a\\xff"]
    assert [placed.row.tool for placed in store.calls(CallFilter(), limit=10)] == ["a\\xff"]
    assert [tally.key for tally in store.tally(CallFilter(), ("tool",))] == [("a\\xff",)]
    assert [row.owner for row in store.sessions(limit=10)] == [None, "a\\xff"]
    head = store.head("s2")
    assert head is not None
    assert head.owner == "a\\xff"
    assert [call_id for call_id, _, _ in store.rebuild(iter(()), write=False)] == ["c1"]
    assert [name for name, _ in store.reindex(write=False)] == ["session_tag"]
    assert [connection.text_factory for connection in store._pool._idle] == [str]


def test_a_head_that_is_no_text_any_more_can_be_appended_to(store: Store, path: Path) -> None:
    """Its events and those of others are recorded: who owned it is another one, whoever that was."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE session_head SET owner = CAST(X'61FF' AS TEXT)")
    add(store, "s1", "b")
    assert ids(store.read("s1", limit=10)) == ["a", "b"]


@pytest.mark.parametrize("idle", [True, False])
def test_a_replaced_file_is_read_no_more(store: Store, path: Path, idle: bool) -> None:
    """Who only reads is told that the file is another one now, instead of waiting on the old one for ever."""
    assert isinstance(store, SqliteStore)
    reader = open_store(str(path), create=False, read_only=True)
    if idle:
        assert ids(reader.read("s1", limit=10)) == ["a"]
    shutil.copy(path, path.with_name("copy.db"))
    path.with_name("copy.db").replace(path)
    for _ in range(2):
        with pytest.raises(StoreReplaced, match="not read here"):
            reader.read("s1", limit=10)
    reader.close()


def test_a_reading_connection_cannot_write(store: Store) -> None:
    """The database itself refuses."""
    assert isinstance(store, SqliteStore)
    for statement in ("DELETE FROM call", "CREATE TABLE x (y)", "PRAGMA user_version = 7"):
        with pytest.raises(StoreUnavailable, match=r"readonly|read-only"), store._pool.connection() as connection:
            connection.execute(statement)


def test_a_reading_connection_says_so_twice(store: Store) -> None:
    """It is opened read-only, and told to only query: either alone would do."""
    assert isinstance(store, SqliteStore)
    with store._pool.connection() as connection:
        assert connection.execute("PRAGMA query_only").fetchone() == (1,)


def test_a_lent_connection_outlives_the_close(store: Store) -> None:
    """Closing in the middle of a read lets the read end; its connection is closed then."""
    assert isinstance(store, SqliteStore)
    pool = store._pool
    with pool.connection() as connection:
        store.close()
        assert connection.execute("SELECT count(*) FROM event").fetchone() == (1,)
    assert not pool._idle
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


def test_a_snapshot_stays_what_it_was(store: Store) -> None:
    """All reads of a thread inside a snapshot see one state."""
    assert isinstance(store, SqliteStore)
    with store._pool.snapshot():
        assert len(store.read("s1", limit=10)) == 1
        add(store, "s1", "b")
        assert len(store.read("s1", limit=10)) == 1
    assert len(store.read("s1", limit=10)) == 2


def test_a_closed_ledger_is_read_where_nothing_may_be_written(store: Store, path: Path) -> None:
    """In a folder that cannot be written a closed ledger is read as it is."""
    store.close()
    open_to_all(path)
    with nobody():
        assert read_it(path) == ["a"]
        assert sorted(file.name for file in path.parent.iterdir()) == ["ledger.db", "ledger.db.lock"]
        with Readers(Files(path)).connection() as connection:
            assert connection.execute("PRAGMA query_only").fetchone() == (1,)


def test_a_live_ledger_is_read_where_nothing_may_be_written(store: Store, path: Path) -> None:
    """Beside a writer of another user its newest events are read, through its log."""
    add(store, "s1", "b")
    open_to_all(path)
    with nobody():
        assert read_it(path) == ["a", "b"]


def test_a_log_is_never_passed_over(store: Store, path: Path) -> None:
    """Where there is a log that cannot be used, reading is refused: it would show less than was acknowledged."""
    add(store, "s1", "b")
    for name in ("ledger.db", "ledger.db-wal"):
        shutil.copy(path.parent / name, path.parent / f"copy-{name}")
    open_to_all(path)
    with nobody(), pytest.raises(StoreError):
        read_it(path.parent / "copy-ledger.db")


def test_a_folder_that_cannot_be_written_takes_no_appends(store: Store, path: Path) -> None:
    """Writing is refused with the name of what cannot be written."""
    store.close()
    open_to_all(path)
    with nobody(), pytest.raises(StoreUnavailable, match="lock"):
        open_store(str(path), create=False)


def test_a_broken_file_is_not_read_as_immutable(path: Path) -> None:
    """Where the folder can be written, a failure is a failure."""
    path.mkdir()
    with pytest.raises(StoreError), Readers(Files(path)).connection():
        pass


def test_a_file_that_may_not_be_written_is_not_ready(store: Store, path: Path) -> None:
    """A host writes the file, the log and the lock beside it, and makes them: a probe names what it may not write."""
    store.close()
    open_to_all(path)
    for shut in (path.parent, path, Path(f"{path}.lock")):
        with nobody(), pytest.raises(StoreUnavailable, match=rf"may not write {shut}\. "):
            ready(f"sqlite:///{path}")
        with nobody():
            assert current(f"sqlite:///{path}").state == "current"
        shut.chmod(0o777)
    with nobody():
        assert ready(f"sqlite:///{path}") == HEAD
