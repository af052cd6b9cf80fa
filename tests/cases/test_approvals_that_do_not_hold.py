"""Reports of approvals that were lost, went to the wrong call, or were used for something else."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.errors import DivergentTurn, VerdictRefused
from ledger.events import CallApprovalRequested
from tests.cases.scenes import SESSION, Desk
from tests.cli.running import data
from tests.cli.running import ledger as command
from tests.session.agents import asked, recorded


def asking(desk: Desk) -> Ledger:
    """Open the ledger in a process whose policy asks before every payment."""
    ledger = desk.open()
    ledger.authorize(lambda call, principal: Ask(who=["ada"]))
    return ledger


def requests(ledger: Ledger) -> list[CallApprovalRequested]:
    """Return the questions to a person, as they are recorded."""
    bodies = [event.body for event in recorded(ledger, SESSION)]
    return [body for body in bodies if isinstance(body, CallApprovalRequested)]


def test_a_restart_loses_what_waits_for_approval(desk: Desk) -> None:
    """All three are listed after a restart, with tool, arguments and since when; decisions apply, each once."""
    # https://github.com/omnigent-ai/omnigent/issues/5144, https://github.com/qf-studio/pilot/issues/4411
    host = asking(desk).session(SESSION, principal="bob")
    host.dispatch(asked(*(("pay", {"amount": n}) for n in (1, 2, 3))))
    ledger = asking(desk)
    one, two, three = ledger.reviews(kind="approval")
    assert [(row["tool"], row["state"]) for row in (one, two, three)] == [("pay", "awaiting-approval")] * 3
    assert [ledger.find(row["callId"]).to_run for row in (one, two, three)] == [{"amount": n} for n in (1, 2, 3)]
    assert all(row["waitingSince"] and row["principal"] == "bob" for row in (one, two, three))
    assert [asked_of.who for asked_of in requests(ledger)] == [("ada",)] * 3
    assert command("review", "list").exit_code == 3
    assert [row["callId"] for row in data("review", "list")] == [row["callId"] for row in (one, two, three)]
    ledger.approve(one["callId"], by="ada")
    ledger.deny(two["callId"], by="ada")
    with pytest.raises(VerdictRefused, match="approved already by ada"):
        ledger.approve(one["callId"], by="ada")
    asking(desk).session(SESSION).messages()
    assert (desk.paid, desk.states()) == ([1], ["succeeded", "denied", "awaiting-approval"])
    assert [row["callId"] for row in asking(desk).reviews()] == [three["callId"]]


def test_what_was_approved_is_not_what_runs(desk: Desk) -> None:
    """
    Other arguments, or another tool, at the approved call's place run nothing and use nothing up;
    another id of the provider is nothing.
    """
    # https://github.com/extra-org/extra/issues/139, https://github.com/pydantic/pydantic-ai/issues/6968
    ledger = asking(desk)
    call_id = ledger.session(SESSION).dispatch(asked(("pay", {"amount": 1}))).calls[0].call_id
    ledger.approve(call_id, by="ada")
    again = asking(desk)
    with pytest.raises(DivergentTurn):
        again.session(SESSION).dispatch(asked(("pay", {"amount": 1000})), turn=1)
    again.tool("refund", effect="write")(desk.pay)
    with pytest.raises(DivergentTurn):
        again.session(SESSION).dispatch(asked(("refund", {"amount": 1})), turn=1)
    told = asking(desk).session(SESSION).dispatch(asked(("pay", {"amount": 1}), ids=("regenerated",)), turn=1)
    assert (told.calls[0].state, told.calls[0].call_id, desk.paid) == ("succeeded", call_id, [1])
    later = asking(desk).session(SESSION)
    later.messages()
    another = later.dispatch(asked(("pay", {"amount": 1000})))
    assert (another.calls[0].state, desk.paid) == ("awaiting-approval", [1])


def test_a_hook_changes_the_arguments_after_the_check(desk: Desk) -> None:
    """The executor gets a copy of what was recorded, whatever the host's code does to what it was shown."""
    ledger = desk.open()

    def meddle(arguments: dict[str, Any], context: Any) -> None:
        arguments["amount"] = 1000

    def meddling(call: Any, principal: Any) -> Any:
        from ledger import Allow

        call.arguments["amount"] = 1000
        return Allow()

    ledger.check("pay")(meddle)
    ledger.authorize(meddling)
    ledger.session(SESSION).dispatch(asked(("pay", {"amount": 1})))
    assert desk.paid == [1]
