"""A tool gets another name while calls of it are recorded: its calls they stay, and no name is a way round."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Allow, Ask, Deny, Invalid, Ledger
from ledger.errors import CatalogFault, KeyConflict
from ledger.events import CallFlagged, CallUpcast, SessionResumed
from ledger.schema_migration import judge
from ledger.schema_migration.newest import Newest
from ledger.schema_migration.plan import Scope
from ledger.session.existing import open_existing
from ledger.session.migrating import migrate
from ledger.testing import crash
from tests.cli.running import data
from tests.cli.running import ledger as cli
from tests.recovery.deploys import RENAME, V2, Deploy
from tests.session.agents import answers, asked, opened, recorded, types

NEW_NAME = {"op": "rename_tool", "from": "charge", "to": "pay"}


class Renaming(Deploy):
    """Its first release has `charge(amt)`, the second one `pay(amount)`."""

    def rename(self, **upcast: Any) -> None:
        """Give the tool's folder its new name, with a version and a step that say so."""
        folder = self.folder / "catalog"
        shutil.move(folder / "charge", folder / "pay")
        document = json.loads((folder / "pay/tool.json").read_text())
        contract = document["versions"]["1"]
        document |= {"name": "pay", "current": 2, "versions": {"1": contract, "2": contract}, "reserved": ["charge"]}
        (folder / "pay/tool.json").write_text(json.dumps(document))
        (folder / "pay/v2.json").write_text(json.dumps(V2))
        step = RENAME | {"tool": "pay", "ops": [*RENAME["ops"], NEW_NAME]} | upcast  # type: ignore[misc]  # JSON
        (folder / "pay/v1-v2.upcast.json").write_text(json.dumps(step))

    def renamed(self, version: int = 2, **settings: Any) -> Ledger:
        """Start the second release's program."""
        ledger = opened(self.folder, catalog=str(self.folder / "catalog"), **settings)
        self.opened.append(ledger)

        def pay(amount: int) -> dict[str, int]:
            """Pay."""
            return self.charge(2, amount)

        def earlier(amt: int) -> dict[str, int]:
            """Pay."""
            return self.charge(1, amt)

        ledger.tool("pay", version=version)(earlier if version == 1 else pay)
        if self.policy is not None:
            ledger.authorize(self.policy)
        return ledger


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Renaming]:
    found = Renaming(tmp_path)
    yield found
    found.close()


def left(deploy: Renaming, effect: str = "external") -> str:
    """Leave a call of the old name that surely never ran, and rename the tool."""
    deploy.effect = effect
    deploy.policy = lambda call, principal: Allow()
    call_id = deploy.first(crash.after("call.proposed")).call_id
    deploy.policy = None
    deploy.rename()
    return call_id


def test_a_read_that_never_ran_goes_on_under_the_new_name(deploy: Renaming) -> None:
    """Carried, certified and run by the new code; the intent and the answer keep the name and the id they had."""
    call_id = left(deploy, "read")
    ledger = deploy.renamed()
    messages = ledger.session("s").messages()
    call = ledger.find(call_id)
    assert (call.state, call.tool, call.schema_version, deploy.effects) == ("succeeded", "charge", 2, [(2, 5)])
    assert (call.arguments, call.to_run) == ({"amt": 5}, {"amount": 5})
    [step] = [event.body for event in recorded(ledger, "s") if isinstance(event.body, CallUpcast)]
    assert (step.from_version, step.to_version, step.arguments) == (1, 2, {"amount": 5})
    [resumed] = [event.body for event in recorded(ledger, "s") if isinstance(event.body, SessionResumed)]
    assert (resumed.decisions[0]["tool"], resumed.decisions[0]["upcastTo"]) == ("charge", 2)
    assert 'charge {"amt":5}' in messages[1]["content"]  # as a text: no request declares the old name any more
    assert '{"receipt":1}' in messages[2]["content"]
    before = types(ledger, "s")
    deploy.renamed().session("s").messages()
    assert (types(ledger, "s"), len(deploy.effects)) == (before, 1)


