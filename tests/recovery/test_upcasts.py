"""A deploy renames an argument while calls are open: what is proved is carried over, what is not goes to a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger import Allow, Ask, Ledger
from ledger.errors import KeyConflict, UsageError
from ledger.events import CallFlagged, CallUpcast, SessionResumed
from ledger.testing import crash
from tests.recovery.deploys import V1, Deploy
from tests.recovery.scenes import Gone, gone, let_go
from tests.session.agents import asked, opened, recorded, types


def upcasts(ledger: Ledger) -> list[CallUpcast]:
    """What was carried, as it is recorded."""
    return [event.body for event in recorded(ledger, "s") if isinstance(event.body, CallUpcast)]


def test_a_read_that_never_ran_goes_on_in_the_new_form(deploy: Deploy) -> None:
    """The step is recorded with its certificate, the intent stays as it was, and the new code runs."""
    deploy.effect = "read"
    deploy.policy = lambda call, principal: Allow()
    old = deploy.first(crash.after("call.proposed"))
    deploy.write(2)
    ledger = deploy.open(2)
    ledger.session("s").messages()
    call = ledger.find(old.call_id)
    assert (call.state, deploy.effects) == ("succeeded", [(2, 5)])
    assert (call.arguments, call.raw_arguments, call.to_run) == ({"amt": 5}, '{"amt": 5}', {"amount": 5})
    assert (call.intent_version, call.schema_version) == (1, 2)
    [body] = upcasts(ledger)
    assert (body.from_version, body.to_version, body.round_trip, body.keeps_approval) == (1, 2, True, False)
    assert (body.arguments, body.validator.split()[0]) == ({"amount": 5}, "jsonschema-rs")
    [event] = [event for event in recorded(ledger, "s") if event.type == "call.upcast"]
    assert (event.schema_version, event.schema_digest) == (2, call.schema_digest)
    [resumed] = [event.body for event in recorded(ledger, "s") if isinstance(event.body, SessionResumed)]
    assert resumed.decisions[0]["upcastTo"] == 2
    before = types(ledger, "s")
    deploy.open(2).session("s").messages()
    assert types(ledger, "s") == before


@pytest.mark.parametrize("way", ["resume", "advance"])
def test_a_write_that_never_ran_runs_by_a_persons_word_in_the_new_form(deploy: Deploy, way: str) -> None:
    """It is carried first, then a person is asked, and what the person allows is what runs."""
    deploy.policy = lambda call, principal: Allow()
    old = deploy.first(crash.after("call.proposed"))
    deploy.write(2)
    ledger = deploy.open(2)
    if way == "advance":
        states = [ledger.session("s").advance(old.call_id).state for _ in range(3)]
        assert states == ["validated", "authorized", "succeeded"]
    else:
        ledger.session("s").messages()
        call = ledger.find(old.call_id)
        assert (call.state, call.reason, call.schema_version) == ("needs-review", "not-started", 2)
        ledger.resolve(call.call_id, "run", by="ada")
        deploy.open(2).session("s").messages()
    assert (ledger.find(old.call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


@pytest.mark.parametrize(
    ("keeps", "end"), [(True, ("succeeded", None)), (False, ("needs-review", "approval-mismatch"))]
)
def test_an_approval_survives_only_where_the_file_says_so(deploy: Deploy, keeps: bool, end: tuple[str, Any]) -> None:
    """Approved in the old form: it runs in the new one, or the person is asked again."""
    deploy.policy = lambda call, principal: Ask()
    old = deploy.first()
    deploy.opened[-1].approve(old.call_id, by="ada")
    deploy.write(2, **({"keepsApproval": True} if keeps else {}))
    ledger = deploy.open(2)
    ledger.session("s").messages()
    call = ledger.find(old.call_id)
    assert ((call.state, call.reason), len(deploy.effects)) == (end, int(keeps))


def test_an_approval_does_not_reach_a_wider_form_of_the_same_arguments(deploy: Deploy) -> None:
    """The arguments stay as they were, and yet the new form may mean more: the person is asked again."""
    deploy.policy = lambda call, principal: Ask()
    old = deploy.first()
    deploy.opened[-1].approve(old.call_id, by="ada")
    option = {"op": "introduce_optional", "path": "/note", "absentMeans": "no note"}
    deploy.write(2, ops=[option], widens=["a note"], keepsApproval=True)
    wider = V1 | {"properties": {**V1["properties"], "note": {"type": "string"}}}  # type: ignore[dict-item]  # a schema
    (deploy.folder / "catalog/charge/v2.json").write_text(json.dumps(wider))
    ledger = opened(deploy.folder, catalog=str(deploy.folder / "catalog"))
    deploy.opened.append(ledger)

    @ledger.tool("charge", version=2)
    def two(amt: int, note: str = "") -> dict[str, int]:
        """Charge."""
        return deploy.charge(2, amt)

    ledger.session("s").messages()
    call = ledger.find(old.call_id)
    assert (call.state, call.reason, call.schema_version) == ("needs-review", "approval-mismatch", 2)
    assert call.flag is not None
    assert "carried to a version that the answer does not hold for" in str(call.flag.evidence)
    assert (call.to_run, deploy.effects) == ({"amt": 5}, [])


def test_a_change_of_meaning_stops_the_chain(deploy: Deploy) -> None:
    """Carried to v2; v2 to v3 needs a person, who reads why, and answers with a new call."""
    deploy.policy = lambda call, principal: Allow()
    old = deploy.first(crash.after("call.proposed"))
    deploy.write(3)
    ledger = deploy.open(3)
    ledger.session("s").messages()
    call = ledger.find(old.call_id)
    assert (call.state, call.reason, call.schema_version) == ("needs-review", "schema-changed", 2)
    [flag] = [event.body for event in recorded(ledger, "s") if isinstance(event.body, CallFlagged)]
    assert flag.evidence["upcast"] == {
        "reached": 2,
        "code": "semantic",
        "pointer": "",
        "message": "A currency has to be named now.",
    }
    new = ledger.resolve(call.call_id, arguments={"amount": 5, "currency": "EUR"}, by="ada").call
    ledger.session("s").messages()
    assert (ledger.find(new.call_id).state, deploy.effects) == ("succeeded", [(3, (5, "EUR"))])


def test_what_was_started_is_never_carried(deploy: Deploy) -> None:
    """It may have happened, with the arguments that it had: a person looks."""
    old = deploy.first(crash.after("call.started"))
    deploy.write(2)
    ledger = deploy.open(2)
    ledger.session("s").messages()
    call = ledger.find(old.call_id)
    assert (call.state, call.reason, call.schema_version, upcasts(ledger)) == ("needs-review", "outcome-unknown", 1, [])


def test_a_program_that_still_has_the_old_code_runs_the_old_form(deploy: Deploy) -> None:
    """Nothing is carried where the recorded version is registered beside the new one."""
    deploy.effect = "read"
    deploy.policy = lambda call, principal: Allow()
    old = deploy.first(crash.after("call.proposed"))
    deploy.write(2)
    ledger = deploy.open(2)

    @ledger.tool("charge", version=1)
    def one(amt: int) -> dict[str, int]:
        """Charge."""
        return deploy.charge(1, amt)

    ledger.session("s").messages()
    assert (ledger.find(old.call_id).state, deploy.effects, upcasts(ledger)) == ("succeeded", [(1, 5)], [])


def test_a_version_that_the_catalog_does_not_know_as_it_was_goes_to_a_person(deploy: Deploy) -> None:
    """Somebody edited v1 after it was recorded: its upcast proves nothing about that record."""
    deploy.policy = lambda call, principal: Allow()
    old = deploy.first(crash.after("call.proposed"))
    deploy.write(2)
    edited = V1 | {"properties": {"amt": {"type": "integer", "minimum": 0}}}
    (deploy.folder / "catalog/charge/v1.json").write_text(json.dumps(edited))
    ledger = deploy.open(2)
    ledger.session("s").messages()
    call = ledger.find(old.call_id)
    assert (call.state, call.reason, call.schema_version) == ("needs-review", "schema-changed", 1)
    assert call.flag is not None
    assert call.flag.evidence["upcast"]["code"] == "version_unknown"


STATES: dict[str, crash.Point | None] = {
    "finished": None,
    "intent only": crash.after("call.proposed"),
    "started": crash.after("call.started"),
}


@pytest.mark.parametrize("how", ["turn", "key", "same reply"])
@pytest.mark.parametrize("state", STATES)
def test_the_deploy_never_charges_twice(deploy: Deploy, state: str, how: str) -> None:
    """charge(amt) was recorded, then v2 says charge(amount): the same logical call is known, whatever its state."""
    if state == "intent only":
        deploy.policy = lambda call, principal: Allow()
    deploy.write(1)
    first = deploy.open(1)
    session = first.session("s")
    point = STATES[state]
    if point is not None:
        crash.arm(first, point, end=gone)
    try:
        session.call("charge", {"amt": 5}, **({"idempotency_key": "order-7"} if how == "key" else {}))
    except Gone:
        let_go(first)
    charged = len(deploy.effects)
    deploy.write(2)
    again = deploy.open(2).session("s")
    if how == "turn":
        result = again.call("charge", {"amount": 5}, turn=1)
    elif how == "key":
        result = again.call("charge", {"amount": 5}, idempotency_key="order-7")
    else:
        result = again.call("charge", {"amount": 5})
    assert result.state == ("succeeded" if state == "finished" else "needs-review")
    assert len(deploy.effects) == charged
    assert len(list(deploy.opened[-1].calls())) == 1


def test_a_proposal_in_the_new_form_is_a_copy_of_the_one_in_doubt(deploy: Deploy) -> None:
    """A model that lost its transcript asks again under v2: nothing is sent, and the original's end settles both."""
    old = deploy.first(crash.after("call.started"))
    deploy.write(2)
    ledger = deploy.open(2)
    session = ledger.session("s")
    session.messages()
    copy = session.dispatch(asked(("charge", {"amount": 5}))).calls[0]
    assert (copy.state, copy.call.reason, copy.call.flag) == ("needs-review", "duplicate", copy.call.flag)
    assert copy.call.flag is not None
    assert copy.call.flag.duplicate_of == old.call_id
    other = session.dispatch(asked(("charge", {"amount": 6}))).calls[0]
    assert (other.state, deploy.effects) == ("succeeded", [(2, 6)])


