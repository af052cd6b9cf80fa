"""Reports of calls that ran twice, were lost, or made a session unusable, after a crash or a stop."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger import Ask
from ledger.errors import DivergentTurn, VerdictRefused
from ledger.providers.check import check_openai
from ledger.testing import crash
from tests.cases.scenes import SESSION, Desk, results
from tests.session.agents import asked, types


class Gone(BaseException):
    """The process is gone, as far as the test is concerned."""


def gone() -> None:
    raise Gone


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
    assert desk.command("resume", SESSION).returncode == 0


def test_finished_calls_run_again_on_continue(desk: Desk) -> None:
    """Stop and continue, three times: no execution, no new event, the recorded outcomes."""
    # https://github.com/odysseus-dev/odysseus/issues/3570
    reply = asked(("pay", {"amount": 1}), ("pay", {"amount": 2}))
    first = desk.open()
    told = first.session(SESSION).dispatch(reply).messages
    before = types(first, SESSION)
    for _ in range(3):
        ledger = desk.open()
        session = ledger.session(SESSION)
        assert session.messages() == told
        assert desk.open().session(SESSION).dispatch(reply).messages == told
        assert types(ledger, SESSION) == before
    assert desk.paid == [1, 2]


def test_a_killed_call_leaves_a_conversation_that_no_provider_takes(desk: Desk) -> None:
    """The call is answered exactly once, in words that say that its outcome is unknown; the model may go on."""
    # https://github.com/MoonshotAI/kimi-code/issues/269
    desk.killed(1, -2)
    session = desk.open().session(SESSION)
    messages = session.messages()
    session.add({"role": "user", "content": "And now?"})
    messages = session.messages()
    assert check_openai(messages) == []
    [(_, first), (_, second)] = results(messages)
    assert (first["status"], second["status"]) == ("succeeded", "needs_review")
    assert "may or may not have happened" in second["message"]
    assert session.dispatch(asked(text="I wait for the review.")).turn == 2


def test_an_interrupted_call_is_answered_behind_the_next_message(desk: Desk) -> None:
    """Ctrl-C in a tool, then the user speaks: the tool's answer comes first, then the user's text."""
    # https://github.com/anthropics/claude-code/issues/1894
    ledger = desk.open(tools=False)

    @ledger.tool(effect="external")
    def shell() -> None:
        """Run something."""
        raise KeyboardInterrupt

    session = ledger.session(SESSION)
    with pytest.raises(KeyboardInterrupt):
        session.dispatch(asked(("shell", {}), ids=("toolu_1",)))
    session.add({"role": "user", "content": "actually use nix"})
    messages = desk.open().session(SESSION).messages()
    assert [message["role"] for message in messages] == ["assistant", "tool", "user"]
    assert messages[1]["tool_call_id"] == "toolu_1"
    assert check_openai(messages) == []


def test_a_sibling_of_an_interrupted_call_runs_twice(desk: Desk) -> None:
    """One call of a turn waits for a person; the other one ran and stays that way over a resume and the answer."""
    # https://github.com/langchain-ai/langgraph/pull/3126

    def asking(ledger: Any) -> Any:
        ledger.authorize(lambda call, principal: Ask() if call.arguments["amount"] == 7 else _allow())
        return ledger

    ledger = asking(desk.open())
    reply = asked(("pay", {"amount": 1}), ("pay", {"amount": 7}))
    waiting = ledger.session(SESSION).dispatch(reply)
    assert (desk.paid, waiting.waiting) == ([1], True)
    again = asking(desk.open())
    again.session(SESSION).dispatch(reply)
    assert desk.paid == [1]
    again.approve(waiting.calls[1].call_id, by="ada")
    again.session(SESSION).messages()
    assert desk.paid == [1, 7]


def _allow() -> Any:
    from ledger import Allow

    return Allow()


def test_several_interrupts_in_one_turn_answer_one_call_only(desk: Desk) -> None:
    """Two calls wait; one is approved and runs, one is denied: each has its own answer, nothing ran twice."""
    # https://github.com/rancher/rancher-ai-agent/pull/136
    ledger = desk.open()
    ledger.authorize(lambda call, principal: Ask())
    one, two = ledger.session(SESSION).dispatch(asked(("pay", {"amount": 1}), ("pay", {"amount": 2}))).calls
    ledger.approve(one.call_id, by="ada")
    ledger.session(SESSION).messages()
    assert desk.paid == [1]
    ledger.deny(two.call_id, by="ada")
    messages = desk.open().session(SESSION).messages()
    assert [answer["status"] for _, answer in results(messages)] == ["succeeded", "denied"]
    assert desk.paid == [1]


def test_of_a_batch_one_call_is_answered_and_the_other_forgotten(desk: Desk) -> None:
    """Completeness is per call: one is decided and run after a crash, the other stays listed, both are answered."""
    # https://github.com/google/adk-python/issues/7108
    ledger = desk.open()
    ledger.authorize(lambda call, principal: _allow())  # a host's code: intents are durable before it
    crash.arm(ledger, crash.after("call.proposed"), end=gone)
    with pytest.raises(Gone):
        ledger.session(SESSION).dispatch(asked(("pay", {"amount": 1}), ("pay", {"amount": 2})))
    store: Any = ledger.reader
    store.release(SESSION, token=1)
    after = desk.open()
    after.session(SESSION).messages()
    a, b = after.reviews()
    assert [a["reason"], b["reason"]] == ["not-started"] * 2
    after.resolve(a["callId"], "run", by="ada")
    messages = desk.open().session(SESSION).messages()
    assert [answer["status"] for _, answer in results(messages)] == ["succeeded", "needs_review"]
    assert desk.paid == [1]
    assert [row["callId"] for row in desk.open().reviews()] == [b["callId"]]


def test_a_siblings_exception_discards_the_results_of_the_others(desk: Desk) -> None:
    """What one call did is on record before another one's exception goes anywhere."""
    # https://github.com/huggingface/smolagents/issues/2457
    ledger = desk.open()

    @ledger.tool(effect="external")
    def boom() -> None:
        """Break the host."""
        assert desk.states()[0] == "succeeded"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.session(SESSION).dispatch(asked(("pay", {"amount": 1}), ("boom", {})))
    assert desk.states() == ["succeeded", "needs-review"]


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


def test_a_write_is_applied_after_its_client_gave_up(desk: Desk) -> None:
    """A timeout of a write is no failure: it is in doubt, and the outcome that arrives late settles it."""
    # https://github.com/modelcontextprotocol/python-sdk/issues/2507
    import threading

    ledger = desk.open(tools=False)
    on, recorded = threading.Event(), threading.Event()
    crash.arm(ledger, crash.after("call.outcome_arrived_late"), end=recorded.set)

    @ledger.tool(effect="external", timeout_seconds=0.01)
    def slow_write() -> Any:
        """Take longer than anybody waits."""
        on.wait()
        return desk.pay(1)

    call = ledger.session(SESSION).dispatch(asked(("slow_write", {}))).calls[0]
    assert (call.state, desk.paid) == ("needs-review", [])
    on.set()
    recorded.wait()
    assert (ledger.find(call.call_id).state, desk.paid) == ("succeeded", [1])
    [answer] = [json.loads(m["content"]) for m in ledger.session(SESSION).messages() if m["role"] == "tool"]
    assert answer["data"] == {"paid": 1}
