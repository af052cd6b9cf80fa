"""`migrate-schemas`: what a newer catalog carries over, what needs a person, and that nothing else changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.calls import call_row
from ledger.errors import StoreUnavailable, UnknownSession
from ledger.events import CallOutcomeArrivedLate, ToolVersionPublished
from ledger.schema_migration import Judged, Plan, judge, planned
from ledger.schema_migration.glance import glance, recorded_digests
from ledger.schema_migration.plan import Scope
from ledger.session.existing import open_existing
from ledger.session.migrating import migrate
from ledger.store.memory import MemoryStore
from ledger.store.port import Append
from ledger.testing import crash
from ledger.testing.contract.building import Story
from tests.cli.running import failure, ledger
from tests.recovery.deploys import RENAME, V1, Deploy
from tests.recovery.scenes import Gone, gone
from tests.session.agents import asked, recorded, types


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    found = Deploy(tmp_path)
    yield found
    found.close()


def desk(deploy: Deploy, catalog: str = "catalog") -> Ledger:
    """The ledger with the new release's catalog, and without its code."""
    found = open_existing(f"sqlite:///{deploy.folder}/ledger.db", catalog=deploy.folder / catalog)
    deploy.opened.append(found)
    return found


def judged(deploy: Deploy, **scope: Any) -> dict[str, tuple[str, Any, Any]]:
    """What becomes of each call, by session: status, code, grade."""
    here = desk(deploy)
    found = list(planned(here.reader, here.registry, Scope(**scope)))
    for each in found:  # what a row said is what its events say
        assert each.to_wire() == judge(here.registry, here.find(each.call.call_id), to=scope.get("to")).to_wire()
    return {each.call.session_id: (each.status, each.code, each.grade) for each in found}


def never_ran(deploy: Deploy, session: str = "s", arguments: Any = None) -> str:
    """Leave an intent that no gate of the host has seen; return its id."""
    deploy.write(1)
    return deploy.open(1).session(session).propose("charge", arguments or {"amt": 5}).call_id


def waiting(deploy: Deploy) -> str:
    """Leave a call about which a person is asked."""
    deploy.policy = lambda call, principal: Ask()
    found = deploy.first()
    deploy.policy = None
    return found.call_id


def allowed(deploy: Deploy) -> str:
    """Leave a call that a person allowed."""
    call_id = waiting(deploy)
    deploy.opened[-1].approve(call_id, by="ada")
    return call_id


def by_policy(deploy: Deploy) -> str:
    """Leave a call that the policies allowed, stepping."""
    call_id = never_ran(deploy)
    session = deploy.opened[-1].session("s")
    session.advance(call_id)
    assert session.advance(call_id).state == "authorized"
    return call_id


def flagged(deploy: Deploy) -> str:
    """Leave a call that never ran and that a person is asked about."""
    call_id = never_ran(deploy)
    deploy.open(1).session("s").messages()
    assert deploy.opened[-1].find(call_id).reason == "not-started"
    return call_id


def started(deploy: Deploy) -> str:
    return deploy.first(crash.after("call.started")).call_id


def doubted(deploy: Deploy) -> str:
    """Leave a call that was started and that a person is asked about."""
    call_id = started(deploy)
    deploy.open(1).session("s").messages()
    assert deploy.opened[-1].find(call_id).reason == "outcome-unknown"
    return call_id


def finished(deploy: Deploy) -> str:
    return deploy.first().call_id


CASES = [
    # left as, effect, keeps the approval, what the plan says, carried
    (never_ran, "external", False, ("migratable", None, "iso"), True),
    (by_policy, "external", False, ("migratable", None, "iso"), True),
    (flagged, "external", False, ("migratable", None, "iso"), True),
    (waiting, "external", False, ("needs-person", "approval_bound", "iso"), False),
    (waiting, "external", True, ("migratable", None, "iso"), True),
    (allowed, "external", True, ("migratable", None, "iso"), True),
    (started, "external", False, ("in-doubt", None, None), False),
    (doubted, "external", False, ("in-doubt", None, None), False),
    (started, "read", False, ("needs-person", "started", None), False),
]