def test_a_proposal_in_the_old_form_is_a_copy_too_where_the_program_went_back(deploy: Deploy) -> None:
    """The catalog still has v2, and its step says what the old form is in the new one: nothing is sent twice."""
    deploy.write(2)
    ledger = deploy.open(2)
    session = ledger.session("s")
    session.messages(start=[{"role": "user", "content": "Charge."}])
    crash.arm(ledger, crash.after("call.started"), end=gone)
    with pytest.raises(Gone):
        session.dispatch(asked(("charge", {"amount": 5})))
    let_go(ledger)
    file = deploy.folder / "catalog/charge/tool.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"current": 1}))
    session = deploy.open(1).session("s")
    session.messages()
    copy = session.dispatch(asked(("charge", {"amt": 5}))).calls[0]
    assert (copy.state, copy.call.reason, deploy.effects) == ("needs-review", "duplicate", [])
    assert session.dispatch(asked(("charge", {"amt": 6}))).calls[0].state == "succeeded"


def test_a_copy_that_spells_a_default_out_is_one_over_versions_too(deploy: Deploy) -> None:
    """Under `applyDefaults` charge(amt=5) and charge(amount=5, currency="USD") would do the same."""
    folder = deploy.folder / "catalog/charge"
    for number in (1, 2):
        deploy.write(number)
        for name, file in (("amt", "v1.json"), ("amount", "v2.json")):
            fields = {name: {"type": "integer"}, "currency": {"type": "string", "default": "USD"}}
            (folder / file).write_text(json.dumps(V1 | {"properties": fields, "required": [name]}))
        document = json.loads((folder / "tool.json").read_text())
        for version in document["versions"].values():
            version["contract"]["applyDefaults"] = True
        (folder / "tool.json").write_text(json.dumps(document))
        ledger = opened(deploy.folder, catalog=str(deploy.folder / "catalog"))
        deploy.opened.append(ledger)

        def one(amt: int, currency: str) -> dict[str, int]:
            """Charge."""
            return deploy.charge(1, (amt, currency))

        def two(amount: int, currency: str) -> dict[str, int]:
            """Charge."""
            return deploy.charge(2, (amount, currency))

        ledger.tool("charge", version=number)((one, two)[number - 1])
        session = ledger.session("s")
        session.messages(start=[{"role": "user", "content": "Charge."}] if number == 1 else None)
        if number == 1:
            session.propose("charge", {"amt": 5})
            session.messages()
    copy = session.dispatch(asked(("charge", {"amount": 5, "currency": "USD"}))).calls[0]
    assert (copy.state, copy.call.reason, deploy.effects) == ("needs-review", "duplicate", [])
    other = session.dispatch(asked(("charge", {"amount": 5, "currency": "EUR"}))).calls[0]
    assert (other.state, deploy.effects) == ("succeeded", [(2, (5, "EUR"))])