def test_a_write_waits_for_a_person_who_reads_both_names(deploy: Renaming) -> None:
    """Carried, then asked about; what is allowed runs under the new name."""
    call_id = left(deploy)
    ledger = deploy.renamed()
    ledger.session("s").messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason, call.schema_version) == ("needs-review", "not-started", 2)
    assert call.flag is not None
    assert (call.tool, call.flag.evidence["renamedTo"]) == ("charge", "pay")
    ledger.resolve(call_id, "run", by="ada")
    deploy.renamed().session("s").messages()
    assert (ledger.find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


def test_the_new_names_checks_and_policies_have_their_say(deploy: Renaming) -> None:
    """A check of the new tool sees the call, and a policy that knows only the new name is not passed by the old one."""
    call_id = left(deploy, "read")
    deploy.policy = lambda call, principal: Deny("no", "No.") if call.tool == "pay" else Allow()
    ledger = deploy.renamed()
    ledger.session("s").messages()
    assert (ledger.find(call_id).state, deploy.effects) == ("denied", [])


def test_a_check_of_the_new_tool_is_told_the_new_name(deploy: Renaming) -> None:
    """It refuses the carried arguments."""
    call_id = left(deploy, "read")
    ledger = deploy.renamed()
    ledger.check("pay")(lambda arguments, context: Invalid(f"no_{context.tool}", str(arguments["amount"])))
    ledger.session("s").messages()
    call = ledger.find(call_id)
    assert (call.state, call.code, call.message) == ("rejected", "no_pay", "5")


@pytest.mark.parametrize(("effect", "reason"), [("external", "outcome-unknown"), ("read", "schema-changed")])
def test_what_was_started_stays_with_a_person(deploy: Renaming, effect: str, reason: str) -> None:
    """It may have happened under its old name: nothing is carried, and the person reads both names."""
    deploy.effect = effect
    call_id = deploy.first(crash.after("call.started")).call_id
    deploy.rename()
    ledger = deploy.renamed()
    ledger.session("s").messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason, call.schema_version, deploy.effects) == ("needs-review", reason, 1, [])
    [flag] = [event.body for event in recorded(ledger, "s") if isinstance(event.body, CallFlagged)]
    assert flag.evidence["renamedTo"] == "pay"
    assert not any(event.type == "call.upcast" for event in recorded(ledger, "s"))


@pytest.mark.parametrize("point", [None, "call.proposed", "call.started"])
def test_the_same_turn_is_known_under_either_name(deploy: Renaming, point: str | None) -> None:
    """A script that runs again from the top, with the old reply or the new one: no second call, no second effect."""
    deploy.effect = "read" if point == "call.proposed" else "external"
    deploy.policy = lambda call, principal: Allow()
    deploy.first(crash.after(point) if point else None)
    deploy.policy = None
    deploy.rename()
    for call in (("charge", {"amt": 5}), ("pay", {"amount": 5})):
        ledger = deploy.renamed()
        assert ledger.session("s").dispatch(asked(call), turn=1).turn == 1
        assert len(list(ledger.calls())) == 1
    assert len(deploy.effects) == (0 if point == "call.started" else 1)


@pytest.mark.parametrize("name", ["charge", "pay"])
def test_a_hosts_key_stands_for_the_call_under_either_name(deploy: Renaming, name: str) -> None:
    """Asked again it is answered from the ledger; other arguments are refused."""
    deploy.write(1)
    first = deploy.open(1).session("s").call("charge", {"amt": 5}, idempotency_key="k")
    deploy.rename()
    session = deploy.renamed().session("t")
    form = "amt" if name == "charge" else "amount"
    again = session.call(name, {form: 5}, idempotency_key="k")
    assert (again.call_id, again.state, len(deploy.effects)) == (first.call_id, "succeeded", 1)
    said = "nothing says how charge compares" if name == "charge" else "by pay with other arguments. Use a new key"
    with pytest.raises(KeyConflict, match=said):
        session.call(name, {form: 6}, idempotency_key="k")


