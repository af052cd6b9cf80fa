"""`on_rejection="run_none"` behind a crash: the siblings of a refused call run neither, and nobody is asked."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import Allow, Ask, Deny, Invalid, Ledger
from ledger.calls import Call
from ledger.testing import crash
from tests.session.agents import answers, asked


@pytest.fixture
def ran() -> list[str]:
    return []


@pytest.fixture
def ledger(ran: list[str]) -> Any:
    """A ledger that may run after a crash what surely never ran, and that commits intents by themselves."""
    with Ledger.open("memory://", run_not_started=True) as found:

        @found.tool("view", effect="read")
        def view(n: int) -> None:
            """View."""
            ran.append(f"view {n}")

        @found.tool("pay", effect="external")
        def pay(n: int) -> None:
            """Pay."""
            ran.append(f"pay {n}")

        @found.check("view")
        def fits(arguments: Any, _context: Any) -> Any:
            """Refuse 14."""
            return Invalid("odd", "Not 14.") if arguments["n"] == 14 else None

        @found.authorize
        def policy(call: Call, principal: Any) -> Any:
            """Deny 13, ask about 7."""
            return {13: Deny("unlucky", "Not 13."), 7: Ask()}.get(call.arguments["n"], Allow())

        yield found


def dies() -> None:
    """End as a process does that dies."""
    raise RuntimeError("died")


def crashed(ledger: Ledger, rule: str, *calls: tuple[str, Any]) -> Any:
    """Dispatch a turn, die behind its intents, and dispatch it once more."""
    crash.arm(ledger, crash.after("call.proposed"), end=dies)
    with pytest.raises(RuntimeError, match="died"):
        ledger.session("s").dispatch(asked(*calls), on_rejection=rule)
    return ledger.session("s").dispatch(asked(*calls), on_rejection=rule)


@pytest.mark.parametrize("rule", ["run_rest", "run_none"])
def test_a_call_that_the_schema_refused_stops_its_siblings(ledger: Ledger, ran: list[str], rule: str) -> None:
    """A read and a write that would run again by themselves; under `run_rest` they do."""
    results = crashed(ledger, rule, ("view", {"n": 1}), ("pay", {"n": 1}), ("pay", {"n": "x"}))
    states = [call.state for call in results.calls]
    if rule == "run_rest":
        assert (states, ran) == (["succeeded", "succeeded", "rejected"], ["view 1", "pay 1"])
        return
    assert (states, ran) == (["failed", "failed", "rejected"], [])
    told = answers(results.messages)
    assert [each["code"] for each in told] == ["cancelled", "cancelled", "schema_validation"]
    assert "another call of its turn was refused" in told[0]["message"]


def test_a_call_that_is_refused_behind_the_crash_stops_its_siblings(ledger: Ledger, ran: list[str]) -> None:
    """The policies are asked then: nothing has run before one denies, and no person is asked about the rest."""
    results = crashed(ledger, "run_none", ("view", {"n": 1}), ("pay", {"n": 7}), ("view", {"n": 13}))
    assert ([call.state for call in results.calls], ran) == (["failed", "failed", "denied"], [])
    assert list(ledger.reviews()) == []


def test_nobody_is_asked_whether_the_sibling_of_a_refused_call_shall_run(ledger: Ledger, ran: list[str]) -> None:
    """Also where a person would have to say so, as a rule, and where nothing is refused they are asked."""
    ledger._wiring.run_not_started = False
    assert crashed(ledger, "run_none", ("pay", {"n": 1}), ("pay", {"n": "x"})).calls[0].state == "failed"
    assert crashed(ledger, "run_none", ("pay", {"n": 2}), ("view", {"n": 2})).calls[0].state == "needs-review"
    assert ran == ["view 2"]


@pytest.mark.parametrize("refused", [13, 14])
@pytest.mark.parametrize("rule", ["run_rest", "run_none"])
def test_nobody_is_asked_about_a_write_before_the_hosts_code_has_spoken(
    ledger: Ledger, ran: list[str], rule: str, refused: int
) -> None:
    """By a policy or a check, behind the write in the turn: a person's `run` would have been taken."""
    ledger._wiring.run_not_started = False
    results = crashed(ledger, rule, ("pay", {"n": 1}), ("view", {"n": refused}))
    state, reviews = ("failed", 0) if rule == "run_none" else ("needs-review", 1)
    assert (results.calls[0].state, len(list(ledger.reviews())), ran) == (state, reviews, [])
    if rule == "run_none":
        assert answers(results.messages)[0]["code"] == "cancelled"


def test_step_by_step_the_sibling_of_a_refused_call_ends_too(ledger: Ledger, ran: list[str]) -> None:
    """Whichever step it has come to; what is not refused goes on."""
    session = ledger.session("s")
    crash.arm(ledger, crash.after("call.proposed"), end=dies)
    with pytest.raises(RuntimeError, match="died"):
        session.dispatch(asked(("view", {"n": 1}), ("pay", {"n": 2}), ("view", {"n": 13})), on_rejection="run_none")
    session = ledger.session("s")
    first, second, third = (str(row["callId"]) for row in ledger.calls())
    states = [session.advance(each).state for each in (first, first, third, third, first, second)]
    assert states == ["validated", "authorized", "validated", "denied", "failed", "failed"]
    assert (ledger.find(first).code, ran) == ("cancelled", [])