@pytest.mark.parametrize("then", [1, 3])
def test_what_cannot_be_compared_is_another_call(deploy: Deploy, then: int) -> None:
    """Back to an older release, or over a change of meaning: the same key with other arguments is refused."""
    deploy.write(3)
    deploy.open(2).session("s").call("charge", {"amount": 5}, idempotency_key="k")
    deploy.write(then)
    later = {"amount": 5, "currency": "EUR"} if then == 3 else {"amt": 5}
    with pytest.raises(KeyConflict):
        deploy.open(then).session("s").call("charge", later, idempotency_key="k")
    assert len(deploy.effects) == 1


@pytest.mark.parametrize("session", ["s", "another"])
def test_a_key_over_a_change_of_meaning_is_no_reason_for_another_key(deploy: Deploy, session: str) -> None:
    """Who follows the hint must not pay twice: another key is advised only where the two surely differ."""
    deploy.write(2)
    held = deploy.open(2).session("s").call("charge", {"amount": 5}, idempotency_key="k").call_id
    deploy.write(3)
    later = deploy.open(3).session(session)
    with pytest.raises(KeyConflict) as unclear:
        later.call("charge", {"amount": 5, "currency": "EUR"}, idempotency_key="k")
    assert str(unclear.value) == (
        f"idempotency key 'k' is held by call {held} of charge v2 (succeeded); nothing says how charge v3 compares. "
        f"Look first what became of it (`ledger audit call {held}`): another key may do the same twice."
    )
    assert (unclear.value.key, unclear.value.call_id, unclear.value.other) == ("k", held, "charge v3")
    with pytest.raises(KeyConflict) as sure:  # the file carries the amount
        later.call("charge", {"amount": 6, "currency": "EUR"}, idempotency_key="k")
    assert str(sure.value) == (
        f"idempotency key 'k' is used already by call {held}, and now asked for again by charge with other arguments. "
        "Use a new key for a new intent."
    )
    with pytest.raises(KeyConflict, match="nothing says"):
        later.call("charge", "no JSON", idempotency_key="k")