def test_a_copy_under_the_new_name_is_a_copy(deploy: Renaming) -> None:
    """The model proposes again what is in doubt, under the name it is offered now: flagged, not executed."""
    original = deploy.first(crash.after("call.started")).call_id
    deploy.rename()
    session = deploy.renamed().session("s")
    session.messages()
    (copy, other) = session.dispatch(asked(("pay", {"amount": 5}), ("pay", {"amount": 6}))).calls
    assert (copy.state, copy.call.reason, copy.call.flag and copy.call.flag.duplicate_of) == (
        "needs-review",
        "duplicate",
        original,
    )
    assert (other.state, deploy.effects) == ("succeeded", [(2, 6)])


def test_a_new_call_of_the_old_name_is_answered_with_the_new_one(deploy: Renaming) -> None:
    """Nothing runs; the model reads what the tool is called now, and no request declares the old name any more."""
    deploy.write(1)
    deploy.open(1).session("s").dispatch(asked(("charge", {"amt": 5})))
    deploy.rename()
    session = deploy.renamed().session("s")
    assert [tool["function"]["name"] for tool in session.tools()] == ["pay"]
    results = session.dispatch(asked(("charge", {"amt": 7})))
    [answer] = answers(results.messages)
    assert (answer["status"], answer["code"], answer["next"]) == ("retired", "tool_retired", "use_replacement")
    assert answer["replacement"] == [{"tool": "pay"}]
    assert "charge is called pay now" in answer["hint"]
    assert deploy.effects == [(1, 5)]
    told = json.dumps(session.messages("anthropic"))
    assert '"tool_use"' not in told
    assert "charge" in told


def test_the_count_of_repairs_goes_on_under_the_new_name(deploy: Renaming) -> None:
    """A model that was refused as `charge` has no more tries as `pay`: the goal is the same."""
    deploy.write(1)
    session = deploy.open(1).session("s")
    refused = [session.dispatch(asked(("charge", {"amt": text}))).calls[0] for text in ("a", "b")]
    assert [each.call.repairs for each in refused] == [0, 1]
    deploy.rename()
    session = deploy.renamed().session("s")
    [third] = session.dispatch(asked(("pay", {"amount": "c"}))).calls
    assert (third.call.repair_of, third.call.repairs) == (refused[1].call_id, 2)
    [old] = session.dispatch(asked(("charge", {"amt": 1}))).calls
    assert (old.code, old.call.repair_of, old.call.repairs) == ("tool_retired", third.call_id, 3)


def test_a_renamed_tool_that_is_retired_names_its_own_replacement(deploy: Renaming) -> None:
    """Nobody is sent to a tool that is on its way out."""
    left(deploy)
    tool = deploy.folder / "catalog/pay/tool.json"
    retired = {"stage": "removed", "retirement": {"replacements": [{"tool": "transfer"}], "hint": "Transfer."}}
    tool.write_text(json.dumps(json.loads(tool.read_text()) | retired))
    ledger = deploy.renamed()
    result = ledger.session("t").call("charge", {"amt": 5})
    assert (result.code, result.call.replacement, result.call.hint) == (
        "tool_retired",
        [{"tool": "transfer"}],
        "Transfer.",
    )


def test_code_of_the_old_version_goes_on_with_its_calls(deploy: Renaming) -> None:
    """A program that has the old form's code under the new name needs no upcast."""
    call_id = left(deploy, "read")
    ledger = deploy.renamed(version=1)
    ledger.session("s").messages()
    call = ledger.find(call_id)
    assert (call.state, call.schema_version, deploy.effects) == ("succeeded", 1, [(1, 5)])


@pytest.mark.parametrize(
    ("upcast", "code"), [({"assertedBy": None}, "not_asserted"), ({"ops": [NEW_NAME]}, "property_renamed")]
)
def test_a_name_alone_carries_nothing(deploy: Renaming, upcast: Any, code: str) -> None:
    """Where the step is not proved a person is asked, in the words of the proof."""
    deploy.policy = lambda call, principal: Allow()
    call_id = deploy.first(crash.after("call.proposed")).call_id
    deploy.policy = None
    deploy.rename(**{key: value for key, value in upcast.items() if value is not None})
    step = deploy.folder / "catalog/pay/v1-v2.upcast.json"
    step.write_text(json.dumps({k: v for k, v in json.loads(step.read_text()).items() if upcast.get(k, 1) is not None}))
    ledger = deploy.renamed()
    judged = judge(ledger.registry, ledger.find(call_id))
    assert (judged.status, judged.to_version, judged.reached) == ("needs-person", 2, 1)
    ledger.session("s").messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason, call.schema_version) == ("needs-review", "schema-changed", 1)
    assert call.flag is not None
    assert (call.flag.evidence["renamedTo"], call.flag.evidence["upcast"]["code"]) == ("pay", judged.code)


