"""Runs under way: attempts, deadlines, interruptions, a host that stops."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, DidNotHappen, Happened, Ledger, Unavailable
from ledger.events import CallAttemptFailed, CallFailed, CallFlagged, CallStarted
from tests.session.agents import asked, opened, recorded, types


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path, jitter=lambda: 0.0) as found:
        yield found


def flaky(ledger: Ledger, failures: int, **options: Any) -> list[int]:
    """Register a tool that is unavailable so many times."""
    attempts: list[int] = []

    @ledger.tool("flaky", **options)
    def run(*, context: Any) -> str:
        """Try."""
        attempts.append(context.attempt)
        if len(attempts) <= failures:
            raise Unavailable("Down.")
        return str(context.idempotency_key)

    return attempts


RETRY = {"effect": "external", "recovery": "retry", "supports_idempotency": True}


@pytest.mark.parametrize("options", [{"effect": "read"}, RETRY], ids=["read", "retry"])
def test_an_attempt_that_did_nothing_is_made_again(ledger: Ledger, options: dict[str, Any]) -> None:
    """Each attempt has its own start with the same key; the failed ones are recorded."""
    attempts = flaky(ledger, 2, **options)
    result = ledger.session("s").call("flaky")
    assert (result.state, attempts) == ("succeeded", [1, 2, 3])
    assert result.result == result.call_id
    assert types(ledger, "s").count("call.attempt_failed") == 2
    starts = [e for e in recorded(ledger, "s") if isinstance(e.body, CallStarted)]
    assert [e.attempt for e in starts] == [1, 2, 3]
    assert {e.body.idempotency_key for e in starts if isinstance(e.body, CallStarted)} == {result.call_id}


def test_attempts_are_bounded(ledger: Ledger) -> None:
    """After the last attempt that surely did nothing the call has failed."""
    attempts = flaky(ledger, 9, effect="read")
    result = ledger.session("s").call("flaky")
    assert (result.state, result.code, attempts) == ("failed", "unavailable", [1, 2, 3])


def test_a_plain_write_is_not_tried_again(ledger: Ledger) -> None:
    """Nobody declared that it may be; its failure is told, with when to try again."""
    attempts = flaky(ledger, 1, effect="external")
    result = ledger.session("s").call("flaky")
    assert (result.state, result.code, attempts) == ("failed", "unavailable", [1])


def test_no_attempt_begins_behind_the_deadline(tmp_path: Path) -> None:
    """A backoff that would end behind the deadline ends the call at once."""
    with opened(tmp_path, jitter=lambda: 1.0) as ledger:
        attempts = flaky(ledger, 9, effect="read", timeout_seconds=0.4)
        assert ledger.session("s").call("flaky").code == "unavailable"
        assert attempts == [1]


def test_a_call_waits_for_its_next_attempt_beside_others(ledger: Ledger) -> None:
    """One call of a group is tried again while another still runs."""
    gate = threading.Event()
    attempts = flaky(ledger, 1, effect="read")

    @ledger.tool("slow", effect="read")
    def slow() -> str:
        """Wait for the other one."""
        gate.wait(10)
        return "done"

    @ledger.tool("opens", effect="read")
    def opens() -> str:
        """Let the slow one go."""
        gate.set()
        return "open"

    results = ledger.session("s").dispatch(asked(("slow", {}), ("flaky", {}), ("opens", {})))
    assert [call.state for call in results.calls] == ["succeeded"] * 3
    assert attempts == [1, 2]


def stuck(ledger: Ledger, **options: Any) -> threading.Event:
    """Register a tool that runs until the event lets it go."""
    leave = threading.Event()

    @ledger.tool("stuck", timeout_seconds=0.05, **options)
    def run() -> str:
        """Run on."""
        leave.wait(10)
        return "late"

    return leave


def test_a_read_at_its_deadline_has_failed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be made again; what it returns later is kept as evidence and changes nothing."""
    arrived = threading.Event()
    append = ledger._wiring.store.append

    def heard(request: Any) -> Any:
        found = append(request)
        if request.drafts[-1].type == "call.outcome_arrived_late":
            arrived.set()
        return found

    monkeypatch.setattr(ledger._wiring.store, "append", heard)
    leave = stuck(ledger, effect="read")
    session = ledger.session("s")
    result = session.call("stuck")
    assert (result.state, result.code) == ("failed", "timeout")
    leave.set()
    assert arrived.wait(10)
    assert ledger.find(result.call_id).state == "failed"