@pytest.mark.parametrize(("leave", "effect", "keeps", "said", "carried"), CASES)
def test_each_state_has_its_answer(
    deploy: Deploy, leave: Any, effect: str, keeps: bool, said: tuple[str, Any, Any], carried: bool
) -> None:
    """What the plan says is what applying does, once; what the intent said stays, byte for byte."""
    deploy.effect = effect
    call_id = leave(deploy)
    before = recorded(deploy.opened[-1], "s")
    deploy.write(2, **({"keepsApproval": True} if keeps else {}))
    assert judged(deploy) == {"s": said}
    here = desk(deploy)
    assert [each.carried for each in migrate(here, Scope())] == [int(carried)]
    call = here.find(call_id)
    assert (call.schema_version, call.arguments, call.to_run) == (
        (2, {"amt": 5}, {"amount": 5}) if carried else (1, {"amt": 5}, {"amt": 5})
    )
    after = recorded(here, "s")
    assert after[: len(before)] == before
    assert [event.type for event in after[len(before) :] if event.type != "session.claimed"] == [
        "call.upcast"
    ] * carried
    assert [each.carried for each in migrate(desk(deploy), Scope())] == [0]
    assert len(recorded(here, "s")) == len(after)


@pytest.mark.parametrize("wide", [False, True])
def test_an_approval_of_the_old_form_is_asked_anew_as_a_resume_does(deploy: Deploy, wide: bool) -> None:
    """
    Applying records what the new release's resume records, event by event; what the person then allows is what runs.

    That holds for a wider form of the same arguments too, which no file can keep an approval for.
    """
    twins = [Deploy(deploy.folder / name) for name in ("applied", "resumed")]
    ends = []
    for twin in twins:
        twin.folder.mkdir()
        call_id = allowed(twin)
        before = len(recorded(twin.opened[-1], "s"))
        if wide:
            option = {"op": "introduce_optional", "path": "/note", "absentMeans": "no note"}
            twin.write(2, ops=[option], widens=["a note"], keepsApproval=True)
            wider = V1 | {"properties": {**V1["properties"], "note": {"type": "string"}}}  # type: ignore[dict-item]  # a schema
            (twin.folder / "catalog/charge/v2.json").write_text(json.dumps(wider))
        else:
            twin.write(2)
        assert judged(twin) == {"s": ("needs-person", "approval_bound", "embed" if wide else "iso")}
        here = desk(twin)
        if twin is twins[0]:
            assert [each.carried for each in migrate(here, Scope())] == [1]
        else:
            here.resume("s", execute=False)
        call = here.find(call_id)
        assert (call.state, call.reason, call.schema_version) == ("needs-review", "approval-mismatch", 2)
        told = [event for event in recorded(here, "s")[before:] if event.call_id == call_id]
        assert [event.type for event in told] == ["call.upcast", "call.flagged"]
        ends.append([(event.schema_version, event.schema_digest, event.body) for event in told])
        assert judged(twin) == {"s": ("current", None, None)}
        assert [each.carried for each in migrate(here, Scope())] == [0]
        here.resolve(call_id, "run", by="ada")
    assert ends[0] == ends[1]
    if not wide:
        twins[0].open(2).session("s").messages()
        assert twins[0].effects == [(2, 5)]
    for twin in twins:
        for each in twin.opened:
            each.close()


def test_a_call_that_an_outcome_contradicts_keeps_its_form(deploy: Deploy) -> None:
    """A person let it run again, then the first attempt's outcome arrived: it may have happened as it was."""
    call_id = allowed(deploy)
    deploy.write(2, keepsApproval=True)
    here = desk(deploy)
    late = CallOutcomeArrivedLate(ended="succeeded", token=1)
    found = judge(here.registry, here.find(call_id).changed(late=late))
    assert (found.status, found.journey) == ("in-doubt", None)


@pytest.mark.parametrize(("leave", "runs"), [(flagged, 1), (allowed, 1), (by_policy, 0)])
def test_what_was_carried_goes_on_in_the_new_form(deploy: Deploy, leave: Any, runs: int) -> None:
    """By the person's word, given before or after; a write that only a policy had allowed is asked about."""
    call_id = leave(deploy)
    deploy.write(2, keepsApproval=True)
    list(migrate(desk(deploy), Scope()))
    if leave is flagged:
        assert desk(deploy).resolve(call_id, "run", by="ada").call.state == "authorized"
    ledger_ = deploy.open(2)
    ledger_.session("s").messages()
    assert deploy.effects == [(2, 5)] * runs
    assert ledger_.find(call_id).state == ("succeeded" if runs else "needs-review")


