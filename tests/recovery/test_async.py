"""The async spelling of the same engine: cancelled in a commit, at a tool, at its deadline."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.testing import crash
from tests.recovery.scenes import SESSION, START, Scene
from tests.session.agents import asked, types


class Waiting:
    """An async tool that waits until it is let on."""

    def __init__(self, scene: Scene, **options: Any) -> None:
        self.begun = asyncio.Event()
        self.on = asyncio.Event()
        self.ended: list[str] = []
        self.ledger: Ledger = scene.open(tool=False)

        @self.ledger.tool("act", **{"effect": "write", **options})
        async def act(number: int = 1) -> Any:
            """Act."""
            self.begun.set()
            try:
                await self.on.wait()
            except asyncio.CancelledError:
                self.ended.append("cancelled")
                raise
            self.ended.append("done")
            return {"done": number}

    def states(self, scene: Scene) -> list[tuple[str, str | None]]:
        from ledger.replay.reading import session_at

        calls = session_at(self.ledger.reader, SESSION).calls.values()
        return [(call.state, call.reason or call.code) for call in calls]


async def cancelled_in_the_tool(tool: Waiting, *calls: tuple[str, Any]) -> None:
    async with tool.ledger.asession(SESSION) as session:
        task = asyncio.create_task(session.adispatch(asked(*calls)))
        await tool.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_cancelled_at_a_write(scene: Scene) -> None:
    """It may have had its effect; what had not started did not."""

    async def run() -> None:
        tool = Waiting(scene)
        await cancelled_in_the_tool(tool, ("act", {"number": 1}), ("act", {"number": 2}))
        assert tool.ended == ["cancelled"]
        assert tool.states(scene) == [("needs-review", "outcome-unknown"), ("failed", "cancelled")]

    asyncio.run(run())


def test_cancelled_at_reads(scene: Scene) -> None:
    """Each has failed; the lease is given back."""

    async def run() -> None:
        tool = Waiting(scene, effect="read")
        await cancelled_in_the_tool(tool, ("act", {"number": 1}), ("act", {"number": 2}))
        assert tool.states(scene) == [("failed", "cancelled")] * 2
        head = tool.ledger.reader.head(SESSION)
        assert head is not None
        assert head.expires_at == ""

    asyncio.run(run())


def test_a_tool_that_must_not_be_interrupted_goes_on(scene: Scene) -> None:
    """`cancellable: false`: its caller is cancelled, the tool is not, and its end settles the doubt."""

    async def run() -> None:
        tool = Waiting(scene, cancellable=False)
        recorded = threading.Event()
        crash.arm(tool.ledger, crash.after("call.outcome_arrived_late"), end=recorded.set)
        await cancelled_in_the_tool(tool, ("act", {"number": 1}))
        assert tool.states(scene) == [("needs-review", "outcome-unknown")]
        tool.on.set()
        await asyncio.to_thread(recorded.wait)
        assert tool.ended == ["done"]
        assert tool.states(scene)[0][0] == "succeeded"

    asyncio.run(run())


@pytest.mark.parametrize(
    ("point", "state"),
    [
        (crash.before("call.started"), ("failed", "cancelled")),
        (crash.after("call.started"), ("failed", "cancelled")),
        (crash.before("call.succeeded"), ("succeeded", None)),
        (crash.after("call.succeeded"), ("succeeded", None)),
    ],
    ids=["before the start", "after the start", "before the outcome", "after the outcome"],
)
def test_cancelled_in_a_commit(scene: Scene, point: crash.Point, state: Any) -> None:
    """A submitted append is never cancelled: it is recorded, and what follows from it is as well."""

    async def run() -> None:
        tool = Waiting(scene)
        tool.on.set()
        loop = asyncio.get_running_loop()
        tasks: list[asyncio.Task[Any]] = []

        def cancel() -> None:
            done = threading.Event()
            loop.call_soon_threadsafe(tasks[0].cancel)
            loop.call_soon_threadsafe(done.set)
            done.wait()

        crash.arm(tool.ledger, point, end=cancel)
        session = tool.ledger.asession(SESSION)
        tasks.append(asyncio.create_task(session.adispatch(asked(("act", {"number": 1})))))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert tool.states(scene) == [state]
        assert tool.ended == (["done"] if state[0] == "succeeded" else [])

    asyncio.run(run())


def test_a_tool_that_ends_as_its_time_is_up(scene: Scene) -> None:
    """It ended just before the engine looked whether it is overdue: the outcome counts, and nothing spins."""
    on = threading.Event()
    scene.options, scene.raises = {"timeout_seconds": 0.01}, lambda: on.wait() and {"done": 1}
    ledger = scene.open()
    clock, looks = ledger._wiring.clock, []

    def monotonic() -> float:
        flying = [thread for thread in threading.enumerate() if thread.name == "ledger-act"]
        looks.extend(flying)
        if len(looks) > 1 and flying:  # it waited until the deadline, and looks now
            on.set()
            flying[0].join()
        return clock.monotonic() + (60 if len(looks) > 1 else 0)

    ledger._wiring.clock = replace(clock, monotonic=monotonic)
    results = asyncio.run(ledger.session(SESSION).adispatch(asked(("act", {"number": 1}))))
    assert results.calls[0].state == "succeeded"


def test_an_approved_call_runs_in_an_async_loop(scene: Scene) -> None:
    """Recovery in the async spelling."""
    scene.ask = Ask()
    call_id = scene.open().session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0].call_id
    ledger = scene.open()
    ledger.approve(call_id, by="ada")

    async def run() -> list[Any]:
        async with ledger.asession(SESSION) as session:
            return await session.amessages(start=START)

    with pytest.raises(Exception, match="started with other messages"):
        asyncio.run(run())
    assert ledger.find(call_id).state == "succeeded"


def test_a_crash_is_recovered_in_an_async_loop(scene: Scene) -> None:
    """A read runs again on a thread beside the loop."""
    scene.options = {"effect": "read"}
    call_id = scene.crashed(crash.before("call.succeeded"))
    ledger = scene.open()
    asyncio.run(ledger.session(SESSION).amessages())
    assert ledger.find(call_id).state == "succeeded"
    assert types(ledger, SESSION).count("call.started") == 2
