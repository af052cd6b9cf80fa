"""What stands around every event: what led to it, who acts, and for whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask, Ledger
from ledger.errors import UsageError
from ledger.events import Event
from tests.session.agents import asked, opened, recorded


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        found.tool("look", effect="read")(lambda: 1)
        found.tool("write", effect="write")(lambda: 1)
        yield found


def chain(events: list[Event], call_id: str) -> list[str]:
    """The types of the events that led to the last one of a call, the last one first."""
    known = {event.event_id: event for event in events}
    found = [[event for event in events if event.call_id == call_id][-1]]
    while found[-1].causation_id is not None:
        found.append(known[found[-1].causation_id])
    return [event.type for event in found]


@pytest.mark.parametrize("policy", [False, True], ids=["one commit", "intents first"])
def test_an_outcome_leads_back_to_the_models_turn(ledger: Ledger, policy: bool) -> None:
    """From event to event by causationId: outcome, start, gates, intent, turn; the plan comes from the turn as well."""
    if policy:
        ledger.authorize(lambda call, principal: Allow())
    results = ledger.session("s").dispatch(asked(("look", {}), ("look", {})))
    events = recorded(ledger, "s")
    for call in results.calls:
        assert chain(events, call.call_id) == [
            "call.succeeded",
            "call.started",
            "call.authorized",
            "call.validated",
            "call.proposed",
            "turn.recorded",
        ]
    (plan,) = [event for event in events if event.type == "batch.planned"]
    (turn,) = [event for event in events if event.type == "turn.recorded"]
    assert (plan.causation_id, turn.causation_id) == (turn.event_id, None)


def test_a_new_call_comes_from_the_one_it_supersedes(ledger: Ledger) -> None:
    """A person's new arguments are a call whose intent leads back to the old one's end."""
    ledger.authorize(lambda call, principal: Ask())
    old = ledger.session("s").call("write").call_id
    new = ledger.resolve(old, arguments={}, by="ada").call
    assert chain(recorded(ledger, "s"), new.call_id)[:4] == [
        "call.authorized",
        "call.validated",
        "call.proposed",
        "call.superseded",
    ]


def test_the_end_of_a_copy_comes_from_the_end_of_its_original(ledger: Ledger) -> None:
    """Both share one commit, and the record says which led to which."""

    @ledger.tool("pay", effect="external")
    def pay() -> None:
        """Break off."""
        raise OSError

    session = ledger.session("s")
    original = session.dispatch(asked(("pay", {}))).calls[0].call_id
    copy = session.dispatch(asked(("pay", {}))).calls[0].call_id
    ledger.resolve(original, "abandon", by="ada")
    ends = {event.call_id: event for event in recorded(ledger, "s") if event.type == "call.reviewed"}
    assert ends[copy].causation_id == ends[original].event_id


def test_who_acts_for_whom_stands_on_every_event(ledger: Ledger) -> None:
    """The host says it, for its own events and those of its calls; another host that resumes changes neither."""
    session = ledger.session("s", principal="agent-7", on_behalf_of={"id": "u-17"})
    session.dispatch(asked(("look", {}), text="Look."))
    assert {(e.principal, e.on_behalf_of) for e in recorded(ledger, "s")} == {("agent-7", "u-17")}
    call = session.propose("look")
    ledger.session("s", principal="other").messages()
    of_call = [e for e in recorded(ledger, "s") if e.call_id == call.call_id]
    assert {(e.principal, e.on_behalf_of) for e in of_call} == {("agent-7", "u-17")}


def test_for_whom_is_a_text_or_has_an_id(ledger: Ledger) -> None:
    """A wrong one is told before anything is recorded, by its own name."""
    with pytest.raises(UsageError, match="on_behalf_of= is a text"):
        ledger.session("s", on_behalf_of=object())