def test_a_persons_new_arguments_are_those_of_the_new_tool(deploy: Renaming) -> None:
    """The call that takes the old one's place is checked and run under the new name."""
    call_id = left(deploy)
    deploy.renamed().session("s").messages()
    ledger = deploy.renamed()
    new = ledger.resolve(call_id, arguments={"amount": 9}, by="ada").call
    ledger.session("s").messages()
    assert (ledger.find(new.call_id).state, deploy.effects) == ("succeeded", [(2, 9)])


def test_an_approval_goes_along_only_where_the_file_says_so(deploy: Renaming) -> None:
    """A person allowed it under its old name: asked again under the new one."""
    deploy.policy = lambda call, principal: Ask()
    call_id = deploy.first().call_id
    deploy.opened[-1].approve(call_id, by="ada")
    deploy.rename(keepsApproval=True)
    ledger = deploy.renamed()
    ledger.session("s").messages()
    assert (ledger.find(call_id).state, deploy.effects) == ("succeeded", [(2, 5)])


def test_a_carried_call_takes_a_place_under_the_new_name(deploy: Renaming) -> None:
    """A limit of the tool counts what runs, whatever it was called when it was asked for."""
    call_id = left(deploy, "read")
    tool = deploy.folder / "catalog/pay/tool.json"
    document = json.loads(tool.read_text())
    for entry in document["versions"].values():
        entry["contract"]["limits"] = [{"max": 1, "per": "hour"}]
    tool.write_text(json.dumps(document))
    ledger = deploy.renamed()
    ledger.session("s").messages()
    assert ledger.find(call_id).state == "succeeded"
    assert ledger.session("t").call("pay", {"amount": 1}).code == "rate_limited"


def test_the_same_turn_is_known_over_versions_of_the_old_name(deploy: Renaming) -> None:
    """Two versions had it: which one an old reply meant is not guessed, it is what was recorded."""
    deploy.write(1)
    first = deploy.open(1)
    first.session("s").dispatch(asked(("charge", {"amt": 5})))
    keyed = first.session("t").call("charge", {"amt": 5}, idempotency_key="k")
    deploy.write(2)
    deploy.rename()
    folder = deploy.folder / "catalog/pay"
    document = json.loads((folder / "tool.json").read_text())
    document |= {"current": 3, "versions": dict.fromkeys("123", document["versions"]["1"])}
    (folder / "tool.json").write_text(json.dumps(document))
    (folder / "v3.json").write_text(json.dumps(V2))
    (folder / "v1-v2.upcast.json").write_text(json.dumps(RENAME | {"tool": "pay"}))
    (folder / "v2-v3.upcast.json").write_text(
        json.dumps(RENAME | {"tool": "pay", "from": 2, "to": 3, "ops": [NEW_NAME]})
    )
    for call in (("charge", {"amt": 5}), ("pay", {"amount": 5})):
        ledger = deploy.renamed(version=3)
        assert ledger.session("s").dispatch(asked(call), turn=1).turn == 1
        assert ledger.session("u").call(*call, idempotency_key="k").call_id == keyed.call_id
    assert len(deploy.effects) == 2


def test_migrate_schemas_carries_over_the_name(deploy: Renaming) -> None:
    """Planned, carried without the program's code, once; afterwards it is current."""
    call_id = left(deploy)
    url = f"sqlite:///{deploy.folder}/ledger.db"
    for carried in (1, 0):
        with open_existing(url, catalog=deploy.folder / "catalog", recorded=True) as desk:
            assert judge(desk.registry, desk.find(call_id)).status == ("migratable" if carried else "current")
            [found] = list(migrate(desk, Scope()))
            assert (found.error, found.carried) == (None, carried)
            call = desk.find(call_id)
            assert (call.tool, call.schema_version, call.to_run) == ("charge", 2, {"amount": 5})