def test_a_key_where_no_file_leads_is_no_reason_for_another_key(deploy: Deploy) -> None:
    """Nobody has said yet how the two forms compare: they may be the same payment."""
    deploy.write(1)
    deploy.open(1).session("s").call("charge", {"amt": 5}, idempotency_key="k")
    deploy.write(2)
    (deploy.folder / "catalog/charge/v1-v2.upcast.json").unlink()
    with pytest.raises(KeyConflict, match=r"of charge v1 \(succeeded\); nothing says how charge v2 compares"):
        deploy.open(2).session("s").call("charge", {"amount": 5}, idempotency_key="k")
    assert len(deploy.effects) == 1


@pytest.mark.parametrize("session", ["s", "another"])
def test_a_hosts_key_stands_for_the_call_that_a_person_put_in_its_place(deploy: Deploy, session: str) -> None:
    """Asked again in the old words or in the new ones it gets the new call; other arguments are refused."""
    deploy.policy = lambda call, principal: Ask()
    deploy.write(2)
    old = deploy.open(2).session("s").call("charge", {"amount": 5}, idempotency_key="k")
    second = deploy.opened[-1].resolve(old, arguments={"amount": 6}, by="ada").call
    deploy.write(3)
    ledger = deploy.open(3)
    ledger.session("s").messages()
    assert ledger.find(second.call_id).reason == "schema-changed"
    new = ledger.resolve(second.call_id, arguments={"amount": 6, "currency": "EUR"}, by="ada").call
    ledger.session("s").messages()
    assert (ledger.find(new.call_id).state, deploy.effects) == ("succeeded", [(3, (6, "EUR"))])
    again = ledger.session(session)
    assert again.call("charge", {"amount": 6, "currency": "EUR"}, idempotency_key="k").call_id == new.call_id
    with pytest.raises(KeyConflict):
        again.call("charge", {"amount": 7, "currency": "EUR"}, idempotency_key="k")
    deploy.write(2)
    back = deploy.open(2).session(session)
    assert back.call("charge", {"amount": 5}, idempotency_key="k").call_id == new.call_id
    assert len(deploy.effects) == 1


