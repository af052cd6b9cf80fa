"""The two drivers fulfil the same requests; a commit is never cancelled half-way, an end is told once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ledger.execution.context import Context
from ledger.execution.drive import adrive, drive
from ledger.execution.requests import Ended, Run, Steps, ended_runs, io, launch, let_go, user_code

Driver = Callable[[Steps[Any]], Any]


def awaited(steps: Steps[Any]) -> Any:
    """Drive in an event loop of its own."""

    async def main() -> Any:
        return await adrive(steps)

    return asyncio.run(main())


@pytest.fixture(params=[drive, awaited], ids=["blocking", "awaiting"])
def driven(request: pytest.FixtureRequest) -> Driver:
    """One of the two drivers."""
    found: Driver = request.param
    return found


def run_of(function: Callable[..., Any], *, inline: bool = False, call_id: str = "c", **keywords: Any) -> Run:
    """One attempt of a tool."""
    about = Context(session_id="s", call_id=call_id, tool="t", schema_version=1, attempt=1, idempotency_key="k")
    return Run(call_id=call_id, function=function, keywords=keywords, context=about, inline=inline)


def until_ended(run: Run) -> Steps[Ended]:
    """Launch a run and wait for its end."""
    yield from launch(run)
    while True:
        found = yield from ended_runs(10)
        if found:
            return found[0]


async def one_round() -> None:
    """Let the event loop go round once."""
    passed = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(passed.set_result, None)
    await passed


def plain_twice(number: int) -> int:
    """Sync user code."""
    return number * 2


def awaitable_twice(number: int) -> Any:
    """Sync user code that returns an awaitable."""
    return twice(number)


async def twice(number: int) -> int:
    """Async user code."""
    await one_round()
    return number * 2


def fails(*_: Any) -> None:
    """User code that fails."""
    raise ValueError("x")


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("function", [twice, plain_twice, awaitable_twice])
def test_a_run_ends_with_its_value(driven: Driver, function: Any, *, inline: bool) -> None:
    """Sync, async and awaitable-returning tools end with what they returned, and how long it took."""
    end = driven(until_ended(run_of(function, inline=inline, number=2)))
    assert (end.value, end.raised, end.call_id) == (4, None, "c")
    assert end.duration_ms >= 0


@pytest.mark.parametrize("raised", [ValueError, SystemExit, KeyboardInterrupt])
def test_a_run_ends_with_what_it_raised(driven: Driver, raised: type[BaseException]) -> None:
    """Whatever a tool raises is its end and nobody else's: SystemExit does not end the host."""

    def tool() -> None:
        raise raised

    async def atool() -> None:
        raise ValueError

    assert isinstance(driven(until_ended(run_of(tool))).raised, raised)
    assert isinstance(driven(until_ended(run_of(atool))).raised, ValueError)


@pytest.mark.parametrize("function", [twice, plain_twice, awaitable_twice])
def test_user_code_may_be_sync_or_async(driven: Driver, function: Any) -> None:
    """A check or a policy is called, or awaited."""

    def steps() -> Steps[Any]:
        return (yield from user_code(function, 4))

    assert driven(steps()) == 8


@pytest.mark.parametrize("request_of", [lambda: io(fails), lambda: user_code(fails)], ids=["io", "user code"])
def test_what_a_request_raises_is_raised_at_its_place(driven: Driver, request_of: Any) -> None:
    """The engine decides what an exception means; what it does not catch comes out."""

    def caught() -> Steps[str]:
        try:
            yield from request_of()
        except ValueError as error:
            return f"caught {error}"
        return "nothing"

    assert driven(caught()) == "caught x"
    with pytest.raises(ValueError, match="x"):
        driven(request_of())


def test_waiting_ends_without_an_end(driven: Driver) -> None:
    """A wait with a limit comes back with nothing."""

    def steps() -> Steps[Any]:
        return (yield from ended_runs(0))

    assert driven(steps()) == []


