"""
Group commit: a lone caller commits on its own thread, callers that had to wait are merged into one transaction.

Who was just answered often asks again at once (a call records its start, then its outcome). So the leader first lets
the other threads run, and commits for those that come meanwhile: 8 sessions make 0.30 commits a call instead of 0.48.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, Generic, Protocol, TypeVar, cast

from ledger.errors import LedgerError, StoreBusy

MOST: Final = 64
"""Requests merged into one transaction; more wait for the next."""

SLICE: Final = 0.0001
"""
Seconds that a leader stands aside for those who may come again; it goes on when one such slice brings nobody.

Threads that are on their way need the interpreter, and keep the leader from it until they have asked. So a slice is
long where waiting pays, and this short where all others sleep or wait for their tools; a commit takes three times it.
"""

RECENT: Final = 0.001
"""Seconds since the last answers after which a leader does not stand aside: who is not back by then runs a tool."""

LONGEST: Final = 0.02
"""Seconds after which a leader stands aside no longer, whoever still comes."""


class Request(Protocol):
    """What can be queued: it belongs to a session."""

    @property
    def session_id(self) -> str:
        """The session that it changes; a group is sorted by it."""


R = TypeVar("R", bound=Request)
A = TypeVar("A")


class Ticket(Generic[R, A]):
    """One caller's request and, later, its answer."""

    __slots__ = ("answer", "done", "latch", "leads", "request", "thread")

    def __init__(self, request: R) -> None:
        self.request = request
        self.done = False
        self.leads = False
        self.answer: A | LedgerError | None = None
        self.thread = threading.get_ident()
        self.latch = threading.Lock()
        self.latch.acquire()

    def wake(self) -> None:
        """Let its caller go on; once more does nothing."""
        if self.latch.locked():
            self.latch.release()


class GroupWriter(Generic[R, A]):
    """
    Queue requests of many threads for one writer.

    `commit` gets the requests of one transaction and returns their answers, each a value or the error to raise. It is
    called by one thread at a time, that of one of the callers: there is no thread to hop to, and none to lose.
    """

    def __init__(self, commit: Callable[[Sequence[R]], Sequence[A | LedgerError]]) -> None:
        self._commit = commit
        self._guard = threading.Lock()
        self._queue: list[Ticket[R, A]] = []
        self._group: list[Ticket[R, A]] = []  # taken from the queue by the leader, not answered yet
        self._leader: int | None = None  # the thread that writes
        self._away = 0  # callers that were answered and have not asked again
        self._answered = 0.0  # when the last of them were, by the monotonic clock
        self._aside: Ticket[R, A] | None = None  # the leader's, while it stands aside

    def submit(self, request: R, *, patience: float | None) -> A:
        """
        Return the answer to a request, or raise it.

        A caller that is not first waits up to `patience` seconds (None: as long as it takes) for its transaction to
        begin, then `StoreBusy` is raised and the request is withdrawn.
        """
        ticket: Ticket[R, A] = Ticket(request)
        if self._leader == ticket.thread:  # Ctrl-C cut this thread off as it led; no `finally` is safe from that
            self._finish()
        try:
            with self._guard:
                self._queue.append(ticket)
                self._came()
                if self._leader is None:
                    ticket.leads, self._leader = True, ticket.thread
            if not ticket.leads:
                self._wait(ticket, patience)
            if ticket.leads:
                self._lead(ticket)
        except BaseException:
            self._withdraw(ticket)
            raise
        if isinstance(ticket.answer, LedgerError):
            raise ticket.answer
        return cast("A", ticket.answer)

    def _wait(self, ticket: Ticket[R, A], patience: float | None) -> None:
        if ticket.latch.acquire(timeout=-1 if patience is None else patience):
            return
        with self._guard:
            begun = ticket.leads or ticket not in self._queue
        if not begun:
            raise StoreBusy(f"the writer of this process was busy for more than {patience} s")
        ticket.latch.acquire()

    def _withdraw(self, ticket: Ticket[R, A]) -> None:
        """
        Take the request of a caller that gave up (a deadline, Ctrl-C) out of the queue; let the next one lead.

        Ctrl-C may have cut `_finish` short, and this thread may never ask again: what is left of it is done here.
        """
        with self._guard:
            if ticket in self._queue:
                self._queue.remove(ticket)
            if self._leader is None or self._leader == ticket.thread:
                self._hand_on()
            elif self._queue and self._queue[0].leads:
                self._queue[0].wake()

    def _came(self) -> None:
        """Count a caller that asks (again); with the last of them the leader need not stand aside any more."""
        if self._away:
            self._away -= 1
            if not self._away and self._aside is not None:
                self._aside.wake()

    def _stand_aside(self, own: Ticket[R, A]) -> None:
        """Let those ask who may be on their way; a lone caller has nobody to wait for."""
        begun = now = time.monotonic()
        if now - self._answered > RECENT:
            return
        self._aside = own
        while self._away and len(self._queue) < MOST and now - begun < LONGEST:
            before = len(self._queue)
            if own.latch.acquire(timeout=SLICE):
                break
            with self._guard:
                self._away = self._away if len(self._queue) > before else 0  # else they do something else
            now = time.monotonic()
        self._aside = None

    def _lead(self, own: Ticket[R, A]) -> None:
        try:
            if self._away:
                self._stand_aside(own)
            with self._guard:
                self._group, self._queue = self._queue[:MOST], self._queue[MOST:]
            group = sorted(self._group, key=lambda ticket: ticket.request.session_id)
            answers = self._commit([ticket.request for ticket in group])
            for ticket, answer in zip(group, answers, strict=True):
                ticket.answer, ticket.done = answer, True
        finally:
            self._finish()

    def _finish(self) -> None:
        with self._guard:
            self._hand_on()

    def _hand_on(self) -> None:
        """
        Wake those that are answered; the rest of an interrupted group is tried again by the next leader.

        That may repeat what was committed already: the same event ids are recognised. Cut short at any line, all of it
        may be done again.
        """
        others = [ticket for ticket in self._group if ticket.thread != threading.get_ident()]
        self._answered = time.monotonic()
        self._away += sum(ticket.done for ticket in self._group)
        for ticket in others:
            if ticket.done:
                ticket.wake()
        self._queue, self._group = [ticket for ticket in others if not ticket.done] + self._queue, []
        self._appoint()

    def _appoint(self) -> None:
        self._leader = None
        if self._queue:
            following = self._queue[0]
            following.leads, self._leader = True, following.thread
            following.wake()
