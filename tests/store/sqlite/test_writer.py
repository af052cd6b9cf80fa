"""Transactions that fail: nothing is acknowledged that is not recorded, and nothing stays broken."""

from __future__ import annotations

import resource
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import IdempotencyConflict, KeyConflict, StoreBusy, StoreError, StoreReplaced, StoreUnavailable
from ledger.events import CallProposed
from ledger.ids import Clock
from ledger.store import rules
from ledger.store.port import Append, Appended, Take
from ledger.store.sqlite import changes
from ledger.store.sqlite import files as files_module
from ledger.store.sqlite.files import WAL_BYTES, Files
from ledger.store.sqlite.lock import SideLock
from ledger.store.sqlite.store import SqliteStore
from ledger.store.sqlite.writer import Writer
from ledger.store.urls import open_store
from ledger.store.writing import Request
from ledger.testing.contract.building import Story, add, everything, ids, note
from tests.store.children import start


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = open_store(str(path), create=True, patience=0.01)
    assert isinstance(store, SqliteStore)
    yield store
    store.close()


def request(text: str, session_id: str = "s1") -> Append:
    return Append(session_id=session_id, drafts=(Story(session_id).event(note(text), event_id=text),))


Hook = Callable[[sqlite3.Connection], None]


@contextmanager
def commits(monkeypatch: pytest.MonkeyPatch, store: SqliteStore, hook: Hook) -> Iterator[None]:
    """Have `hook(connection)` run in the place of each COMMIT of the write connection, inside the block."""
    real = sqlite3.connect
    active = True

    class Hooked(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement == "COMMIT" and active:
                hook(self)
                return super().execute("SELECT 1")
            return super().execute(statement, *values)

    store._writer._drop()
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: real(*args, factory=Hooked, **options))
    yield
    active = False
    monkeypatch.setattr(sqlite3, "connect", real)


def done_then(error: BaseException) -> Hook:
    """Commit, then fail as if the answer was lost."""

    def hook(connection: sqlite3.Connection) -> None:
        sqlite3.Connection.execute(connection, "COMMIT")
        raise error

    return hook


def failed_with(error: BaseException) -> Hook:
    """Fail without a commit."""

    def hook(connection: sqlite3.Connection) -> None:
        raise error

    return hook


