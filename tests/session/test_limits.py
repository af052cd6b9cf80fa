"""Limits of contracts: what finds no place is denied with the time to wait, and nobody counts only for himself."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.errors import CatalogFault, UsageError
from ledger.events import CallDenied, CallStarted
from ledger.ids import Clock
from ledger.testing import crash
from ledger.testing.contract.building import HandClock
from tests.session.agents import answers, asked, opened, recorded, types

HOURLY = {"max": 2, "per": "hour"}


@pytest.fixture
def time() -> HandClock:
    return HandClock()


@pytest.fixture
def ledger(time: HandClock) -> Any:
    with Ledger.open("memory://", clock=clock_of(time), jitter=lambda: 0.0) as found:
        yield found


def clock_of(time: HandClock) -> Clock:
    """A clock whose wall time stands still."""
    return Clock(now=lambda: time.moment)


def tool(ledger: Ledger, name: str, *limits: Any, **options: Any) -> list[int]:
    """Register a tool under limits; the list grows with each run."""
    runs: list[int] = []

    @ledger.tool(name, limits=limits, **{"effect": "external"} | options)
    def run(n: int = 0) -> int:
        """Do it."""
        runs.append(n)
        return n

    return runs


def test_what_finds_no_place_is_denied(ledger: Ledger, time: HandClock) -> None:
    """The third call in an hour is denied with the seconds to wait, and the model reads to try again later."""
    runs = tool(ledger, "send", HOURLY)
    session = ledger.session("s")
    session.call("send")
    time.move(600)
    assert session.call("send").state == "succeeded"
    time.move(600)
    denied = session.call("send")
    assert (denied.state, denied.code, len(runs)) == ("denied", "rate_limited", 2)
    assert denied.call.retry_after == 2400.0
    answer = denied.answer
    assert (answer["next"], answer["retryAfter"], answer["gate"]) == ("retry_later", 2400.0, "authorization")
    assert "hour" not in answer["message"]  # what the limit is helps probing; the record knows
    (body,) = [event.body for event in recorded(ledger, "s") if isinstance(event.body, CallDenied)]
    assert body.rule == "2 each hour"
    time.move(2400)
    assert session.call("send").state == "succeeded"


def test_a_limit_names_its_own_code(ledger: Ledger) -> None:
    """A contract may say with which code its limit denies."""
    tool(ledger, "send", {"max": 1, "per": "minute", "code": "RATE_LIMITED"})
    session = ledger.session("s")
    session.call("send")
    assert session.call("send").code == "RATE_LIMITED"


@pytest.mark.parametrize(
    ("limit", "together", "apart"),
    [
        ({"scope": "tool"}, [("a", "t1", "send"), ("b", "t2", "send")], ("a", "t1", "mail")),
        ({"scope": "tenant"}, [("a", "t1", "send"), ("b", "t1", "send")], ("a", "t2", "send")),
        ({"scope": "principal"}, [("a", "t1", "send"), ("a", "t1", "send")], ("b", "t1", "send")),
        ({"scope": "principal"}, [("a", "t1", "send"), ("a", "t1", "send")], ("a", "t2", "send")),
        ({"scope": "service", "service": "x"}, [("a", "t1", "send"), ("b", "t2", "mail")], ("a", "t1", "free")),
        ({"scope": "principal"}, [(None, None, "send"), (None, None, "send")], ("a", None, "send")),
    ],
)
def test_the_scope_says_who_counts_together(
    ledger: Ledger, limit: dict[str, Any], together: list[tuple[str, str, str]], apart: tuple[str, str, str]
) -> None:
    """Calls of one tool, tenant, principal or service share a limit, over all sessions; others have their own."""
    tool(ledger, "send", {"max": 1, "per": "hour"} | limit)
    tool(ledger, "mail", {"max": 1, "per": "hour"} | limit)
    tool(ledger, "free")
    states = []
    for n, (principal, tenant, name) in enumerate([*together, apart]):
        session = ledger.session(f"s{n}", principal=principal, tenant=tenant)
        states.append(session.call(name).state)
    assert states == ["succeeded", "denied", "succeeded"]


def test_a_limit_counts_only_what_started(ledger: Ledger) -> None:
    """Calls that a gate refused take no place, nor does what the limit itself denied."""
    runs = tool(ledger, "send", HOURLY)
    session = ledger.session("s")
    for wrong in ({"n": "x"}, {"m": 1}):
        assert session.call("send", wrong).state == "rejected"
    assert [session.call("send").state for _ in range(4)] == ["succeeded", "succeeded", "denied", "denied"]
    assert len(runs) == 2


def test_further_attempts_need_no_place(ledger: Ledger) -> None:
    """A call takes one place, however often it is tried."""
    from ledger import Unavailable

    tries: list[int] = []

    @ledger.tool("look", effect="read", limits=[{"max": 2, "per": "hour"}, {"max": 1, "per": "running"}])
    def look() -> str:
        """Look."""
        tries.append(1)
        if len(tries) < 3:
            raise Unavailable("Down.")
        return "seen"

    session = ledger.session("s")
    assert session.call("look").state == "succeeded"
    assert len(tries) == 3
    assert [session.call("look").state for _ in range(2)] == ["succeeded", "denied"]


def test_a_turn_starts_what_there_is_room_for(ledger: Ledger) -> None:
    """Of the calls of one turn those asked first find the places; the others are denied, and all are answered."""
    runs = tool(ledger, "look", {"max": 3, "per": "minute"}, effect="read")
    results = ledger.session("s").dispatch(asked(*(("look", {"n": n}) for n in range(5))))
    assert [call.state for call in results.calls] == ["succeeded"] * 3 + ["denied"] * 2
    assert sorted(runs) == [0, 1, 2]
    assert [answer["status"] for answer in answers(results.messages)] == ["succeeded"] * 3 + ["denied"] * 2
    assert {call.call.retry_after for call in results.calls[3:]} == {60.0}
    kinds = types(ledger, "s")
    assert kinds.index("call.denied") < kinds.index("call.succeeded")  # nobody waits for a place that no end frees


def test_a_turn_of_writes_in_order_finds_the_places_in_order(ledger: Ledger) -> None:
    """Calls that run one after the other find their places one after the other."""
    runs = tool(ledger, "send", HOURLY, {"max": 9, "per": "minute"})
    results = ledger.session("s").dispatch(asked(*(("send", {"n": n}) for n in range(4))))
    assert [call.state for call in results.calls] == ["succeeded", "succeeded", "denied", "denied"]
    assert runs == [0, 1]


def test_nothing_is_lost_where_every_call_is_denied(ledger: Ledger) -> None:
    """A turn without any place is recorded whole: the turn, its intents, what the gates said, the ends."""
    tool(ledger, "look", {"max": 1, "per": "hour"}, effect="read")
    ledger.session("first").call("look")
    results = ledger.session("s").dispatch(asked(("look", {"n": 1}), ("look", {"n": 2}), text="So."))
    assert [call.state for call in results.calls] == ["denied", "denied"]
    assert "call.started" not in types(ledger, "s")
    assert types(ledger, "s").count("call.authorized") == 2
    assert ledger.find(results.calls[0]).arguments == {"n": 1}


def test_a_call_waits_for_a_sibling_that_runs(ledger: Ledger) -> None:
    """Under a limit on running calls the calls of one turn wait for each other; all run, never more at once."""
    running, peak, lock = [0], [0], threading.Lock()

    @ledger.tool("look", effect="read", limits=[{"max": 2, "per": "running"}], timeout_seconds=30)
    def look(n: int) -> int:
        """Look."""
        with lock:
            running[0] += 1
            peak[0] = max(peak[0], running[0])
        with lock:
            running[0] -= 1
        return n

    results = ledger.session("s").dispatch(asked(*(("look", {"n": n}) for n in range(6))))
    assert [call.result for call in results.calls] == list(range(6))
    assert peak[0] <= 2
    state = 0
    for kind in types(ledger, "s"):
        state += {"call.started": 1, "call.succeeded": -1}.get(kind, 0)
        assert state <= 2


def test_the_time_of_a_call_begins_when_it_starts(time: HandClock) -> None:
    """Waiting for a sibling's place is no part of a call's own time."""
    ticks = [0.0]
    clock = Clock(now=lambda: time.moment, monotonic=lambda: ticks[0])
    with Ledger.open("memory://", clock=clock) as ledger:

        @ledger.tool("look", effect="read", limits=[{"max": 1, "per": "running"}], timeout_seconds=30)
        def look(n: int) -> int:
            """Look."""
            ticks[0] += 20
            return n

        results = ledger.session("s").dispatch(asked(("look", {"n": 1}), ("look", {"n": 2})))
        assert [call.state for call in results.calls] == ["succeeded", "succeeded"]
        starts = [event.body for event in recorded(ledger, "s") if isinstance(event.body, CallStarted)]
        assert [start.deadline for start in starts] == [time.stamp(30), time.stamp(30)]


def test_nobody_waits_for_the_calls_of_others(ledger: Ledger) -> None:
    """Where other sessions hold all running places a call is denied at once: ask again soon."""
    inside, go_on = threading.Event(), threading.Event()

    @ledger.tool("look", effect="read", limits=[{"max": 1, "per": "running"}])
    def look() -> str:
        """Look."""
        inside.set()
        go_on.wait(10)
        return "seen"

    other = threading.Thread(target=lambda: ledger.session("other").call("look"))
    other.start()
    assert inside.wait(10)
    session = ledger.session("s")
    denied = session.call("look")
    go_on.set()
    other.join()
    assert (denied.state, denied.call.retry_after) == ("denied", 1.0)
    assert session.call("look").state == "succeeded"


def test_a_call_that_waits_for_its_sibling_may_still_be_denied(ledger: Ledger) -> None:
    """A call that waited for a running place is denied where another limit has no place by then."""
    runs = tool(ledger, "look", {"max": 1, "per": "running"}, {"max": 1, "per": "hour"}, effect="read")
    results = ledger.session("s").dispatch(asked(("look", {"n": 1}), ("look", {"n": 2})))
    assert [call.state for call in results.calls] == ["succeeded", "denied"]
    assert results.calls[1].call.retry_after == 3600.0
    assert runs == [1]


def test_a_ledger_that_stops_lets_no_sibling_wait_on(ledger: Ledger) -> None:
    """A call that waits for its sibling when the program is told to stop ends as cancelled, and never ran."""

    @ledger.tool("look", effect="read", limits=[{"max": 1, "per": "running"}])
    def look(n: int) -> int:
        """Look."""
        ledger.stop()
        return n

    results = ledger.session("s").dispatch(asked(("look", {"n": 1}), ("look", {"n": 2})))
    assert [(call.state, call.code) for call in results.calls] == [("succeeded", None), ("failed", "cancelled")]
    assert results.calls[1].call.not_started


def test_a_ledger_that_stops_before_any_sibling_ran(ledger: Ledger) -> None:
    """Nothing is lost where the program stops while a call waits for a sibling that found no place either."""
    tool(ledger, "look", {"max": 1, "per": "running"}, {"max": 1, "per": "hour"}, effect="read")
    ledger.session("first").call("look")
    crash.arm(ledger, crash.before("call.started", 2), end=ledger.stop)
    results = ledger.session("s").dispatch(asked(("look", {"n": 1}), ("look", {"n": 2})))
    assert [(call.state, call.code) for call in results.calls] == [("denied", "rate_limited"), ("failed", "cancelled")]


def test_an_approved_call_needs_a_place_too(ledger: Ledger, time: HandClock) -> None:
    """A person's word lets a call run; where its limit has no place by then, it is denied and may be asked again."""
    runs = tool(ledger, "send", {"max": 1, "per": "hour"})
    ledger.authorize(lambda call, principal: Ask())
    session = ledger.session("s")
    first, second = session.call("send", {"n": 1}), session.call("send", {"n": 2})
    for call in (first, second):
        ledger.approve(call, by="eva")
    session.wait()
    assert [ledger.find(call).state for call in (first, second)] == ["succeeded", "denied"]
    assert runs == [1]


