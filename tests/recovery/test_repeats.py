"""A new call that nobody can compare with one in doubt, over a change of meaning: it never runs without a person."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ledger
from ledger.audit.questions import question
from ledger.calls import Call
from ledger.catalog import load_catalog
from ledger.catalog.upcast.chain import Upcasts
from ledger.session.carrying import told_apart
from ledger.testing import crash
from tests.recovery.deploys import ASKS, Deploy
from tests.recovery.scenes import Gone, gone, let_go
from tests.session.agents import answers, asked, opened

EURO = {"amount": 5, "currency": "EUR"}


def held(call: Call, original: str) -> bool:
    """Whether a person is asked about this call because of that one."""
    evidence = call.flag.evidence if call.flag is not None else None
    named = isinstance(evidence, dict) and evidence.get("mayRepeat") == original
    return named and (call.state, call.reason) == ("needs-review", "not-started") and call.arguments_digest is not None


def by_reply(ledger: Ledger, arguments: Any) -> Call:
    return ledger.session("s").dispatch(asked(("charge", arguments))).calls[0].call


def by_host(ledger: Ledger, arguments: Any) -> Call:
    return ledger.find(ledger.session("s").call("charge", arguments, idempotency_key="new").call_id)


def by_step(ledger: Ledger, arguments: Any) -> Call:
    call_id = ledger.session("s").propose("charge", arguments).call_id
    return ledger.find(ledger.session("s").advance(call_id).call_id)


def by_resume(ledger: Ledger, arguments: Any) -> Call:
    call_id = ledger.session("s").propose("charge", arguments).call_id
    ledger.session("s").messages()
    return ledger.find(call_id)


@pytest.mark.parametrize("run_not_started", [True, False])
@pytest.mark.parametrize("way", [by_reply, by_host, by_step, by_resume])
def test_a_call_of_another_meaning_waits_beside_one_in_doubt(deploy: Deploy, way: Any, run_not_started: bool) -> None:
    """Whichever way it comes, no code sees it, and the question names the call that it may repeat."""
    original = deploy.first(crash.after("call.started")).call_id
    deploy.write(3)
    ledger = deploy.open(3, run_not_started=run_not_started)
    ledger.session("s").messages()
    call = way(ledger, EURO)
    if run_not_started or way is not by_resume:
        assert held(call, original)
        assert f"{original}, of version 1, may have done the same" in str(question(call))
    assert (call.state, deploy.effects) == ("needs-review", [])
    said = answers(ledger.session("s").messages())[-1]
    assert (said["status"], said["code"], said["next"]) == ("needs_review", "not_executed", "await_approval")


@pytest.mark.parametrize("verdict", ["happened", "did-not-happen", "abandon"])
def test_what_a_person_lets_run_runs_once(deploy: Deploy, verdict: Any) -> None:
    """Also while the other one is in doubt; and that one's end decides nothing about this one."""
    original = deploy.first(crash.after("call.started")).call_id
    deploy.write(3)
    ledger = deploy.open(3)
    ledger.session("s").messages()
    held_back, other = by_reply(ledger, EURO), by_reply(ledger, {"amount": 5, "currency": "USD"})
    ledger.resolve(held_back.call_id, "run", by="ada")
    ledger.session("s").messages()
    assert (ledger.find(held_back.call_id).state, deploy.effects) == ("succeeded", [(3, (5, "EUR"))])
    ledger.resolve(original, verdict, by="ada")
    ledger.session("s").messages()
    assert (ledger.find(other.call_id).state, len(deploy.effects)) == ("needs-review", 1)
    assert by_reply(ledger, EURO).state == "succeeded"  # the model has been told: this is another one


