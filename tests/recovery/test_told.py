"""What one handle's model has read is not what another handle shows: no repeat that it sends unknowingly runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Failed, Happened, Ledger
from ledger.audit.questions import question
from ledger.session.handle import Session
from ledger.testing import crash
from tests.recovery.scenes import SESSION, START, Gone, Scene, gone, let_go
from tests.recovery.test_duplicates import doubted
from tests.session.agents import asked, opened

ACT = ("act", {"number": 1})
OTHER = ("act", {"number": 2})


def reading(scene: Scene) -> Session:
    """A handle whose model thinks about the session as it stands."""
    session = scene.open().session(SESSION)
    session.messages(start=None if session.history.entries else START)
    return session


def in_doubt(scene: Scene) -> tuple[str, Session]:
    """A call in doubt, and the handle of a model that has read it as such."""
    original = doubted(scene)
    session = scene.open().session(SESSION)
    session.messages()
    return original, session


@pytest.mark.parametrize("again", [(ACT,), (ACT, OTHER)], ids=["the same", "and more"])
@pytest.mark.parametrize("later", [True, False])
def test_a_reply_to_what_stood_before_repeats_nothing(scene: Scene, again: Any, later: bool) -> None:
    """Two workers took the same job: the slower model knew nothing of the other one's turns."""
    fast, slow = reading(scene), scene.open().session(SESSION)
    slow.messages()
    fast.dispatch(asked(ACT))
    if later:
        fast.dispatch(asked(text="Done."))
    results = slow.dispatch(asked(*again))
    assert [call.result for call in results.calls] == [{"done": 1}, {"done": 2}][: len(again)]
    assert [ran[0] for ran in scene.ran] == [1, 2][: len(again)]
    slow.dispatch(asked(("act", {"number": 3})))
    assert slow.dispatch(asked(OTHER)).calls[0].state == "succeeded"  # its own ones it knows
    assert scene.ran[-1][0] == 2


def test_turns_between_those_of_a_handle_stay_unread(scene: Scene) -> None:
    """Until the conversation is told, or that turn is answered once more: then a repeat is meant."""
    slow, fast = reading(scene), scene.open().session(SESSION)
    fast.messages()
    fast.dispatch(asked(ACT, OTHER))
    slow.dispatch(asked(("act", {"number": 3})))
    slow.wait(0)
    assert slow.dispatch(asked(ACT)).calls[0].call.reason == "duplicate"
    slow.dispatch(asked(ACT, OTHER), turn=1)
    assert slow.dispatch(asked(ACT)).calls[0].call.reason is None
    assert [ran[0] for ran in scene.ran] == [1, 2, 3, 1]
    slow.messages()
    assert slow.dispatch(asked(OTHER)).calls[0].call.reason is None


def refuse() -> None:
    raise Failed("no_stock", "There is none.")


def test_a_failed_call_that_was_not_read_may_be_tried(scene: Scene) -> None:
    """Only an effect is not to happen twice."""
    fast, slow = reading(scene), scene.open().session(SESSION)
    slow.messages()
    scene.raises = refuse
    assert fast.dispatch(asked(ACT, OTHER)).calls[0].code == "no_stock"
    scene.raises = None
    assert slow.dispatch(asked(ACT)).calls[0].state == "succeeded"


def test_a_handle_that_shows_the_session_tells_the_other_ones_model_nothing(scene: Scene) -> None:
    """Neither in the same process nor while an event loop waits for the model."""
    original, session = in_doubt(scene)
    ledger = scene.opened[-1]
    scene.open(tool=False).resolve(original, "happened", by="ada")
    asyncio.run(ledger.session(SESSION).amessages())
    copy = session.dispatch(asked(ACT)).calls[0]
    assert (copy.state, copy.call.reason, len(scene.ran)) == ("succeeded", "duplicate", 1)
    session.messages()
    assert session.dispatch(asked(ACT)).calls[0].call.reason is None


def test_who_waits_is_told_what_another_handle_has_shown(scene: Scene) -> None:
    """Once; and a call that its model did not read as open is no news."""
    original, session = in_doubt(scene)
    session.dispatch(asked(OTHER))
    scene.open(tool=False).resolve(original, "happened", by="ada")
    scene.opened[-2].session(SESSION).messages()
    assert [call.call_id for call in session.wait(0).calls] == [original]
    assert session.wait(0).messages == []
    other = scene.open().session(SESSION)
    assert [call.call_id for call in other.wait(0).calls] == [original]  # who has told nothing tells all
    other.dispatch(asked(OTHER))
    assert [ran[0] for ran in scene.ran] == [1, 2, 2]


@pytest.mark.parametrize("asks", [True, False], ids=["waiting for an approval", "in doubt"])
def test_what_a_person_replaced_is_not_sent_beside_it(scene: Scene, asks: bool) -> None:
    """2 instead of 1 they said, while the model sends 1 again: 1 and 2 would be two effects of one wish."""
    if asks:
        scene.ask = Ask()
        session = reading(scene)
        original = session.dispatch(asked(ACT)).calls[0].call_id
    else:
        original, session = in_doubt(scene)
    scene.ask, before = None, len(scene.ran)
    desk = scene.open()
    new = desk.resolve(original, None if asks else "did-not-happen", arguments={"number": 2}, by="ada").call.call_id
    copy = session.dispatch(asked(ACT)).calls[0].call
    assert copy.flag is not None
    assert (copy.state, copy.flag.duplicate_of) == ("needs-review", new)
    scene.open().session(SESSION).messages()
    assert [ran[0] for ran in scene.ran[before:]] == [2]
    assert scene.opened[-1].find(copy.call_id).result == {"done": 2}
    session.messages()
    assert session.dispatch(asked(ACT)).calls[0].state == "succeeded"


