# ruff: noqa: S101, PLR2004 - these are tests
"""Many threads at once: what was acknowledged is stored, what was refused is not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from ledger.errors import IdempotencyConflict, LedgerError, SessionOwned, WrongSequence
from ledger.store.port import Append, Appended, EventFilter, Store, Take
from ledger.testing.contract.building import StoreCase, Story, add, everything, ids, note

THREADS = 20


def at_once(work: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """Run `work(number)` in so many threads that start together; return results and refusals, by number."""
    barrier = Barrier(threads)

    def run(number: int) -> Any:
        barrier.wait()
        try:
            return work(number)
        except LedgerError as refusal:
            return refusal

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


class ThreadContract(StoreCase):
    """Appends that meet."""

    def test_every_acknowledged_event_is_stored(self, store: Store) -> None:
        """20 threads append to one session: all are acknowledged, all are stored, at the places they were told."""
        results = at_once(lambda n: [add(store, "s1", f"{n}-{i}") for i in range(10)])
        told = {appended.sequences[0]: appended.positions[0] for result in results for appended in result}
        stored = everything(store, "s1")
        assert [event.sequence for event in stored] == list(range(1, 201))
        assert told == {event.sequence: event.position for event in stored}
        assert sorted(ids(stored)) == sorted(f"{n}-{i}" for n in range(THREADS) for i in range(10))

    def test_one_of_many_wins_a_sequence(self, store: Store) -> None:
        """20 threads expect the same sequence: one append is stored, the others are told, none is lost in silence."""
        add(store, "s1", "first")
        results = at_once(lambda n: add(store, "s1", f"t{n}", expected=1))
        winners = [n for n, result in enumerate(results) if isinstance(result, Appended)]
        assert len(winners) == 1
        assert [type(result) for n, result in enumerate(results) if n != winners[0]] == [WrongSequence] * 19
        assert ids(everything(store, "s1")) == ["first", f"t{winners[0]}"]

    def test_sessions_do_not_hinder_each_other(self, store: Store) -> None:
        """Appends to many sessions at once keep each session's own order."""
        at_once(lambda n: [add(store, f"s{n % 4}", f"{n}-{i}", f"{n}-{i}b") for i in range(5)])
        for number in range(4):
            events = everything(store, f"s{number}")
            assert [event.sequence for event in events] == list(range(1, 51))
            assert all(ids(events)[at + 1] == f"{ids(events)[at]}b" for at in range(0, 50, 2))

    def test_a_refused_append_takes_no_other_with_it(self, store: Store) -> None:
        """A conflict is answered to the thread that caused it; all others are recorded."""
        add(store, "s0", "taken")
        clash = Story("s0").event(note("other text"), event_id="taken")

        def work(number: int) -> Appended:
            if number % 5 == 0:
                return store.append(Append(session_id="s0", drafts=(clash,)))
            return add(store, f"s{number % 3}", f"t{number}")

        results = at_once(work)
        assert [isinstance(result, IdempotencyConflict) for result in results] == [n % 5 == 0 for n in range(THREADS)]
        assert len(store.events(EventFilter(), limit=100)) == 1 + 16

    def test_one_of_many_becomes_the_owner(self, store: Store) -> None:
        """20 threads take one session: one owns it, the others are told by whom."""
        results = at_once(lambda n: add(store, "s1", f"t{n}", take=Take(owner=f"w{n}", token=1, seconds=30)))
        winners = [n for n, result in enumerate(results) if isinstance(result, Appended)]
        assert len(winners) == 1
        refusals = [result for n, result in enumerate(results) if n != winners[0]]
        assert all(isinstance(refusal, SessionOwned) for refusal in refusals)
        assert {refusal.owner for refusal in refusals} == {f"w{winners[0]}"}

    def test_a_repeat_may_meet_its_original(self, store: Store) -> None:
        """The same append from many threads is recorded once, and every thread hears where."""
        results = at_once(lambda _: add(store, "s1", "a", "b"))
        assert {result.positions for result in results} == {results[0].positions}
        assert sum(not result.repeated for result in results) == 1
        assert len(everything(store, "s1")) == 2

    def test_leases_are_renewed_beside_appends(self, store: Store) -> None:
        """Heartbeats and appends of many sessions go through together."""
        for n in range(THREADS):
            add(store, f"s{n}", "a", take=Take(owner="me", token=1, seconds=30))

        def work(number: int) -> bool:
            renewed = store.renew(f"s{number}", token=1, seconds=60)
            add(store, f"s{number}", "b", token=1)
            store.release(f"s{number}", token=1)
            return renewed

        assert at_once(work) == [True] * THREADS
        heads = [store.head(f"s{n}") for n in range(THREADS)]
        assert all(head is not None and (head.sequence, head.expires_at) == (2, "") for head in heads)

    def test_readers_see_whole_appends(self, store: Store) -> None:
        """A reader beside writers sees an append as a whole or not at all, and a head that fits its events."""

        def work(number: int) -> bool:
            if number % 2:
                return all(add(store, "s1", f"{number}-{i}", f"{number}-{i}b").sequences for i in range(10))
            return all(len(store.read("s1", limit=1000)) % 2 == 0 for _ in range(10))

        assert at_once(work) == [True] * THREADS