def test_a_call_flagged_for_its_schema_waits_for_one_word_once_it_is_carried(deploy: Deploy) -> None:
    """The upcast's file came later than the flag: what is left to say is whether it shall run."""
    call_id = never_ran(deploy)
    deploy.write(2)
    file = deploy.folder / "catalog/charge/v1-v2.upcast.json"
    words = file.read_text()
    file.unlink()
    deploy.open(2).session("s").messages()
    assert desk(deploy).find(call_id).reason == "schema-changed"
    assert judged(deploy) == {"s": ("needs-person", "no_upcast", None)}
    file.write_text(words)
    list(migrate(desk(deploy), Scope()))
    here = desk(deploy)
    assert (here.find(call_id).reason, here.find(call_id).schema_version) == ("not-started", 2)
    here.resolve(call_id, "run", by="ada")
    deploy.open(2).session("s").messages()
    assert deploy.effects == [(2, 5)]


def test_finished_calls_are_reported_and_stay_facts(deploy: Deploy) -> None:
    """With every call asked for the plan says what the new form would be; applying never touches them."""
    finished(deploy)
    deploy.write(2)
    assert judged(deploy) == {}
    assert judged(deploy, every=True) == {"s": ("migratable", None, "iso")}
    before = types(desk(deploy), "s")
    assert list(migrate(desk(deploy), Scope())) == []
    assert types(desk(deploy), "s") == before


ODD: dict[str, tuple[Any, tuple[str, str | None]]] = {
    "current": (lambda tool: None, ("current", None)),
    "gone": (lambda tool: (tool / "tool.json").unlink(), ("needs-person", "tool_unknown")),
    "retired": (lambda tool: edit(tool / "tool.json", stage="compat"), ("needs-person", "tool_retired")),
    "edited": (
        lambda tool: edit(tool / "v1.json", properties={"amt": {"type": "number"}}),
        ("needs-person", "version_unknown"),
    ),
}


def edit(file: Path, **changes: Any) -> None:
    """Change keys of a JSON file."""
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize("case", ODD)
def test_what_the_catalog_does_not_know_goes_to_a_person(deploy: Deploy, case: str) -> None:
    """A tool that is gone or retired, a version that is not as it was recorded; and what is current needs nothing."""
    never_ran(deploy)
    change, said = ODD[case]
    if case not in ("current", "gone"):
        deploy.write(2)
    change(deploy.folder / "catalog/charge")
    assert judged(deploy)["s"][:2] == said


def test_a_started_read_of_the_current_version_needs_nothing(deploy: Deploy) -> None:
    """It is run again as it is."""
    deploy.effect = "read"
    started(deploy)
    assert judged(deploy) == {"s": ("current", None, None)}


def test_arguments_that_never_fitted_are_told_apart(deploy: Deploy) -> None:
    """Invalid under their own version: no upcast's fault."""
    deploy.write(1)
    deploy.open(1).session("s").propose("charge", {"amt": "five"})
    deploy.write(2)
    assert judged(deploy) == {"s": ("invalid", "invalid_before", None)}


def test_what_ran_elsewhere_and_copies_are_let_alone(deploy: Deploy) -> None:
    """Neither is ever started by this ledger."""
    deploy.first(crash.after("call.started"))
    ledger_ = deploy.open(1)
    session = ledger_.session("s")
    session.messages()
    copy = session.dispatch(asked(("charge", {"amt": 5}))).calls[0].call
    assert copy.reason == "duplicate"
    assert judged(deploy) == {"s": ("current", None, None)}
    deploy.write(2)
    found = judge(desk(deploy).registry, copy)
    assert (found.status, found.to_version) == ("current", None)
    assert judge(desk(deploy).registry, copy.changed(reason=None, imported=True)).status == "current"


