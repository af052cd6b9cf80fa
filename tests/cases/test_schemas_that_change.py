"""Reports of tools that changed under recorded calls: schemas, names, spellings, caches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.catalog.contract import Contract
from ledger.catalog.diff import Subject, difference
from ledger.catalog.documents import version_of
from ledger.catalog.guard import guard_input
from ledger.catalog.upcast.certificate import Step
from ledger.catalog.upcast.records import Carried
from ledger.catalog.upcast_files import read_upcast
from ledger.events import CallAuthorized, CallUpcast
from tests.cli.running import data, ledger
from tests.recovery.deploys import Deploy
from tests.session.agents import opened, recorded, types


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    found = Deploy(tmp_path)
    yield found
    found.close()


def test_a_resume_ignores_that_the_tools_have_changed(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    A tool is gone and another has a new schema: a resume says so of each call before anything runs, and runs nothing.

    https://github.com/TauricResearch/TradingAgents/issues/1089. What was recorded can be read as ever; a person's word
    is the flag that lets a pending call run under the new tools.
    """
    deploy.effect = "read"
    deploy.write(1)
    first = deploy.open(1)
    first.tool("gone", effect="read", version=1)(lambda: 1)
    session = first.session("s")
    for name, arguments in (("charge", {"amt": 5}), ("gone", {})):
        session.propose(name, arguments)
    deploy.write(2)
    (deploy.folder / "catalog/charge/v1-v2.upcast.json").unlink()
    monkeypatch.chdir(deploy.folder)
    before = len(data("audit", "events", "--session", "s"))
    told = ledger("replay", "session", "s").stdout
    assert "charge" in told
    assert "gone" in told
    second = deploy.open(2)
    found = second.resume("s", dry_run=True)
    drift = [(each["tool"], each["action"], each.get("flag")) for each in found.decisions]
    assert drift == [("charge", "flag", "schema-changed")]
    assert [call.tool for call in found.needs_code] == ["gone"]
    assert len(data("audit", "events", "--session", "s")) == before
    second.session("s").messages()
    assert deploy.effects == []
    [waiting] = second.reviews()
    second.resolve(str(waiting["callId"]), arguments={"amount": 5}, by="ada")
    second.session("s").messages()
    assert deploy.effects == [(2, 5)]


