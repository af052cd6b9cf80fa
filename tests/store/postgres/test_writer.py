"""One transaction for a group: lost lines, locks, conflicts; nothing is lost, doubled, or acknowledged in vain."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from ledger.errors import KeyConflict, LedgerError, NoDatabase, StoreBusy, StoreError, StoreUnavailable, UsageError
from ledger.events import CallProposed, CallSucceeded
from ledger.store.port import Append, Appended, EventFilter, Take
from ledger.store.postgres import changes, door, writer
from ledger.store.postgres.store import PostgresStore
from ledger.store.urls import open_store
from ledger.testing.contract.building import Story, add, everything, ids, note
from tests.helpers import postgres
from tests.helpers.cutting import COMMITTED, Line, commits


@pytest.fixture
def line(url: str) -> Iterator[Line]:
    """A line to the database that can be cut."""
    with TemporaryDirectory() as folder, Line(url, Path(folder)) as line:
        yield line


def opened(url: str, **options: Any) -> PostgresStore:
    """Open a store."""
    store = open_store(url, create=True, **options)
    assert isinstance(store, PostgresStore)
    return store


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    store = opened(url)
    yield store
    store.close()


def test_an_answer_that_was_lost_is_found_out(line: Line) -> None:
    """The line is cut behind a COMMIT: the append is acknowledged, as new, and is there once."""
    store = opened(line.url)
    add(store, "s1", "a")
    line.cut_answer = commits(iter([True]))
    appended = add(store, "s1", "b", "c")
    assert (line.cuts, appended.sequences, appended.repeated) == (1, (2, 3), False)
    assert ids(everything(store, "s1")) == ["a", "b", "c"]
    store.close()


@pytest.mark.parametrize("cut", ["cut_request", "cut_answer"])
def test_a_line_that_broke_before_is_made_again(line: Line, cut: str) -> None:
    """A connection that died idle, or at the first request, costs nobody an error."""
    store = opened(line.url)
    add(store, "s1", "a")
    once = itertools.chain([True], itertools.repeat(False))
    setattr(line, cut, lambda _: next(once))
    assert add(store, "s1", "b").sequences == (2,)
    assert store.head("s1") is not None
    assert line.cuts == 1
    store.close()


def test_readers_find_a_new_line(line: Line) -> None:
    """Reading goes on over a new connection; a line that stays dead is told."""
    store = opened(line.url)
    add(store, "s1", "a")
    once = itertools.chain([True], itertools.repeat(False))
    line.cut_request = lambda _: next(once)
    assert ids(everything(store, "s1")) == ["a"]
    line.cut_request = lambda _: True
    with pytest.raises(StoreUnavailable):
        store.head("s1")
    with pytest.raises(StoreUnavailable), store._pool.snapshot():
        store.head("s1")
    store.close()


def test_a_dead_server_is_told(line: Line) -> None:
    """Where no request gets through, an append is refused in words, and nothing was recorded."""
    store = opened(line.url)
    add(store, "s1", "a")
    line.cut_request = lambda _: True
    with pytest.raises(StoreUnavailable):
        add(store, "s1", "b")
    line.cut_request = lambda _: False
    assert ids(everything(store, "s1")) == ["a"]
    store.close()


def test_a_line_that_breaks_again_and_again_is_told(line: Line) -> None:
    """Connections are to be had, and each is lost before anything was decided: nothing was recorded."""
    store = opened(line.url)
    line.cut_request = lambda data: b"NO KEY UPDATE" in data
    with pytest.raises(StoreUnavailable, match="nothing was recorded"):
        add(store, "s1", "a")
    assert (line.cuts, store.head("s1")) == (2, None)
    store.close()


def test_a_look_up_that_breaks_is_tried_again(line: Line, url: str) -> None:
    """The line is cut while a refusal is looked into: the answer is that of the next try."""
    store = opened(line.url)
    add(store, "s1", "a")
    once = itertools.chain([True], itertools.repeat(False))
    line.cut_request = lambda data: b"event_id = ANY" in data and next(once)
    assert add(store, "s1", "a").repeated
    assert line.cuts == 1
    store.close()


def test_a_database_that_is_gone_is_told(own_url: str) -> None:
    """Somebody dropped the database under a ledger that is open: its name is told."""
    store = opened(own_url)
    with postgres.connect(postgres.server()) as admin:
        admin.execute(f'DROP DATABASE "{make_url(own_url).database}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{make_url(own_url).database}_x"')
        with pytest.raises(NoDatabase):
            add(store, "s1", "a")
        admin.execute(f'ALTER DATABASE "{make_url(own_url).database}_x" RENAME TO "{make_url(own_url).database}"')
    store.close()


def test_a_doubt_that_stays_is_told(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer was lost and nobody can look: the caller hears that, and may append the same again."""
    monkeypatch.setattr(writer, "PAUSES", (0.0,))
    store = opened(line.url, patience=0.3)
    add(store, "s1", "a")
    lost = threading.Event()

    def cut(data: bytes) -> bool:
        if COMMITTED in data:
            lost.set()
        return lost.is_set()

    line.cut_answer = cut
    with pytest.raises(StoreUnavailable, match="whether it happened") as refusal:
        add(store, "s1", "b")
    assert "same events again" in (refusal.value.hint or "")
    line.cut_answer = lambda _: False
    assert add(store, "s1", "b").repeated
    store.close()