@pytest.mark.parametrize("every", [False, True])
def test_what_the_provider_runs_is_no_call_of_this_catalog(deploy: Deploy, every: bool) -> None:
    """It is neither reported nor touched, whatever it is called; the calls beside it are carried."""
    never_ran(deploy)
    session = deploy.opened[-1].session("s")
    item = {"type": "server_tool_use", "id": "srv_1", "name": "charge", "input": {"amt": 1}}
    session.dispatch({"role": "assistant", "content": [item], "stop_reason": "pause_turn"}, format="anthropic")
    session.propose("charge", {"amt": "five"})
    deploy.write(2)
    here = desk(deploy)
    found = [(each.call.turn, each.status) for each in planned(here.reader, here.registry, Scope(every=every))]
    assert found == [(1, "migratable"), (3, "invalid")]
    [done] = migrate(here, Scope())
    assert ([each.status for each in done.judged], done.carried) == (["migratable", "invalid"], 1)


@pytest.mark.parametrize("leave", [started, doubted])
def test_a_started_write_of_the_current_version_is_in_doubt(deploy: Deploy, leave: Any) -> None:
    """It may have happened, whether a person is asked about it already or not: its row says nothing else."""
    leave(deploy)
    assert judged(deploy) == {"s": ("in-doubt", None, None)}


def test_a_retired_tool_is_a_persons_at_its_current_version_too(deploy: Deploy) -> None:
    """No version changes that; a read of a tool in stage compat may still run."""
    never_ran(deploy)
    edit(deploy.folder / "catalog/charge/tool.json", stage="compat")
    assert judged(deploy) == {"s": ("needs-person", "tool_retired", None)}


def test_redacted_arguments_are_carried_by_nobody(deploy: Deploy) -> None:
    """Their true values are nowhere."""
    call_id = never_ran(deploy)
    deploy.write(2)
    here = desk(deploy)
    found = judge(here.registry, here.find(call_id).changed(redacted=True))
    assert (found.status, found.code) == ("needs-person", "redacted")


def test_defaults_that_would_run_are_carried_too(deploy: Deploy) -> None:
    """`applyDefaults`: the digests cover the arguments that would run, and the approval bound to them holds."""
    deploy.policy = lambda call, principal: Ask()
    schema = {"amt": {"type": "integer", "default": 3}}

    def release(current: int, **upcast: Any) -> None:
        deploy.write(current, **upcast)
        tool = deploy.folder / "catalog/charge"
        contract = {"contract": {"effect": "external", "applyDefaults": True}}
        edit(tool / "tool.json", versions={str(number): contract for number in range(1, current + 1)})
        (tool / "v1.json").write_text(
            json.dumps({"type": "object", "properties": schema, "additionalProperties": False})
        )
        if current > 1:
            renamed = {"type": "object", "properties": {"amount": schema["amt"]}, "additionalProperties": False}
            (tool / "v2.json").write_text(json.dumps(renamed))

    release(1)
    call = deploy.open(1).session("s").call("charge", {})
    deploy.opened[-1].approve(call.call_id, by="ada")
    release(2, keepsApproval=True)
    [done] = migrate(desk(deploy), Scope())
    assert done.carried == 1
    deploy.open(2).session("s").messages()
    assert deploy.effects == [(2, 3)]


def test_a_scope_is_a_tool_a_session_a_version(deploy: Deploy) -> None:
    """Each narrows; a session that is not there is an error."""
    never_ran(deploy, "a")
    never_ran(deploy, "b")
    deploy.write(3)
    assert judged(deploy, session="a") == {"a": ("needs-person", "semantic", "iso")}
    assert judged(deploy, tool="other") == {}
    assert judged(deploy, to=2, session="b") == {"b": ("migratable", None, "iso")}
    here = desk(deploy)
    assert [each.judged for each in migrate(here, Scope(tool="other"))] == [(), ()]
    assert judged(deploy, every=True, session="b").keys() == {"b"}
    with pytest.raises(UnknownSession):
        judged(deploy, session="nope", every=True)
    with pytest.raises(UnknownSession):
        judged(deploy, session="nope")


def test_a_crash_while_applying_leaves_whole_sessions(deploy: Deploy) -> None:
    """The next run goes on: the same end, each call carried once."""
    for name in ("a", "b", "c"):
        never_ran(deploy, name)
    deploy.write(2)
    here = desk(deploy)
    crash.arm(here, crash.before("call.upcast", nth=2), end=gone)
    with pytest.raises(Gone):
        list(migrate(here, Scope()))
    for name in ("a", "b", "c"):
        head = here.reader.head(name)
        assert head is not None
        here._wiring.store.release(name, token=head.token)
    left = desk(deploy)
    assert sorted(str(row["schemaVersion"]) for row in left.calls()) == ["1", "1", "2"]
    assert sum(each.carried for each in migrate(left, Scope())) == 2
    assert [types(left, name).count("call.upcast") for name in ("a", "b", "c")] == [1, 1, 1]