def test_a_value_that_the_file_carries_tells_two_calls_apart(deploy: Deploy) -> None:
    """The person who signed it said that the amount means the same in both: six is not the five in doubt."""
    original = deploy.first(crash.after("call.started")).call_id
    deploy.write(3)
    ledger = deploy.open(3)
    ledger.session("s").messages()
    assert by_reply(ledger, {"amount": 6, "currency": "EUR"}).state == "succeeded"
    assert held(by_reply(ledger, EURO), original)
    (deploy.folder / "catalog/charge/v2-v3.upcast.json").unlink()
    later = deploy.open(3)
    assert held(by_reply(later, {"amount": 7, "currency": "EUR"}), original)
    assert deploy.effects == [(3, (6, "EUR"))]


@pytest.mark.parametrize("settled", ["happened", "abandon", "did-not-happen"])
def test_what_was_settled_before_the_model_knew_counts_too(deploy: Deploy, settled: Any) -> None:
    """Unless a person said that it did not happen: then the new call is all that there is."""
    original = deploy.first(crash.after("call.started")).call_id
    deploy.write(3)
    session = deploy.open(3).session("s")
    session.messages()
    deploy.open(3).resolve(original, settled, by="ada")
    call = session.dispatch(asked(("charge", EURO))).calls[0].call
    assert (held(call, original), len(deploy.effects)) == ((False, 1) if settled == "did-not-happen" else (True, 0))


def test_a_call_that_surely_never_ran_holds_nothing_up(deploy: Deploy) -> None:
    """It is a person's already, and no second effect of it is on its way."""
    deploy.policy = lambda call, principal: Allow()
    deploy.first(crash.after("call.proposed"))
    deploy.write(3)
    ledger = deploy.open(3)
    ledger.session("s").messages()
    assert (by_reply(ledger, EURO).state, len(deploy.effects)) == ("succeeded", 1)


def test_back_to_an_older_release_too(deploy: Deploy) -> None:
    """The catalog of then knows nothing of what was asked for in the newer form."""
    deploy.write(3)
    ledger = deploy.open(3)
    crash.arm(ledger, crash.after("call.started"), end=gone)
    with pytest.raises(Gone):
        by_reply(ledger, EURO)
    let_go(ledger)
    deploy.write(1)
    back = deploy.open(1)
    back.session("s").messages()
    [row] = back.calls()
    assert held(by_reply(back, {"amt": 5}), str(row["callId"]))
    assert deploy.effects == []


def test_a_call_that_was_carried_is_told_apart_by_its_first_form(deploy: Deploy) -> None:
    """A release that went back compares what was asked for then; of one number with two forms nobody knows anything."""
    deploy.policy = lambda call, principal: Allow()
    call_id = deploy.first(crash.after("call.proposed")).call_id
    deploy.write(2)
    newer = deploy.open(2, run_not_started=True)
    crash.arm(newer, crash.after("call.started"), end=gone)
    with pytest.raises(Gone):
        newer.session("s").messages()
    let_go(newer)
    deploy.write(1)
    back = deploy.open(1)
    back.session("s").messages()
    carried = back.find(call_id)
    assert (carried.state, carried.schema_version, carried.intent_version) == ("needs-review", 2, 1)
    other = by_reply(back, {"amt": 6})
    assert (other.state, deploy.effects) == ("succeeded", [(1, 6)])
    core = back.session("s")._loop.core
    forms = [other, other.changed(schema_digest="another"), other.changed(schema_version=None)]
    assert [told_apart(core, form, other, {"amt": 7}) for form in forms] == [True, False, True]


def test_versions_without_a_catalog_too(tmp_path: Path) -> None:
    """No file leads from one function to the next: only what has the same form can be told apart."""
    effects: list[Any] = []

    def one(amt: int) -> None:
        """Charge."""
        effects.append(amt)

    def two(amount: int) -> None:
        """Charge."""
        effects.append(amount)

    with opened(tmp_path) as before:
        before.tool("charge", effect="external")(one)
        crash.arm(before, crash.after("call.started"), end=gone)
        with pytest.raises(Gone):
            by_reply(before, {"amt": 5})
        let_go(before)
    with opened(tmp_path) as after:
        after.tool("charge", version=2, effect="external")(two)
        after.session("s").messages()
        [row] = after.calls()
        assert held(by_reply(after, {"amount": 5}), str(row["callId"]))
    with opened(tmp_path) as again:
        again.tool("charge", effect="external")(one)
        assert by_reply(again, {"amt": 5}).reason == "duplicate"
        assert by_reply(again, {"amt": 6}).state == "succeeded"
    assert effects == [6]


