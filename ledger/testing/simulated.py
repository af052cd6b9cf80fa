"""A crash without a second process: from a chosen moment on nothing more is recorded, and the next ledger is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NoReturn

from ledger.errors import StoreUnavailable
from ledger.session.ledger import Ledger
from ledger.store.port import Append, Appended, Store
from ledger.testing import crash
from ledger.testing.crash import Point, Watch


class Crashed(BaseException):
    """The moment was reached: what is on the stack unwinds, and its ledger records nothing any more."""


class Fuse(Watch):
    """Stands between a ledger and its store; once it is blown, no append reaches the store."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, (), None, self._blow)
        self.blown = False
        self._sessions: set[str] = set()

    def set(self, *points: Point) -> None:
        """Count anew from here, and blow at the first of these points that is reached."""
        self._points = points
        self._seen = {0: 0}

    def _blow(self) -> NoReturn:
        self.blown = True
        raise Crashed

    def append(self, request: Append) -> Appended:
        """Hand the append on, or refuse it: a tool that still runs in a thread belongs to a dead process."""
        if self.blown:
            raise StoreUnavailable("the process of this ledger has crashed")
        self._sessions.add(request.session_id)
        return super().append(request)

    def let_go(self) -> None:
        """Give all leases back: their owner is dead, though this process lives, as another one could not know."""
        for session_id in self._sessions:
            head = self._store.head(session_id)
            if head is not None:
                self._store.release(session_id, token=head.token)


class Crash:
    """
    Crashes of one ledger in this process, and the ledgers of the processes that follow.

        with crash.after("call.started"):
            session.call("refund", {"order": 17})
        ledger = crash.reopen()  # register the tools again, as the next process does

    Unlike a real crash the stack unwinds (`finally` runs), and the leases are given back at once. To kill a process for
    real, see `ledger.testing.crash`.
    """

    def __init__(self, ledger: Ledger, opened: Callable[[], Ledger]) -> None:
        self._open = opened
        self._fuse: Fuse = ledger.wrap_store(Fuse)

    def before(self, what: int | str, nth: int = 1) -> AbstractContextManager[None]:
        """Crash in the block, before the append (its number from here, or an event in it) reaches the store."""
        return self._at(crash.before(what, nth))

    def after(self, what: int | str, nth: int = 1) -> AbstractContextManager[None]:
        """Crash in the block, after the append was acknowledged and before its caller goes on."""
        return self._at(crash.after(what, nth))

    def reopen(self) -> Ledger:
        """Return the ledger as the next process opens it, without tools; the next crash is one of it."""
        ledger = self._open()
        self._fuse = ledger.wrap_store(Fuse)
        return ledger

    @contextmanager
    def _at(self, point: Point) -> Iterator[None]:
        self._fuse.set(point)
        try:
            yield
        except Crashed:
            self._fuse.let_go()
            return
        finally:
            self._fuse.set()
        raise AssertionError(f"no crash: the block ended and {point.when} {point.what!r} was not reached")
