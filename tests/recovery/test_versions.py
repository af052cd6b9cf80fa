"""The tool changed, or is gone, while a call of it was open."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.errors import VerdictRefused
from ledger.testing import crash
from tests.recovery.scenes import SESSION, Scene
from tests.recovery.test_table import acted, approved, proposed, started

SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}, "additionalProperties": False}


def catalog(scene: Scene, stage: str, effect: str) -> None:
    """Write the tool's files; the next processes read them."""
    folder = scene.folder / "catalog/act"
    folder.mkdir(parents=True, exist_ok=True)
    retired = {"retirement": {"replacements": [{"tool": "do"}], "hint": "Do it."}} if stage != "active" else {}
    document = {
        "name": "act",
        "description": "Act.",
        "current": 1,
        "stage": stage,
        "versions": {"1": {"contract": {"effect": effect}}},
        **retired,
    }
    (folder / "tool.json").write_text(json.dumps(document))
    (folder / "v1.json").write_text(json.dumps(SCHEMA))
    other = scene.folder / "catalog/do"
    other.mkdir(exist_ok=True)
    new = document | {"name": "do", "stage": "active"}
    new.pop("retirement", None)
    (other / "tool.json").write_text(json.dumps(new))
    (other / "v1.json").write_text(json.dumps(SCHEMA))


