"""The decision table for real: a call is left in each state, and another process resumes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ledger import Ask, CantTell, DidNotHappen, Happened
from ledger.testing import crash
from tests.recovery.scenes import SESSION, START, Scene
from tests.session.agents import answers, asked, recorded, types


def proposed(scene: Scene) -> str:
    scene.policy = True
    return scene.crashed(crash.after("call.proposed"))


def validated(scene: Scene) -> str:
    session = scene.open().session(SESSION)
    return session.advance(session.propose("act", {"number": 1})).call_id


def authorized(scene: Scene) -> str:
    session = scene.open().session(SESSION)
    return session.advance(session.advance(session.propose("act", {"number": 1}))).call_id


def awaiting(scene: Scene) -> str:
    scene.ask = Ask()
    results = scene.open().session(SESSION).dispatch(asked(("act", {"number": 1})))
    assert results.waiting
    return results.calls[0].call_id


def approved(scene: Scene) -> str:
    call_id = awaiting(scene)
    scene.open(tool=False).approve(call_id, by="ada")
    return call_id


def started(scene: Scene) -> str:
    return scene.crashed(crash.after("call.started"))


def acted(scene: Scene) -> str:
    return scene.crashed(crash.before("call.succeeded"))


def flagged(scene: Scene) -> str:
    call_id = started(scene)
    scene.open().session(SESSION).messages()
    return call_id


def to_run(scene: Scene) -> str:
    call_id = flagged(scene)
    scene.open(tool=False).resolve(call_id, "did-not-happen", run=True, by="ada")
    return call_id


Left = Callable[[Scene], str]

FOUND: list[tuple[Left, str, str, str | None, int]] = [
    # left in, effect, state after the resume, reason, runs
    (proposed, "read", "succeeded", None, 1),
    (validated, "read", "succeeded", None, 1),
    (authorized, "read", "succeeded", None, 1),
    (awaiting, "read", "awaiting-approval", None, 0),
    (approved, "read", "succeeded", None, 1),
    (started, "read", "succeeded", None, 1),
    (acted, "read", "succeeded", None, 2),
    (proposed, "write", "needs-review", "not-started", 0),
    (validated, "external", "needs-review", "not-started", 0),
    (authorized, "write", "needs-review", "not-started", 0),
    (awaiting, "external", "awaiting-approval", None, 0),
    (approved, "write", "succeeded", None, 1),
    (started, "write", "needs-review", "outcome-unknown", 0),
    (acted, "external", "needs-review", "outcome-unknown", 1),
    (flagged, "write", "needs-review", "outcome-unknown", 0),
    (to_run, "external", "succeeded", "outcome-unknown", 1),
]


@pytest.mark.parametrize(
    ("left", "effect", "state", "reason", "runs"), FOUND, ids=[f"{row[0].__name__} {row[1]}" for row in FOUND]
)
def test_each_state_is_resumed_by_the_table(
    scene: Scene, left: Left, effect: str, state: str, reason: str | None, runs: int
) -> None:
    """What became of the call is what the table says, the model reads it, and a second resume adds nothing."""
    scene.options = {"effect": effect}
    call_id = left(scene)
    ledger = scene.open()
    messages = ledger.session(SESSION).messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason, len(scene.ran)) == (state, reason, runs)
    [answer] = answers(messages)
    if call.review is None:
        assert answer["status"] == state.replace("-", "_").replace("awaiting_approval", "awaiting_approval")
    before = types(ledger, SESSION)
    again = scene.open()
    assert again.session(SESSION).messages() == messages
    assert types(again, SESSION) == before
    assert len(scene.ran) == runs


def test_a_resume_records_what_it_decided_and_why(scene: Scene) -> None:
    """`session.resumed` names each call, as it was found, with the decision and its reason."""
    call_id = started(scene)
    ledger = scene.open()
    found = ledger.resume(SESSION)
    [resumed] = [event.body for event in recorded(ledger, SESSION) if event.type == "session.resumed"]
    assert list(resumed.decisions) == found.decisions  # type: ignore[union-attr]  # it is one
    [decision] = found.decisions
    assert decision == {
        "callId": call_id,
        "tool": "act",
        "found": "started",
        "action": "flag",
        "flag": "outcome-unknown",
        "reason": "started, and no outcome is recorded",
    }
    flag = ledger.find(call_id).flag
    assert flag is not None
    assert flag.evidence["attempt"] == 1


def test_a_dry_run_changes_nothing(scene: Scene) -> None:
    """It tells the decisions and records none."""
    started(scene)
    ledger = scene.open()
    before = types(ledger, SESSION)
    assert [decision["action"] for decision in ledger.resume(SESSION, dry_run=True).decisions] == ["flag"]
    assert types(ledger, SESSION) == before


def test_the_owner_may_let_run_what_surely_never_started(scene: Scene) -> None:
    """With `run_not_started` a write that was only intended goes through its gates and runs."""
    call_id = proposed(scene)
    ledger = scene.open(run_not_started=True)
    ledger.session(SESSION).messages()
    assert ledger.find(call_id).state == "succeeded"
    assert scene.ran == [(1, 1, call_id)]


def test_what_a_policy_allowed_is_asked_of_it_again(scene: Scene) -> None:
    """Policies change: an authorization of before the crash does not outlive the one that is in force now."""
    scene.options = {"effect": "read"}
    call_id = authorized(scene)
    scene.ask = Ask()
    ledger = scene.open()
    ledger.session(SESSION).messages()
    assert ledger.find(call_id).state == "awaiting-approval"
    assert scene.ran == []


def test_a_resume_without_code_leaves_what_needs_it(scene: Scene) -> None:
    """It flags what must be flagged, names what would run, and leaves it."""
    scene.options = {"effect": "read"}
    call_id = started(scene)
    ledger = scene.open(tool=False)
    found = ledger.resume(SESSION)
    assert ([call.call_id for call in found.needs_code], found.decisions) == ([call_id], [])
    assert ledger.find(call_id).state == "started"
    assert ledger.resume(SESSION, execute=False).needs_code


def test_a_process_that_stops_flags_but_starts_nothing(scene: Scene) -> None:
    """What a person approved is left for the next process, not ended as cancelled."""
    call_id = approved(scene)
    ledger = scene.open()
    ledger.stop()
    assert [call.call_id for call in ledger.resume(SESSION).needs_code] == [call_id]
    assert ledger.find(call_id).state == "authorized"
    scene.open().session(SESSION).messages()
    assert len(scene.ran) == 1


@pytest.mark.parametrize(
    ("answer", "recovery", "state", "runs"),
    [
        (lambda: Happened({"done": 7}, evidence="found it"), "review", "succeeded", 1),
        (lambda: Happened({"done": 7}), "retry", "succeeded", 1),
        (lambda: DidNotHappen({"looked": "there"}), "review", "needs-review", 1),
        (DidNotHappen, "retry", "succeeded", 2),
        (lambda: CantTell("closed today"), "review", "needs-review", 1),
        (CantTell, "retry", "needs-review", 1),
        (lambda: "yes", "review", "needs-review", 1),
        (lambda: 1 / 0, "review", "needs-review", 1),
    ],
    ids=[
        "happened",
        "happened, retry",
        "did not happen",
        "did not happen, retry",
        "can't tell",
        "can't tell, retry",
        "another answer",
        "raises",
    ],
)
def test_the_tool_is_asked_whether_it_happened(
    scene: Scene, answer: Callable[[], Any], recovery: str, state: str, runs: int
) -> None:
    """Happened is success; did not happen runs again only by the author's leave; whoever can't tell leaves a doubt."""
    seen = []

    def reconcile(arguments: Any, context: Any) -> Any:
        seen.append((arguments, context.call_id))
        return answer()

    scene.options = {"effect": "external", "reconcile": reconcile, "recovery": recovery}
    call_id = acted(scene)
    ledger = scene.open()
    ledger.session(SESSION).messages()
    call = ledger.find(call_id)
    assert (call.state, len(scene.ran)) == (state, runs)
    assert seen == [({"number": 1}, call_id)]
    assert call.reconciled == (state == "succeeded" and runs == 1)
    if call.state == "needs-review":
        assert call.flag is not None
        assert "reconcile" in json.dumps(call.flag.evidence)


def test_the_same_key_runs_again(scene: Scene) -> None:
    """A tool that knows idempotency keys, and whose author lets it, gets the key of its first attempt."""
    scene.options = {"effect": "external", "recovery": "retry", "supports_idempotency": True}
    call_id = acted(scene)
    ledger = scene.open()
    ledger.session(SESSION).messages()
    assert ledger.find(call_id).state == "succeeded"
    assert scene.ran == [(1, 1, call_id), (1, 2, call_id)]


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"effect": "read"}, ("failed", None, "attempts_exhausted")),
        (
            {"effect": "external", "recovery": "retry", "supports_idempotency": True},
            ("needs-review", "attempts-exhausted", None),
        ),
    ],
    ids=["read", "retry"],
)
def test_crashes_of_one_call_are_bounded(scene: Scene, options: dict[str, Any], end: Any) -> None:
    """The third crash in a row is the last: a read has failed, a write is before a person."""
    scene.options = options
    call_id = acted(scene)
    for _ in range(2):
        ledger = scene.open()
        crash.arm(ledger, crash.before("call.succeeded"), end=_gone)
        with pytest.raises(ConnectionAbortedError):
            ledger.session(SESSION).messages()
    ledger = scene.open()
    ledger.session(SESSION).messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason, call.code) == end
    assert [attempt for _, attempt, _ in scene.ran] == [1, 2, 3]


def _gone() -> None:
    raise ConnectionAbortedError


def test_a_session_that_nobody_opened_cannot_be_resumed(scene: Scene) -> None:
    """The error names the session."""
    from ledger.errors import UnknownSession

    with pytest.raises(UnknownSession, match="nowhere"):
        scene.open().resume("nowhere")


def test_a_closed_session_decides_nothing(scene: Scene) -> None:
    """What waited when it was closed still waits for a person, and nothing runs."""
    call_id = flagged(scene)
    ledger = scene.open()
    ledger.session(SESSION).close()
    assert ledger.resume(SESSION).decisions == []
    assert ledger.find(call_id).state == "needs-review"


def test_closing_flags_a_write_that_may_have_run(scene: Scene) -> None:
    """Also one that its tool could be asked about, or that may run again: closing runs nothing, and guesses nothing."""
    scene.options = {"effect": "external", "recovery": "retry", "supports_idempotency": True}
    call_id = acted(scene)
    ledger = scene.open()
    ledger.session(SESSION).close()
    call = ledger.find(call_id)
    assert (call.state, call.reason, len(scene.ran)) == ("needs-review", "outcome-unknown", 1)
    assert types(ledger, SESSION)[-1] == "session.closed"
    assert scene.open().reader.head(SESSION) is not None


@pytest.mark.parametrize(("left", "started_before"), [(proposed, False), (started, True)])
def test_closing_cancels_an_open_read(scene: Scene, left: Left, started_before: bool) -> None:
    """A read that never started says so."""
    scene.options = {"effect": "read"}
    call_id = left(scene)
    ledger = scene.open()
    ledger.session(SESSION).close()
    call = ledger.find(call_id)
    assert (call.state, call.code, call.not_started) == ("failed", "cancelled", not started_before)


def test_closing_cancels_what_a_verdict_sent_again(scene: Scene) -> None:
    """A call that somebody wanted to run once more, and that did not start before the session was closed."""
    call_id = to_run(scene)
    ledger = scene.open()
    ledger.session(SESSION).close()
    call = ledger.find(call_id)
    assert (call.state, call.not_started, scene.ran) == ("failed", True, [])


def test_the_conversation_starts_once(scene: Scene) -> None:
    """The session that is resumed begins with what the host said at first."""
    started(scene)
    messages = scene.open().session(SESSION).messages(start=START)
    assert messages[0] == START[0]


def test_a_write_that_never_ran_is_flagged_without_its_code(scene: Scene) -> None:
    """Nobody needs the tool to ask a person; the verdict binds to the intent as it is recorded."""
    call_id = proposed(scene)
    ledger = scene.open(tool=False)
    ledger.resume(SESSION)
    assert ledger.find(call_id).reason == "not-started"
    ledger.resolve(call_id, "run", by="ada")
    scene.policy = False
    scene.open().session(SESSION).messages()
    assert scene.ran == [(1, 1, call_id)]


def test_a_tool_that_became_known_later_does_not_run_by_that(scene: Scene) -> None:
    """When the model asked for it nobody knew the tool: a person decides."""
    session = scene.open(tool=False).session(SESSION)
    call_id = session.propose("act", {"number": 1}).call_id
    ledger = scene.open()
    ledger.session(SESSION).messages()
    assert (ledger.find(call_id).reason, scene.ran) == ("not-started", [])
