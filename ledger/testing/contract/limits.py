# ruff: noqa: S101, PLR2004 - these are tests
"""Limits: counted in the transaction that starts a call, by the store's clock."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from ledger.calls import CallRow
from ledger.errors import RateLimited, WrongSequence
from ledger.events import CallAuthorized, CallStarted, CallSucceeded, CallValidated, Draft
from ledger.store.port import Append, Appended, RateGuard, Store
from ledger.testing.contract.building import DIGEST, HandClock, StoreCase, Story, add, everything

HOUR = 3600.0


def guard(*calls: str, most: int = 2, seconds: float | None = HOUR, key: str = "k") -> RateGuard:
    """Return a guard on the start of these calls."""
    return RateGuard(key=key, max=most, seconds=seconds, calls=calls)


def started(story: Story, *call_ids: str) -> tuple[Draft, ...]:
    """Return the events of calls up to their start."""
    drafts: list[Draft] = []
    for call_id in call_ids:
        drafts += (
            story.propose(call_id),
            story.of_call(call_id, CallValidated(gates=("schema",), validator="none", arguments_digest=DIGEST)),
            story.of_call(call_id, CallAuthorized(by="policy", arguments_digest=DIGEST)),
            story.of_call(call_id, CallStarted(idempotency_key=call_id, worker="w", token=1), attempt=1),
        )
    return tuple(drafts)


def start(store: Store, name: str, *guards: RateGuard) -> Appended:
    """Start a call in a session of its own, both under this name."""
    story = Story(name)
    drafts = started(story, name)
    return store.append(Append(session_id=name, drafts=drafts, calls=story.rows(name), guards=guards))


def rows_of(store: Store, names: Sequence[str]) -> list[CallRow | None]:
    """Return the rows of calls."""
    return [store.call(name) for name in names]


class LimitContract(StoreCase):
    """What a guard lets through, and what it says where it does not."""

    def test_no_start_beyond_the_limit(self, store: Store, time: HandClock) -> None:
        """A start that finds no place is refused with the limit's name and the time to wait, and leaves nothing."""
        start(store, "a", guard("a"))
        time.move(10)
        start(store, "b", guard("b"))
        time.move(20)
        with pytest.raises(RateLimited) as refusal:
            start(store, "c", guard("c"))
        full = refusal.value
        assert (full.key, full.max, full.room, full.retry_after) == ("k", 2, 0, 3570.0)
        assert store.head("c") is None
        assert store.call("c") is None
        assert not everything(store, "c")

    def test_a_place_becomes_free_to_the_moment(self, store: Store, time: HandClock) -> None:
        """A place is free again exactly when the refusal said it would be, and not before."""
        start(store, "a", guard("a", most=1))
        time.move(HOUR - 0.000001)
        with pytest.raises(RateLimited) as refusal:
            start(store, "b", guard("b", most=1))
        assert refusal.value.retry_after == 0.000001
        time.move(0.000001)
        assert start(store, "b", guard("b", most=1)).sequences
        with pytest.raises(RateLimited):
            start(store, "c", guard("c", most=1))

    def test_other_keys_count_apart(self, store: Store) -> None:
        """What is counted together is what has one key; a start without a guard takes no place."""
        start(store, "a", guard("a", most=1))
        start(store, "b", guard("b", most=1, key="other"))
        start(store, "c")
        with pytest.raises(RateLimited):
            start(store, "d", guard("d", most=1))

    def test_every_guard_must_have_a_place(self, store: Store) -> None:
        """Where one of several guards is full, no place of the others is taken."""
        start(store, "a", guard("a", most=1))
        with pytest.raises(RateLimited) as refusal:
            start(store, "b", guard("b", most=1, key="wide"), guard("b", most=1))
        assert refusal.value.key == "k"
        assert start(store, "c", guard("c", most=1, key="wide")).sequences

    def test_two_limits_of_one_key_count_a_call_once(self, store: Store) -> None:
        """A call takes one place of a key, however many limits look at it."""
        start(store, "a", guard("a", most=2), guard("a", most=3))
        start(store, "b", guard("b", most=2), guard("b", most=3))
        with pytest.raises(RateLimited) as refusal:
            start(store, "c", guard("c", most=2), guard("c", most=3))
        assert refusal.value.max == 2
        start(store, "c", guard("c", most=3))

    def test_an_append_with_several_starts_is_told_the_room(self, store: Store, time: HandClock) -> None:
        """One append may start several calls; where they do not all fit, it is told how many would."""
        story = Story("s")
        drafts = started(story, "a", "b", "c")
        request = Append(session_id="s", drafts=drafts, calls=story.rows("a", "b", "c"), guards=(guard("a", "b", "c"),))
        with pytest.raises(RateLimited) as refusal:
            store.append(request)
        assert (refusal.value.room, refusal.value.retry_after) == (2, HOUR)
        start(store, "x", guard("x"))
        time.move(60)
        with pytest.raises(RateLimited) as refusal:
            store.append(request)
        assert (refusal.value.room, refusal.value.retry_after) == (1, HOUR - 60)
        assert store.head("s") is None

    def test_a_lowered_limit_lets_the_old_places_end_first(self, store: Store, time: HandClock) -> None:
        """Under a limit that was lowered since, a place is free once enough of the old ones are."""
        for name in ("a", "b", "c"):
            start(store, name, guard(name, most=3))
            time.move(100)
        with pytest.raises(RateLimited) as refusal:
            start(store, "d", guard("d", most=1))
        assert (refusal.value.room, refusal.value.retry_after) == (0, HOUR - 100)

    def test_a_clock_that_is_set_back_frees_nothing(self, store: Store, time: HandClock) -> None:
        """Places taken in what is now the future count as taken now: neither free at once nor taken for ever."""
        time.move(100 * HOUR)
        start(store, "a", guard("a", most=1))
        time.move(-100 * HOUR)
        with pytest.raises(RateLimited) as refusal:
            start(store, "b", guard("b", most=1))
        assert refusal.value.retry_after == HOUR
        time.move(HOUR)
        assert start(store, "b", guard("b", most=1)).sequences

    def test_a_repeated_append_takes_no_second_place(self, store: Store) -> None:
        """The same start appended again is recognised, also where the limit is full by now."""
        first = start(store, "a", guard("a"))
        assert start(store, "a", guard("a")).positions == first.positions
        start(store, "b", guard("b"))
        assert start(store, "a", guard("a")).repeated

    def test_another_refusal_takes_no_place(self, store: Store) -> None:
        """An append that is refused for another reason takes no place."""
        story = Story("a")
        drafts = started(story, "a")
        with pytest.raises(WrongSequence):
            store.append(Append(session_id="a", drafts=drafts, expected=7, guards=(guard("a", most=1),)))
        assert start(store, "b", guard("b", most=1)).sequences

    def test_a_full_limit_comes_before_what_is_wrong_with_the_events(self, store: Store) -> None:
        """An append that names an event twice, and finds no place, hears of the limit on every back end."""
        start(store, "a", guard("a", most=1))
        story = Story("b")
        drafts = started(story, "b")
        twice, rows = (*drafts, drafts[-1]), story.rows("b")
        with pytest.raises(RateLimited):
            store.append(Append(session_id="b", drafts=twice, calls=rows, guards=(guard("b", most=1),)))

    def test_running_calls_give_their_place_back(self, store: Store, time: HandClock) -> None:
        """A limit on running calls counts those that stand in state started, for however long, and no others."""
        story = Story("s")
        running = guard("a", most=1, seconds=None)
        store.append(
            Append(session_id="s", drafts=started(story, "a"), calls=story.rows("a"), guards=(running,)),
        )
        time.move(100 * HOUR)
        with pytest.raises(RateLimited) as refusal:
            start(store, "b", guard("b", most=1, seconds=None))
        assert (refusal.value.room, refusal.value.retry_after) == (0, None)
        end = story.of_call("a", CallSucceeded(result="done"), attempt=1)
        store.append(Append(session_id="s", drafts=(end,), calls=story.rows("a")))
        assert start(store, "b", guard("b", most=1, seconds=None)).sequences
        with pytest.raises(RateLimited):
            start(store, "c", guard("c", most=1, seconds=None))

    def test_a_running_call_that_nobody_knows_counts_no_more(self, store: Store) -> None:
        """A place whose call has no row (it was removed) is free."""
        story = Story("s")
        store.append(
            Append(session_id="s", drafts=started(story, "a"), guards=(guard("a", most=1, seconds=None),)),
        )
        assert start(store, "b", guard("b", most=1, seconds=None)).sequences

    def test_odd_keys_are_keys(self, store: Store) -> None:
        """A key may hold any text, a lone surrogate too."""
        for key in ("a'b--\x00", "\ud800"):
            start(store, f"first {key!r}", guard(f"first {key!r}", most=1, key=key))
            with pytest.raises(RateLimited):
                start(store, f"second {key!r}", guard(f"second {key!r}", most=1, key=key))

    def test_a_refusal_spoils_nothing_beside_it(self, store: Store) -> None:
        """Of many callers at once exactly those that find a place start; callers without a limit are all recorded."""
        names = [f"n{n}" for n in range(24)]

        def one(name: str) -> bool:
            add(store, f"free {name}", "x")
            try:
                start(store, name, guard(name, most=7))
            except RateLimited:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            went = list(pool.map(one, names))
        assert sum(went) == 7
        assert [row is not None for row in rows_of(store, names)] == went
        assert all(len(everything(store, f"free {name}")) == 1 for name in names)