def test_a_call_that_a_person_replaced_is_compared_too_before_another_key_is_advised(deploy: Deploy) -> None:
    """What is asked for may be the one or the other: another key is advised where it surely is neither."""
    deploy.policy = lambda call, principal: Ask()
    deploy.write(2)
    old = deploy.open(2).session("s").call("charge", {"amount": 5}, idempotency_key="k")
    deploy.opened[-1].resolve(old, arguments={"amount": 6}, by="ada")
    deploy.write(3)
    later = deploy.open(3).session("another")
    for amount, advice in ((5, "nothing says how"), (6, "nothing says how"), (7, "Use a new key")):
        with pytest.raises(KeyConflict, match=advice):
            later.call("charge", {"amount": amount, "currency": "EUR"}, idempotency_key="k")


def test_a_call_of_a_tool_that_nobody_knew_then_is_compared_as_it_is(deploy: Deploy) -> None:
    """It has no version to be carried from."""
    deploy.write(1)
    deploy.policy = None
    ledger = Ledger.open(f"sqlite:///{deploy.folder}/ledger.db")
    deploy.opened.append(ledger)
    assert ledger.session("s").call("charge", {"amt": 5}).code == "unknown_tool"
    result = deploy.open(1).session("s").call("charge", {"amt": 5}, turn=1)
    assert (result.code, deploy.effects) == ("unknown_tool", [])


def test_a_person_who_was_asked_while_a_step_was_taken_can_answer(deploy: Deploy) -> None:
    """The older program asks about the old form between look and commit: the call stays as the person sees it."""
    deploy.write(1)
    old = deploy.open(1, run_not_started=True)
    call_id = old.session("s").propose("charge", {"amt": 5}).call_id
    old.authorize(lambda call, principal: Ask())
    deploy.write(2)
    new = deploy.open(2)
    crash.arm(new, crash.before("call.upcast"), end=lambda: old.session("s").messages())
    assert new.session("s").advance(call_id).state == "awaiting-approval"
    assert (upcasts(new), new.approve(call_id, by="ada").call.state) == ([], "authorized")


@pytest.mark.parametrize("effect", ["read", "external"])
def test_an_older_release_leaves_calls_of_a_newer_one_to_it(deploy: Deploy, effect: str) -> None:
    """While both run, the older one names the call and changes nothing, where the newer one could run it."""
    deploy.effect = effect
    deploy.policy = (lambda call, principal: Ask()) if effect == "external" else (lambda call, principal: Allow())
    deploy.write(1)
    old = deploy.open(1)
    deploy.write(2)
    new = deploy.open(2)
    if effect == "external":
        call_id = new.session("s").call("charge", {"amount": 5}).call_id
        new.approve(call_id, by="ada")
    else:
        call_id = new.session("s").propose("charge", {"amount": 5}).call_id
    before = types(old, "s")
    found = old.resume("s")
    assert ([call.call_id for call in found.needs_code], types(old, "s")) == ([call_id], before)
    with pytest.raises(UsageError, match="no code for charge v2"):
        old.session("s").advance(call_id)
    new.resume("s")
    assert (new.find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


@pytest.mark.parametrize("way", ["messages", "advance"])
def test_a_call_of_a_retired_tool_is_a_persons_whatever_its_newer_versions_take(deploy: Deploy, way: str) -> None:
    """Its arguments fit the version that it was asked in: nobody is told that they are wrong."""
    deploy.policy = lambda call, principal: Allow()
    old = deploy.first(crash.after("call.proposed"))
    deploy.write(2)
    tool = deploy.folder / "catalog/charge/tool.json"
    tool.write_text(json.dumps(json.loads(tool.read_text()) | {"stage": "compat"}))
    session = deploy.open(2).session("s")
    if way == "advance":
        session.advance(old.call_id)
    else:
        session.messages()
    call = deploy.opened[-1].find(old.call_id)
    assert (call.state, call.reason, call.code, deploy.effects) == ("needs-review", "tool-retired", None, [])