def test_a_session_that_somebody_works_on_is_passed_by(deploy: Deploy) -> None:
    """It is named with its owner, and the others are carried."""
    never_ran(deploy, "a")
    never_ran(deploy, "b")
    deploy.write(2)
    here = desk(deploy)

    def broken() -> None:
        raise StoreUnavailable("the disk is full")

    crash.arm(here, crash.before("call.upcast"), end=broken)
    found = list(migrate(here, Scope()))
    assert [(each.session_id, each.carried, each.error and each.error.code) for each in found] == [
        ("a", 0, "store_unavailable"),
        ("b", 1, None),
    ]
    assert [call.status for call in found[0].judged] == ["migratable"]


def test_only_what_was_committed_is_counted(deploy: Deploy) -> None:
    """Somebody else carries the call between the look at it and the commit: it is carried once, and by them."""
    call_id = never_ran(deploy)
    deploy.write(2)
    here, other = desk(deploy), desk(deploy)
    theirs: list[int] = []
    crash.arm(here, crash.before("call.upcast"), end=lambda: theirs.extend(x.carried for x in migrate(other, Scope())))
    [done] = migrate(here, Scope())
    assert (done.carried, [each.status for each in done.judged]) == (0, ["current"])
    assert (theirs, types(desk(deploy), "s").count("call.upcast")) == ([1], 1)
    assert desk(deploy).find(call_id).to_run == {"amount": 5}


def test_a_person_who_was_asked_meanwhile_can_answer(deploy: Deploy) -> None:
    """The older program asks about the old form between look and commit: the call stays as the person sees it."""
    deploy.write(1)
    old = deploy.open(1, run_not_started=True)
    call_id = old.session("s").propose("charge", {"amt": 5}).call_id
    old.authorize(lambda call, principal: Ask())
    deploy.write(2)
    here = desk(deploy)
    crash.arm(here, crash.before("call.upcast"), end=lambda: old.session("s").messages())
    [done] = migrate(here, Scope())
    assert (done.carried, [each.code for each in done.judged]) == (0, ["approval_bound"])
    assert desk(deploy).approve(call_id, by="ada").call.state == "authorized"
    [again] = migrate(desk(deploy), Scope())
    assert (again.carried, desk(deploy).find(call_id).reason) == (1, "approval-mismatch")


# -- what a plan reads


@dataclass(slots=True)
class Telling:
    """Stands before a reader, and counts the rows that it gave."""

    reader: Any
    rows: Counter[str] = field(default_factory=Counter)

    def __getattr__(self, name: str) -> Any:
        def asked_for(*given: Any, **options: Any) -> Any:
            found = getattr(self.reader, name)(*given, **options)
            self.rows[name] += len(found) if isinstance(found, list) else 1
            return found

        return asked_for


def test_a_plan_reads_the_open_calls_and_nothing_of_what_ended(deploy: Deploy) -> None:
    """However many calls ended, in the same session or in others, it costs what the open ones cost."""
    for name in ("a", "b"):
        never_ran(deploy, name)
    old = deploy.opened[-1]
    told = []
    for amount in (10, 20):
        for name in ("a", "c", "closed"):
            old.session(name).call("charge", {"amt": amount})
        told.append(rows_read(deploy))
    old.session("closed").propose("charge", {"amt": 1})
    old.session("closed").close()
    told.append(rows_read(deploy))
    assert told[0] == told[1] == told[2]
    assert (told[0]["read"], told[0]["calls"], told[0]["sessions"]) == (0, 2, 2)


def test_a_session_in_which_nothing_can_be_carried_is_not_folded(deploy: Deploy) -> None:
    """Applying looks at its open calls, as the plan does, and leaves it."""
    waiting(deploy)
    deploy.write(2)
    here = desk(deploy)
    telling = here.wrap_store(Telling)
    assert [(each.carried, each.judged[0].code) for each in migrate(here, Scope())] == [(0, "approval_bound")]
    assert telling.rows["read"] == 0