def test_a_doubt_over_a_group_stays_with_each_of_it(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group was recorded, unheard, and the line breaks while each is looked up: nobody hears that nothing was."""
    monkeypatch.setattr(writer, "PAUSES", (0.0,))
    store = opened(line.url, patience=0.3)
    requests = [Append(session_id=name, drafts=(Story(name).event(note("x")),)) for name in ("s1", "s2")]
    refused, dead = threading.Event(), threading.Event()

    def cut(data: bytes) -> bool:
        if b"event_once" in data:
            refused.set()
        elif refused.is_set() and b"ROLLBACK" in data:  # the group is given up; from here on nothing comes through
            dead.set()
            return False
        return dead.is_set() or COMMITTED in data

    line.cut_answer = cut
    for answer in store.append_all(requests):
        assert isinstance(answer, StoreUnavailable)
        assert "whether it happened" in str(answer)
    line.cut_answer = lambda _: False
    assert all(isinstance(answer, Appended) and answer.repeated for answer in store.append_all(requests))
    store.close()


def test_an_outcome_waits_for_its_server(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be asked again is not given up while there is patience."""
    monkeypatch.setattr(writer, "PAUSES", (0.0,))
    store = opened(line.url)
    story = Story()
    store.append(Append(session_id="s1", drafts=(story.propose("c1"),), calls=story.rows("c1")))
    cuts = itertools.chain([True] * 5, itertools.repeat(False))
    line.cut_request = lambda _: next(cuts)
    run = Append(session_id="s1", drafts=story.run("c1"), calls=story.rows("c1"))
    assert store.append(run).sequences == (2, 3, 4, 5)
    assert line.cuts == 5
    store.close()


def test_cut_lines_lose_and_double_nothing(url: str) -> None:
    """Four writers, every line cut at random behind commits and before requests: what is told is what is there."""
    told, cuts = storm(url, seed=1, appends=25)
    assert cuts >= 20
    check(url, told)


def storm(url: str, *, seed: int, appends: int) -> tuple[dict[str, Appended], int]:
    """Let four writers, each over a line of its own, append; return what was acknowledged, and how many cuts."""
    told: dict[str, Appended] = {}

    def write(number: int) -> int:
        lot = Random(seed * 100 + number)
        with TemporaryDirectory() as folder, Line(url, Path(folder)) as line:
            store = opened(line.url)
            line.cut_answer = lambda data: COMMITTED in data and lot.random() < 0.3
            line.cut_request = lambda _: lot.random() < 0.02
            for step in range(appends):
                session, name = f"s{lot.randrange(3)}", f"{number}-{step}"
                while name not in told:
                    with contextlib.suppress(StoreUnavailable):
                        told[name] = add(store, session, name)
            line.cut_answer = line.cut_request = lambda _: False
            store.close()
            return line.cuts

    with ThreadPoolExecutor(4) as pool:
        return told, sum(pool.map(write, range(4)))


def test_ended_server_processes_lose_and_double_nothing(url: str) -> None:
    """All of the server's processes for four writers are ended again and again, as a restart does."""
    told: dict[str, Appended] = {}

    stores = [opened(url) for _ in range(4)]

    def write(number: int) -> None:
        for step in range(40):
            while f"{number}-{step}" not in told:
                with contextlib.suppress(StoreUnavailable):
                    told[f"{number}-{step}"] = add(stores[number], f"s{step % 3}", f"{number}-{step}")

    ended = 0
    with ThreadPoolExecutor(4) as pool, postgres.connect(url) as admin:
        writers = [pool.submit(write, number) for number in range(4)]
        while not all(writer.done() for writer in writers) and ended < 60:
            ended += len(admin.execute(TERMINATE).fetchall())
        for writer in writers:
            writer.result()
    for store in stores:
        store.close()
    assert ended > 10
    check(url, told)


TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'ledger'"
)


