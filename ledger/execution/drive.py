"""The two drivers of the engine: one blocks the caller's thread, one awaits; the engine is the same."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar, assert_never, cast

from ledger.execution.flights import Flight, awaited
from ledger.execution.requests import Await, Ended, Io, Launch, LetGo, Request, Run, Steps, UserCode

T = TypeVar("T")


def drive(steps: Steps[T]) -> T:
    """
    Run the engine to its end on this thread; whatever a request raises is raised in the engine at that place.

    So is a Ctrl-C that hits between two requests: only an engine that has ended may be left.
    """
    driver = _Blocking()
    failed: BaseException | None = None
    argument: Any = None
    while True:
        try:
            argument = driver.perform(_next(steps, argument, failed))
            failed = None
        except BaseException as error:
            if inspect.getgeneratorstate(steps) == inspect.GEN_CLOSED:
                if isinstance(error, StopIteration):
                    value: T = error.value
                    return value
                raise
            argument, failed = None, error


def _next(steps: Steps[T], argument: Any, failed: BaseException | None) -> Request:
    return steps.send(argument) if failed is None else steps.throw(failed)


class _Blocking:
    """Performs requests on the caller's thread, tools beside it in threads of their own."""

    def __init__(self) -> None:
        self._landed: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._flights: dict[str, Flight] = {}

    def perform(self, request: Request) -> Any:
        match request:
            case Io(work):
                return work()
            case UserCode(function, arguments, keywords):
                value = function(*arguments, **keywords)
                return asyncio.run(awaited(value)) if inspect.isawaitable(value) else value
            case Launch(run):
                return self._launch(run)
            case Await(seconds):
                return self._wait(seconds)
            case LetGo(call_id, late, _):
                return self._let_go(call_id, late)
            case _:
                assert_never(request)

    def _launch(self, run: Run) -> None:
        flight = self._flights[run.call_id] = Flight(run, self._landed.put)
        if run.inline:
            flight.fly()
        else:
            start_thread(flight)

    def _wait(self, seconds: float | None) -> list[Ended]:
        found: list[Ended] = []
        with contextlib.suppress(queue.Empty):
            found.append(self._landed.get(timeout=seconds))
            while True:
                found.append(self._landed.get_nowait())
        return found

    def _let_go(self, call_id: str, late: Callable[[Ended], None]) -> bool | None:
        flight = self._flights.get(call_id)
        if flight is None or flight.let_go(late):
            return None if flight is None else True
        self._landed.put(cast("Ended", flight.ended))  # told once more: an interruption may have hit its handing over
        return False


def start_thread(flight: Flight) -> None:
    """Run a flight in a daemon thread: a tool that never returns must not keep the process from ending."""
    context = contextvars.copy_context()
    name = f"ledger-{flight.run.context.tool}"
    threading.Thread(target=context.run, args=(flight.fly,), name=name, daemon=True).start()


async def adrive(steps: Steps[T]) -> T:
    """
    Run the engine to its end in this event loop, which is never blocked by a commit or a sync tool.

    Work on the store is shielded: a cancellation that arrives meanwhile is raised in the engine behind it, or here
    once the engine is done.
    """
    driver = _Awaiting()
    failed: BaseException | None = None
    argument: Any = None
    while True:
        try:
            argument = await driver.perform(_next(steps, argument, failed))
            failed = None
        except BaseException as error:
            if inspect.getgeneratorstate(steps) == inspect.GEN_CLOSED:
                if driver.cancelled is not None:
                    raise driver.cancelled from error
                if isinstance(error, StopIteration):
                    value: T = error.value
                    return value
                raise
            argument, failed = None, error


class _Awaiting:
    """Performs requests in an event loop; sync tools and the store's work go to threads."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._landed: asyncio.Queue[Ended] = asyncio.Queue()
        self._flights: dict[str, Flight] = {}
        self.cancelled: asyncio.CancelledError | None = None

    async def perform(self, request: Request) -> Any:
        if isinstance(request, Io):
            return await self._shielded(request)
        if isinstance(request, LetGo):
            return self._let_go(request)
        cancelled, self.cancelled = self.cancelled, None
        if cancelled is not None:
            raise cancelled
        match request:
            case UserCode(function, arguments, keywords):
                if inspect.iscoroutinefunction(function):
                    return await function(*arguments, **keywords)
                value = await asyncio.to_thread(function, *arguments, **keywords)
                return await value if inspect.isawaitable(value) else value
            case Launch(run):
                return self._launch(run)
            case Await(seconds):
                return await self._wait(seconds)
            case _:
                assert_never(request)

    async def _shielded(self, request: Io) -> Any:
        work = asyncio.ensure_future(asyncio.to_thread(request.work))
        while True:
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError as error:
                if work.cancelled():  # pragma: no cover - the loop itself is being torn down
                    raise
                self.cancelled = error

    def _land(self, ended: Ended) -> None:
        self._loop.call_soon_threadsafe(self._landed.put_nowait, ended)

    def _launch(self, run: Run) -> None:
        flight = self._flights[run.call_id] = Flight(run, self._land)
        if inspect.iscoroutinefunction(run.function):
            flight.task = self._loop.create_task(flight.afly())
        else:
            start_thread(flight)

    def _let_go(self, request: LetGo) -> bool | None:
        flight = self._flights.get(request.call_id)
        if flight is None:
            return None
        under_way = flight.let_go(request.late)
        if flight.ended is not None and not under_way:  # told once more, as above
            self._landed.put_nowait(flight.ended)
        elif request.interrupt and flight.task is not None:
            flight.task.cancel()
        return under_way

    async def _wait(self, seconds: float | None) -> list[Ended]:
        found = self._taken()
        if found:  # `wait_for` with no time left would never look
            return found
        with contextlib.suppress(TimeoutError):
            found.append(await asyncio.wait_for(self._landed.get(), seconds))
        return [*found, *self._taken()]

    def _taken(self) -> list[Ended]:
        found: list[Ended] = []
        while not self._landed.empty():
            found.append(self._landed.get_nowait())
        return found
