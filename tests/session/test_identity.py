"""Which recorded turn a reply is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.errors import DivergentTurn
from tests.session.agents import asked, opened
from tests.session.test_dispatch import reader


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """Return a ledger on a file of its own."""
    with opened(tmp_path) as found:
        yield found


def completion(message: dict[str, Any], response_id: str) -> dict[str, Any]:
    """Return a completion around a message."""
    return {"id": response_id, "choices": [{"message": message, "finish_reason": "stop"}]}


def test_an_empty_response_id_is_not_the_same_one_again(ledger: Ledger) -> None:
    """A server that gives none asks twice, and is answered twice."""
    seen = reader(ledger)
    session = ledger.session("s")
    poll = asked(("look", {"number": 1}))
    assert [session.dispatch(completion(poll, "")).turn for _ in range(2)] == [1, 2]
    assert seen == [1, 1]


@pytest.mark.parametrize("again", [{"turn": 1}, {}], ids=["by its number", "by its response id"])
def test_a_text_that_is_not_kept_is_known_again(ledger: Ledger, again: dict[str, int]) -> None:
    """`transcript="calls"`: a script that runs once more from the top goes on where it was."""
    reply = completion(asked(text="done"), "resp_1")
    assert ledger.session("s", transcript="calls").dispatch(reply).turn == 1
    session = ledger.session("s")
    assert session.dispatch(reply, **again).turn == 1
    assert len(session.history.turns) == 1


def test_without_a_number_or_an_id_nothing_names_a_text_that_is_not_kept(ledger: Ledger) -> None:
    """Then it is a new turn, as any text may be; in a session that keeps texts, another one diverges."""
    ledger.session("s", transcript="calls").dispatch(asked(text="done"))
    assert ledger.session("s").dispatch(asked(text="done")).turn == 2
    ledger.session("t").dispatch(asked(text="done"))
    for other in (asked(text="or not"), asked(text=None)):
        with pytest.raises(DivergentTurn, match="turn 1 is recorded with a text"):
            ledger.session("t").dispatch(other, turn=1)


def test_a_text_that_quotes_a_secret_is_known_by_the_rest(tmp_path: Path) -> None:
    """What a call's sensitive argument masked in a later answer is no other answer; other words are."""
    schema = {"type": "object", "properties": {"pin": {"type": "string", "x-sensitive": True}}}
    says = "The pin hunter22 is set: hunter22 it is."
    with opened(tmp_path) as ledger:
        ledger.tool("set_pin", effect="write", schema=schema)(lambda pin="": {})
        session = ledger.session("s")
        session.dispatch(asked(("set_pin", {"pin": "hunter22"})))
        assert session.dispatch(asked(text=says)).messages[0]["content"].count("[redacted]") == 2
    with opened(tmp_path) as ledger:
        assert ledger.session("s").dispatch(asked(text=says), turn=2).turn == 2
        for other in ("A pin hunter22 is set: hunter22 it is.", "The pin is set: hunter22 it is", "The pin 1", None):
            with pytest.raises(DivergentTurn):
                ledger.session("s").dispatch(asked(text=other), turn=2)


@pytest.mark.parametrize("number", [1, None], ids=["by its number", "as it is recorded"])
@pytest.mark.parametrize("settings", [{}, {"transcript": "calls"}], ids=["masked", "not kept"])
def test_an_answer_with_sensitive_parts_is_known_again(
    tmp_path: Path, number: int | None, settings: dict[str, Any]
) -> None:
    """The same reply is answered from the record, with the value that the host got."""
    schema = {
        "type": "object",
        "properties": {"pin": {"type": "string", "x-sensitive": True}, "n": {"type": "integer"}},
    }
    reply = completion(asked(text='{"n": 1, "pin": "hunter22"}'), "resp_1")
    with opened(tmp_path) as ledger:
        first = ledger.session("s", **settings).structured(reply, schema)
    with opened(tmp_path) as ledger:
        session = ledger.session("s")
        assert session.structured(reply, schema, turn=number) == first
        assert len(session.history.turns) == 1
        for wrong in ('{"n": "1"}', '{"n": '):
            with pytest.raises(DivergentTurn):
                session.structured(asked(text=wrong), schema, turn=1)
