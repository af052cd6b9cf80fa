"""The same call asked for anew by another release or another process, where digests do not tell it any more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Happened, Ledger
from ledger.catalog import load_catalog
from ledger.catalog.upcast.chain import Upcasts
from ledger.session.redaction import MASK, alike
from ledger.testing import crash
from tests.importing.chats import ASK, asking, chat, taken
from tests.recovery.deploys import RENAME, V1, V2, Deploy
from tests.recovery.scenes import Gone, gone, let_go
from tests.session.agents import asked, opened

PIN = {"type": "string", "pattern": "^[0-9]{4}$"}


class Pinned(Deploy):
    """Its tool takes a pin; `marked` are the versions that call it sensitive, `renamed`: v2 renames the amount."""

    marked: tuple[int, ...] = (1, 2)
    renamed: bool = True

    def write(self, current: int, **upcast: Any) -> None:
        Deploy.write(self, current, **upcast)
        for number, schema in enumerate((V1, V2 if self.renamed else V1)[:current], 1):
            properties = schema["properties"] | {"pin": PIN | {"x-sensitive": number in self.marked}}  # type: ignore[operator]  # JSON
            whole = schema | {"properties": properties, "required": list(properties)}
            (self.folder / f"catalog/charge/v{number}.json").write_text(json.dumps(whole))

    def open(self, current: int, **settings: Any) -> Ledger:
        ledger = opened(self.folder, catalog=str(self.folder / "catalog"), **settings)
        self.opened.append(ledger)

        def one(amt: int, pin: str) -> dict[str, int]:
            """Charge."""
            return self.charge(current, (amt, pin))

        def two(amount: int, pin: str) -> dict[str, int]:
            """Charge."""
            return self.charge(current, (amount, pin))

        ledger.tool("charge", version=current)(two if current == 2 and self.renamed else one)
        return ledger

    def given(self, version: int, amount: int = 5) -> tuple[str, dict[str, Any]]:
        return "charge", {"amount" if version == 2 and self.renamed else "amt": amount, "pin": "1234"}

    def started(self) -> None:
        """Leave a call that may have happened."""
        self.write(1)
        ledger = self.open(1)
        crash.arm(ledger, crash.after("call.started"), end=gone)
        with pytest.raises(Gone):
            ledger.session("s").dispatch(asked(self.given(1)))
        let_go(ledger)


@pytest.fixture
def pinned(tmp_path: Path) -> Iterator[Pinned]:
    found = Pinned(tmp_path)
    yield found
    found.close()


WAYS = [((1, 2), True), ((2,), False), ((1,), False)]
"""Which versions mark the pin, and whether the second one renames the amount; a mark alone is proved by nobody."""


@pytest.mark.parametrize(("version", "way"), [(1, WAYS[0]), *((2, way) for way in WAYS)])
def test_a_copy_of_a_call_with_secrets_is_a_copy_in_any_process(pinned: Pinned, version: int, way: Any) -> None:
    """The key of its digest died with its process, and a mask fits no pattern: nothing is charged twice for that."""
    pinned.marked, pinned.renamed = way
    pinned.started()
    pinned.write(version)
    session = pinned.open(version).session("s")
    session.messages()
    copy, other = session.dispatch(asked(pinned.given(version), pinned.given(version, 6))).calls
    assert (copy.state, copy.call.reason) == ("needs-review", "duplicate")
    assert (other.state, pinned.effects) == ("succeeded", [(version, (6, "1234"))])


@pytest.mark.parametrize("way", WAYS)
def test_the_same_turn_with_secrets_is_known_over_versions(pinned: Pinned, way: Any) -> None:
    """A script that runs again from the top after the deploy gets what was recorded."""
    pinned.marked, pinned.renamed = way
    pinned.write(1)
    pinned.open(1).session("s").dispatch(asked(pinned.given(1)))
    keyed = pinned.open(1).session("t").call(*pinned.given(1), idempotency_key="k")
    pinned.write(2)
    ledger = pinned.open(2)
    assert ledger.session("s").dispatch(asked(pinned.given(2))).turn == 1
    assert ledger.session("u").call(*pinned.given(2), idempotency_key="k").call_id == keyed.call_id
    assert len(pinned.effects) == 2


def test_a_reply_that_the_host_kept_is_the_same_turn_after_the_deploy(tmp_path: Path) -> None:
    """It is older than the program: the form of then is no new call, refused or run."""
    deploy = Deploy(tmp_path)
    deploy.first()
    keyed = deploy.opened[-1].session("t").call("charge", {"amt": 5}, idempotency_key="k")
    deploy.write(2)
    ledger = deploy.open(2)
    [call] = ledger.session("s").dispatch(asked(("charge", {"amt": 5}))).calls
    assert (call.state, call.call.turn, len(list(ledger.calls()))) == ("succeeded", 1, 2)
    assert ledger.session("u").call("charge", {"amt": 5}, idempotency_key="k").call_id == keyed.call_id
    assert len(deploy.effects) == 2
    deploy.close()


def test_a_copy_is_one_after_the_program_went_back(tmp_path: Path) -> None:
    """A newer release carried the call and may have run it; the older one knows it by what was asked for."""
    deploy = Deploy(tmp_path)
    deploy.policy = lambda call, principal: Allow()
    call_id = deploy.first(crash.after("call.proposed")).call_id
    deploy.policy = None
    deploy.write(2)
    newer = deploy.open(2)
    newer.session("s").messages()
    assert newer.find(call_id).schema_version == 2
    deploy.write(1)
    session = deploy.open(1).session("s")
    session.messages()
    [copy] = session.dispatch(asked(("charge", {"amt": 5}))).calls
    assert (copy.call.reason, deploy.effects) == ("duplicate", [])
    deploy.close()


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({"a": MASK, "b": [1, {"c": 2}]}, {"a": 5, "b": [1, {"c": 2}]}, True),
        ({"a": [1]}, {"a": MASK}, True),
        ({MASK: MASK}, {"a": 1}, True),
        ({"a": MASK}, {"b": 5}, False),
        ({"a": [MASK]}, {"a": [1, 2]}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": {}}, {"a": []}, False),
        (f"pin {MASK}, again {MASK}!", "pin 1234, again 1234!", True),
        (f"pin {MASK}, again {MASK}!", "pin 1234!", False),
        (f"{MASK}-b-{MASK}-c-{MASK}", "1-c-2-b-3", False),
        (f"pin {MASK}", "pan 1234", False),
        (f"ab{MASK}ba", "aba", False),
    ],
)
def test_what_is_masked_may_be_any_value(first: Any, second: Any, same: bool) -> None:
    """And all else is the same or not."""
    assert alike(first, second) is alike(second, first) is same


def test_arguments_take_the_form_of_a_later_version_to_be_compared(tmp_path: Path) -> None:
    """An operation leaves what it knows nothing of; without a file everything stays as it is."""
    deploy = Deploy(tmp_path)
    deploy.write(3, ops=[*RENAME["ops"], {"op": "cast", "path": "/amount", "to": "string"}])  # type: ignore[misc]  # JSON
    shape = Upcasts(load_catalog(tmp_path / "catalog")).reshape
    assert shape("charge", 1, 2, {"amt": 5}) == shape("charge", 1, 3, {"amt": 5}) == {"amount": "5"}
    assert shape("charge", 1, 2, {"amt": MASK}) == {"amount": MASK}
    assert shape("charge", 1, 4, {"amt": 5}) == shape("refund", 1, 2, {"amt": 5}) == {"amt": 5}


def test_a_copy_is_one_where_the_call_itself_could_not_be_carried(tmp_path: Path) -> None:
    """Nobody signed the file: no call runs by it, and none runs twice because of that."""
    deploy = Deploy(tmp_path)
    deploy.first(crash.after("call.started"))
    deploy.write(2)
    file = tmp_path / "catalog/charge/v1-v2.upcast.json"
    file.write_text(json.dumps({key: value for key, value in RENAME.items() if key != "assertedBy"}))
    session = deploy.open(2).session("s")
    session.messages()
    [copy] = session.dispatch(asked(("charge", {"amount": 5}))).calls
    assert (copy.call.reason, deploy.effects) == ("duplicate", [])
    deploy.close()


def proposed_twice(deploy: Deploy, amount: int = 5) -> tuple[str, str]:
    """A call that may have happened, and one after it that was proposed and not looked at yet when the process died."""
    original = deploy.first(crash.after("call.started")).call_id
    session = deploy.open(1).session("s")
    session.messages()
    return original, session.propose("charge", {"amt": amount}).call_id


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("run_not_started", [True, False])
def test_a_copy_that_was_only_proposed_is_one_after_a_crash(
    tmp_path: Path, version: int, run_not_started: bool
) -> None:
    """It surely never started, and is still no call to run, nor one to ask about beside its original."""
    deploy = Deploy(tmp_path)
    original, copy = proposed_twice(deploy)
    deploy.write(version)
    ledger = deploy.open(version, run_not_started=run_not_started)
    ledger.session("s").messages()
    call = ledger.find(copy)
    assert call.flag is not None
    assert (call.state, call.reason, call.flag.duplicate_of) == ("needs-review", "duplicate", original)
    assert (call.schema_version, deploy.effects) == (version, [])
    ledger.resolve(original, "happened", by="ada")
    assert ledger.find(copy).state == "succeeded"
    deploy.close()


def test_what_was_asked_for_once_more_on_purpose_runs_after_a_crash(tmp_path: Path) -> None:
    """The first one's end was known when the second one was proposed; another amount is another call."""
    deploy = Deploy(tmp_path)
    original = deploy.first(crash.after("call.started")).call_id
    ledger = deploy.open(1)
    ledger.session("s").messages()
    ledger.resolve(original, "happened", by="ada")
    session = ledger.session("s")
    session.messages()
    copies = [session.propose("charge", {"amt": amount}).call_id for amount in (5, 6)]
    ledger = deploy.open(1, run_not_started=True)
    ledger.session("s").messages()
    assert [ledger.find(each).state for each in copies] == ["succeeded", "succeeded"]
    assert deploy.effects == [(1, 5), (1, 6)]
    deploy.close()