def test_several_ends_come_together(driven: Driver) -> None:
    """All that has ended is told at once, so that it shares a commit."""
    met = threading.Barrier(3)

    def steps() -> Steps[Any]:
        for name in "ab":
            yield from launch(run_of(lambda: met.wait(10), call_id=name))
        yield from io(lambda: met.wait(10))
        found: list[Ended] = []
        while len(found) < 2:
            found += yield from ended_runs(10)
        return sorted(end.call_id for end in found)

    assert driven(steps()) == ["a", "b"]


def test_an_end_after_letting_go_is_told_to_the_late_handler_once(driven: Driver) -> None:
    """Nobody waits any more: the tool is told by `context.cancelled`, its end goes to the handler."""
    leave, told = threading.Event(), threading.Event()
    ends: list[Ended] = []

    def late(end: Ended) -> None:
        ends.append(end)
        told.set()

    run = run_of(lambda: leave.wait(10))

    def steps() -> Steps[Any]:
        yield from launch(run)
        under_way = yield from let_go("c", late, interrupt=True)
        leave.set()
        yield from io(lambda: told.wait(10))
        return under_way, (yield from ended_runs(0))

    assert driven(steps()) == (True, [])
    assert [end.value for end in ends] == [True]
    assert run.context.cancelled


def test_letting_go_of_what_has_ended_says_so(driven: Driver) -> None:
    """The end is in the queue already; the handler is never called."""
    done = threading.Event()

    def steps() -> Steps[Any]:
        yield from launch(run_of(done.set))
        yield from io(lambda: done.wait(10))
        while (yield from let_go("c", lambda _: pytest.fail("told twice"), interrupt=True)):
            pass  # pragma: no cover - the thread has still to hand over its end
        return [end.call_id for end in (yield from ended_runs(10))]

    assert set(driven(steps())) == {"c"}


def test_an_async_tool_is_interrupted_only_where_it_may_be() -> None:
    """`interrupt` cancels the task; without it the task goes on, and its end arrives late off the loop's thread."""
    ends: list[tuple[Any, bool]] = []
    told = threading.Event()
    main_thread = threading.get_ident()

    def late(end: Ended) -> None:
        ends.append((end.raised or end.value, threading.get_ident() == main_thread))
        told.set()

    async def tool(leave: asyncio.Event) -> str:
        await leave.wait()
        return "done"

    def steps(leave: asyncio.Event, *, interrupt: bool) -> Steps[bool | None]:
        yield from launch(run_of(tool, leave=leave))
        yield from ended_runs(0)
        return (yield from let_go("c", late, interrupt=interrupt))

    async def main(*, interrupt: bool) -> None:
        leave = asyncio.Event()
        assert await adrive(steps(leave, interrupt=interrupt)) is True
        if not interrupt:
            leave.set()
        await asyncio.to_thread(told.wait, 10)
        told.clear()

    asyncio.run(main(interrupt=True))
    asyncio.run(main(interrupt=False))
    assert isinstance(ends[0][0], asyncio.CancelledError)
    assert ends[1] == ("done", False)


def test_the_stores_work_is_shielded_from_cancellation() -> None:
    """A cancellation during a commit is raised behind it, at the next request that may be interrupted."""
    inside, leave = threading.Event(), threading.Event()
    seen: list[str] = []

    def work() -> str:
        inside.set()
        leave.wait(10)
        seen.append("committed")
        return "committed"

    def steps() -> Steps[None]:
        seen.append((yield from io(work)))
        seen.append((yield from io(lambda: "second commit")))
        try:
            yield from ended_runs(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.ensure_future(adrive(steps()))
        await asyncio.to_thread(inside.wait, 10)
        task.cancel()
        await one_round()
        task.cancel()
        await one_round()
        leave.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["committed", "committed", "second commit", "cancelled"]


def test_a_cancellation_in_the_last_commit_is_raised_when_the_engine_is_done() -> None:
    """It is not swallowed: the caller was cancelled, and everything is recorded."""
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        inside.set()
        leave.wait(10)

    async def main() -> None:
        task = asyncio.ensure_future(adrive(io(work)))
        await asyncio.to_thread(inside.wait, 10)
        task.cancel()
        await one_round()
        leave.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