def test_a_write_at_its_deadline_is_in_doubt_and_its_late_outcome_settles_it(ledger: Ledger) -> None:
    """A deadline says nothing about the effect; the late outcome does, if nobody else claimed the session."""
    leave = stuck(ledger, effect="write", cancellable=False)
    session = ledger.session("s")
    result = session.call("stuck")
    assert (result.state, result.call.reason) == ("needs-review", "outcome-unknown")
    leave.set()
    (settled,) = session.wait(30).calls
    assert (settled.state, settled.result) == ("succeeded", "late")


def test_a_call_that_conflicts_with_one_still_running_does_not_start(ledger: Ledger) -> None:
    """Past its deadline the first one still writes; the second one must not run beside it."""
    leave = stuck(ledger, effect="write", resource_keys=("a",))
    ran: list[str] = []

    @ledger.tool("other", effect="write", resource_keys=("/key",))
    def other(key: str) -> str:
        """Write."""
        ran.append(key)
        return key

    @ledger.tool("same", effect="write", resource_keys=("a",))
    def same() -> str:
        """Write to the same."""
        ran.append("a")
        return "a"

    results = ledger.session("s").dispatch(asked(("stuck", {}), ("same", {}), ("other", {"key": "b"})))
    leave.set()
    assert [call.state for call in results.calls] == ["needs-review", "failed", "succeeded"]
    assert results.calls[1].call.not_started
    assert ran == ["b"]


@pytest.mark.parametrize(
    ("answer", "options", "state"),
    [
        (Happened("done"), {}, "succeeded"),
        (DidNotHappen("looked"), {}, "needs-review"),
        (DidNotHappen("looked"), {"recovery": "retry"}, "succeeded"),
        ("maybe", {}, "needs-review"),
        (KeyError("x"), {}, "needs-review"),
    ],
    ids=["happened", "not", "not and retry", "no answer", "raises"],
)
def test_a_tool_in_doubt_is_asked_first(ledger: Ledger, answer: Any, options: dict[str, Any], state: str) -> None:
    """An exception after the effect: reconcile settles it, or a person gets its evidence."""
    runs: list[int] = []
    asked_with: list[Any] = []

    def look(arguments: dict[str, Any], context: Any) -> Any:
        asked_with.append((arguments, context.call_id))
        if isinstance(answer, Exception):
            raise answer
        return answer

    @ledger.tool("pay", effect="external", reconcile=look, **options)
    def pay(amount: int) -> str:
        """Pay; the first reply is lost."""
        runs.append(amount)
        if len(runs) == 1:
            raise TimeoutError
        return "paid"

    result = ledger.session("s").call("pay", {"amount": 7})
    assert result.state == state
    assert asked_with == [({"amount": 7}, result.call_id)]
    assert len(runs) == (2 if options else 1)
    if state == "needs-review":
        flag = next(e.body for e in recorded(ledger, "s") if isinstance(e.body, CallFlagged))
        assert flag.evidence["reconcile"]


def test_a_retry_by_key_is_made_again_until_its_attempts_are_used_up(ledger: Ledger) -> None:
    """An unknown end of a tool with an idempotency key runs again with the same key; then a person is asked."""
    keys: list[str] = []

    @ledger.tool("pay", **RETRY)
    def pay(*, idempotency_key: str) -> str:
        """Pay; every reply is lost."""
        keys.append(idempotency_key)
        raise TimeoutError

    result = ledger.session("s").call("pay")
    assert (result.state, result.call.reason) == ("needs-review", "attempts-exhausted")
    assert keys == [result.call_id] * 3