@pytest.mark.parametrize("again", [{"amt": 5}, {"amt": 5, "currency": "EUR"}])
def test_a_copy_of_an_imported_call_is_one_with_its_defaults(tmp_path: Path, again: dict[str, Any]) -> None:
    """Elsewhere nobody worked out what would run: it is compared as it would be taken in here."""
    effects: list[Any] = []

    def charge(amt: int, currency: str = "EUR") -> None:
        """Charge."""
        effects.append((amt, currency))

    with opened(tmp_path) as ledger:
        ledger.tool("charge", effect="external", apply_defaults=True)(charge)
        taken(chat([ASK, asking(("a", "charge", '{"amt": 5}'))]), ledger._wiring.store)
        session = ledger.session("s")
        session.messages()
        copy, other = session.dispatch(asked(("charge", again), ("charge", {"amt": 5, "currency": "USD"}))).calls
        assert (copy.call.reason, other.state, effects) == ("duplicate", "succeeded", [(5, "USD")])


def test_an_original_that_the_same_resume_finds_out_about_settles_its_copy(tmp_path: Path) -> None:
    """The copy is recorded first, so that the original's end finds it."""
    deploy = Deploy(tmp_path)
    deploy.write(1)

    def program() -> Ledger:
        ledger = opened(tmp_path, catalog=str(tmp_path / "catalog"), run_not_started=True)
        deploy.opened.append(ledger)

        @ledger.tool("charge", version=1, reconcile=lambda arguments, context: Happened({"receipt": 1}))
        def charge(amt: int) -> dict[str, int]:
            """Charge."""
            return deploy.charge(1, amt)

        return ledger

    first = program()
    session = first.session("s")
    original, copy = (session.propose("charge", {"amt": 5}, turn=turn).call_id for turn in (1, 2))
    crash.arm(first, crash.after("call.started"), end=gone)
    assert [session.advance(original).state for _ in range(2)] == ["validated", "authorized"]
    with pytest.raises(Gone):
        session.advance(original)
    let_go(first)
    ledger = program()
    ledger.session("s").messages()
    call = ledger.find(copy)
    assert call.review is not None
    assert (call.state, call.review.verdict, deploy.effects) == ("succeeded", "happened", [])
    deploy.close()