def rows_read(deploy: Deploy) -> Counter[str]:
    """Plan under the newer catalog; return how many rows of what were read."""
    deploy.write(2)
    here = desk(deploy)
    telling = Telling(here.reader)
    assert [each.status for each in planned(telling, here.registry, Scope())] == ["migratable", "migratable"]
    deploy.write(1)
    return telling.rows


def test_calls_of_the_current_version_are_known_by_their_rows(deploy: Deploy) -> None:
    """A report on every call reads no event of theirs; one whose recorded shape is not the only one is read."""
    finished(deploy)
    never_ran(deploy, "t")
    here = desk(deploy)
    telling = Telling(here.reader)
    found = list(planned(telling, here.registry, Scope(every=True)))
    assert [(each.status, each.to_version, each.reached) for each in found] == [("current", 1, 1)] * 2
    assert telling.rows["events"] == 1  # the version that was published
    call = here.find(found[0].call.call_id)
    row, digest = call_row(call), str(call.schema_digest)
    assert glance(here.registry, {("charge", 1): digest}, row) is not None
    assert glance(here.registry, {("charge", 1): None}, row) is None


def test_an_outcome_behind_a_persons_word_is_looked_for(deploy: Deploy) -> None:
    """Of a call that is let run once more no column says whether an outcome came since: its events do."""
    never_ran(deploy)
    here = desk(deploy)
    [found] = planned(here.reader, here.registry, Scope())
    allowed = here.find(found.call.call_id).changed(state="authorized")
    digests = {("charge", 1): str(allowed.schema_digest)}
    assert glance(here.registry, digests, call_row(allowed)) is not None
    again = allowed.changed(attempt=1, late=CallOutcomeArrivedLate(ended="succeeded", token=1))
    assert judge(here.registry, again).status == "in-doubt"
    assert glance(here.registry, digests, call_row(again)) is None


def test_a_version_that_was_recorded_in_two_shapes_says_nothing() -> None:
    """A ledger refuses that; what two of them were merged into might hold it."""
    story = Story("_catalog")
    store = MemoryStore()
    body = ToolVersionPublished(schema={}, contract={}, description="", description_digest="d")
    shapes = (("a", 1, "x"), ("a", 1, "x"), ("a", 2, "y"), ("b", 1, "x"), ("b", 1, "z"), ("b", 1, "x"))
    drafts = [story.event(body, tool=tool, schema_version=v, schema_digest=shape) for tool, v, shape in shapes]
    store.append(Append(session_id="_catalog", drafts=tuple(drafts)))
    assert recorded_digests(store) == {("a", 1): "x", ("a", 2): "y", ("b", 1): None}


def test_a_closed_session_has_nothing_to_carry(deploy: Deploy) -> None:
    """Nothing of it runs any more."""
    never_ran(deploy)
    deploy.opened[-1].session("s").close()
    deploy.write(2)
    assert judged(deploy) == judged(deploy, session="s") == {}
    assert list(migrate(desk(deploy), Scope(session="s"))) == []


