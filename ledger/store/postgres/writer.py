"""One transaction for a group of requests: the connection, the commit, and what follows where one of them fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeAlias, TypeVar

import psycopg
from psycopg import errors
from sqlalchemy import PoolProxiedConnection

from ledger.calls import CallRow
from ledger.errors import LedgerError, StoreError, StoreUnavailable
from ledger.ids import Clock
from ledger.store import rules
from ledger.store.port import Append, Appended, Head
from ledger.store.postgres import sql
from ledger.store.postgres.changes import MOST_KNOWN, About, Changes
from ledger.store.postgres.door import Connection, Server, driver, leak, pipeline
from ledger.store.postgres.faults import contended, lost
from ledger.store.postgres.texts import bindable, kept, meant
from ledger.store.writing import Answer, Request, is_outcome

T = TypeVar("T")
Answers: TypeAlias = Sequence[Answer | LedgerError]

PAUSES: Final = (0.0, 0.05, 0.2, 0.5, 1.0)
"""Seconds before a lost connection is made again; the last one again and again, while there is patience."""

MOST_RACES: Final = 10
"""How often somebody else may be quicker; one who was is seen at the next look, unless the database is damaged."""


class Effort:
    """How long a group is being tried; `doubt`: a COMMIT was sent and its answer was lost."""

    def __init__(self, requests: Sequence[Request], patience: float) -> None:
        self.tries = 0
        self.races = 0
        self.sent = False
        self.doubt = False
        self._patient = any(map(is_outcome, requests))
        self._end = time.monotonic() + patience

    @property
    def over(self) -> bool:
        """Whether patience has come to its end."""
        return time.monotonic() >= self._end

    def goes_on(self) -> bool:
        """Return whether a lost connection is worth another try; an answer in doubt, and an outcome, are for long."""
        return not self.over and (self.tries == 0 or self.doubt or self._patient)

    def pause(self) -> None:
        """Let the server come back."""
        time.sleep(PAUSES[min(self.tries, len(PAUSES) - 1)])

    def told(self, answers: Answers) -> Answers:
        """Return the answers as they are after all these tries: what an earlier one recorded is no repetition."""
        if not self.doubt:
            return answers
        return [replace(answer, repeated=False) if isinstance(answer, Appended) else answer for answer in answers]


class Writer:
    """The one write connection of a process; used by one thread at a time (the leader of a group)."""

    def __init__(self, server: Server, clock: Clock | None, patience: float) -> None:
        self.patience = patience
        self._server = server
        self._clock = clock
        self._taken: PoolProxiedConnection | None = None
        self._known: set[About] = set()
        self._mutex = threading.Lock()
        self._closed = False

    # -- a group

    def commit(self, requests: Sequence[Request]) -> Answers:
        """Record the requests in one transaction; each gets its answer, or the error to raise."""
        with self._mutex:
            if self._closed:
                return [StoreUnavailable("this ledger is closed")] * len(requests)
            return self._persistent(requests)

    def _persistent(self, requests: Sequence[Request], *, doubt: bool = False) -> Answers:
        """
        Try until there is an answer.

        A commit whose answer was lost may have happened, or may be under way. The same requests are then tried again:
        a transaction that is under way holds the heads and is waited for, and what it recorded is recognised by its
        event ids.
        """
        effort = Effort(requests, self.patience)
        effort.doubt = doubt
        while True:
            try:
                answers = self._attempt(requests, effort)
            except psycopg.Error as error:
                answers = self._failed(error, requests, effort)
            except StoreError as error:  # there is no connection to be had
                answers = self._unreachable(error, requests, effort)
            except LedgerError as error:
                return [error] * len(requests)
            except BaseException:
                self._drop()  # wherever Ctrl-C came between two lines, the server ends the transaction
                raise
            if answers is not None:
                return effort.told(answers)
            effort.tries += 1

    def _attempt(self, requests: Sequence[Request], effort: Effort) -> Answers | None:
        """Return the answers, or None to try again. Raises `psycopg.Error` where nobody can tell."""
        try:
            return self._transaction(requests, effort)
        except (errors.IntegrityError, errors.DataError, errors.ProgramLimitExceeded) as error:
            effort.sent = False  # the server said no: there is nothing to doubt
            self._give_up()
            if len(requests) > 1:  # one of them is refused: each by itself
                return [self._persistent([request], doubt=effort.doubt)[0] for request in requests]
            answer = self._refused(requests[0], error)
            effort.races += 1
            if answer is None and effort.races > MOST_RACES:  # the index refuses what no look shows
                answer = self._server.fault(error, doing="write to")
            return None if answer is None else [answer]

    def _transaction(self, requests: Sequence[Request], effort: Effort) -> Answers:
        connection = self._open()
        effort.sent = False
        heads, now = self._begin(connection, requests)
        changes = Changes(connection, heads, now, self._known)
        outcomes = [changes.apply(request) for request in requests]
        if changes.made:
            effort.sent = True
            changes.flush(commit=True)
            self._remember(changes.fresh)
        else:
            connection.execute(sql.ROLLBACK)
        return [outcome if isinstance(outcome, LedgerError) else changes.answer(outcome) for outcome in outcomes]

    def _begin(self, connection: Connection, requests: Sequence[Request]) -> tuple[dict[str, Head], datetime]:
        """Lock the heads, and then ask for the time: whoever waited for a lease sees that it has ended."""
        sessions = list({kept(request.session_id): None for request in requests})
        with pipeline(connection):
            connection.execute(sql.BEGIN)
            locked = connection.execute(sql.HEADS, (sessions,))
            moment = connection.execute(sql.NOW)
        heads = {meant(session_id): sql.head_of(head) for session_id, *head in locked.fetchall()}
        now: datetime = moment.fetchall()[0][0]
        return heads, now if self._clock is None else self._clock.now()

    def _remember(self, fresh: set[About]) -> None:
        """Keep what was committed just now: it need not be written again."""
        if len(self._known) + len(fresh) > MOST_KNOWN:
            self._known.clear()
        self._known |= fresh

    # -- where it failed

    def _failed(self, error: psycopg.Error, requests: Sequence[Request], effort: Effort) -> Answers | None:
        """Return the answers after an error, or None to try again."""
        if lost(error):
            effort.doubt = effort.doubt or effort.sent
            self._drop()
            if not effort.goes_on():
                return [self._lost(error, effort)] * len(requests)
            effort.pause()
            return None
        self._give_up()
        if contended(error):
            waits = all(map(is_outcome, requests)) or not effort.over
            return None if waits else self._outcomes_only(requests, error, effort)
        return [self._fault(error, effort)] * len(requests)

    def _unreachable(self, error: StoreError, requests: Sequence[Request], effort: Effort) -> Answers | None:
        if not effort.goes_on():
            return [self._lost(error, effort) if effort.doubt else error] * len(requests)
        effort.pause()
        return None

    def _lost(self, error: Exception, effort: Effort) -> StoreError:
        why = str(error).strip().partition("\n")[0]
        if effort.doubt:
            return StoreUnavailable(
                f"the connection to {self._server.shown} was lost in a commit ({why}); whether it happened could not"
                " be looked up",
                hint="Append the same events again: what is recorded is not doubled.",
            )
        return StoreUnavailable(f"the connection to {self._server.shown} was lost and nothing was recorded: {why}")

    def _fault(self, error: psycopg.Error, effort: Effort) -> LedgerError:
        """Return what to raise for an error; where an earlier commit is in doubt, that is what counts."""
        return self._lost(error, effort) if effort.doubt else self._server.fault(error, doing="write to")

    def _outcomes_only(self, requests: Sequence[Request], error: psycopg.Error, effort: Effort) -> Answers:
        busy = self._fault(error, effort)
        outcomes = [request for request in requests if is_outcome(request)]
        answers = iter(self._persistent(outcomes, doubt=effort.doubt) if outcomes else ())
        return [next(answers) if is_outcome(request) else busy for request in requests]

    def _refused(self, request: Request, error: psycopg.Error) -> Answer | LedgerError | None:
        """Return why the server refused a request that was alone; None: it is worth another look."""
        otherwise = self._server.fault(error, doing="write to")
        if isinstance(error, errors.ProgramLimitExceeded):
            return rules.too_long(request.session_id, why=str(error).partition("\n")[0])
        if not isinstance(request, Append):
            return otherwise
        match error.diag.constraint_name:
            case "session_head_pkey" | "call_key":  # somebody else was quicker: now it can be seen
                return None
            case "event_once" | "event_sequence":
                return self._repeated(request)
            case "call_place":
                return next(
                    (rules.place_taken(row) for row in request.calls if self._is_taken(request, row)), otherwise
                )
            case _:
                beyond = isinstance(error, errors.NumericValueOutOfRange)
                return rules.too_large(request) or (rules.head_disagrees(request.session_id) if beyond else otherwise)

    def _repeated(self, request: Append) -> Answer | LedgerError:
        connection = self._open()
        heads, now = self._begin(connection, [request])
        changes = Changes(connection, heads, now, self._known)
        conflict = rules.twice(request.drafts) or rules.head_disagrees(request.session_id)
        try:
            return changes.recorded(request, changes.head(request.session_id), conflict)
        except LedgerError as refusal:
            return refusal
        finally:
            self._roll_back()

    def _is_taken(self, request: Append, row: CallRow) -> bool:
        place = row[1:5]
        if any(other[1:5] == place and other.call_id != row.call_id for other in request.calls):
            return True
        values = (*bindable(place), kept(row.call_id))
        return bool(self._open().execute(sql.AT_PLACE, values).fetchall())

    # -- the connection

    def alone(self, work: Callable[[Connection, datetime], T]) -> T:
        """Do something else with the connection, in a transaction of its own; raises `StoreError` where that fails."""
        with self._mutex:
            if self._closed:
                raise StoreUnavailable("this ledger is closed")
            connection = self._open()
            try:
                _, now = self._begin(connection, ())
                done = work(connection, now)
                connection.execute(sql.COMMIT)
                return done
            except psycopg.Error as error:
                self._roll_back()
                raise self._server.fault(error, doing="rebuild") from error
            except BaseException:
                self._roll_back()
                raise

    def _open(self) -> Connection:
        if self._taken is None:
            self._taken = self._server.take()
        return driver(self._taken)

    def _roll_back(self) -> None:
        """End a transaction without a trace; a connection that cannot do that is not used again."""
        try:
            self._open().execute(sql.ROLLBACK)
        except psycopg.Error:
            self._drop()

    def _give_up(self) -> None:
        """
        End a transaction that an error cut short, and its connection.

        psycopg takes statements for prepared that it sent behind the one that failed, and the server passed over.
        """
        self._roll_back()
        self._drop()

    def _drop(self) -> None:
        if self._taken is not None:
            self._taken.invalidate()
            self._taken = None

    def close(self) -> None:
        """Give the connection back."""
        with self._mutex:
            self._closed = True
            if self._taken is not None:
                self._taken.close()
                self._taken = None

    def forget(self) -> None:
        """Start anew in a forked child: the parent's connection is neither used nor closed."""
        if self._taken is not None:
            leak(self._taken)
        self._taken = None
        self._mutex = threading.Lock()