@pytest.fixture
def scene(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A scene whose ledgers read the catalog beside it, if there is one."""
    monkeypatch.setenv("LEDGER_CATALOG", str(scene.folder / "catalog"))
    (scene.folder / "catalog").mkdir()
    return scene


def left(scene: Scene, leave: Any, effect: str) -> str:
    """Leave a call behind while the tool is active."""
    catalog(scene, "active", effect)
    scene.options = {"effect": effect}
    call_id: str = leave(scene)
    scene.ask, scene.policy = None, False
    return call_id


FOUND = [
    # left in, effect, stage then, has the process its code, state after, reason or code, runs
    (proposed, "read", "hidden", True, ("succeeded", None, 1)),
    (proposed, "read", "compat", True, ("succeeded", None, 1)),
    (proposed, "read", "removed", True, ("rejected", "tool_retired", 0)),
    (proposed, "write", "hidden", True, ("needs-review", "not-started", 0)),
    (proposed, "write", "compat", True, ("needs-review", "tool-retired", 0)),
    (proposed, "write", "removed", False, ("needs-review", "tool-retired", 0)),
    (approved, "read", "removed", True, ("rejected", "tool_retired", 0)),
    (approved, "write", "compat", True, ("needs-review", "tool-retired", 0)),
    (approved, "write", "hidden", True, ("succeeded", None, 1)),
    (started, "read", "removed", True, ("failed", "tool_retired", 0)),
    (started, "read", "compat", True, ("succeeded", None, 1)),
    (acted, "write", "compat", True, ("needs-review", "outcome-unknown", 1)),
    (acted, "write", "removed", False, ("needs-review", "outcome-unknown", 1)),
]


@pytest.mark.parametrize(
    ("leave", "effect", "stage", "code", "end"),
    FOUND,
    ids=[f"{row[0].__name__} {row[1]} {row[2]}" for row in FOUND],
)
def test_a_retired_tools_call(
    scene: Scene, leave: Any, effect: str, stage: str, *, code: bool, end: tuple[str, str | None, int]
) -> None:
    """State decides first, then the stage: never mapped onto another tool, never run once the tool is removed."""
    call_id = left(scene, leave, effect)
    catalog(scene, stage, effect)
    ledger = scene.open(tool=code)
    ledger.session(SESSION).messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason or call.code, len(scene.ran)) == end
    if call.state == "rejected":
        assert (call.replacement, call.hint) == ([{"tool": "do"}], "Do it.")


@pytest.mark.parametrize(
    ("leave", "effect", "reason", "runs"),
    [
        (proposed, "read", "schema-changed", 0),
        (proposed, "write", "schema-changed", 0),
        (approved, "write", "schema-changed", 0),
        (started, "read", "schema-changed", 0),
        (acted, "write", "outcome-unknown", 1),
    ],
    ids=["proposed read", "proposed write", "approved write", "started read", "started write"],
)
def test_another_version_of_the_tool(scene: Scene, leave: Any, effect: str, reason: str, runs: int) -> None:
    """A call of another version than the one there is now is not run with it: a person decides."""
    scene.options = {"effect": effect, "version": 1}
    call_id = leave(scene)
    scene.ask, scene.policy = None, False
    scene.options = {"effect": effect, "version": 2}
    ledger = scene.open()
    ledger.session(SESSION).messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason, len(scene.ran)) == ("needs-review", reason, runs)
    if reason == "schema-changed":
        with pytest.raises(VerdictRefused, match="has changed since"):
            ledger.resolve(call_id, "did-not-happen", run=True, by="ada")


def test_the_old_version_still_runs_where_its_function_is_still_there(scene: Scene) -> None:
    """Both versions are registered: the call runs under the one that it was made for."""
    scene.options = {"effect": "read", "version": 1}
    call_id = proposed(scene)
    ledger = scene.open()

    def act_anew(number: int = 1, limit: int = 5) -> str:
        """Act as it is done now."""
        return "new"

    ledger.tool("act", version=2, effect="read")(act_anew)
    ledger.session(SESSION).messages()
    assert ledger.find(call_id).result == {"done": 1}


def test_a_person_gives_arguments_that_fit_the_tool_as_it_is_now(scene: Scene) -> None:
    """The answer to schema-changed: a new call of the new version takes the old one's place."""
    scene.options = {"effect": "write", "version": 1}
    call_id = proposed(scene)
    scene.options, scene.policy = {"effect": "write", "version": 2}, False
    ledger = scene.open()
    ledger.session(SESSION).messages()
    said = ledger.resolve(call_id, arguments={"number": 4}, by="ada")
    assert said.call.schema_version == 2
    ledger.session(SESSION).messages()
    assert [number for number, _, _ in scene.ran] == [4]


def test_what_the_pure_gates_reject_is_not_flagged(scene: Scene) -> None:
    """A call that was recorded but not judged yet: nobody is asked about arguments that do not fit."""
    ledger = scene.open()
    session = ledger.session(SESSION)
    bad = session.propose("act", {"number": "x"})
    unknown = session.propose("nobody_knows", {})
    found = scene.open().resume(SESSION)
    assert [(decision["action"], decision["code"]) for decision in found.decisions] == [
        ("reject", "schema_validation"),
        ("reject", "unknown_tool"),
    ]
    assert {ledger.find(call.call_id).state for call in (bad, unknown)} == {"rejected"}


def test_a_gate_of_now_may_stop_what_a_policy_allowed_then(scene: Scene) -> None:
    """A check that came since the crash is asked as well."""
    from ledger import Invalid

    scene.options = {"effect": "read"}
    session = scene.open().session(SESSION)
    call_id = session.advance(session.advance(session.propose("act", {"number": 1}))).call_id
    ledger = scene.open()
    ledger.check("act")(lambda arguments, context: Invalid("no_more", "Not any more."))
    ledger.session(SESSION).messages()
    assert (ledger.find(call_id).state, ledger.find(call_id).code) == ("rejected", "no_more")


@pytest.mark.parametrize(
    ("leave", "state", "why"),
    [
        (crash.after("call.proposed"), "failed", "arguments_lost"),
        (crash.after("call.started"), "failed", "arguments_lost"),
    ],
    ids=["proposed", "started"],
)
def test_a_read_whose_arguments_died_with_their_process_has_failed(
    scene: Scene, leave: crash.Point, state: str, why: str
) -> None:
    """They were redacted before disk: it can never run, and nobody waits for it."""
    number = {"type": "integer", "x-sensitive": True}
    scene.options = {"effect": "read", "schema": SCHEMA | {"properties": {"number": number}}}
    scene.policy = True
    call_id = scene.crashed(leave)
    ledger = scene.open()
    ledger.session(SESSION).messages()
    call = ledger.find(call_id)
    assert (call.state, call.code, call.not_started) == (state, why, call.attempt == 0)
    assert scene.ran == []


@pytest.mark.parametrize("steps", [0, 1, 2], ids=["proposed", "validated", "authorized"])
@pytest.mark.parametrize(
    ("effect", "stage", "end"),
    [
        ("write", "compat", ("needs-review", "tool-retired")),
        ("write", "removed", ("needs-review", "tool-retired")),
        ("read", "removed", ("rejected", "tool_retired")),
    ],
)
def test_a_step_with_a_retired_tool(scene: Scene, steps: int, effect: str, stage: str, end: tuple[str, str]) -> None:
    """A host that takes its calls on one step at a time is held back by what holds back a resume."""
    catalog(scene, "active", effect)
    scene.options = {"effect": effect}
    session = scene.open().session(SESSION)
    result = session.propose("act", {"number": 1})
    for _ in range(steps):
        result = session.advance(result)
    catalog(scene, stage, effect)
    result = scene.open().session(SESSION).advance(result.call_id)
    assert (result.state, result.call.reason or result.code) == end
    assert scene.ran == []


def test_a_step_with_another_version(scene: Scene) -> None:
    """It is not checked against a schema that it was not made for."""
    scene.options = {"version": 1}
    call_id = scene.open().session(SESSION).propose("act", {"number": 1}).call_id
    scene.options = {"version": 2}
    assert scene.open().session(SESSION).advance(call_id).call.reason == "schema-changed"


def test_a_step_on_an_approval_of_other_arguments(scene: Scene) -> None:
    """Defaults that are filled in since make other arguments: they do not run on that approval."""
    from ledger import Ask

    scene.ask = Ask()
    ledger = scene.open()
    session = ledger.session(SESSION)
    result = session.advance(session.advance(session.propose("act", {})))
    ledger.approve(result.call_id, by="ada")
    scene.options = {"apply_defaults": True}
    assert scene.open().session(SESSION).advance(result.call_id).call.reason == "approval-mismatch"
    assert scene.ran == []