def test_what_a_person_lets_run_again_takes_another_place(ledger: Ledger, time: HandClock) -> None:
    """A new run by a person's word is a new start; it counts."""
    runs: list[int] = []

    @ledger.tool("send", limits=[HOURLY])
    def send() -> str:
        """Send."""
        runs.append(1)
        if len(runs) == 1:
            raise OSError("lost")
        return "sent"

    session = ledger.session("s")
    doubt = session.call("send")
    time.move(1)
    ledger.resolve(doubt, "did-not-happen", by="eva", run=True)
    session.wait()
    assert ledger.find(doubt).state == "succeeded"
    assert session.call("send").state == "denied"


def test_a_ledger_has_limits_of_its_own(tmp_path: Path) -> None:
    """Limits of the whole ledger count the calls of all tools together; the scope tool still means each of them."""
    limits = [{"max": 2, "per": "hour", "scope": "tenant"}, {"max": 1, "per": "hour", "scope": "tool"}]
    with opened(tmp_path, limits=limits) as ledger:
        for name in ("a", "b", "c"):
            tool(ledger, name)
        session = ledger.session("s", tenant="t")
        states = [session.call(name).state for name in ("a", "a", "b", "c")]
        assert states == ["succeeded", "denied", "succeeded", "denied"]
        assert ledger.session("o", tenant="other").call("c").state == "succeeded"
    with pytest.raises(CatalogFault, match=r"Ledger\.open#/limits/0/max"):
        opened(tmp_path, limits=[{"max": 0, "per": "hour"}])
    with pytest.raises(CatalogFault, match=r"Ledger\.open#/limits: limits are a list"):
        opened(tmp_path, limits="hour")


