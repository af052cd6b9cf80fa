"""A storm: several workers share many sessions, and one after the other is killed at random and replaced."""

from __future__ import annotations

import os
import random
import select
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ledger import Ask, Ledger
from ledger.audit.projection import Folded
from ledger.calls import TERMINAL, WAITING
from ledger.session import worker
from ledger.store.maintenance import check, check_server, is_server
from ledger.store.port import CallFilter, EventFilter
from ledger.store.urls import open_store
from tests.crash import checks
from tests.crash.forking import begin, ended, run
from tests.crash.matrix import Verdict
from tests.crash.world import World, register
from tests.session.agents import asked

WORKERS: Final = 3
TOOLS: Final = ("send", "pay", "buy", "charge", "put", "move", "look")
PAUSE: Final = 0.01
"""Seconds that a tool takes before and after its effect: a worker is mostly found in one."""
LONGEST: Final = 0.12
"""Seconds between two kills, at most."""


def storm(folder: Path, ground: World, seed: int, kills: int, sessions: int) -> Iterator[Verdict]:
    """Kill so many workers; yield each kill, the last one with all that went wrong."""
    with ground.copy(folder / "storm") as world:
        yield from _storm(replace(world, pause=PAUSE), seed, kills, sessions)


def _storm(world: World, seed: int, kills: int, sessions: int) -> Iterator[Verdict]:
    chance, folder = random.Random(seed), world.folder
    pids: list[int] = []
    for number in range(kills):
        if number % max(4, sessions // 3) == 0:  # there is always something to do
            run(partial(_propose, world, number, sessions), folder)
        while len(pids) < WORKERS:
            pids.append(begin(partial(_work, world), folder))
        delay = chance.uniform(0, LONGEST)
        select.select([], [], [], delay)
        pid = pids.pop(chance.choice((0, 0, 1, 2)))  # mostly the oldest, which is well at work
        os.kill(pid, signal.SIGKILL)
        ended(pid, folder)
        if number < kills - 1:
            yield Verdict(f"storm {seed}, kill {number + 1} after {delay:.4f} s")
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
        ended(pid, folder)
    run(partial(_finish, world), folder)
    yield _judged(world, f"storm {seed}, {kills} kills of {WORKERS} workers on {sessions} sessions")


def _open(world: World) -> Ledger:
    ledger = world.open()
    register(ledger, world, set(TOOLS))
    return ledger


def _propose(world: World, wave: int, sessions: int) -> None:
    """Let a model ask for three things in each session; a person has approved them all."""
    chance = random.Random(wave)
    with world.open() as ledger:
        register(ledger, world, set(TOOLS))
        ledger.authorize(lambda _call, _principal: Ask())
        for place in range(sessions):
            numbers = [1_000_000 * wave + 10 * place + n for n in range(3)]
            calls = [(chance.choice(TOOLS), {"number": number, "path": chance.choice("abc")}) for number in numbers]
            with ledger.session(f"s{place}", principal="ada", wait=60) as session:  # a worker may be at it
                for call in session.dispatch(asked(*calls)).calls:
                    if call.state == "awaiting-approval":
                        ledger.approve(call.call_id, by="bob")


def _work(world: World) -> None:
    """Follow the ledger as `ledger resume --all --follow` does, until SIGTERM."""
    over: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))

    def stopped(seconds: float) -> bool:
        select.select([], [], [], 0.01 if seconds else 0)
        return bool(over)

    with _open(world) as ledger:
        for _ in worker.follow(ledger, stopped):
            pass


def _finish(world: World) -> None:
    """Resume until there is nothing to decide any more."""
    with _open(world) as ledger:
        while any(report.decisions for report in list(worker.sweep(ledger, execute=True))):
            pass


def _judged(world: World, point: str) -> Verdict:
    """Look at everything at the end: events, chains, projection, effects, and where each call stands."""
    verdict = Verdict(point, acknowledged=len(checks.acknowledged(world)))
    world.place.quiet()
    store = open_store(world.place.url, create=False, read_only=True)
    try:
        events = list(store.events(EventFilter(), limit=1_000_000))
        there = {(event.session_id, event.event_id) for event in events}
        lost = [event for event in checks.acknowledged(world) if event not in there]
        verdict.problems += [f"acknowledged event {event} is lost" for event in lost]
        verdict.problems += [f"projection of {what[0]}" for what in store.rebuild(Folded(store).rows(), write=False)]
        rows = [placed.row for placed in store.calls(CallFilter(), limit=1_000_000)]
    finally:
        store.close()
    verdict.problems += [f"{row.call_id} is {row.state}" for row in rows if row.state not in TERMINAL | set(WAITING)]
    verdict.queued = sum(row.state == "needs-review" for row in rows)
    starts = Counter(event.call_id for event in events if event.type == "call.started")
    verdict.problems += _effects(world.effects(), starts)
    if not _sound(world.place.url):
        verdict.problems.append("the ledger is not sound")
    return verdict


def _sound(url: str) -> bool:
    return (check_server(url) if is_server(url) else check(url)).sound


def _effects(effects: list[dict[str, Any]], starts: Counter[str | None]) -> Iterator[str]:
    """Count what happened outside: a read may be read again, a charge comes again under its one key, all else once."""
    times = Counter((line["tool"], line["number"], line["call"]) for line in effects)
    keys: dict[int, set[str]] = {}
    for line in effects:
        keys.setdefault(line["number"], set()).add(line["key"])
    for (tool, number, call_id), count in times.items():
        if starts[call_id] < count:
            yield f"{tool} {number} has {count} effects and {starts[call_id]} durable starts"
        if tool == "charge" and len(keys[number]) > 1:
            yield f"a second effect of charge {number}, under another key"
        if tool not in ("look", "charge") and count > 1:
            yield f"a second effect of {tool} {number}"
