"""Reports of calls that ran twice, were lost, or made a session unusable, after a crash or a stop."""

from __future__ import annotations

import pytest

from ledger.errors import DivergentTurn, VerdictRefused
from ledger.providers.check import check
from tests.cases.scenes import SESSION, Desk, results
from tests.cli.running import ledger as command
from tests.providers.odd import FORMATS
from tests.session.agents import asked, types


def test_an_effect_runs_again_after_its_process_was_killed(desk: Desk) -> None:
    """
    `kill -9` after the effect and before its outcome: one effect, and nothing runs until a person has
    spoken, once.
    """
    # https://github.com/langchain-ai/langgraph/issues/7417 (measured there: two effects).
    desk.killed(-5)
    done = desk.command("resume", SESSION)
    assert done.returncode == 3  # something waits
    for _ in range(2):
        desk.open().session(SESSION).messages()
    assert (desk.paid, desk.states()) == ([-5], ["needs-review"])
    [waiting] = desk.open().reviews()
    assert (waiting["state"], waiting["reason"]) == ("needs-review", "outcome-unknown")
    ledger = desk.open()
    ledger.resolve(waiting["callId"], "happened", result={"paid": -5}, by="ada")
    with pytest.raises(VerdictRefused, match="resolved already: happened, by ada"):
        ledger.resolve(waiting["callId"], "did-not-happen", run=True, by="bob")
    ledger.session(SESSION).messages()
    assert desk.paid == [-5]
    assert command("resume", SESSION).exit_code == 0


def test_finished_calls_run_again_on_continue(desk: Desk) -> None:
    """Stop and continue, three times: no execution, no new event, the recorded outcomes."""
    # https://github.com/odysseus-dev/odysseus/issues/3570
    reply = asked(("pay", {"amount": 1}), ("pay", {"amount": 2}))
    first = desk.open()
    told = first.session(SESSION).dispatch(reply).messages
    before = types(first, SESSION)
    for _ in range(3):
        ledger = desk.open()
        assert ledger.resume(SESSION).decisions == []
        session = ledger.session(SESSION)
        assert session.messages() == told
        assert desk.open().session(SESSION).dispatch(reply).messages == told
        assert types(ledger, SESSION) == before
    assert desk.paid == [1, 2]


def test_a_killed_call_leaves_a_conversation_that_no_provider_takes(desk: Desk) -> None:
    """
    Four calls of one turn, killed in the third: each is answered exactly once for every provider, in
    words that are no outcome, and the model may go on.
    """
    # https://github.com/MoonshotAI/kimi-code/issues/269, https://github.com/HKUDS/OpenHarness/issues/240
    desk.killed(1, 2, -3, 4)
    ledger = desk.open()
    session = ledger.session(SESSION)
    session.messages()
    session.add({"role": "user", "content": "And now?"})
    for name in FORMATS:
        assert check(name, session.messages(name)) == []
    told = [answer for _, answer in results(session.messages())]
    assert [answer["status"] for answer in told] == ["succeeded", "succeeded", "needs_review", "needs_review"]
    assert "may or may not have happened" in told[2]["message"]
    assert "NOT EXECUTED" in told[3]["message"]
    assert types(ledger, SESSION).count("call.succeeded") == 2
    assert session.dispatch(asked(text="I wait for the review.")).turn == 2
    assert desk.paid == [1, 2, -3]


def test_a_renamed_step_gets_the_outcome_of_another(desk: Desk) -> None:
    """Another tool at a recorded place is an error that names place, expected and got; nothing is served or run."""
    # https://github.com/temporalio/sdk-rust/issues/443
    ledger = desk.open()
    ledger.tool("refund", effect="write")(desk.pay)
    ledger.session(SESSION).dispatch(asked(("pay", {"amount": 1})), turn=1)
    again = desk.open()
    again.tool("refund", effect="write")(desk.pay)
    with pytest.raises(DivergentTurn) as diverged:
        again.session(SESSION).dispatch(asked(("refund", {"amount": 1})), turn=1)
    assert diverged.value.turn == 1
    assert "turn 1 is recorded with calls of pay, but calls of refund was given" in str(diverged.value)
    assert desk.paid == [1]


def test_an_idempotency_key_answers_for_another_request(desk: Desk) -> None:
    """The same key with other arguments, or for another tool, is refused and names both; spelling does not matter."""
    # https://github.com/nensii21/devlink/pull/1200
    from ledger.errors import KeyConflict

    ledger = desk.open()
    ledger.tool("refund", effect="write")(desk.pay)

    @ledger.tool(effect="write")
    def book(day: str, seats: int) -> str:
        """Book seats."""
        return f"{seats} on {day}"

    session = ledger.session(SESSION)
    first = session.call("book", '{"day": "mon", "seats": 2}', idempotency_key="K")
    assert session.call("book", '{"seats":2,"day":"mon"}', idempotency_key="K").call_id == first.call_id
    with pytest.raises(KeyConflict, match=first.call_id) as conflict:
        session.call("book", {"day": "mon", "seats": 3}, idempotency_key="K")
    assert "book" in str(conflict.value)
    with pytest.raises(KeyConflict, match=r"refund.*book"):
        session.call("refund", {"amount": 1}, idempotency_key="K")
    assert desk.paid == []