def check(url: str, told: dict[str, Appended]) -> None:
    """Compare what was told with what is there."""
    store = open_store(url, create=False)
    stored = store.events(EventFilter(), limit=100_000)
    assert sorted(ids(stored)) == sorted(told)
    assert {event.event_id: event.position for event in stored} == {name: a.positions[0] for name, a in told.items()}
    for session in {event.session_id for event in stored}:
        sequences = [event.sequence for event in everything(store, session)]
        assert sequences == list(range(1, len(sequences) + 1))
    store.close()


def test_a_session_that_another_one_holds_is_busy(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's open transaction holds a session: after its patience an append is told; others go through."""
    monkeypatch.setattr(door, "LOCK_SECONDS", 0.05)
    store = opened(url, patience=0.0)
    add(store, "s1", "a")
    with postgres.connect(url) as other, other.transaction():
        other.execute("SELECT 1 FROM session_head WHERE session_id = 's1' FOR UPDATE")
        with pytest.raises(StoreBusy, match="locked for too long"):
            add(store, "s1", "b")
        assert add(store, "s2", "a").sequences == (1,)
    assert add(store, "s1", "b").sequences == (2,)
    store.close()


def test_an_outcome_waits_for_the_holder(line: Line, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a group that cannot begin the others are told that it is busy; the outcome is recorded in the end."""
    monkeypatch.setattr(door, "LOCK_SECONDS", 0.03)
    store = opened(line.url, patience=0.0)
    story = Story()
    store.append(Append(session_id="s1", drafts=(story.propose("c1"),), calls=story.rows("c1")))
    outcome = Append(session_id="s1", drafts=story.run("c1"), calls=story.rows("c1"))
    other = Append(session_id="s1", drafts=(Story().event(note("x"), event_id="x"),))
    refused = threading.Semaphore(0)

    def count(data: bytes) -> bool:
        if b"55P03" in data:  # lock_not_available
            refused.release()
        return False

    line.cut_answer = count
    with ThreadPoolExecutor(1) as pool:
        with postgres.connect(url) as holder, holder.transaction():
            holder.execute("SELECT 1 FROM session_head WHERE session_id = 's1' FOR UPDATE")
            answers = pool.submit(store.append_all, [other, outcome])
            assert all(refused.acquire(timeout=30) for _ in range(3))
        first, second = answers.result()
    assert isinstance(first, StoreBusy)
    assert isinstance(second, Appended)
    store.close()


def test_two_processes_may_begin_one_session(url: str) -> None:
    """Whoever comes second finds the session begun, waits for it, and goes on behind it."""
    stores = [opened(url) for _ in range(4)]
    barrier = threading.Barrier(4)

    def work(number: int) -> list[int]:
        barrier.wait()
        return [add(stores[number], f"s{step}", f"{number}").sequences[0] for step in range(15)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    assert [sorted(sequences) for sequences in zip(*found, strict=True)] == [[1, 2, 3, 4]] * 15
    for store in stores:
        store.close()


def test_a_key_is_taken_once_by_any_process(url: str) -> None:
    """Of many processes that begin a call under one key of the host one does; the others hear which call holds it."""
    stores = [opened(url) for _ in range(4)]
    barrier = threading.Barrier(4)

    def work(number: int) -> Appended | LedgerError:
        story = Story(f"s{number}")
        draft = story.propose(f"c{number}", CallProposed(idempotency_key="k"))
        barrier.wait()
        try:
            return stores[number].append(
                Append(session_id=story.session_id, drafts=(draft,), calls=story.rows(f"c{number}"))
            )
        except LedgerError as refusal:
            return refusal

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    assert [isinstance(answer, KeyConflict) for answer in found].count(True) == 3
    for store in stores:
        store.close()


def test_an_index_that_disagrees_with_its_table_is_told(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that the index refuses, and that no look finds, is not tried for ever; nothing is recorded."""

    def keyed(name: str) -> Append:
        story = Story(name)
        draft = story.propose(f"{name}-call", CallProposed(idempotency_key="k"))
        return Append(session_id=name, drafts=(draft,), calls=story.rows(f"{name}-call"))

    store.append(keyed("s1"))
    looks: list[str] = []
    monkeypatch.setattr(changes.Changes, "_key_holder", lambda _self, _tenant, key: looks.append(key))
    with pytest.raises(StoreError, match="call_key"):
        store.append(keyed("s2"))
    assert store.head("s2") is None
    assert len(looks) == writer.MOST_RACES + 1


def test_a_damaged_row_is_told(store: PostgresStore, url: str) -> None:
    """Where head and events disagree nothing is recorded, and the caller is sent to the check."""
    add(store, "s1", "a", "b")
    with postgres.connect(url) as connection:
        connection.execute("UPDATE session_head SET sequence = 1 WHERE session_id = 's1'")
    with pytest.raises(StoreError, match="disagree"):
        add(store, "s1", "c")
    assert add(store, "s2", "a").sequences == (1,)


@pytest.mark.parametrize("column", ["sequence", "token"])
def test_a_head_that_can_grow_no_more_is_told(store: PostgresStore, url: str, column: str) -> None:
    """A number that somebody set to the largest there is: nothing is added on top, the caller is sent to the check."""
    add(store, "s1", "a")
    with postgres.connect(url) as connection:
        connection.execute(f"UPDATE session_head SET {column} = 9223372036854775807 WHERE session_id = 's1'")
    take = Take(owner="w", token=2**63, seconds=60.0) if column == "token" else None
    request = Append(session_id="s1", drafts=(Story("s1").event(note("b")),), take=take)
    with pytest.raises(StoreError, match="disagree"):
        store.append(request)
    assert add(store, "s2", "a").sequences == (1,)


def test_an_error_of_the_server_is_told(own_url: str) -> None:
    """What the server refuses for a reason of its own is no conflict: it is told in its words."""
    store = opened(own_url)
    with postgres.connect(own_url) as connection:
        connection.execute("ALTER TABLE event ADD CONSTRAINT small CHECK (length(record) < 500)")
        with pytest.raises(StoreUnavailable, match="small"):
            add(store, "s1", "x" * 1000)
        assert not store.renew("s1", token=1, seconds=1)
        connection.execute("DROP TABLE limited_start, call CASCADE")
    story = Story("s2")
    with pytest.raises(StoreUnavailable, match="does not exist"):
        store.append(Append(session_id="s2", drafts=(story.propose("c"),), calls=story.rows("c")))
    store.close()


def test_a_renewal_that_fails_is_told(own_url: str) -> None:
    """A lease that the server does not let be prolonged is an error, and no answer."""
    store = opened(own_url)
    add(store, "s1", "a", take=Take(owner="me", token=1, seconds=30))
    with postgres.connect(own_url) as connection:
        connection.execute("ALTER TABLE session_head ADD CONSTRAINT never CHECK (false) NOT VALID")
    with pytest.raises(StoreUnavailable, match="never"):
        store.renew("s1", token=1, seconds=30)
    store.close()


@pytest.mark.parametrize("mine", [True, False])
def test_a_place_of_the_conversation_holds_one_call(store: PostgresStore, mine: bool) -> None:
    """Two calls at one place are refused, also within one append; what stood beside it in its group stands."""
    story = Story()
    drafts = (story.propose("c1", turn=1), story.propose("c2", turn=1))
    beside = Append(session_id="s2", drafts=(Story("s2").event(note("x")),))
    if mine:
        requests = [Append(session_id="s1", drafts=drafts, calls=story.rows("c1", "c2")), beside]
    else:
        store.append(Append(session_id="s1", drafts=drafts[:1], calls=story.rows("c1")))
        requests = [Append(session_id="s1", drafts=drafts[1:], calls=story.rows("c2")), beside]
    first, second = store.append_all(requests)
    assert isinstance(first, UsageError)
    assert isinstance(second, Appended)


def test_a_name_that_no_index_takes_refuses_no_other_request(store: PostgresStore) -> None:
    """An index takes 2,700 bytes a row: what is longer is refused, and what stood beside it in its group stands."""
    chance = Random(1)
    names = "a", "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(1024)), "b"
    requests = [Append(session_id=name, drafts=(Story(name).event(note("x"), event_id="e"),)) for name in names]
    first, refused, last = store.append_all(requests)
    assert isinstance(refused, UsageError)
    assert "too long" in str(refused)
    assert "index row size" in str(refused)
    assert len(str(refused)) < 300
    assert isinstance(first, Appended)
    assert isinstance(last, Appended)


def test_facts_are_tagged_once(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer remembers what it tagged, up to a number; then it begins anew."""
    monkeypatch.setattr(writer, "MOST_KNOWN", 3)
    for number in range(5):
        add(store, f"s{number}", "a", "b")
    assert len(store._writer._known) <= 3
    assert list(store.reindex(write=False)) == []


def test_an_interrupt_leaves_no_transaction(store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle: nothing is recorded, the connection is given up, and the next append goes on."""
    add(store, "s1", "a")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(changes.Changes, "flush", interrupted)
        with pytest.raises(KeyboardInterrupt):
            add(store, "s1", "b")
    assert add(store, "s1", "b").sequences == (2,)


def test_batches_of_megabytes_pass(store: PostgresStore) -> None:
    """One append of 200 events and 6 MB, and one event of 20 MB, come back byte for byte."""
    story = Story()
    drafts = [story.event(note("x" * 30_000), event_id=f"e{n}") for n in range(200)]
    store.append(Append(session_id="s1", drafts=tuple(drafts)))
    big = story.event(note("y" * 20_000_000), event_id="big")
    store.append(Append(session_id="s1", drafts=(big,)))
    stored = store.read("s1", limit=300)
    assert [event.record for event in stored] == [d.record(n) for n, d in enumerate([*drafts, big], 1)]


def test_results_are_read_as_they_were(store: PostgresStore) -> None:
    """A success beside its start in one append is a call in state succeeded."""
    story = Story()
    drafts = (story.propose("c1"), *story.run("c1"))
    store.append(Append(session_id="s1", drafts=drafts, calls=story.rows("c1")))
    row = store.call("c1")
    assert row is not None
    assert row.state == "succeeded"
    assert isinstance(drafts[-1].event.body, CallSucceeded)