def test_ctrl_c_in_a_tool_leaves_a_clean_state(ledger: Ledger) -> None:
    """The write in hand is in doubt, what has not started is cancelled, and the interruption goes on to the host."""

    @ledger.tool("first", effect="write", resource_keys=("a",), reconcile=lambda arguments, context: Happened())
    def first() -> None:
        """Be interrupted."""
        raise KeyboardInterrupt

    @ledger.tool("second", effect="write", resource_keys=("a",))
    def second() -> None:
        """Never run."""
        pytest.fail("ran")

    session = ledger.session("s")
    with pytest.raises(KeyboardInterrupt):
        session.dispatch(asked(("first", {}), ("second", {})))
    states = [(c.state, c.code) for c in session.history.turn_calls(session.history.turns[-1])]
    assert states == [("needs-review", None), ("failed", "cancelled")]
    head = ledger.reader.head("s")
    assert head is not None
    assert head.expires_at == ""


def test_ctrl_c_in_a_policy_cancels_before_any_start(ledger: Ledger) -> None:
    """The intent is recorded; nothing started, and the call says so."""

    @ledger.tool("write", effect="write")
    def write() -> None:
        """Never run."""
        pytest.fail("ran")

    @ledger.authorize
    def policy(call: Any, principal: Any) -> None:
        raise KeyboardInterrupt

    session = ledger.session("s")
    with pytest.raises(KeyboardInterrupt):
        session.call("write")
    assert types(ledger, "s")[-2:] == ["call.proposed", "call.failed"]
    last = recorded(ledger, "s")[-1].body
    assert isinstance(last, CallFailed)
    assert last.not_started


def test_a_host_that_stops_starts_nothing_more(ledger: Ledger) -> None:
    """`stop` lets the started call end; the next group, and the next attempt, do not begin."""

    @ledger.tool("first", effect="write", resource_keys=("a",))
    def first() -> str:
        """Stop the host."""
        ledger.stop()
        return "ended"

    @ledger.tool("second", effect="write", resource_keys=("a",))
    def second() -> None:
        """Never run."""
        pytest.fail("ran")

    results = ledger.session("s").dispatch(asked(("first", {}), ("second", {})))
    assert [(call.state, call.code) for call in results.calls] == [("succeeded", None), ("failed", "cancelled")]
    attempts = flaky(ledger, 1, effect="read")
    assert ledger.session("t").call("flaky").code == "cancelled"
    assert attempts == []


def test_a_host_that_stops_makes_no_further_attempt(ledger: Ledger) -> None:
    """A read that was unavailable while the host stops has failed."""

    @ledger.tool("read", effect="read")
    def read() -> None:
        """Stop the host and be unavailable."""
        ledger.stop()
        raise Unavailable("Down.")

    assert ledger.session("s").call("read").code == "unavailable"
    assert not [e for e in recorded(ledger, "s") if isinstance(e.body, CallAttemptFailed)]


def test_a_host_that_stops_waits_for_started_calls_so_long(ledger: Ledger) -> None:
    """At the limit a read ends as cancelled, a write is in doubt, and what comes late settles it after all."""
    go = threading.Event()
    begun = threading.Barrier(2)

    def tool(number: int) -> int:
        """Tell the host to stop, and outlive its patience."""
        begun.wait()
        ledger.stop(within=0)
        go.wait()
        return number

    ledger.tool("look", effect="read", resource_keys=lambda arguments: ["a"])(tool)
    ledger.tool("write", effect="write", resource_keys=lambda arguments: ["b"])(tool)
    ledger.tool("rest", effect="write")(lambda: pytest.fail("ran"))
    batch = asked(("look", {"number": 1}), ("write", {"number": 2}), ("rest", {}))
    results = ledger.session("s").dispatch(batch)
    assert [(call.state, call.code, call.call.reason) for call in results.calls] == [
        ("failed", "cancelled", None),
        ("needs-review", None, "outcome-unknown"),
        ("failed", "cancelled", None),
    ]
    go.set()
    for thread in threading.enumerate():
        if thread.name in ("ledger-look", "ledger-write"):
            thread.join()
    assert ledger.find(results.calls[1].call_id).state == "succeeded"


def test_a_host_that_stops_waits_for_no_person(ledger: Ledger) -> None:
    """`wait` comes back, and what it waited for stays in the queue."""
    ledger.tool("write", effect="write")(lambda: None)
    ledger.authorize(lambda call, principal: Ask())
    session = ledger.session("s")
    session.call("write")
    ledger.stop()
    assert [call.state for call in session.wait().calls] == ["awaiting-approval"]
