"""Reports of events that were lost, doubled or slow to append."""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

import psycopg
import pytest

from ledger import Ledger, LedgerError
from ledger.events import CallNoted, Event, MessageRecorded, encode
from ledger.store.port import Append, Reader
from tests.cases.scenes import SERVER, SESSION, Desk
from tests.helpers import postgres
from tests.session.agents import asked, recorded

EMPTY = 200_000
"""More bytes than a ledger has with nothing in it."""
on_files_and_servers = pytest.mark.parametrize("desk", ["", SERVER], ids=["sqlite", "postgres"], indirect=True)


@on_files_and_servers
def test_a_sequence_begins_anew_after_a_restart(desk: Desk) -> None:
    """Five events, a restart, five more: 1 to 10, and it is the database that allows no place twice."""
    # https://github.com/Appsilon/mediforce/issues/625
    for start in (0, 5):
        ledger = desk.open()
        session = ledger.session(SESSION)
        for number in range(start, start + 5):
            session.add({"role": "user", "content": str(number)})
        ledger.close()
    ledger = desk.open()
    events = list(ledger.reader.read(SESSION, limit=100))
    assert [event.sequence for event in events] == list(range(1, len(events) + 1))
    bodies = [event.body for event in recorded(ledger, SESSION)]
    said = [body.message["content"] for body in bodies if isinstance(body, MessageRecorded)]
    assert said == [str(number) for number in range(10)]
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.UniqueViolation)):
        _copied(desk)


def _copied(desk: Desk) -> None:
    """Write an event once more at its place, behind the ledger's back."""
    copy = "INSERT INTO event ({0}) SELECT {0} FROM event WHERE sequence = 3"
    if desk.url.startswith("postgresql"):
        with postgres.connect(desk.url) as server:
            names = server.execute(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_name = 'event' AND column_name <> 'position'"
            )
            server.execute(copy.format(", ".join(str(name) for (name,) in names.fetchall())))
        return
    connection = sqlite3.connect(desk.folder / "ledger.db")
    try:
        connection.execute(
            copy.format(", ".join(r[1] for r in connection.execute("PRAGMA table_info(event)") if r[5] == 0))
        )
    finally:
        connection.close()


@on_files_and_servers
def test_parallel_appends_all_succeed_and_some_are_lost(desk: Desk) -> None:
    """20 threads with ledgers of their own append to one session: what was acknowledged is what is there."""
    # https://github.com/Eventuous/eventuous/pull/582 (20 appends "succeeded", 10 events were lost).
    call_id = desk.open().session(SESSION).call("pay", {"amount": 1}).call_id
    noted: list[str] = []
    ready = threading.Barrier(20)

    def append(number: int) -> None:
        ledger = desk.open(tools=False)
        ready.wait()
        for turn in range(3):
            try:
                ledger.note(call_id, f"{number}/{turn}", by="ada")
            except LedgerError:
                continue  # an error is an answer too: nothing of it is recorded then
            noted.append(f"{number}/{turn}")

    threads = [threading.Thread(target=append, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bodies = [event.body for event in recorded(desk.open(), SESSION)]
    stored = [body.text for body in bodies if isinstance(body, CallNoted)]
    assert sorted(stored) == sorted(noted)
    assert len(noted) == 60


class Counting:
    """Counts the events that are read on the way to the store."""

    def __init__(self, store: Reader) -> None:
        self._store = store
        self.read_events = 0

    def read(self, session_id: str, **about: Any) -> Any:
        found = self._store.read(session_id, **about)
        self.read_events += len(found)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@on_files_and_servers
def test_an_append_reads_the_whole_history(desk: Desk) -> None:
    """
    A loaded session appends without reading a single event again, however long it is; opening reads
    each event once.
    """
    # https://github.com/google/adk-js/pull/831 (convoys of 150 s); the times are in the benchmark.
    first = desk.open()
    first.session(SESSION).add({"role": "user", "content": "first"})
    writing: Any = first.reader
    long = tuple(encode(said(first, str(number))) for number in range(1_000))
    writing.append(Append(session_id=SESSION, drafts=long))
    ledger = desk.open()
    counting: Counting = ledger.wrap_store(Counting)
    again = ledger.session(SESSION)
    again.messages()
    assert counting.read_events == len(again.history.entries) + 2 > 1_000  # opened and claimed
    before = counting.read_events
    again.dispatch(asked(("pay", {"amount": 1})))
    again.add({"role": "user", "content": "more"})
    assert counting.read_events == before


def test_each_small_write_also_keeps_house(desk: Desk) -> None:
    """The statements of an append are the same few however much is there; none prunes, counts or tidies up."""
    # https://github.com/zai-org/feedback/issues/625 (a prune under the write lock, with each write, on 7.5 GB)
    ledger = desk.open(tools=False)
    session = ledger.session(SESSION)
    session.add({"role": "user", "content": "first"})
    store: Any = ledger.reader
    told: list[str] = []
    store._writer._connection.set_trace_callback(told.append)
    shapes = []
    for number in range(60):  # a log of 4 MB is brought home now and then: that is all, and bounded
        told.clear()
        session.add({"role": "user", "content": str(number)})
        shapes.append([statement.split()[0] for statement in told if not statement.startswith("--")])
    assert shapes[-1] == shapes[1]
    assert len(shapes[1]) <= 12
    assert not {"DELETE", "PRAGMA", "VACUUM", "ANALYZE", "REINDEX"} & {word for shape in shapes for word in shape}


def said(ledger: Ledger, text: str) -> Event:
    """Return an event of the session: a user's message."""
    clock = ledger._wiring.clock
    body = MessageRecorded(role="user", provider="openai", message={"role": "user", "content": text})
    return Event(session_id=SESSION, event_id=clock.new_id(), recorded_at=clock.stamp(), body=body)


def test_each_checkpoint_holds_all_earlier_results(desk: Desk) -> None:
    """A result of 20 KB is kept once: events do not grow with those before them, nor the file beyond its payload."""
    # https://github.com/google/adk-python/issues/7102, https://github.com/openai/codex/issues/38349 (history taken in
    # twice on resume: see the test above); sizes and times of 2,000 calls are in the benchmark.
    ledger = desk.open(tools=False)
    ledger.tool("big", effect="read", schema={"type": "object"})(lambda **_: "y" * 20_000)
    session = ledger.session(SESSION)
    for _ in range(8):
        session.dispatch(asked(*[("big", {})] * 4))
    sizes = [len(row.record) for row in ledger.reader.read(SESSION, limit=1_000)]
    assert sum(size > 20_000 for size in sizes) == 32
    assert max(sizes) < 20_000 * 1.1
    ledger.close()
    assert (desk.folder / "ledger.db").stat().st_size <= 1.3 * 32 * 20_000 + EMPTY
