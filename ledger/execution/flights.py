"""Runs under way: each ends once, either for the engine that waits or for a late handler."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any

from ledger.execution.requests import Ended, Run


class Flight:
    """One run under way, on whatever thread or task."""

    def __init__(self, run: Run, landed: Callable[[Ended], None]) -> None:
        self.run = run
        self._landed = landed
        self._late: Callable[[Ended], None] | None = None
        self.ended: Ended | None = None
        self._lock = threading.Lock()
        self.task: asyncio.Task[None] | None = None

    def land(self, ended: Ended, *, in_loop: bool = False) -> None:
        """Hand the end to whoever is interested in it now; a late end is never recorded on an event loop's thread."""
        with self._lock:
            self.ended = ended
            late = self._late
        if late is None:
            self._landed(ended)
        elif in_loop:
            threading.Thread(target=late, args=(ended,), name="ledger-late", daemon=True).start()
        else:
            late(ended)

    def let_go(self, late: Callable[[Ended], None]) -> bool:
        """Turn a later end over to `late`; False if it has ended already (its end is in the queue)."""
        self.run.context.cancel()
        with self._lock:
            if self.ended is not None:
                return False
            self._late = late
            return True

    def fly(self) -> None:
        """Run a tool to its end on this thread; an async tool gets an event loop of its own."""
        begun = time.perf_counter()
        value: Any = None
        raised: BaseException | None = None
        try:
            value = self.run.function(**self.run.keywords)
            if inspect.isawaitable(value):
                value = asyncio.run(awaited(value))
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its outcome, SystemExit too
            raised = error
        self.land(self._end(begun, value, raised))

    async def afly(self) -> None:
        """Run an async tool to its end in this event loop."""
        begun = time.perf_counter()
        value: Any = None
        raised: BaseException | None = None
        try:
            value = await self.run.function(**self.run.keywords)
        except BaseException as error:  # noqa: BLE001 - also CancelledError: the end is told to who waits
            raised = error
        self.land(self._end(begun, value, raised), in_loop=True)

    def _end(self, begun: float, value: Any, raised: BaseException | None) -> Ended:
        spent = round((time.perf_counter() - begun) * 1000, 3)
        return Ended(call_id=self.run.call_id, run=self.run, value=value, raised=raised, duration_ms=spent)


async def awaited(value: Any) -> Any:
    """Await anything awaitable: `asyncio.run` takes coroutines only."""
    return await value
