"""A person's word answers where a policy asks; it stands neither for the host's checks nor against a policy's Deny."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledger import Allow, Ask, Deny, Invalid, Ledger
from ledger.catalog import Catalog, ToolDefinition
from ledger.errors import UsageError, VerdictRefused
from ledger.testing import crash
from tests.recovery.scenes import SESSION, Scene
from tests.session.agents import asked, recorded


def too_large(arguments: dict[str, Any], context: Any) -> Invalid | None:
    """Refuse what is above ten."""
    return Invalid("too_large", "At most 10.") if arguments["number"] > 10 else None


def refused(call: Any, principal: Any) -> Any:
    """Deny what is above ten."""
    return Deny("limit", "Not so much.") if call.to_run["number"] > 10 else Ask()


def only_eve(call: Any, principal: Any) -> Any:
    """Ask Eve about what is above ten."""
    return Ask(who="eve") if call.to_run["number"] > 10 else Ask()


GATES: dict[str, Callable[[Ledger], Any]] = {
    "a check": lambda ledger: ledger.check("act")(too_large),
    "a policy": lambda ledger: ledger.authorize(refused),
    "another person": lambda ledger: ledger.authorize(only_eve),
}

ENDS = {
    "a check": ("rejected", "too_large"),
    "a policy": ("denied", "limit"),
    "another person": ("needs-review", None),
}


def never_checked(scene: Scene, number: int) -> tuple[str, Ledger]:
    """Leave a write that never ran, flagged before the host's code saw it, and run it by a person's word."""
    scene.policy = True
    call_id = scene.crashed(crash.after("call.proposed"), number)
    ledger = scene.open()
    ledger.session(SESSION).messages()
    scene.policy = False
    assert ledger.resolve(call_id, "run", by="ada").call.state == "authorized"
    return call_id, scene.open()


@pytest.mark.parametrize("step", ["messages", "advance"])
@pytest.mark.parametrize("gate", GATES)
def test_what_the_hosts_code_never_saw_goes_through_it_first(scene: Scene, gate: str, step: str) -> None:
    """One word runs what recovery flagged before its gates, and they still hold."""
    call_id, ledger = never_checked(scene, 11)
    GATES[gate](ledger)
    session = ledger.session(SESSION)
    session.messages() if step == "messages" else session.advance(call_id)
    call = ledger.find(call_id)
    assert ((call.state, call.code), scene.ran) == (ENDS[gate], [])


@pytest.mark.parametrize("gate", GATES)
def test_what_they_let_through_runs_by_the_persons_word(scene: Scene, gate: str) -> None:
    """A policy that asks is answered already."""
    call_id, ledger = never_checked(scene, 1)
    GATES[gate](ledger)
    ledger.session(SESSION).advance(call_id)
    assert (ledger.find(call_id).state, len(scene.ran)) == ("succeeded", 1)


def test_what_passed_them_is_not_checked_again(scene: Scene) -> None:
    """An approved call was checked before the person was asked."""
    seen: list[int] = []
    scene.ask = Ask()
    ledger = scene.open()
    ledger.check("act")(lambda arguments, context: seen.append(arguments["number"]))
    call = ledger.session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0]
    ledger.approve(call.call_id, by="ada")
    ledger.session(SESSION).messages()
    assert (ledger.find(call.call_id).state, seen, scene.checked) == ("succeeded", [1], 1)


@pytest.mark.parametrize("gate", GATES)
def test_a_persons_arguments_pass_them_as_well(scene: Scene, gate: str) -> None:
    """Where the program's code is there, the person hears it at once, and nothing is recorded."""
    scene.ask = Ask()
    waiting = scene.open().session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0].call_id
    scene.ask = None
    ledger = scene.open()
    GATES[gate](ledger)
    before = len(recorded(ledger, SESSION))
    with pytest.raises(UsageError if gate == "a check" else VerdictRefused):
        ledger.resolve(waiting, arguments={"number": 11}, by="ada")
    assert len(recorded(ledger, SESSION)) == before
    new = ledger.resolve(waiting, arguments={"number": 2}, by="ada").call
    assert new.gates == ("lookup", "decode", "schema", "business")
    ledger.session(SESSION).messages()
    assert (ledger.find(new.call_id).state, [number for number, *_ in scene.ran]) == ("succeeded", [2])


@pytest.mark.parametrize("gate", GATES)
def test_where_the_code_is_not_here_they_come_before_the_start(scene: Scene, gate: str) -> None:
    """A desk that knows only the schema takes the arguments; the program checks them before it runs them."""
    scene.ask = Ask()
    first = scene.open()
    waiting = first.session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0].call_id
    scene.ask = None
    version = first.registry.version("act")
    assert version is not None
    known = {"act": ToolDefinition(name="act", current=1, versions={1: version})}
    desk = scene.open(tool=False, catalog=Catalog(tools=known, faults=(), digest=""))
    new = desk.resolve(waiting, arguments={"number": 11}, by="ada").call
    assert new.gates == ("lookup", "decode", "schema")
    ledger = scene.open()
    GATES[gate](ledger)
    ledger.session(SESSION).messages()
    call = ledger.find(new.call_id)
    assert ((call.state, call.code), scene.ran) == (ENDS[gate], [])


def test_a_policy_is_told_who_asked_where_no_host_is(scene: Scene) -> None:
    """A worker has no principal of its own: the policy gets the recorded one."""
    seen: list[Any] = []
    scene.options = {"effect": "read"}
    ledger = scene.open()
    ledger.session(SESSION, principal="ann").propose("act", {"number": 1})
    worker = scene.open()

    @worker.authorize
    def policy(call: Any, principal: Any) -> Allow:
        seen.append(principal)
        return Allow()

    worker.resume(SESSION)
    assert (seen, len(scene.ran)) == (["ann"], 1)


def test_a_gate_that_fails_is_told_to_the_host(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """The log names the function and what it did, never an argument; the model reads a fixed sentence."""
    ledger = scene.open()

    @ledger.authorize
    def my_policy(call: Any, principal: Any) -> Any:
        return "yes" if call.to_run["number"] == 1 else principal.missing

    @ledger.check("act")
    def my_check(arguments: dict[str, Any], context: Any) -> Any:
        return arguments["number"] == 3 or None

    batch = [("act", {"number": number}) for number in (1, 2, 3)]
    calls = ledger.session(SESSION).dispatch(asked(*batch)).calls
    assert [call.code for call in calls] == ["gate_error"] * 3
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "policy my_policy failed: answered str, not Allow, Deny or Ask",
        "policy my_policy failed: raised AttributeError",
        "my_check failed: a check must return None or Invalid, not bool",
    ]