def test_a_plan_names_a_bounded_number_of_calls(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """All are counted."""
    monkeypatch.setattr("ledger.schema_migration.plan.MOST_SHOWN", 1)
    call_id = never_ran(deploy)
    plan = Plan()
    for _ in range(3):
        plan.add(Judged(call=deploy.opened[-1].find(call_id), status="needs-person", code="x"))
    assert (plan.needed, len(plan.asked), plan.cut) == (3, 1, True)


# -- the command


@pytest.fixture
def here(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> Deploy:
    """Stand in the folder of the deploy, with a call of each kind."""
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    never_ran(deploy, "a")
    never_ran(deploy, "b", {"amt": "five"})
    deploy.write(2)
    return deploy


def told(*options: str) -> tuple[int, Any]:
    result = ledger("migrate-schemas", *options, "--json")
    return result.exit_code, json.loads(result.stdout)["data"]


def test_the_command_plans_and_changes_nothing(here: Deploy) -> None:
    """Groups by tool, versions and status; the calls that need a person by name; `--strict` is a check for CI."""
    before = types(desk(here), "a")
    status, found = told()
    assert (status, found["applied"], found["carried"], found["errors"], found["cut"]) == (0, False, 0, [], False)
    assert [(row["status"], row["grade"], row["code"], row["calls"]) for row in found["groups"]] == [
        ("invalid", None, "invalid_before", 1),
        ("migratable", "iso", None, 1),
    ]
    [asked_] = found["needsPerson"]
    assert (asked_["sessionId"], asked_["fromVersion"], asked_["toVersion"], asked_["pointer"]) == ("b", 1, 2, "/amt")
    assert told("--strict")[0] == 1
    assert told("--tool", "charge", "--to", "2")[1]["groups"] == found["groups"]
    assert told("--dry-run", "--session", "a", "--strict")[0] == 0
    assert types(desk(here), "a") == before


def test_the_command_applies(here: Deploy) -> None:
    """Exit 3 while a person is needed, 0 when nothing is; again it carries nothing."""
    assert told("--apply")[0] == 3
    assert [told("--apply", "--session", "a")[1]["carried"], told("--apply", "--session", "a")[0]] == [0, 0]
    assert desk(here).find(next(iter(desk(here).calls(session="a")))["callId"]).schema_version == 2


def test_a_person_reads_the_plan(here: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each group in a line, each call that needs a person below its reason, and what to do next."""
    tail = next(row["callId"] for row in desk(here).calls(session="b"))[-8:]
    lines = ledger("migrate-schemas").stdout.splitlines()
    assert lines == [
        "charge  v1 to v2  1 call is invalid under its own version: invalid_before",
        "charge  v1 to v2  1 call can be carried (iso)",
        '  charge: /amt: expected integer, got string "five"',
        f"    {tail}  in b",
        "Nothing was changed. 1 call can be carried: `ledger migrate-schemas --apply`.",
    ]
    assert ledger("migrate-schemas", "--strict").stdout.splitlines() == [
        *lines,
        "Failed by --strict: 1 call needs a person.",
    ]
    named = ledger("migrate-schemas", "--catalog", "catalog").stdout.splitlines()[-1]
    assert named.endswith("`ledger migrate-schemas --apply --catalog catalog`.")
    end = "1 call was carried; 1 call needs a person."
    assert ledger("migrate-schemas", "--apply").stdout.splitlines()[-1] == end
    assert ledger("migrate-schemas", "--session", "a").stdout.splitlines() == [
        "charge  v2  1 call needs nothing",
        "Nothing was changed.",
    ]
    monkeypatch.setattr("ledger.cli.planning._MOST_LINES", 0)
    assert "  … and 1 more (--json names them)" in ledger("migrate-schemas").stdout


def test_a_person_reads_of_what_is_asked_anew(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is done how many calls that are, and afterwards where they are listed."""
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    allowed(deploy)
    deploy.write(2)
    command = "Nothing was changed. 0 calls can be carried, 1 to be asked about anew: `ledger migrate-schemas --apply`."
    assert ledger("migrate-schemas").stdout.splitlines()[-1] == command
    assert ledger("migrate-schemas", "--apply").stdout.splitlines()[-2:] == [
        "1 call was carried; 1 call needs a person.",
        "Of the approvals that lapsed a person is asked anew: `ledger review list`.",
    ]


def test_a_chain_that_stops_says_how_far_it_is_proved(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step is proved, and the second one is a change of meaning; several calls share the reason."""
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    for name in ("a", "b"):
        never_ran(deploy, name)
    deploy.write(3)
    lines = ledger("migrate-schemas").stdout.splitlines()
    assert lines[0] == "charge  v1 to v3  2 calls need a person (iso): semantic"
    assert lines[1] == "  charge (proved up to v2): A currency has to be named now."
    assert [line.split()[1:] for line in lines[2:4]] == [["in", "a"], ["in", "b"]]
    assert lines[4:] == ["Nothing was changed."]


def test_without_a_catalog_there_is_no_plan(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool would be unknown; a tool whose files have a fault is told with that fault."""
    monkeypatch.chdir(deploy.folder)
    never_ran(deploy)
    status, code, message = failure("migrate-schemas")
    assert (status, code) == (1, "catalog_fault")
    assert "there is no catalog folder here" in message
    (deploy.folder / "catalog/charge/v1.json").write_text("{")
    [asked_] = json.loads(ledger("migrate-schemas", "--catalog", "catalog", "--json").stdout)["data"]["needsPerson"]
    assert (asked_["code"], asked_["message"].startswith("its files have a fault: ")) == ("tool_unknown", True)
    assert ledger("migrate-schemas", "--catalog", "catalog").stdout.startswith("charge  v1  1 call needs a person")


def test_an_open_ledger_without_open_calls(here: Deploy) -> None:
    """It says so."""
    for name in ("a", "b"):
        desk(here).session(name).close()
    assert ledger("migrate-schemas").stdout.splitlines() == [
        "No call is open: nothing to carry.",
        "Nothing was changed.",
    ]


def test_the_command_names_what_kept_a_session(here: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1: the others were carried."""
    from ledger.session.handle import Session

    def broken(_self: Session, _make: Any) -> None:
        raise StoreUnavailable("the disk is full")

    monkeypatch.setattr(Session, "run_steps", broken)
    status, found = told("--apply")
    assert (status, [each["sessionId"] for each in found["errors"]], found["carried"]) == (1, ["a"], 0)
    assert {row["status"] for row in found["groups"]} == {"invalid", "migratable"}
    assert "a: the disk is full" in ledger("migrate-schemas", "--apply").stdout


def test_a_missing_file_can_be_guessed_and_is_never_applied(here: Deploy) -> None:
    """The draft is printed without a name under it; where there is a file already nothing is guessed."""
    assert told("--suggest")[1]["drafts"] == []
    assert "Nothing can be guessed." in ledger("migrate-schemas", "--suggest").stdout.splitlines()
    (here.folder / "catalog/charge/v1-v2.upcast.json").unlink()
    [draft] = told("--suggest")[1]["drafts"]
    assert (draft["from"], draft["to"], "assertedBy" in draft) == (1, 2, False)
    lines = ledger("migrate-schemas", "--suggest").stdout.splitlines()
    at = lines.index("A guess at catalog/charge/v1-v2.upcast.json, for whoever asserts it:")
    assert json.loads("".join(lines[at + 1 : lines.index("}") + 1])) == draft
    assert lines[-1] == "Nothing was changed."
    hint = "Upcast files are missing; drafts of them: `ledger migrate-schemas --suggest`."
    assert ledger("migrate-schemas").stdout.splitlines()[-1] == hint
    (here.folder / "catalog/charge/v1-v2.upcast.json").write_text(json.dumps(draft))
    assert {row["status"] for row in told("--suggest")[1]["groups"]} == {"needs-person"}


def test_over_a_file_that_is_there_the_next_one_is_guessed(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    """And for a version that nothing is like, none."""
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    never_ran(deploy)
    deploy.write(3)
    (deploy.folder / "catalog/charge/v2-v3.upcast.json").unlink()
    assert told("--suggest")[1]["drafts"] == []


@pytest.mark.parametrize("name", ["charge", "pay"])
def test_a_tool_is_found_under_each_name_it_had(deploy: Deploy, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Its calls keep the name that they were recorded under; both names ask for them."""
    monkeypatch.chdir(deploy.folder)
    monkeypatch.setenv("LEDGER_CATALOG", "catalog")
    never_ran(deploy)
    operations = [*RENAME["ops"], {"op": "rename_tool", "from": "charge", "to": "pay"}]  # type: ignore[misc]  # JSON
    deploy.write(2, tool="pay", ops=operations)
    edit(deploy.folder / "catalog/charge/tool.json", name="pay", reserved=["charge"])
    (deploy.folder / "catalog/charge").rename(deploy.folder / "catalog/pay")
    for every in ((), ("--all",)):
        groups = told("--tool", name, *every)[1]["groups"]
        assert [(row["tool"], row["status"], row["calls"]) for row in groups] == [("charge", "migratable", 1)]
    assert told("--tool", name, "--apply")[1]["carried"] == 1


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--apply", "--dry-run"), "exclude"),
        (("--apply", "--suggest"), "only plans"),
        (("--apply", "--all"), "open calls only"),
        (("--to", "2"), "--tool"),
        (("--tool", "nope"), "no tool 'nope'"),
        (("--tool", "charges"), 'did you mean "charge"?'),
        (("--tool", "charge", "--to", "9"), "no version 9"),
    ],
)
def test_what_contradicts_itself_is_refused(here: Deploy, options: tuple[str, ...], why: str) -> None:
    """Wrong usage, and an unknown tool or version: an empty plan would look like good news."""
    status, code, message = failure("migrate-schemas", *options)
    assert (status, code) == (2, "usage")
    assert why in message
