"""What a call starts with: its arguments are bound before its start is recorded, and what cannot be bound ends."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from ledger import Ledger, Unavailable
from ledger.session.worker import sweep
from ledger.testing import crash
from tests.session.agents import answers, asked, types

REFUSALS: dict[str, Exception] = {"no": ValueError("not any more"), "broken": KeyError("boom")}
mood = [""]
bound: list[int] = []


class Amount(BaseModel):
    """A host's own class that looks at the world."""

    n: int

    @field_validator("n")
    @classmethod
    def ok(cls, n: int) -> int:
        """Refuse what the mood says."""
        bound.append(n)
        if mood[0]:
            raise REFUSALS[mood[0]]
        return n


@pytest.fixture
def ledger() -> Any:
    mood[0] = ""
    bound.clear()
    with Ledger.open("memory://", jitter=lambda: 0.0) as found:
        yield found


def paying(ledger: Ledger, *ends: Exception | None, **options: Any) -> list[int]:
    """Register a tool that ends so, one attempt after the other; behind each error the mood is another one."""
    runs: list[int] = []

    @ledger.tool("pay", **options)
    def pay(amount: Amount, context: Any) -> int:
        """Pay."""
        runs.append(amount.n)
        end = ends[len(runs) - 1]
        if end is not None:
            mood[0] = "broken"
            raise end
        return amount.n

    return runs


@pytest.mark.parametrize(
    ("why", "gate", "code"), [("no", "schema", "schema_validation"), ("broken", "business", "gate_error")]
)
def test_what_cannot_be_bound_never_started(ledger: Ledger, why: str, gate: str, code: str) -> None:
    """A model class that refuses behind the gates ends the call there: no start, and the other calls run."""
    runs = paying(ledger, None, effect="external")

    @ledger.tool("look", effect="read")
    def look() -> int:
        """Look."""
        return 1

    @ledger.check("pay")
    def later(arguments: Any, context: Any) -> None:
        """Let the world change behind the gate."""
        mood[0] = why

    results = ledger.session("s").dispatch(asked(("pay", {"amount": {"n": 1}}), ("look", {})))
    refused, looked = results.calls
    assert (refused.state, refused.call.gate, refused.code, runs) == ("rejected", gate, code, [])
    assert looked.state == "succeeded"
    assert types(ledger, "s").count("call.started") == 1
    assert answers(results.messages)[0]["status"] == "rejected"


@pytest.mark.parametrize(
    ("options", "end", "state", "code"),
    [
        ({"effect": "read"}, Unavailable("Down."), "failed", "gate_error"),
        ({"effect": "external", "recovery": "retry"}, Unavailable("Down."), "failed", "gate_error"),
        ({"effect": "external", "recovery": "retry", "supports_idempotency": True}, OSError(), "needs-review", None),
    ],
    ids=["read", "surely nothing", "in doubt"],
)
def test_a_next_attempt_that_cannot_be_bound(
    ledger: Ledger, options: dict[str, Any], end: Exception, state: str, code: str | None
) -> None:
    """It ends the call as what is known of the attempts before: a write that may have run is a person's."""
    runs = paying(ledger, end, **options)
    result = ledger.session("s").dispatch(asked(("pay", {"amount": {"n": 1}}))).calls[0]
    assert (result.state, result.code, runs) == (state, code, [1])
    if state == "needs-review":
        assert result.call.flag is not None
        assert (result.call.reason, result.call.flag.evidence["code"]) == ("outcome-unknown", "gate_error")
    assert types(ledger, "s").count("call.started") == 1


def test_a_resume_outlives_a_model_class_that_refuses_now(ledger: Ledger) -> None:
    """Neither what ran before a crash nor what a person sends again brings its error out of a worker."""
    runs = paying(ledger, OSError(), effect="external")

    @ledger.tool("find", effect="read")
    def find(amount: Amount) -> int:
        """Find."""
        return amount.n

    doubted = ledger.session("p").call("pay", {"amount": {"n": 1}})
    mood[0] = ""

    def dies() -> None:
        raise RuntimeError("died")

    crash.arm(ledger, crash.after("call.started"), end=dies)
    with pytest.raises(RuntimeError, match="died"):
        ledger.session("r").call("find", {"amount": {"n": 1}})
    ledger.resolve(doubted, "did-not-happen", run=True, by="me")
    mood[0] = "broken"
    reports = list(sweep(ledger, execute=True))
    assert [(each.error, each.decisions[0]["action"]) for each in reports] == [(None, "run"), (None, "run-again")]
    ends = {call["tool"]: (call["state"], call["code"]) for call in ledger.calls()}
    assert ends == {"pay": ("rejected", "gate_error"), "find": ("failed", "gate_error")}
    assert runs == [1]


def test_arguments_are_bound_once_an_attempt(ledger: Ledger) -> None:
    """A call that waits for a place is not bound anew each time that somebody looks whether there is one."""

    @ledger.tool("look", effect="read", limits=[{"max": 1, "per": "running"}], timeout_seconds=30)
    def look(amount: Amount) -> int:
        """Look."""
        return amount.n

    calls = [("look", {"amount": {"n": n}}) for n in (1, 2, 3)]
    results = ledger.session("s").dispatch(asked(*calls))
    assert [call.result for call in results.calls] == [1, 2, 3]
    assert sorted(bound) == [1, 1, 2, 2, 3, 3]  # at the gate, and for the run
