"""
Crash points: the process kills itself with SIGKILL at a chosen append, so that a test sees what a crash leaves.

    with Ledger.open("sqlite:///agent.db") as ledger:
        crash.arm(ledger, crash.after("call.started"))
        ...                                   # in a child process: it dies there, as under kill -9

No `finally`, no `atexit`, no flush runs: what is left is what a power button would leave in the process's place (the
operating system lives on; what it has taken over, it writes). Ask in the next process what became of the calls.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

from ledger.session.ledger import Ledger
from ledger.store.port import Append, Appended, Store

When: TypeAlias = Literal["before", "after"]
End: TypeAlias = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Point:
    """
    A moment in the life of a process: before or after an append.

    `what` is the number of the append, counted from 1 since `arm`; or an event's type: then `nth` counts the appends
    that hold such an event.
    """

    when: When
    what: int | str
    nth: int = 1

    def reached(self, when: When, seen: dict[int | str, int], request: Append) -> bool:
        """Whether this is the moment; `seen` counts the appends so far, all of them under 0, and by event type."""
        if when != self.when:
            return False
        if isinstance(self.what, int):
            return seen[0] == self.what
        return seen.get(self.what) == self.nth and any(draft.type == self.what for draft in request.drafts)


def before(what: int | str, nth: int = 1) -> Point:
    """Return the moment before an append reaches the store: nothing of it is recorded."""
    return Point("before", what, nth)


def after(what: int | str, nth: int = 1) -> Point:
    """Return the moment after an append was acknowledged, before its caller goes on."""
    return Point("after", what, nth)


def die() -> NoReturn:  # pragma: no cover - a killed process reports no coverage
    """Kill this process as `kill -9` does; for the inside of a tool."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise SystemError("SIGKILL did not end this process")


class Watch:
    """
    Stands between a ledger and its store: counts the appends, notes what was acknowledged, dies at its points.

    `appends` is the number of appends that were begun.
    """

    def __init__(self, store: Store, points: tuple[Point, ...], acknowledged: Path | None, end: End) -> None:
        self._store = store
        self._points = points
        self._end = end
        self._seen: dict[int | str, int] = {0: 0}
        self._lock = threading.Lock()
        self._notes = -1
        if acknowledged is not None:
            self._notes = os.open(acknowledged, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    @property
    def appends(self) -> int:
        """How many appends were begun."""
        return self._seen[0]

    def append(self, request: Append) -> Appended:
        """Hand the append on; see `Store.append`."""
        counted: list[int | str] = [0, *{draft.type for draft in request.drafts}]
        with self._lock:
            for what in counted:
                self._seen[what] = self._seen.get(what, 0) + 1
            seen = dict(self._seen)
        self._check("before", seen, request)
        done = self._store.append(request)
        if self._notes >= 0:
            lines = (f"{request.session_id} {draft.event.event_id}\n" for draft in request.drafts)
            os.write(self._notes, "".join(lines).encode())
        self._check("after", seen, request)
        return done

    def _check(self, when: When, seen: dict[int | str, int], request: Append) -> None:
        if any(point.reached(when, seen, request) for point in self._points):
            self._end()

    def close(self) -> None:
        """Close the store, and the file of notes."""
        if self._notes >= 0:
            os.close(self._notes)
            self._notes = -1
        self._store.close()

    def __getattr__(self, name: str) -> Any:  # the rest of the store's port, untouched
        return getattr(self._store, name)


def arm(ledger: Ledger, *points: Point, acknowledged: str | Path | None = None, end: End = die) -> Watch:
    """
    Let this process die at the first of these points that it comes to; none: only watch.

    `end` is what happens there. A function that raises a `BaseException` of yours stays in the process instead: the
    session is left as a crash leaves it, but that the lease is given back.

    `acknowledged`: a file that gets a line `session event` for each event as soon as its append has returned. After a
    crash every one of them must be in the ledger: an acknowledged event survives.
    """
    notes = None if acknowledged is None else Path(acknowledged)
    watch: Watch = ledger.wrap_store(lambda store: Watch(store, points, notes, end))
    return watch