@pytest.mark.parametrize("stage", ["compat", "removed"])
@pytest.mark.parametrize("registered", [True, False])
def test_a_copy_of_a_retired_tools_call_is_a_copy(tmp_path: Path, stage: str, registered: bool) -> None:
    """Sent on to the replacement the model would have it happen a second time there; any other call is sent on."""
    deploy = Deploy(tmp_path)
    original = deploy.first(crash.after("call.started")).call_id
    tool = tmp_path / "catalog/charge/tool.json"
    tool.write_text(json.dumps(json.loads(tool.read_text()) | {"stage": stage, "retirement": {"hint": "Transfer."}}))
    ledger = deploy.open(1) if registered else opened(tmp_path, catalog=str(tmp_path / "catalog"))
    session = ledger.session("s")
    session.messages()
    five = '{"amt": 5.0}' if registered else '{"amt": 5}'
    copy, other, bad = session.dispatch(asked(("charge", five), ("charge", {"amt": 6}), ("charge", "{"))).calls
    assert copy.call.flag is not None
    assert (copy.state, copy.call.reason, copy.call.flag.duplicate_of) == ("needs-review", "duplicate", original)
    assert (copy.answer["next"], "hint" in copy.answer) == ("query_state", False)
    assert (other.code, bad.code, deploy.effects) == ("tool_retired", "tool_retired", [])
    for each in (ledger, *deploy.opened):
        each.close()