def test_a_cache_of_definitions_changes_how_a_history_is_told(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Told by a process that has seen every schema and by one that starts cold: equal bytes, and nothing new is recorded.

    https://github.com/pydantic/pydantic-ai/issues/5875.
    """
    deploy.first()
    warm = deploy.opened[-1]
    before = types(warm, "s")
    deploy.write(2)
    deploy.open(2)
    monkeypatch.chdir(deploy.folder)
    told = [ledger("replay", "session", "s", "--format", "json").stdout for _ in range(2)]
    (deploy.folder / "catalog").rename(deploy.folder / "elsewhere")
    told.append(ledger("replay", "session", "s", "--format", "json").stdout)
    assert len(set(told)) == 1
    assert json.loads(told[0])
    assert types(warm, "s") == before


def test_a_renamed_parameter_is_kept_beside_its_old_name(deploy: Deploy) -> None:
    """
    The carried arguments have the new name only; the intent is as it was, and the step is an event of its own.

    https://github.com/langgenius/dify/issues/23464.
    """
    deploy.write(1)
    call_id = deploy.open(1).session("s").propose("charge", {"amt": 5}).call_id
    before = recorded(deploy.opened[-1], "s")
    deploy.write(2)
    new = deploy.open(2)
    new.session("s").messages()
    call = new.find(call_id)
    assert (call.to_run, call.arguments, call.raw_arguments) == ({"amount": 5}, {"amt": 5}, None)
    assert recorded(new, "s")[: len(before)] == before
    [upcast] = [event.body for event in recorded(new, "s") if isinstance(event.body, CallUpcast)]
    assert (upcast.from_version, upcast.to_version) == (1, 2)


def test_one_bad_schema_takes_all_tools_away(tmp_path: Path) -> None:
    """
    It is quarantined with the place of its fault, the others work, and its old calls can still be told.

    https://github.com/Dokploy/mcp/issues/74.
    """
    tools = {"good": {"type": "number", "minimum": 0}, "other": {"type": "string"}, "bad": {"type": "number"}}

    def write(changed: dict[str, Any]) -> None:
        for name, schema in (tools | changed).items():
            folder = tmp_path / "catalog" / name
            folder.mkdir(parents=True, exist_ok=True)
            versions = {"1": {"contract": {"effect": "read"}}}
            document = {"name": name, "description": "Look.", "versions": versions}
            (folder / "tool.json").write_text(json.dumps(document))
            (folder / "v1.json").write_text(json.dumps({"type": "object", "properties": {"x": schema}}))

    def host() -> Ledger:
        found = opened(tmp_path, catalog=str(tmp_path / "catalog"))
        for name in ("good", "other"):
            found.tool(name)(lambda x=None: x)
        return found

    write({})
    with host() as first:
        first.tool("bad")(lambda x=None: x)
        assert first.session("s").call("bad", {"x": 1}).state == "succeeded"
    write({"bad": {"type": "number", "minimum": 0, "exclusiveMinimum": True}})
    with host() as second:
        catalog = second.registry.catalog
        assert catalog is not None
        [fault] = catalog.faults
        assert (fault.tool, fault.pointer) == ("bad", "/properties/x/exclusiveMinimum")
        session = second.session("s")
        assert [tool["function"]["name"] for tool in session.tools()] == ["good", "other"]
        assert session.call("good", {"x": 2}).state == "succeeded"
        assert [message["role"] for message in session.messages()] == ["assistant", "tool"] * 2


@pytest.mark.parametrize("keeps", [True, False])
def test_what_was_approved_runs_in_another_form_without_a_word(deploy: Deploy, keeps: bool) -> None:
    """
    An approval holds for the carried arguments where the upcast's file says so, by the digests of its event; else it
    has to be given again.

    https://github.com/extra-org/extra/issues/139 and https://github.com/pydantic/pydantic-ai/issues/6968.
    """
    deploy.policy = lambda call, principal: Ask()
    call_id = deploy.first().call_id
    deploy.opened[-1].approve(call_id, by="ada")
    deploy.write(2, keepsApproval=keeps)
    new = deploy.open(2)
    new.session("s").messages()
    events = [event.body for event in recorded(new, "s") if event.call_id == call_id]
    [approval] = [body for body in events if isinstance(body, CallAuthorized)]
    [upcast] = [body for body in events if isinstance(body, CallUpcast)]
    assert (approval.arguments_digest, upcast.keeps_approval) == (upcast.digest_before, keeps)
    assert len(deploy.effects) == int(keeps)
    if not keeps:
        assert new.find(call_id).reason == "approval-mismatch"
        new.resolve(call_id, "run", by="ada")
        new.session("s").messages()
    assert deploy.effects == [(2, 5)]


SPELLINGS: list[dict[str, Any]] = [
    {"type": ["string", "null"]},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"type": "string", "nullable": True},
]


@pytest.mark.parametrize("old", range(3))
@pytest.mark.parametrize("new", range(2))
def test_one_nullable_type_in_three_spellings_is_three_types(old: int, new: int) -> None:
    """
    Another spelling of "a text or null" is a dialect at most, and nothing needs a person (F28).

    https://github.com/aoci-spec/aoci-code/issues/61. Only towards OpenAPI's `nullable`, which JSON Schema never read,
    null is refused from then on, and that is said.
    """
    sides = [Subject(schema={"type": "object", "properties": {"a": SPELLINGS[each]}}) for each in (old, new)]
    assert difference(sides[0], sides[1]).verdict == ("identical" if old == new else "dialect")
    back = difference(sides[1], Subject(schema={"type": "object", "properties": {"a": SPELLINGS[2]}}))
    assert [finding.code for finding in back.findings if finding.verdict not in ("dialect", "annotation")] != []


def test_a_strict_mode_makes_another_schema_of_the_same_tool() -> None:
    """
    A provider's strict mode requires every property and takes null for what was left out (F29).

    What was recorded under it, nulls included, is carried to the loose form as it stands: the file only says that it
    widens. The other way is a person's: null and absent would become one.
    """
    strict = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "note": {"type": ["string", "null"]}},
        "required": ["to", "note"],
        "additionalProperties": False,
    }
    loose = strict | {
        "properties": {"to": {"type": "string"}, "note": {"type": ["string", "null"], "default": None}},
        "required": ["to"],
    }
    old, new = (
        version_of(guard_input(schema), words={"description": "d"}, tool="t", version=number, contract=Contract())
        for number, schema in enumerate((strict, loose), 1)
    )
    words = {"tool": "t", "from": 1, "to": 2, "assertedBy": "ada", "ops": [], "widens": ["note may be left out"]}
    step = Step(read_upcast(words, "t", "t", (1, 2)), old, new)
    found = step.carry({"to": "a", "note": None})
    assert isinstance(found, Carried)
    assert (found.arguments, found.grade) == ({"to": "a", "note": None}, "embed")
    back = Step(read_upcast(words, "t", "t", (1, 2)), new, old)
    assert not back.proof.holds
    assert "null_absent_merged" in [reason.code for reason in back.proof.reasons]
