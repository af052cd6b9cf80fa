"""Audit questions to 1,000,000 events: the 95th percentile of a first page, of a page in the middle, and of counts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ledger.calls import Call, CallRow, call_row, evolve
from ledger.events import (
    Body,
    CallAuthorized,
    CallFailed,
    CallProposed,
    CallRejected,
    CallStarted,
    CallSucceeded,
    CallValidated,
    Event,
    SessionOpened,
    encode,
)
from ledger.ids import iso
from ledger.store import tags
from ledger.store.fits import rank
from ledger.store.port import CallFilter, EventFilter, Reader
from ledger.store.rules import Link
from ledger.store.sqlite import sql
from ledger.store.urls import open_store

START = datetime(2026, 1, 1, tzinfo=UTC)
CALLS_OF_SESSION = 20
TENANTS, PEOPLE, TOOLS = 50, 500, 40
PAGE = 500
ROUNDS = 20
PASSED: tuple[Body, ...] = (
    CallValidated(gates=("schema",), validator="v", arguments_digest="d" * 64),
    CallAuthorized(by="policy", arguments_digest="d" * 64),
)
BIG = {"text": "x" * 300}


def bodies(number: int) -> tuple[Body, ...]:
    """What becomes of a call: 1 of 50 is rejected, 1 of 100 fails, the others succeed."""
    stage: Any = "compat" if number % 500 == 0 else "active"
    proposed = CallProposed(
        raw_arguments="{}", arguments=BIG, model=f"m-{number % 3}", description_digest=f"d{number % 80}", stage=stage
    )
    if number % 50 == 7:
        refusal = CallRejected(
            gate="schema", code=f"code{number % 9}", error_class="model", message="no", model_can_repair=True
        )
        return proposed, refusal
    keys = (f"repo:{number % 5000}",) if number % 4 == 0 else None
    started = CallStarted(idempotency_key=f"k{number}", worker="w", token=1, resource_keys=keys)
    took = float(number * 7919 % 1000)
    if number % 100 == 3:
        return proposed, *PASSED, started, CallFailed(code="timeout", error_class="environment", message="late")
    return proposed, *PASSED, started, CallSucceeded(result=BIG, duration_ms=took)


def session(number: int) -> tuple[list[Event], list[CallRow]]:
    """One session with its calls; a minute a call."""
    name, calls = f"session-{number:06}", []
    about: dict[str, Any] = {"tenant": f"t{number % TENANTS}", "principal": f"p{number % PEOPLE}", "session_id": name}
    at = START + timedelta(minutes=number)
    labels = {"env": "prod" if number % 10 else "test", "team": f"team{number % 1000}"}
    events = [Event(event_id="e1", recorded_at=iso(at), body=SessionOpened(labels=labels), actor="ledger", **about)]
    for place in range(CALLS_OF_SESSION):
        call, one = Call(), number * CALLS_OF_SESSION + place
        of_call: dict[str, Any] = {
            "call_id": f"{one:08x}-call",
            "tool": f"tool{one % TOOLS}",
            "schema_version": 1 + one % 2,
        }
        for body in bodies(one):
            actor = "model" if isinstance(body, CallProposed) else "ledger"
            event = Event(
                event_id=f"e{len(events) + 1}",
                recorded_at=iso(at + timedelta(seconds=place)),
                body=body,
                actor=actor,
                turn=place + 1,
                index=0,
                revision=0,
                **of_call,
                **about,
            )
            call = evolve(call, event, len(events) + 1)
            events.append(event)
        calls.append(call_row(call))
    return events, calls


def filled(path: Path, events: int, made: Callable[[int], tuple[list[Event], list[CallRow]]] = session) -> int:
    """
    Make a ledger of so many events by bulk inserts, look-ups and all; returns how many there are.

    `made` returns the session of a number, from 0. What is there already stays.

    Its chains are not computed and its triggers stand aside meanwhile: nothing here verifies them.
    """
    if not path.exists():
        open_store(f"sqlite:///{path}", create=True).close()
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("BEGIN")
    position: int = connection.execute("SELECT ifnull(max(position), 0) FROM event").fetchone()[0]
    number: int = connection.execute("SELECT count(*) FROM session_head WHERE session_id <> '_catalog'").fetchone()[0]
    while position < events:
        found, calls = made(number)
        _insert(connection, position, found, calls)
        position, number = position + len(found), number + 1
    times = connection.execute("SELECT position, recorded_at FROM event ORDER BY position")
    connection.executemany("INSERT OR IGNORE INTO event_span VALUES (?, ?, ?)", tags.spans(times))
    connection.execute("COMMIT")
    for _, statement in triggers:
        connection.execute(statement)
    connection.close()
    return position


def _insert(connection: sqlite3.Connection, before: int, events: list[Event], calls: list[CallRow]) -> None:
    drafts = [encode(event) for event in events]
    links = [Link(draft, number, draft.record(number), b"") for number, draft in enumerate(drafts, 1)]
    connection.executemany(sql.insert_events(1), map(sql.event_row, links))
    name = events[0].session_id
    connection.execute(sql.NEW_HEAD, (len(events), b"", None, 0, "", name))
    firsts = {event.call_id: before + n for n, event in reversed(list(enumerate(events, 1)))}
    connection.executemany(sql.NEW_CALL, [(firsts[row.call_id], *row) for row in calls])
    connection.executemany(
        "INSERT OR IGNORE INTO session_tag VALUES (?, ?, ?)", {tag for event in events for tag in tags.tags_of(event)}
    )
    touched = [(key, firsts[event.call_id], event.call_id) for event in events for key in tags.resources_of(event)]
    connection.executemany("INSERT OR IGNORE INTO call_resource VALUES (?, ?, ?)", touched)


def questions(reader: Reader, events: int) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Yield each question by its name; it is asked with a different value each round."""
    calls = events // 5
    late = START + timedelta(minutes=events // 100)

    def of_calls(after: int = 0, **asked: Any) -> Any:
        return reader.calls(CallFilter(**asked), after=after, limit=PAGE)

    def of_events(after: int = 0, **asked: Any) -> Any:
        return reader.events(EventFilter(**asked), after=after, limit=PAGE)

    yield "calls", lambda n: of_calls(after=n * events // ROUNDS)
    yield "calls --session", lambda n: of_calls(session_id=f"session-{n * 97:06}")
    yield "calls --call TAIL", lambda n: of_calls(call_id_part=f"{n:02x}-call")
    yield "calls --tool", lambda n: of_calls(tool=f"tool{n}", after=n * events // ROUNDS)
    yield "calls --tool --schema-version", lambda n: of_calls(tool=f"tool{n}", schema_version=1)
    yield "calls --state denied", lambda _: of_calls(states=("denied",))
    yield "calls --state failed", lambda n: of_calls(states=("failed",), after=n * events // ROUNDS)
    yield "calls --state needs-review", lambda _: of_calls(states=("needs-review",))
    yield "calls --gate", lambda n: of_calls(gate="schema", after=n * events // ROUNDS)
    yield "calls --code", lambda n: of_calls(code=f"code{n % 9}")
    yield "calls --class", lambda _: of_calls(error_class="environment")
    yield "calls --stage compat", lambda _: of_calls(stage="compat")
    yield "calls --duplicates", lambda _: of_calls(reasons=("duplicate",))
    yield "calls --idempotency-key", lambda n: of_calls(idempotency_key=f"order-{n}")
    yield "calls --resource", lambda n: of_calls(resource=f"repo:{n * 4}")
    yield "calls --tenant", lambda n: of_calls(tenant=f"t{n}", after=n * events // ROUNDS)
    yield "calls --principal", lambda n: of_calls(principal=f"p{n}")
    yield "calls --principal --state", lambda n: of_calls(principal=f"p{n}", states=("failed",))
    yield "calls --label env=prod", lambda n: of_calls(labels=(("env", "prod"),), after=n * events // ROUNDS)
    yield "calls --label team", lambda n: of_calls(labels=(("team", f"team{n}"),))
    yield "calls --type call.rejected", lambda _: of_calls(types=("call.rejected",))
    yield "calls --since late", lambda n: of_calls(since=iso(late - timedelta(minutes=5 + n)))
    yield (
        "calls --since --until",
        lambda n: of_calls(since=iso(START + timedelta(hours=n)), until=iso(START + timedelta(hours=n, minutes=3))),
    )
    yield "events", lambda n: of_events(after=n * events // ROUNDS)
    yield "events --session", lambda n: of_events(session_id=f"session-{n * 97:06}")
    yield "events --call", lambda n: of_events(call_id=f"{n * calls // ROUNDS:08x}-call")
    yield "events --type call.failed", lambda n: of_events(types=("call.failed",), after=n * events // ROUNDS)
    yield "events --type call.started", lambda n: of_events(types=("call.started",), after=n * events // ROUNDS)
    yield "events --tool", lambda n: of_events(tool=f"tool{n}", after=n * events // ROUNDS)
    yield "events --tenant", lambda n: of_events(tenant=f"t{n}", after=n * events // ROUNDS)
    yield "events --principal", lambda n: of_events(principal=f"p{n}")
    yield "events --actor", lambda n: of_events(actor="model", after=n * events // ROUNDS)
    yield "events --actor nobody", lambda n: of_events(actor=f"person:{n}")
    yield "events --label team", lambda n: of_events(labels=(("team", f"team{n}"),))
    yield "events --code", lambda n: of_events(of=CallFilter(code=f"code{n % 9}"))
    yield "events --resource", lambda n: of_events(of=CallFilter(resource=f"repo:{n * 4}"))
    yield (
        "events --state succeeded",
        lambda n: of_events(of=CallFilter(states=("succeeded",)), after=n * events // ROUNDS),
    )
    yield "events --since late", lambda n: of_events(since=iso(late - timedelta(minutes=5 + n)))
    yield "stats --by tool", lambda _: reader.tally(CallFilter(), ("tool", "schema_version"))
    yield (
        "stats --by code --since",
        lambda _: reader.tally(CallFilter(since=iso(late - timedelta(days=1))), ("error_class", "code")),
    )
    yield (
        "stats --by description --tenant",
        lambda n: reader.tally(CallFilter(tenant=f"t{n}"), ("tool", "description_digest", "model")),
    )


def audits(folder: Path, events: int = 1_000_000) -> dict[str, Any]:
    """Return milliseconds of each question: the median and the 95th percentile of `ROUNDS` pages of `PAGE` rows."""
    wall = time.perf_counter()
    path = folder / "audits.db"
    count = filled(path, events)
    made = time.perf_counter() - wall
    store = open_store(f"sqlite:///{path}", create=False, read_only=True)
    asked: dict[str, Any] = {}
    every: list[float] = []
    for name, ask in questions(store, count):
        times = sorted(_timed(ask, n) for n in range(3 if name.startswith("stats") else ROUNDS))
        asked[name] = {
            "p50": round(times[rank(len(times), 50) - 1], 2),
            "p95": round(times[rank(len(times), 95) - 1], 2),
        }
        every += [] if name.startswith("stats") else times
    store.close()
    every.sort()
    path.unlink()
    return {
        "events": count,
        "seconds": round(made),
        "pageP95": round(every[rank(len(every), 95) - 1], 2),
        "milliseconds": asked,
    }


def _timed(ask: Callable[[int], Any], number: int) -> float:
    wall = time.perf_counter()
    ask(number)
    return (time.perf_counter() - wall) * 1000
