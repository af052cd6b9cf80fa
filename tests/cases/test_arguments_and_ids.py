"""Reports of arguments that were guessed, and of ids that were taken for keys."""

from __future__ import annotations

import json

import pytest

from ledger.events import CallProposed, CallRejected
from ledger.providers.check import check_openai
from tests.cases.scenes import SESSION, Desk, results
from tests.session.agents import asked, recorded, types

CUT = '{"path":"a.py","content":"impor'
GLUED = '{"amount":1}{"amount":2}'


@pytest.mark.parametrize(
    ("raw", "code", "place"),
    [(CUT, "invalid_json", "line 1 column 26"), (GLUED, "trailing_data", "line 1 column 13")],
    ids=["cut by max_tokens", "two objects in one text"],
)
def test_broken_arguments_are_replaced_by_a_guess(desk: Desk, raw: str, code: str, place: str) -> None:
    """
    The exact text is kept, rejected with its position, never run; the conversation stays valid for
    every provider.
    """
    # https://github.com/NousResearch/hermes-agent/issues/35151, https://github.com/NousResearch/hermes-agent/issues/62937
    ledger = desk.open()
    session = ledger.session(SESSION)
    told = session.dispatch(asked(("pay", raw)))
    bodies = {event.type: event.body for event in recorded(ledger, SESSION)}
    proposed, rejected = bodies["call.proposed"], bodies["call.rejected"]
    assert isinstance(proposed, CallProposed)
    assert isinstance(rejected, CallRejected)
    assert (proposed.raw_arguments, proposed.arguments) == (raw, None)
    assert (rejected.gate, rejected.code) == ("decode", code)
    assert place in rejected.message.replace(",", "")
    assert "call.started" not in types(ledger, SESSION)
    assert desk.paid == []
    assert check_openai(told.messages) == []
    assert isinstance(json.loads(told.messages[0]["tool_calls"][0]["function"]["arguments"]), dict)
    [(_, answer)] = results(told.messages)
    assert (answer["status"], answer["next"]) == ("rejected", "repair")


@pytest.mark.parametrize(
    "ids", [("c1", "c1"), (None, ""), ("null", "null"), (None, None)], ids=["twice", "missing", "null", "none"]
)
def test_calls_of_one_message_share_an_id(desk: Desk, ids: tuple[str | None, str | None]) -> None:
    """Both are recorded and run, each with an id of its own; each answer belongs to its call, by order."""
    # Measured in several frameworks: the first one dropped, both refused, or the results of one given to the other.
    session = desk.open().session(SESSION)
    told = session.dispatch(asked(("pay", {"amount": 6}), ("pay", {"amount": 7}), ids=ids))
    assert desk.paid == [6, 7]
    assert len({call.call_id for call in told.calls}) == 2
    sent = [call["id"] for call in told.messages[0]["tool_calls"]]
    assert len(set(sent)) == 2
    assert [(given, answer["data"]) for given, answer in results(told.messages)] == [
        (sent[0], {"paid": 6}),
        (sent[1], {"paid": 7}),
    ]
    assert check_openai(session.messages()) == []
