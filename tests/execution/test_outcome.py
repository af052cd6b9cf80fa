"""What the end of a run means for its call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ledger import Failed, NotFound, OutcomeUnknown, Rejected, Unavailable
from ledger.calls import Call
from ledger.events import CallFailed, CallSucceeded
from ledger.execution.backoff import backoff
from ledger.execution.outcome import Rules, TryAgain, Unknown, judge, printable
from ledger.execution.requests import Ended

READ, WRITE = Call(effect="read"), Call(effect="write")
SECRET = "token=abc"


def ended(value: Any = None, raised: BaseException | None = None) -> Ended:
    """A run's end after 1.5 ms."""
    return Ended(call_id="c", value=value, raised=raised, duration_ms=1.5)


@pytest.mark.parametrize(
    "error",
    [
        ValueError(SECRET),
        TimeoutError(SECRET),
        OutcomeUnknown("The reply was lost."),
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
    ],
)
def test_any_other_exception_of_a_side_effecting_tool_is_unknown(error: BaseException) -> None:
    """A read timeout in a payment is not a failed payment; the exception's text never gets out."""
    end = judge(ended(raised=error), WRITE, Rules())
    assert isinstance(end, Unknown)
    assert SECRET not in str(end.evidence)
    assert end.evidence["exception"] == type(error).__name__
    interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
    assert (end.evidence["message"] == "The tool was interrupted before it ended.") == interrupted


@pytest.mark.parametrize(
    ("error", "code"),
    [(ValueError(SECRET), "tool_error"), (KeyboardInterrupt(), "cancelled"), (asyncio.CancelledError(), "cancelled")],
)
def test_any_exception_of_a_read_is_a_failure(error: BaseException, code: str) -> None:
    """A read had no effect; its exception's text is for nobody."""
    end = judge(ended(raised=error), READ, Rules())
    assert isinstance(end, CallFailed)
    assert (end.code, end.duration_ms) == (code, 1.5)
    assert SECRET not in end.message


def test_an_author_may_declare_that_exceptions_prove_nothing_happened() -> None:
    """`exceptions="no-effect"` makes them failures; OutcomeUnknown stays what it says."""
    rules = Rules(exceptions="no-effect")
    assert isinstance(judge(ended(raised=ValueError("x")), WRITE, rules), CallFailed)
    assert isinstance(judge(ended(raised=OutcomeUnknown("x")), WRITE, rules), Unknown)


@pytest.mark.parametrize("call", [READ, WRITE])
def test_the_words_that_assert_nothing_happened_are_believed(call: Call) -> None:
    """NotFound, Rejected, Unavailable and Failed mean the same for reads and writes."""
    found = judge(ended(raised=NotFound("Gone.")), call, Rules())
    assert isinstance(found, CallSucceeded)
    assert (found.status, found.code) == ("not_found", "not_found")
    refused = judge(ended(raised=Rejected("too_long", "Shorter.", model_can_repair=False)), call, Rules())
    assert isinstance(refused, CallFailed)
    assert (refused.code, refused.error_class, refused.model_can_repair) == ("too_long", "model", False)
    again = judge(ended(raised=Unavailable("Down.", retry_after=2)), call, Rules())
    assert isinstance(again, TryAgain)
    assert (again.failed.code, again.retry_after) == ("unavailable", 2)
    final = judge(ended(raised=Unavailable("Down.", retryable=False)), call, Rules())
    assert isinstance(final, CallFailed)
    assert final.retryable is False
    bad = judge(ended(raised=Failed("partly", "Two of three were sent.")), call, Rules())
    assert isinstance(bad, CallFailed)
    assert (bad.code, bad.error_class) == ("partly", "tool")


@pytest.mark.parametrize(
    ("safe", "message"),
    [
        (lambda _: "It broke.", "It broke."),
        (lambda _: None, "of its own"),
        (lambda _: 7, "of its own"),
        (lambda error: error.nothing, "of its own"),
    ],
    ids=["told", "nothing", "no text", "fails"],
)
def test_the_host_may_say_what_is_told_of_an_exception(safe: Any, message: str) -> None:
    """`safe_error` maps an exception to a text; without one, or where it fails, a fixed sentence is told."""
    end = judge(ended(raised=ValueError(SECRET)), READ, Rules(safe_error=safe))
    assert isinstance(end, CallFailed)
    assert message in end.message


@pytest.mark.parametrize("value", [b"\xff\x00", float("nan"), "caf\udce9", object(), {1: {2, 3}}, [float("inf")]])
def test_a_result_that_is_not_json_stays_a_success(value: Any) -> None:
    """It is recorded in a documented form, its places listed beside the data."""
    end = judge(ended(value), WRITE, Rules())
    assert isinstance(end, CallSucceeded)
    assert end.encodings or value == "caf\udce9"


def test_a_result_above_its_limit_is_kept_as_far_as_it_goes() -> None:
    """The limit cuts the stored form, never the outcome; a large one is marked as cut for the model."""
    end = judge(ended("x" * 100_000), WRITE, Rules(max_result_bytes=50_000))
    assert isinstance(end, CallSucceeded)
    assert end.truncated_for_model
    assert len(str(end.result)) < 60_000


def test_words_that_json_cannot_carry_do_not_lose_the_outcome() -> None:
    """A tool may raise `Failed` with anything as its text."""
    odd = printable(CallFailed(code="x", error_class="tool", message=object()))  # type: ignore[arg-type]  # user code may
    assert (odd.code, "of its own" in (odd.message or "")) == ("tool_error", True)
    fine = CallFailed(code="x", error_class="tool", message="y")
    assert printable(fine) is fine


def test_backoff_grows_within_its_bounds() -> None:
    """Exponential with full jitter, capped, and never below what the service asked for."""
    assert [backoff(n, 1.0) for n in (1, 2, 3, 20)] == [0.5, 1.0, 2.0, 30.0]
    assert backoff(1, 0.0) == 0.0
    assert backoff(1, 0.0, retry_after=7) == 7
