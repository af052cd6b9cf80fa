"""One transaction for a group of requests: the lock, the connection, the commit, and the look-up after a bad one."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from ledger.errors import LedgerError, StoreBusy, StoreError, StoreUnavailable
from ledger.ids import Clock
from ledger.store import rules
from ledger.store.port import Append, Appended
from ledger.store.sqlite import door, sql
from ledger.store.sqlite.changes import Changes, Torn
from ledger.store.sqlite.faults import primary, translated
from ledger.store.sqlite.files import WAL_BYTES, Files, Identity
from ledger.store.sqlite.lock import SideLock
from ledger.store.sqlite.lookups import MOST_KNOWN, About
from ledger.store.sqlite.together import apply_together
from ledger.store.writing import Answer, Request, is_outcome

T = TypeVar("T")

_CHECKPOINT_STEP: Final = WAL_BYTES // 4

FORK_SECONDS: Final = 1.0
"""How long a fork waits for a transaction; the thread that forks may be the one that is in it (a signal's handler)."""


class Writer:
    """The one write connection of a process; used by one thread at a time (the leader of a group)."""

    def __init__(self, files: Files, clock: Clock, patience: float) -> None:
        self.files = files
        self.lock = SideLock(files.lock)
        self.patience = patience
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        self._identity: Identity | None = None
        self._place = files.place()  # as it is opened: what is read from then on is of this file
        self._checkpoint_at = WAL_BYTES
        self._failed = False  # the last commit failed: the log ends in frames that nobody sees, until others follow
        self._in_doubt = False  # the connection was lost after that: a new one may see them
        self._known: set[About] = set()
        self._mutex = threading.Lock()
        self._inside = threading.Lock()  # held while SQLite is at work, and while this process forks
        self._closed = False

    # -- a group

    def commit(self, requests: Sequence[Request]) -> Sequence[Answer | LedgerError]:
        """Record the requests in one transaction; each gets its answer, or the error to raise."""
        with self._mutex:
            if self._closed:
                return [StoreUnavailable("this ledger is closed")] * len(requests)
            return self._commit(requests)

    def _commit(self, requests: Sequence[Request]) -> Sequence[Answer | LedgerError]:
        try:
            self.lock.acquire(None if all(map(is_outcome, requests)) else self.patience)
        except StoreBusy as busy:
            return self._outcomes_only(requests, busy)
        except StoreError as error:
            return [error] * len(requests)
        try:
            with self._inside:
                return self._locked(requests)
        finally:
            self.lock.release()

    def _outcomes_only(self, requests: Sequence[Request], busy: StoreBusy) -> Sequence[Answer | LedgerError]:
        outcomes = [request for request in requests if is_outcome(request)]
        answers = iter(self._commit(outcomes) if outcomes else ())
        return [next(answers) if is_outcome(request) else busy for request in requests]

    def _locked(self, requests: Sequence[Request]) -> Sequence[Answer | LedgerError]:
        try:
            connection, identity = self._open()
            identity.check()
            self._settle(connection)
            self._begin(connection, patient=any(map(is_outcome, requests)))
        except StoreError as error:
            return [error] * len(requests)
        except sqlite3.Error as error:
            self._drop()
            return [translated(error, self.files.database, doing="write to")] * len(requests)
        return self._transaction(connection, identity, requests)

    def _begin(self, connection: sqlite3.Connection, *, patient: bool) -> None:
        """Begin; a program that does not know the side lock may hold SQLite's own."""
        if connection.in_transaction:  # Ctrl-C came between two lines
            connection.execute(sql.ROLLBACK)
        while True:
            try:
                connection.execute(sql.BEGIN)
                return
            except sqlite3.OperationalError as error:
                if not patient or primary(error) != sqlite3.SQLITE_BUSY:
                    raise

    def _transaction(
        self, connection: sqlite3.Connection, identity: Identity, requests: Sequence[Request]
    ) -> Sequence[Answer | LedgerError]:
        try:
            changes, answers = self._applied(connection, requests)
        except sqlite3.Error as error:
            self._roll_back(connection)
            return [translated(error, self.files.database, doing="write to")] * len(requests)
        except BaseException:
            self._roll_back(connection)
            raise
        if not changes.made:
            self._roll_back(connection)
            return answers
        try:
            connection.execute(sql.COMMIT)
        except Exception as error:  # noqa: BLE001 - whatever it was, the commit may have happened
            self._failed = True
            self._roll_back(connection)
            return self._after_bad_commit(requests, error)
        except BaseException:
            self._failed = True
            self._roll_back(connection)
            raise
        self._failed = False
        self._remember(changes.looked_up.fresh)
        return self._acknowledged(connection, identity, requests, answers)

    def _applied(
        self, connection: sqlite3.Connection, requests: Sequence[Request]
    ) -> tuple[Changes, list[Answer | LedgerError]]:
        """Apply the requests; where one of several was refused half-way, each anew behind a savepoint of its own."""
        changes = Changes(connection, self._clock.now(), self._known)
        try:
            if len(requests) == 1:
                return changes, [changes.apply(requests[0], alone=True)]
            return changes, apply_together(changes, requests)
        except Torn:
            connection.execute(sql.ROLLBACK)
            self._begin(connection, patient=any(map(is_outcome, requests)))
            changes = Changes(connection, self._clock.now(), self._known, savepoints=True)
            return changes, [changes.apply(request, alone=False) for request in requests]

    def _remember(self, fresh: set[About]) -> None:
        """Keep what was committed just now: it need not be written again."""
        if len(self._known) + len(fresh) > MOST_KNOWN:
            self._known.clear()
        self._known |= fresh

    def _acknowledged(
        self,
        connection: sqlite3.Connection,
        identity: Identity,
        requests: Sequence[Request],
        answers: Sequence[Answer | LedgerError],
    ) -> Sequence[Answer | LedgerError]:
        try:
            identity.check()
        except StoreError as error:
            return [error] * len(requests)
        self._checkpoint(connection, identity.wal_bytes)
        return answers

    def _checkpoint(self, connection: sqlite3.Connection, wal_bytes: int) -> None:
        """
        Bring a grown log home, under the lock (the WAL-reset bug of SQLite 3.7.0 to 3.51.2 needs two at it at once).

        A reader may keep the log from starting over: then the next attempt waits until it has grown again. SQLite cuts
        the log back to its limit when it starts over. A checkpoint that fails loses nothing.
        """
        if wal_bytes > self._checkpoint_at:
            self._checkpoint_at = wal_bytes + _CHECKPOINT_STEP
            with contextlib.suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        elif wal_bytes <= WAL_BYTES:
            self._checkpoint_at = WAL_BYTES

    # -- a commit that failed

    def _after_bad_commit(self, requests: Sequence[Request], error: Exception) -> Sequence[Answer | LedgerError]:
        """
        Look up by event id what became of a commit that reported an error: it may have happened all the same.

        On the same connection where there still is one: what SQLite shows there was synced before.
        """
        fault = StoreUnavailable(
            f"the commit to {self.files.database} failed ({error}); it could not be looked up whether it happened",
            hint="Append the same events again: what is recorded is not doubled.",
        )
        try:
            connection, identity = self._open()
            answers = [self._look_up(connection, request, error) for request in requests]
            if any(isinstance(answer, Appended) for answer in answers):
                self._settle(connection)
            identity.check()
        except (StoreError, sqlite3.Error):
            return [fault] * len(requests)
        return answers

    def _settle(self, connection: sqlite3.Connection) -> None:
        """
        Bring the log home where a commit failed and its connection was lost.

        A new connection may find such a commit in the log and take it for done. After a failed fsync its pages may be
        clean in memory and absent from the disk (https://wiki.postgresql.org/wiki/Fsync_Errors); what is appended
        behind them would be lost with them. The commit at the end makes it durable that the log was cut. Raises
        `StoreUnavailable` where a reader keeps the log from starting over.
        """
        if not self._in_doubt:
            return
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreUnavailable(
                f"a commit to {self.files.database} failed before, and its log is in use: nothing is written behind it",
                hint="Try again when those who read the ledger now have ended.",
            )
        (epoch,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {epoch}")
        self._failed = self._in_doubt = False

    def _look_up(self, connection: sqlite3.Connection, request: Request, error: Exception) -> Answer | LedgerError:
        absent: StoreError = StoreUnavailable(
            f"the commit to {self.files.database} failed and nothing was recorded: {error}"
        )
        if isinstance(error, sqlite3.Error):
            absent = translated(error, self.files.database, doing="commit to")
        if not isinstance(request, Append):
            return absent
        changes = Changes(connection, self._clock.now())
        try:
            found = rules.repeat(request, changes.stored(request), changes.head(request.session_id))
        except LedgerError as conflict:
            return conflict
        return absent if found is None else replace(found, repeated=False)

    # -- the connection

    def alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something else with the connection, in a transaction of its own; raises what `work` and SQLite raise."""
        with self._mutex:
            if self._closed:
                raise StoreUnavailable("this ledger is closed")
            self.lock.acquire(self.patience)
            try:
                with self._inside:
                    return self._alone(work)
            finally:
                self.lock.release()

    def _alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection, identity = self._open()
        identity.check()
        self._settle(connection)
        connection.execute(sql.BEGIN)
        try:
            done = work(connection)
            connection.execute(sql.COMMIT)
        except BaseException:
            self._failed = True
            self._roll_back(connection)
            raise
        self._failed = False
        return done

    def _open(self) -> tuple[sqlite3.Connection, Identity]:
        if self._connection is None or self._identity is None:
            connection = self.files.writer()
            connection.text_factory = sql.text  # a flipped bit in one session's head takes no other one's commit
            try:
                self._identity = Identity(self.files, self._place)
                self._place = self._identity.database
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection, self._identity

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        """End a transaction without a trace; SQLite may have ended it itself. Never left open, never reused broken."""
        try:
            if connection.in_transaction:
                connection.execute(sql.ROLLBACK)
        except sqlite3.Error:
            self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._in_doubt |= self._failed

    def close(self) -> None:
        """Bring the log home and close, under the lock; a lock that stays taken means that another one will do it."""
        with self._mutex:
            self._closed = True
            if self._connection is None:
                self.lock.close()
                return
            with contextlib.suppress(StoreError, sqlite3.Error):
                self.lock.acquire(self.patience)
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._drop()
            self.lock.close()

    def forget(self) -> None:
        """Start anew in a forked child: nothing inherited is used or closed."""
        if self._connection is not None:
            door.leak(self._connection)
        self._connection = None
        self._mutex = threading.Lock()
        self._inside = threading.Lock()
        self.lock.forget()

    def hold(self) -> bool:
        """
        Let no transaction begin while this process forks; False where one took too long.

        SQLite remembers in the process which locks a file has. A child made in a transaction finds it under way for
        ever: it could never write, and would keep the writers' lock from all others while it tries.
        """
        return self._inside.acquire(timeout=FORK_SECONDS)

    def let_go(self) -> None:
        """Let transactions begin again."""
        self._inside.release()