# -- a commit's error says nothing about whether it happened


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), MemoryError()], ids=["sqlite", "memory"])
def test_a_commit_that_happened_is_found(store: SqliteStore, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """An error after the commit: the events are looked up by their ids, and acknowledged where they are."""
    add(store, "s1", "before")
    with commits(monkeypatch, store, done_then(error)):
        appended = add(store, "s1", "a", "b", take=Take(owner="me", token=1, seconds=30))
    assert (appended.sequences, appended.repeated) == ((2, 3), False)
    assert appended.head == store.head("s1")
    assert appended.head.token == 1
    assert ids(everything(store, "s1")) == ["before", "a", "b"]
    assert add(store, "s1", "c").sequences == (4,)


@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("disk I/O error"), MemoryError("none left")], ids=["sqlite", "memory"]
)
def test_a_commit_that_did_not_happen_is_refused(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """An error before the commit: nothing is there, which is said, and the store goes on working."""
    with commits(monkeypatch, store, failed_with(error)), pytest.raises(StoreUnavailable, match=r"none left|I/O"):
        add(store, "s1", "a")
    assert store.head("s1") is None
    assert add(store, "s1", "a").repeated is False


def test_a_group_is_looked_up_one_by_one(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a bad commit each request gets its own answer; a lease is not said to be renewed."""
    add(store, "s1", "first", take=Take(owner="me", token=1, seconds=30))

    real = sqlite3.connect

    def other_writer(connection: sqlite3.Connection) -> None:
        sqlite3.Connection.execute(connection, "ROLLBACK")
        monkeypatch.setattr(sqlite3, "connect", real)
        writer = Writer(Files(store._files.database), Clock(), 1)
        monkeypatch.setattr(writer, "_commit", writer._locked)  # the lock is held, by this thread
        other = Story("s1").event(note("other words"), event_id="b")
        writer.commit([request("a"), Append(session_id="s1", drafts=(other,))])
        writer._drop()
        raise sqlite3.OperationalError("cut")

    with commits(monkeypatch, store, other_writer):
        requests: list[Request] = [request("a"), request("b"), request("c"), rules.Renewal("s1", 1, 60.0)]
        found, conflict, absent, renewal = store._writer.commit(requests)
    assert isinstance(found, Appended)
    assert found.sequences == (2,)
    assert isinstance(conflict, IdempotencyConflict)
    assert isinstance(absent, StoreUnavailable)
    assert isinstance(renewal, StoreUnavailable)


def test_what_cannot_be_looked_up_is_not_acknowledged(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the database cannot be opened again, the answer says that nobody knows, and to append again."""

    def cut(connection: sqlite3.Connection) -> None:
        sqlite3.Connection.execute(connection, "COMMIT")
        path.rename(f"{path}.away")
        raise sqlite3.OperationalError("cut")

    with (
        commits(monkeypatch, store, cut),
        pytest.raises(StoreUnavailable, match="could not be looked up"),
    ):
        add(store, "s1", "a")
    Path(f"{path}.away").rename(path)
    assert add(store, "s1", "a").repeated


def test_a_replaced_file_is_not_looked_up_in(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reopened connection must lead to the same file as before."""

    def swap(connection: sqlite3.Connection) -> None:
        sqlite3.Connection.execute(connection, "COMMIT")
        path.rename(f"{path}.away")
        open_store(str(path) + ".new", create=True).close()
        Path(f"{path}.new").rename(path)
        raise sqlite3.OperationalError("cut")

    with (
        commits(monkeypatch, store, swap),
        pytest.raises(StoreUnavailable, match="could not be looked up"),
    ):
        add(store, "s1", "a")
    with pytest.raises(StoreReplaced):
        add(store, "s1", "a")


def test_what_is_found_is_brought_home_first(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the connection is gone too the log may go with the power: until it is brought home nothing is promised."""
    add(store, "s1", "before")

    def lost(connection: sqlite3.Connection) -> None:
        sqlite3.Connection.execute(connection, "COMMIT")
        connection.close()
        raise sqlite3.OperationalError("fsync")

    monkeypatch.setattr(files_module, "BUSY_SECONDS", 0.01)
    with store._pool.snapshot() as reader:
        reader.execute("SELECT * FROM event").fetchall()
        with (
            commits(monkeypatch, store, lost),
            pytest.raises(StoreUnavailable, match="could not be looked up"),
        ):
            add(store, "s1", "a")
        for again in ("a", "b"):  # what is there already is not promised either, and nothing is written behind it
            with pytest.raises(StoreUnavailable, match="its log is in use"):
                add(store, "s1", again)
    assert add(store, "s1", "a").repeated
    assert add(store, "s1", "b").sequences == (3,)


@pytest.mark.parametrize(
    "hook", [done_then(KeyboardInterrupt()), failed_with(KeyboardInterrupt())], ids=["done", "not done"]
)
def test_an_interrupt_at_the_commit_leaves_the_store_usable(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, hook: Hook
) -> None:
    """Ctrl-C is passed on; the same append again is recorded once."""
    with commits(monkeypatch, store, hook), pytest.raises(KeyboardInterrupt):
        add(store, "s1", "a")
    add(store, "s1", "a")
    assert ids(everything(store, "s1")) == ["a"]


def test_an_interrupt_in_the_transaction_leaves_nothing(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between two statements rolls back."""
    add(store, "s1", "a")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ledger.store.sqlite.changes.Changes._move_head", interrupted)
        with pytest.raises(KeyboardInterrupt):
            add(store, "s1", "b")
    assert add(store, "s1", "c").sequences == (2,)


def test_a_transaction_left_open_is_rolled_back(store: SqliteStore) -> None:
    """Ctrl-C right after BEGIN: the next append begins anew."""
    add(store, "s1", "a")
    connection = store._writer._connection
    assert connection is not None
    connection.execute("BEGIN IMMEDIATE")
    assert add(store, "s1", "b").sequences == (2,)


# -- real faults of the disk


def test_a_full_database_records_nothing(store: SqliteStore) -> None:
    """A write that does not fit is refused with what to do, and the store works again when there is room."""
    add(store, "s1", "a")
    connection = store._writer._connection
    assert connection is not None
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreUnavailable, match="full") as refusal:
        add(store, "s1", "x" * 100_000)
    assert "make room" in str(refusal.value)
    connection.execute("PRAGMA max_page_count=1000000")
    assert add(store, "s1", "x" * 100_000).sequences == (2,)


def test_a_disk_that_takes_no_more_is_reported(store: SqliteStore, path: Path) -> None:
    """A commit whose write fails (here: the size limit of the process) records nothing, and the next one works."""
    add(store, "s1", "a")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (Files(path).wal.stat().st_size + 100, hard))
    try:
        with pytest.raises(StoreUnavailable, match="commit to"):
            add(store, "s1", "b" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ids(everything(store, "s1")) == ["a"]
    assert add(store, "s1", "c").sequences == (2,)


def test_a_damaged_file_is_reported(store: SqliteStore, path: Path) -> None:
    """A file that is no database any more is refused with a hint."""
    add(store, "s1", "a")
    store.close()
    path.write_bytes(b"not a database at all" * 1000)
    with pytest.raises(StoreUnavailable, match="not a SQLite database"):
        open_store(str(path), create=False)


def test_a_table_that_is_missing_is_reported(store: SqliteStore, path: Path) -> None:
    """A failing statement is answered to every request of its group, and leaves no transaction behind."""
    other = sqlite3.connect(path)
    other.execute("DROP TABLE session_head")
    other.close()
    answers = store._writer.commit([request("a"), request("b")])
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 2
    with pytest.raises(StoreUnavailable, match="no such table"):
        store.renew("s1", token=1, seconds=1)


def test_a_rollback_that_fails_drops_the_connection(store: SqliteStore) -> None:
    """A connection that cannot even roll back is not used again."""
    add(store, "s1", "a")

    class Broken:
        in_transaction = True
        closed = False

        def execute(self, statement: str) -> None:
            raise sqlite3.OperationalError(statement)

        def close(self) -> None:
            self.closed = True

    real = store._writer._connection
    assert real is not None
    real.close()
    broken: Any = Broken()
    store._writer._connection = broken
    store._writer._roll_back(broken)
    assert broken.closed
    assert add(store, "s1", "b").sequences == (2,)


def test_a_head_that_was_tampered_with_stops_appends(store: SqliteStore, path: Path) -> None:
    """Where head and events disagree nothing is added on top."""
    add(store, "s1", "a", "b")
    other = sqlite3.connect(path)
    other.execute("UPDATE session_head SET sequence = 1")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="disagree"):
        add(store, "s1", "c")
    assert len(everything(store, "s1")) == 2


@pytest.mark.parametrize("column", ["sequence", "token"])
def test_a_head_that_can_grow_no_more_is_told(store: SqliteStore, path: Path, column: str) -> None:
    """A number that somebody set to the largest there is: nothing is added on top, what stood beside it stands."""
    add(store, "s1", "a")
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(f"UPDATE session_head SET {column} = 9223372036854775807")
    take = Take(owner="w", token=2**63, seconds=60.0) if column == "token" else None
    request = Append(session_id="s1", drafts=(Story("s1").event(note("b")),), take=take)
    beside = Append(session_id="s2", drafts=(Story("s2").event(note("b")),))
    with pytest.raises(StoreError, match="damaged"):
        store.append(request)
    refused, stands = store.append_all([request, beside])
    assert "damaged" in str(refused)
    assert isinstance(stands, Appended)
    assert [event.event_id for event in everything(store, "s1")] == ["a"]


def test_a_file_that_cannot_be_opened_is_reported(path: Path, store: SqliteStore) -> None:
    """A database that vanished before the first write is unavailable, not made anew."""
    path.unlink()
    with pytest.raises(StoreUnavailable, match="cannot write to"):
        add(store, "s1", "a")
    assert not path.exists()


def test_a_log_that_is_gone_at_once_closes_the_connection(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is swapped while the connection is made is noticed, and no connection stays open."""
    add(store, "s1", "a")
    store._writer._drop()
    open_store(f"{path}.new", create=True).close()
    Path(f"{path}.new").rename(path)
    with pytest.raises(StoreReplaced):
        add(store, "s1", "b")
    assert store._writer._connection is None


def test_a_refused_request_of_a_group_leaves_no_trace(store: SqliteStore) -> None:
    """What a request did before it was refused is undone, what the others of its group did is not."""

    def keyed(session_id: str, key: str) -> Append:
        story = Story(session_id)
        draft = story.propose(f"{session_id}-call", CallProposed(idempotency_key=key))
        return Append(session_id=session_id, drafts=(draft,), calls=story.rows(f"{session_id}-call"))

    requests = [keyed("s1", "k"), keyed("s2", "k"), keyed("s3", "other")]
    answers = store._writer.commit(requests)
    assert [type(answer) for answer in answers] == [Appended, KeyConflict, Appended]
    assert [len(everything(store, name)) for name in ("s1", "s2", "s3")] == [1, 0, 1]
    assert store.head("s2") is None
    assert add(store, "s2", "a").sequences == (1,)


def test_what_ended_a_transaction_is_told_behind_a_savepoint_too() -> None:
    """A full disk ends the transaction by itself: that is the error, not that there is no such savepoint any more."""

    def fill(connection: sqlite3.Connection) -> None:
        with changes._savepoint(connection):
            connection.execute("ROLLBACK")
            raise sqlite3.OperationalError("database or disk is full")

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("BEGIN")
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            fill(connection)


# -- waiting


def test_a_busy_lock_refuses_what_can_be_asked_again(store: SqliteStore, path: Path) -> None:
    """Behind another process everything but an outcome waits no longer than it was told to."""
    with start("hold", str(path)) as holder:
        assert holder.stdout is not None
        pid = holder.stdout.readline().strip()
        with pytest.raises(StoreBusy, match=pid):
            add(store, "s1", "a")
        with pytest.raises(StoreBusy, match=pid):
            store.renew("s1", token=1, seconds=1)
        with pytest.raises(StoreBusy, match=pid):
            store.rebuild(iter(()), write=True)
        holder.communicate("end\n")
    assert add(store, "s1", "a").sequences == (1,)


def test_an_outcome_waits_as_long_as_it_takes(store: SqliteStore, path: Path) -> None:
    """What was learned from the world is not lost to a deadline: it waits, alone or in a group with hasty ones."""
    outcome = Append(session_id="s2", drafts=_outcome("s2"))
    with start("hold", str(path)) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        answers: list[Any] = []
        waiter = threading.Thread(
            target=lambda: answers.extend(store._writer.commit([request("hasty"), outcome, request("hasty2", "s3")]))
        )
        waiter.start()
        holder.communicate("end\n")
        waiter.join()
    assert [type(answer) for answer in answers] in ([StoreBusy, Appended, StoreBusy], [Appended] * 3)
    assert store.head("s2") is not None


def _outcome(session_id: str) -> tuple[Any, ...]:
    story = Story(session_id)
    return (story.propose("c1"), *story.run("c1"))


def test_a_foreign_transaction_is_reported(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does not know the side lock may hold SQLite's own: an append says so, an outcome waits."""
    add(store, "s1", "a")
    store._writer._drop()
    monkeypatch.setattr(files_module, "BUSY_SECONDS", 0.01)
    foreign = sqlite3.connect(path, isolation_level=None)
    waited = threading.Event()
    real = sqlite3.connect

    class Waiting(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            try:
                return super().execute(statement, *values)
            except sqlite3.OperationalError:
                waited.set()
                raise

    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: real(*args, factory=Waiting, **options))
    store._writer._open()
    foreign.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="does not take part"):
        add(store, "s1", "b")
    foreign.execute("ROLLBACK")
    store._writer._open()
    foreign.execute("BEGIN IMMEDIATE")
    waited.clear()
    writer = threading.Thread(target=lambda: store.append(Append(session_id="s2", drafts=_outcome("s2"))))
    writer.start()
    waited.wait()
    foreign.execute("ROLLBACK")
    writer.join()
    foreign.close()
    assert store.head("s2") is not None


# -- the log


def test_the_log_is_brought_home_as_it_grows(store: SqliteStore, path: Path) -> None:
    """The log is checkpointed at about 1000 pages, starts over, and is cut back to its limit."""
    sizes = []
    for number in range(24):
        add(store, "s1", f"{number}" + "x" * 400_000)
        sizes.append(Files(path).wal.stat().st_size)
    assert max(sizes) < 2 * WAL_BYTES
    assert path.stat().st_size > WAL_BYTES
    grown = next(at for at, size in enumerate(sizes) if size > WAL_BYTES)
    assert sizes[grown + 1] == WAL_BYTES


def test_a_reader_only_delays_that(store: SqliteStore, path: Path) -> None:
    """While a reader holds an old state the log grows on, with a try now and then; afterwards it starts over."""
    add(store, "s1", "first")
    with store._pool.snapshot() as reader:
        reader.execute("SELECT count(*) FROM event").fetchall()
        for number in range(30):
            add(store, "s1", f"{number}" + "x" * 100_000)
        grown = Files(path).wal.stat().st_size
        assert grown > WAL_BYTES
        assert store._writer._checkpoint_at > grown
    for number in range(30):
        add(store, "s1", f"after{number}" + "x" * 100_000)
    assert Files(path).wal.stat().st_size < grown


def test_a_checkpoint_that_fails_loses_nothing(store: SqliteStore, path: Path) -> None:
    """The append is recorded already; the log is brought home later."""
    for number in range(9):
        add(store, "s1", f"{number}" + "x" * 400_000)
    store._writer._checkpoint_at = 0
    connection = store._writer._connection
    assert connection is not None
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 4096, hard))
    try:
        store._writer._checkpoint(connection, WAL_BYTES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store._writer._checkpoint_at > WAL_BYTES
    assert len(everything(store, "s1")) == 9


# -- the end


def test_closing_behind_a_stuck_process_does_not_hang(store: SqliteStore, path: Path) -> None:
    """Who cannot get the lock closes without a checkpoint: the one that has it will do it."""
    add(store, "s1", "a")
    with start("hold", str(path)) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        store.close()
        holder.communicate("end\n")
    again = open_store(str(path), create=False)
    assert len(everything(again, "s1")) == 1
    again.close()


def test_a_store_that_never_wrote_closes(path: Path, store: SqliteStore) -> None:
    """Without a write there is nothing to bring home."""
    assert store._writer._connection is None
    store.close()


def test_a_lock_that_cannot_be_opened_refuses_the_group(store: SqliteStore, path: Path) -> None:
    """Without the side file nothing is written."""
    store._writer.lock = SideLock(path / "nowhere.lock")
    answers = store._writer.commit([request("a"), request("b")])
    assert [type(answer) for answer in answers] == [StoreUnavailable] * 2