@pytest.mark.parametrize(
    ("versions", "newer", "carry", "apart"),
    [
        ((1, 2), {"amount": 6}, [], True),
        ((1, 2), {"amount": 6}, ["/amount"], True),
        ((2, 3), {"amount": 6}, ["/amount"], True),
        ((2, 3), {"amount": 6}, [""], False),
        ((2, 3), {"amount": 6}, ["/currency"], False),
        ((2, 3), {"amount": 5.0}, ["/amount"], False),
        ((2, 3), {"amount": 5}, ["/amount"], False),
        ((2, 3), {"total": 6}, ["/amount"], False),
        ((2, 3), None, ["/amount"], False),
        ((2, 4), {"amount": 6}, ["/amount"], False),
        ((4, 5), {"amount": 6}, ["/amount"], False),
    ],
)
def test_only_what_files_say_tells_versions_apart(
    tmp_path: Path, versions: tuple[int, int], newer: Any, carry: list[str], apart: bool
) -> None:
    """A change of form does; one of meaning by what it carries; what lies behind that, or no file, says nothing."""
    deploy = Deploy(tmp_path)
    deploy.write(3)
    (tmp_path / "catalog/charge/v2-v3.upcast.json").write_text(json.dumps(ASKS | {"carry": carry}))
    upcasts = Upcasts(load_catalog(tmp_path / "catalog"))
    older = {"amt": 5} if versions[0] == 1 else {"amount": 5}
    assert upcasts.apart("charge", *versions, older, newer) is apart
    assert upcasts.apart("refund", *versions, older, newer) is False


def damage(folder: Path, *types: str) -> None:
    """Make in each session (they are called as what is damaged) the last event of its type unreadable."""
    with contextlib.closing(sqlite3.connect(folder / "ledger.db")) as file:
        triggers = file.execute("select name from sqlite_master where type = 'trigger'").fetchall()
        for (name,) in triggers:
            file.execute(f'drop trigger "{name}"')
        for each in types:
            file.execute("update event set record = ? where session_id = ? and type = ?", (b"{}x", each, each))
        file.commit()


def test_a_repeat_of_what_cannot_be_read_waits_for_a_person(tmp_path: Path) -> None:
    """Whichever event of it is damaged: its model was told that nobody knows its end; a person lets another one run."""
    ran: list[int] = []

    def pay(n: int) -> int:
        """Pay."""
        ran.append(n)
        if len(ran) <= 4:
            raise OSError
        return n

    types = ("call.validated", "call.authorized", "call.started", "call.flagged")
    with opened(tmp_path) as ledger:
        ledger.tool("pay", effect="external")(pay)
        originals = {name: ledger.session(name).dispatch(asked(("pay", {"n": 1}))).calls[0].call_id for name in types}
    damage(tmp_path, *types)
    with opened(tmp_path) as ledger:
        ledger.tool("pay", effect="external")(pay)
        for name, original in originals.items():
            session = ledger.session(name)
            assert answers(session.messages())[-1]["code"] == "outcome_unknown"
            again = session.dispatch(asked(("pay", {"n": 1}), ids=("again",))).calls[0].call
            assert (held(again, original), len(ran)) == (True, 4)
            assert "Nobody knows how that one stands" in str(question(again))
            once_more = session.call("pay", {"n": 1}, idempotency_key=name).call
            assert once_more.flag is not None
            assert once_more.flag.duplicate_of == again.call_id
            assert session.dispatch(asked(("pay", {"n": 2}), ids=("other",))).calls[0].state == "succeeded"
            ran.pop()
        ledger.resolve(again.call_id, "run", by="ada")
        assert [call.state for call in session.wait(0).calls] == ["succeeded", "succeeded"]
        assert len(ran) == 5
