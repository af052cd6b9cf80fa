"""Neutral items as the events that they are recorded as."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ledger.events import CallFailed, CallSucceeded
from ledger.providers.imported import NO_MESSAGE, Outcome, Said, Turn, arguments_of, hosted_end, hosted_proposed
from ledger.providers.port import HostedCall, ProposedCall, Reply


@pytest.mark.parametrize(
    ("sent", "arguments"),
    [
        (ProposedCall(name="f", raw='{ "n":1.0 }'), {"n": 1.0}),
        (ProposedCall(name="f", raw=""), {}),
        (ProposedCall(name="f", raw='{"n":'), None),
        (ProposedCall(name="f", raw="[1]"), None),
        (ProposedCall(name="f", arguments={"n": 1}), {"n": 1}),
        (ProposedCall(name="f", arguments=[1]), None),
        (ProposedCall(name="f"), {}),
    ],
)
def test_arguments_are_an_object_or_none(sent: ProposedCall, arguments: Any) -> None:
    """The exact text is kept beside them in any case."""
    assert arguments_of(sent) == arguments
    proposal = Turn(reply=Reply(kind="tool_calls", provider="openai", calls=(sent,))).proposed(0, effect="read")
    assert (proposal.raw_arguments, proposal.arguments) == (sent.raw, arguments)
    assert (proposal.imported, proposal.effect, proposal.provider) == (True, "read", "openai")


def test_hosted_calls_are_the_providers() -> None:
    """What the provider executed is imported under that executor."""
    hosted = HostedCall(name="web_search", arguments={"q": 1}, provider_call_id="ws")
    proposal = hosted_proposed(hosted, Reply(kind="text", provider="responses"))
    assert (proposal.executor, proposal.imported, proposal.arguments) == ("provider", True, {"q": 1})
    assert hosted_end(hosted) is None
    assert hosted_end(replace(hosted, ended="succeeded", result=[1])) == CallSucceeded(result=[1], size=3)
    failed = CallFailed(code="tool_error", error_class="tool", message="The provider says that it failed.")
    assert hosted_end(replace(hosted, ended="failed")) == failed
    turn = Turn(reply=Reply(kind="text", provider="openai", response_id="r", usage={"total_tokens": 9}))
    assert (turn.recorded().response_id, turn.recorded().usage) == ("r", {"total_tokens": 9})


@pytest.mark.parametrize(
    ("outcome", "body"),
    [
        (Outcome(content="seen"), CallSucceeded(result="seen", size=6)),
        (Outcome(content=[{"type": "image"}]), CallSucceeded(result=[{"type": "image"}], size=18)),
        (Outcome(content="No.", error=True), CallFailed(code="tool_error", error_class="tool", message="No.")),
        (Outcome(content="", error=True), CallFailed(code="tool_error", error_class="tool", message=NO_MESSAGE)),
    ],
)
def test_outcomes_are_ends_of_calls(outcome: Outcome, body: Any) -> None:
    """A result is recorded as it is, an error as its text."""
    assert outcome.recorded() == body


def test_what_was_said_is_recorded_verbatim() -> None:
    """The provider's own message, at the start or later."""
    said = Said(role="user", provider="gemini", message={"role": "user", "parts": []})
    assert said.recorded(start=True).start
    assert said.recorded().message == {"role": "user", "parts": []}