def test_a_draft_of_what_is_missing_is_the_tools_of_now(deploy: Renaming, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of both names miss the same file: one guess at it, under the name that the tool has."""
    left(deploy)
    deploy.renamed().session("t").propose("pay", {"amount": 5})
    folder = deploy.folder / "catalog/pay"
    document = json.loads((folder / "tool.json").read_text())
    document |= {"current": 3, "versions": document["versions"] | {"3": document["versions"]["2"]}}
    (folder / "tool.json").write_text(json.dumps(document))
    (folder / "v3.json").write_text(json.dumps(V2 | {"properties": {"sum": {"type": "integer"}}, "required": ["sum"]}))
    monkeypatch.chdir(deploy.folder)
    plan = data("--db", "sqlite:///ledger.db", "--catalog", "catalog", "migrate-schemas", "--suggest")
    assert [each["tool"] for each in plan["needsPerson"]] == ["charge", "pay"]
    [draft] = plan["drafts"]
    assert (draft["tool"], draft["from"], draft["to"]) == ("pay", 2, 3)


def test_the_old_name_cannot_be_registered_again(deploy: Renaming) -> None:
    """A program of the old release that reads the new catalog is told where its function belongs."""
    left(deploy)
    with pytest.raises(CatalogFault, match="given up by pay") as fault:
        deploy.open(1)
    assert "Register it as pay" in (fault.value.hint or "")


def test_the_page_of_its_question_has_both_names(deploy: Renaming, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runbook is that of the tool as it is now."""
    call_id = left(deploy)
    tool = deploy.folder / "catalog/pay/tool.json"
    tool.write_text(json.dumps(json.loads(tool.read_text()) | {"runbook": "Search the payments."}))
    deploy.renamed().session("s").messages()
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    page = data("review", "show", call_id)
    assert (page["tool"], page["evidence"]["renamedTo"], page["runbook"]) == ("charge", "pay", "Search the payments.")


def test_rows_and_pages_of_a_carried_call_have_the_name_it_runs_under(
    deploy: Renaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the old one told; every filter finds it by either name, on the command line as in Python."""
    call_id = left(deploy)
    host = deploy.renamed()
    host.session("s").messages()
    other = host.session("t").call("pay", {"amount": 3}).call_id
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")

    def found(*command: str) -> list[str]:
        return [row["callId"] for row in data(*command)]

    for tool, ids in (("pay", [call_id, other]), ("charge", [call_id])):
        assert found("audit", "calls", "--tool", tool) == [row["callId"] for row in host.calls(tool=tool)] == ids
        assert sum(row["calls"] for row in data("audit", "stats", "--tool", tool)) == len(ids)
        assert sum(row["calls"] for row in data("audit", "versions", "--tool", tool)) == len(ids)
        assert found("review", "--tool", tool) == [row["callId"] for row in host.reviews(tool=tool)] == [call_id]
    events = [row["type"] for row in data("audit", "events", "--tool", "pay") if row["callId"] == call_id]
    assert events == ["call.upcast", "call.validated", "call.flagged"]
    assert len(list(host.events(tool="pay", call=call_id))) == len(events)
    assert [row["calls"] for row in host.stats("state", tool="pay")] == [1, 1]
    assert [row["carriedTo"] for row in host.calls(tool="pay")] == ["pay", None]
    for command in ("audit calls", "audit stats", "review"):
        assert "pay (was charge)  v2 " in shown(command)
    for command in ("audit call", "review show"):
        assert "\npay v2 (was charge), external; session s, turn 1.0\n" in shown(f"{command} {call_id}")
        assert data(*command.split(), call_id)["carriedTo"] == "pay"
    following = shown("audit events --follow --tool pay --limit 2")
    assert ["tool.version_published" in following, "call.upcast" in following] == [True, True]


def test_without_the_catalog_a_carried_call_is_told_as_it_is_recorded(
    deploy: Renaming, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody there knows what its version is called, or whose name the new one was."""
    call_id = left(deploy)
    deploy.renamed().session("s").messages()
    monkeypatch.chdir(deploy.folder)
    assert "charge  v2" in shown("audit calls")
    assert data("audit", "calls", "--tool", "pay") == []
    assert (data("audit", "call", call_id)["carriedTo"], data("review")[0]["carriedTo"]) == (None, None)


def shown(command: str) -> str:
    """What a command prints to a person."""
    return cli(*command.split()).stdout


def test_an_ended_call_is_told_in_the_newest_form(deploy: Renaming) -> None:
    """Nothing that is recorded changes."""
    deploy.write(1)
    call_id = deploy.open(1).session("s").call("charge", {"amt": 5}).call_id
    deploy.rename()
    ledger = deploy.renamed()
    shaped = Newest(ledger.registry, ledger.reader)(ledger.find(call_id))
    assert (shaped.recorded, shaped.version, shaped.arguments, shaped.code) == (1, 2, {"amount": 5}, None)


def test_a_secret_under_the_old_name_is_masked(deploy: Renaming) -> None:
    """The last form that had the name says what is sensitive, though nothing of it runs any more."""
    left(deploy)
    folder = deploy.folder / "catalog/pay"
    for number in (1, 2):
        schema = json.loads((folder / f"v{number}.json").read_text())
        schema["properties"]["pin"] = {"type": "string", "x-sensitive": True}
        (folder / f"v{number}.json").write_text(json.dumps(schema))
    ledger = opened(deploy.folder, catalog=str(deploy.folder / "catalog"))
    deploy.opened.append(ledger)
    for raw in ({"amt": 5, "pin": "hunter2-canary"}, '{"pin": "hunter2-canary'):
        assert ledger.session("t").dispatch(asked(("charge", raw))).calls[0].code == "tool_retired"
    assert not any("hunter2-canary" in str(event) for event in recorded(ledger, "t"))


def test_a_check_of_the_old_name_is_refused(deploy: Renaming) -> None:
    """It would check nothing, and what it is there to stop would run."""
    left(deploy)
    ledger = deploy.renamed()
    with pytest.raises(CatalogFault, match="given up by pay") as fault:
        ledger.check("charge")
    assert fault.value.hint == 'Write @ledger.check("pay").'


@pytest.mark.parametrize("stage", ["active", "hidden"])
def test_a_session_that_knew_the_old_name_is_offered_the_new_one(deploy: Renaming, stage: str) -> None:
    """Whether its host says anew what is offered or not, and where new sessions do not see the tool any more."""
    deploy.write(1)
    session = deploy.open(1).session("s")
    session.tools()
    session.dispatch(asked(("charge", {"amt": 5})))
    deploy.rename()
    tool = deploy.folder / "catalog/pay/tool.json"
    tool.write_text(json.dumps(json.loads(tool.read_text()) | {"stage": stage}))
    ledger = deploy.renamed()
    for amount in (6, 7):  # the second time by what the first one recorded
        session = ledger.session("s")
        session.messages()
        assert session.dispatch(asked(("pay", {"amount": amount}))).calls[0].state == "succeeded"
    assert [each["function"]["name"] for each in ledger.session("s").tools()] == ["pay"]
    assert [each["function"]["name"] for each in ledger.session("new").tools()] == (
        ["pay"] if stage == "active" else []
    )


def test_a_tool_that_was_found_is_offered_under_its_new_name(deploy: Renaming) -> None:
    """The model looked for it before the deploy, and goes on with what it found."""
    deploy.write(1)
    session = deploy.open(1).session("s")
    session.tools(only=["find_tools"])
    session.dispatch(asked(("find_tools", {"query": "charge"})))
    deploy.rename()
    ledger = deploy.renamed()
    offered = ledger.session("s").tools(only=["find_tools"])
    assert sorted(each["function"]["name"] for each in offered) == ["find_tools", "pay"]
    session = ledger.session("s")
    session.messages()
    assert session.dispatch(asked(("pay", {"amount": 6}))).calls[0].state == "succeeded"