@pytest.mark.parametrize("run_not_started", [True, False])
def test_a_step_is_compared_where_it_is_proposed(scene: Scene, run_not_started: bool) -> None:
    """Who takes it on after a crash does not know what its model had been told."""
    original, session = in_doubt(scene)
    scene.open(tool=False).resolve(original, "happened", result={"done": 1}, by="ada")
    copy = session.propose("act", {"number": 1})
    scene.open(run_not_started=run_not_started).session(SESSION).messages()
    assert (scene.opened[-1].find(copy.call_id).result, len(scene.ran)) == ({"done": 1}, 1)


@pytest.mark.parametrize("first", [True, False])
def test_what_a_resume_found_out_is_known_to_no_model_yet(scene: Scene, first: bool) -> None:
    """A host that asks again from its own transcript, which ends before the crash, gets more than the same turn."""
    scene.options = {"reconcile": lambda arguments, context: Happened({"done": arguments["number"]})}
    scene.crashed(crash.before("call.succeeded"))
    session = scene.open().session(SESSION)
    if first:
        session.resume()
    results = session.dispatch(asked(ACT, OTHER))
    assert [(call.result, call.call.reason) for call in results.calls] == [
        ({"done": 1}, "duplicate"),
        ({"done": 2}, None),
    ]
    assert [ran[0] for ran in scene.ran] == [1, 2]
    session.messages()
    assert session.dispatch(asked(ACT)).calls[0].call.reason is None


def released(folder: Path, version: int, effects: list[int]) -> Ledger:
    """Start the program of a release; what version 2 did it can look up."""
    ledger = opened(folder)

    def act(number: int) -> None:
        """Act."""
        effects.append(number)

    looks: dict[str, Any] = {"reconcile": lambda arguments, context: Happened({"done": 1})} if version > 1 else {}
    ledger.tool("act", version=version, effect="write", **looks)(act)
    return ledger


@pytest.mark.parametrize("waits", [True, False])
def test_an_end_that_no_person_gave_is_unknown_too(scene: Scene, waits: bool) -> None:
    """A newer release ended by itself what the older one's model had read as open."""
    effects: list[int] = []
    with released(scene.folder, 2, effects) as newer, released(scene.folder, 1, effects) as older:
        crash.arm(newer, crash.before("call.succeeded"), end=gone)
        with pytest.raises(Gone):
            newer.session(SESSION).dispatch(asked(ACT))
        let_go(newer)
        session = older.session(SESSION)
        session.messages()
        with released(scene.folder, 2, effects) as another:
            another.session(SESSION).resume()
        if waits:
            assert [call.result for call in session.wait(0).calls] == [{"done": 1}]
        call = session.dispatch(asked(ACT)).calls[0].call
        assert (call.reason, effects) == ((None, [1, 1]) if waits else ("duplicate", [1]))


@pytest.mark.parametrize("fresh", [True, False], ids=["a process each", "two workers"])
def test_calls_of_the_host_under_their_own_keys_are_calls_of_their_own(scene: Scene, fresh: bool) -> None:
    """The same amount for two orders: neither the last turn nor one of another worker is taken for it."""
    workers = [scene.open().session(SESSION) for _ in range(2)]
    for number in range(4):
        worker = scene.open().session(SESSION) if fresh else workers[number % 2]
        worker.call("act", {"number": 1}, idempotency_key=f"order-{number}")
    assert [ran[2] for ran in scene.ran] == [f"order-{number}" for number in range(4)]
    assert scene.open().session(SESSION).call("act", {"number": 1}, idempotency_key="order-2").state == "succeeded"
    assert len(scene.ran) == 4


def test_another_key_beside_a_call_in_doubt_is_a_question(scene: Scene) -> None:
    """Another order, or a second try under a new key: neither ends as the first one does."""
    ledger = scene.open()
    crash.arm(ledger, crash.before("call.succeeded"), end=gone)
    with pytest.raises(Gone):
        ledger.session(SESSION).call("act", {"number": 1}, idempotency_key="one")
    let_go(ledger)
    session = scene.open().session(SESSION)
    held = session.call("act", {"number": 1}, idempotency_key="two")
    desk = scene.opened[-1]
    [original] = [str(row["callId"]) for row in desk.calls() if row["callId"] != held.call_id]
    assert (held.state, held.call.reason) == ("needs-review", "not-started")
    assert f"call {original} asks for the same under another key of the host (one)" in str(question(held.call))
    assert session.call("act", {"number": 2}, idempotency_key="three").state == "succeeded"
    desk.resolve(original, "happened", by="ada")
    assert desk.find(held.call_id).state == "needs-review"
    desk.resolve(held.call_id, "run", by="ada")
    session.messages()
    assert [ran[0] for ran in scene.ran] == [1, 2, 1]