def test_two_ledgers_of_one_file_count_together(tmp_path: Path) -> None:
    """The store counts, not the process: a ledger opened anew finds the places taken."""
    with opened(tmp_path) as ledger:
        tool(ledger, "send", HOURLY)
        ledger.session("s").call("send")
        with opened(tmp_path) as other:
            tool(other, "send", HOURLY)
            session = other.session("o")
            assert [session.call("send").state for _ in range(2)] == ["succeeded", "denied"]
    with opened(tmp_path) as ledger:
        tool(ledger, "send", HOURLY)
        assert ledger.session("t").call("send").state == "denied"


def test_a_freed_idempotency_key_may_be_used_again(ledger: Ledger, time: HandClock) -> None:
    """A denied call gives its key back: later the host sends it again under the same one."""
    tool(ledger, "send", {"max": 1, "per": "minute"})
    session = ledger.session("s")
    session.call("send", idempotency_key="k1")
    assert session.call("send", idempotency_key="k2").state == "denied"
    time.move(60)
    assert session.call("send", idempotency_key="k2").state == "succeeded"


def test_each_start_says_nothing_of_limits(ledger: Ledger) -> None:
    """A start under a limit is recorded as every other start."""
    tool(ledger, "send", HOURLY)
    ledger.session("s").call("send")
    (start,) = [event for event in recorded(ledger, "s") if isinstance(event.body, CallStarted)]
    assert start.attempt == 1


def test_the_time_to_wait_is_rounded_up(ledger: Ledger, time: HandClock) -> None:
    """Whoever waits as long as he was told finds the place free."""
    tool(ledger, "send", {"max": 1, "per": "minute"})
    session = ledger.session("s")
    session.call("send")
    time.moment += timedelta(microseconds=1)
    wait = session.call("send").call.retry_after
    assert wait == 60.0
    time.moment += timedelta(seconds=wait)
    assert session.call("send").state == "succeeded"


def test_limits_of_a_session_are_no_list(ledger: Ledger) -> None:
    """The limits of a session are of another kind than those of a contract, and a mix-up is told."""
    with pytest.raises(UsageError, match=r"limits= is a Limits, not list.*Limits\(turns=20\)"):
        ledger.session("s", limits=[HOURLY])
