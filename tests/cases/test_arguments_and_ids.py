"""Reports of arguments that were guessed, and of ids that were taken for keys."""

from __future__ import annotations

import json

import pytest

from ledger.errors import VerdictRefused
from ledger.events import CallProposed, CallRejected
from ledger.providers.check import check, check_openai
from tests.cases.scenes import SESSION, Desk, results
from tests.providers.odd import FORMATS
from tests.session.agents import asked, recorded, types

CUT = '{"path":"a.py","content":"impor'


def test_arguments_cut_by_a_token_limit_are_replaced_by_a_guess(desk: Desk) -> None:
    """
    The exact text is kept, rejected with its position, never run, not even by a person's word; every
    provider takes the conversation.
    """
    # https://github.com/NousResearch/hermes-agent/issues/35151, https://github.com/justrach/codegraff/issues/752,
    # https://github.com/local-inference-lab/vllm/issues/684
    ledger = desk.open()
    ledger.tool("write_file", effect="write", schema={"type": "object"})(lambda **_: desk.pay(1))
    session = ledger.session(SESSION)
    (call,) = session.dispatch(asked(("write_file", CUT))).calls
    bodies = {event.type: event.body for event in recorded(ledger, SESSION)}
    proposed, rejected = bodies["call.proposed"], bodies["call.rejected"]
    assert isinstance(proposed, CallProposed)
    assert isinstance(rejected, CallRejected)
    assert (proposed.raw_arguments, proposed.arguments) == (CUT, None)
    assert (rejected.gate, rejected.code) == ("decode", "invalid_json")
    assert "line 1 column 26" in rejected.message.replace(",", "")
    with pytest.raises(VerdictRefused):
        ledger.resolve(call.call_id, "run", by="ada")
    again = desk.open().session(SESSION)
    for name in FORMATS:
        assert check(name, again.messages(name)) == []
    messages = again.messages()
    assert json.loads(messages[0]["tool_calls"][0]["function"]["arguments"]) == {}
    [(_, answer)] = results(messages)
    assert (answer["status"], answer["next"]) == ("rejected", "repair")
    assert CUT in json.dumps(answer, ensure_ascii=False).replace('\\"', '"')  # it reads what it sent
    assert "call.started" not in types(ledger, SESSION)
    assert desk.paid == []


def test_a_provider_uses_one_id_in_every_round(desk: Desk) -> None:
    """Three rounds under one id are three calls, each with its own arguments and result, also after a restart."""
    # https://github.com/open-webui/open-webui/issues/28305, https://github.com/NousResearch/hermes-agent/pull/88324
    session = desk.open().session(SESSION)
    for amount in (1, 2, 3):
        session.dispatch(asked(("pay", {"amount": amount}), ids=("search_web:0",)))
    again = desk.open().session(SESSION)
    messages = again.messages()
    calls = list(again.history.calls.values())
    assert [(call.provider_call_id, call.arguments, call.result) for call in calls] == [
        ("search_web:0", {"amount": amount}, {"paid": amount}) for amount in (1, 2, 3)
    ]
    assert len({call.call_id for call in calls}) == 3
    told = list(results(messages))
    assert [answer["data"] for _, answer in told] == [{"paid": 1}, {"paid": 2}, {"paid": 3}]
    assert [given for given, _ in told] == [message["tool_calls"][0]["id"] for message in messages[::2]]
    assert len({given for given, _ in told}) == 3
    assert desk.paid == [1, 2, 3]


@pytest.mark.parametrize(
    "ids", [("c1", "c1"), (None, ""), ("null", "null"), (None, None)], ids=["twice", "missing", "null", "none"]
)
def test_calls_of_one_message_share_an_id(desk: Desk, ids: tuple[str | None, str | None]) -> None:
    """Both are recorded and run, each with an id of its own; each answer belongs to its call, by order."""
    # https://github.com/apache/flink-agents/issues/947
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
