"""A model that is asked again proposes the same under new ids: no second effect while the first end is not settled."""

from __future__ import annotations

from typing import Any

import pytest

from ledger import Ask, Deny, Ledger
from ledger.errors import VerdictRefused
from ledger.providers.answer import answer
from ledger.testing import crash
from tests.recovery.scenes import SESSION, Scene
from tests.session.agents import answers, asked, recorded


def doubted(scene: Scene) -> str:
    """Leave a call in doubt whose effect happened."""
    call_id = scene.crashed(crash.before("call.succeeded"))
    scene.open().session(SESSION).messages()
    return call_id


def ask_again(ledger: Ledger, number: Any = 1, session_id: str = SESSION) -> Any:
    """Let the model propose it once more, in a handle that has delivered what is recorded."""
    session = ledger.session(session_id)
    session.messages()
    return session.dispatch(asked(("act", {"number": number}), ids=("other",)))


def states(ledger: Ledger) -> list[tuple[str, str | None]]:
    from ledger.replay.reading import session_at

    return [(call.state, call.reason) for call in session_at(ledger.reader, SESSION).calls.values()]


def test_a_write_in_doubt_is_not_sent_again(scene: Scene) -> None:
    """The copy names its original, did not run, and no host's code has seen it."""
    original = doubted(scene)
    scene.policy = True
    ledger = scene.open()
    results = ask_again(ledger)
    [copy] = results.calls
    assert (copy.state, copy.call.reason, copy.call.flag.duplicate_of) == ("needs-review", "duplicate", original)
    assert (len(scene.ran), scene.checked) == (1, 0)
    [told] = answers(results.messages)
    assert (told["status"], told["code"], told["next"]) == ("needs_review", "duplicate", "query_state")
    assert "NOT EXECUTED" in told["message"]


def test_a_copy_of_a_copy_names_the_original(scene: Scene) -> None:
    """However often the model asks."""
    original = doubted(scene)
    ledger = scene.open()
    ask_again(ledger)
    assert ask_again(ledger).calls[0].call.flag.duplicate_of == original
    assert len(scene.ran) == 1


@pytest.mark.parametrize("spelled", ['{"number": 1.0}', "{}", '{"number": 10e-1}'])
def test_another_spelling_is_a_copy_too(scene: Scene, spelled: str) -> None:
    """Its function would get the same: a default that is left out, a whole number with a point."""
    original = doubted(scene)
    session = scene.open().session(SESSION)
    session.messages()
    [copy] = session.dispatch(asked(("act", spelled), ids=("other",))).calls
    assert (copy.state, copy.call.reason, len(scene.ran)) == ("needs-review", "duplicate", 1)
    assert copy.call.flag is not None
    assert copy.call.flag.duplicate_of == original


def test_other_arguments_are_no_copy(scene: Scene) -> None:
    """Another value is another order."""
    doubted(scene)
    assert ask_again(scene.open(), 2).calls[0].state == "succeeded"


def test_a_finished_call_may_be_made_again_on_purpose(scene: Scene) -> None:
    """15 % of real calls repeat an earlier finished one."""
    ledger = scene.open()
    ledger.session(SESSION).dispatch(asked(("act", {"number": 1})))
    assert ask_again(ledger).calls[0].state == "succeeded"
    assert len(scene.ran) == 2


def test_the_same_call_twice_in_one_turn_is_meant(scene: Scene) -> None:
    """Only an earlier turn's call can be repeated by mistake."""
    scene.ask = Ask()
    results = scene.open().session(SESSION).dispatch(asked(("act", {"number": 1}), ("act", {"number": 1})))
    assert [call.state for call in results.calls] == ["awaiting-approval"] * 2


def test_a_read_is_never_a_copy(scene: Scene) -> None:
    """Looking twice harms nobody."""
    scene.options, scene.ask = {"effect": "read"}, Ask()
    ledger = scene.open()
    ledger.session(SESSION).dispatch(asked(("act", {"number": 1})))
    assert ask_again(ledger).calls[0].state == "awaiting-approval"


@pytest.mark.parametrize(
    ("verdict", "copied", "state"),
    [
        ("happened", "happened", "succeeded"),
        ("did-not-happen", "did-not-happen", "failed"),
        ("abandon", "abandon", "abandoned"),
    ],
)
def test_the_originals_verdict_settles_its_copies_in_one_commit(
    scene: Scene, verdict: str, copied: str, state: str
) -> None:
    """Two copies and their original end together; each copy says by which call."""
    original = doubted(scene)
    ledger = scene.open()
    copies = [ask_again(ledger).calls[0].call_id for _ in range(2)]
    desk = scene.open(tool=False)
    watch = crash.arm(desk)
    about = {"result": {"done": 9}} if verdict == "happened" else {}
    desk.resolve(original, verdict, by="ada", **about)
    assert watch.appends == 1
    assert states(desk) == [(state, "outcome-unknown"), (state, "duplicate"), (state, "duplicate")]
    reviews = [event for event in recorded(desk, SESSION) if event.type == "call.reviewed"]
    assert [event.call_id for event in reviews] == [original, *copies]
    assert [(r.body.verdict, r.body.settled_by) for r in reviews[1:]] == [(copied, original)] * 2  # type: ignore[union-attr]  # verdicts
    if verdict == "happened":
        assert desk.find(copies[1]).result == {"done": 9}


def test_a_copy_of_what_a_person_replaced_is_told_so(scene: Scene) -> None:
    """Nobody gave the copy up: other arguments stand for its original, and its model reads that."""
    original = doubted(scene)
    ledger = scene.open()
    copy = ask_again(ledger).calls[0].call_id
    scene.open().resolve(original, "did-not-happen", arguments={"number": 3}, by="ada")
    heir = ledger.find(original).superseded_by
    told = answer(ledger.find(copy))
    assert (told["code"], "a person put another call in the place" in told["message"]) == ("superseded", True)
    review = ledger.find(copy).review
    assert review is not None
    assert (review.settled_by, review.evidence) == (original, ({"supersededBy": heir},))


def test_a_verdict_on_a_copy_is_refused(scene: Scene) -> None:
    """There is one question, and it is asked once."""
    doubted(scene)
    ledger = scene.open()
    copy = ask_again(ledger).calls[0].call_id
    for about in ({"verdict": "abandon"}, {"arguments": {"number": 3}}):
        with pytest.raises(VerdictRefused, match="is a copy"):
            ledger.resolve(copy, by="ada", **about)


def test_an_approved_original_runs_once_and_settles_its_copy(scene: Scene) -> None:
    """The copy of a call that waits for an approval gets that call's result."""
    scene.ask = Ask()
    ledger = scene.open()
    original = ledger.session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0].call_id
    copy = ask_again(ledger).calls[0].call_id
    scene.open(tool=False).approve(original, by="ada")
    ledger.session(SESSION).messages()
    assert [ledger.find(call).result for call in (original, copy)] == [{"done": 1}] * 2
    assert len(scene.ran) == 1


def test_what_was_settled_but_not_yet_told_is_a_copy_too(scene: Scene) -> None:
    """The model read that the end is unknown and was not told of the verdict: its copy is settled at once by it."""
    original = doubted(scene)
    ledger = scene.open()
    session = ledger.session(SESSION)
    session.messages()
    session.dispatch(asked(text="I wait."))  # it has read needs_review
    scene.open(tool=False).resolve(original, "happened", result={"done": 1}, by="ada")
    again = scene.open().session(SESSION)
    results = again.dispatch(asked(("act", {"number": 1})), turn=3)
    [copy] = results.calls
    assert (copy.state, copy.result, len(scene.ran)) == ("succeeded", {"done": 1}, 1)
    assert copy.call.flag is not None
    assert copy.call.flag.duplicate_of == original


@pytest.mark.parametrize("handle", ["the same", "another"])
def test_a_verdict_while_the_model_thinks_does_not_make_its_repeat_run(scene: Scene, handle: str) -> None:
    """It was asked with the call open, and its reply is the next turn: the end that it does not know settles both."""
    original = doubted(scene)
    session = scene.open().session(SESSION)
    session.messages()
    scene.open(tool=False).resolve(original, "happened", result={"done": 1}, by="ada")
    if handle == "another":
        session = scene.open().session(SESSION)
    [copy] = session.dispatch(asked(("act", {"number": 1}), ids=("other",)), turn=2).calls
    assert (copy.state, copy.result, len(scene.ran)) == ("succeeded", {"done": 1}, 1)
    assert copy.call.flag is not None
    assert copy.call.flag.duplicate_of == original


@pytest.mark.parametrize("later_turn", [False, True])
def test_a_host_that_names_its_call_by_a_new_key_means_another_one(scene: Scene, later_turn: bool) -> None:
    """What a job pays today is no copy of what a person approved yesterday, though this process told nobody of that."""
    scene.ask = Ask()
    yesterday = scene.open().session(SESSION).call("act", {"number": 1}, idempotency_key="monday").call_id
    if later_turn:
        scene.open().session(SESSION).dispatch(asked(text="I wait."))
    scene.open().approve(yesterday, by="ada")
    scene.open().session(SESSION).messages()
    assert len(scene.ran) == 1
    scene.ask = None
    assert scene.open().session(SESSION).call("act", {"number": 1}, idempotency_key="tuesday").state == "succeeded"
    assert len(scene.ran) == 2


@pytest.mark.parametrize(("key", "state"), [("tuesday", "succeeded"), ("monday", "denied"), (None, "denied")])
def test_a_new_key_is_not_answered_with_the_end_of_another(scene: Scene, key: str | None, state: str) -> None:
    """A script that runs again from its top gets what was recorded; a job with a key of its own is another one."""
    scene.ask = Deny("closed", "Not on Mondays.")
    scene.open().session(SESSION).call("act", {"number": 1}, idempotency_key="monday")
    scene.ask = None
    assert scene.open().session(SESSION).call("act", {"number": 1}, idempotency_key=key).state == state
    assert len(scene.ran) == (state == "succeeded")


def test_once_it_was_told_the_same_call_is_meant(scene: Scene) -> None:
    """The note of the verdict stands in the conversation: what the model asks for after it, it wants."""
    original = doubted(scene)
    ledger = scene.open()
    session = ledger.session(SESSION)
    session.messages()
    session.dispatch(asked(text="I wait."))
    scene.open(tool=False).resolve(original, "did-not-happen", by="ada")
    assert ask_again(ledger).calls[0].state == "succeeded"
    assert len(scene.ran) == 2


def test_other_arguments_for_the_original_leave_its_copy_abandoned(scene: Scene) -> None:
    """A superseded call had no end of its own."""
    original = doubted(scene)
    ledger = scene.open()
    ask_again(ledger)
    ledger.resolve(original, "did-not-happen", arguments={"number": 5}, by="ada")
    assert states(ledger)[:2] == [("superseded", "outcome-unknown"), ("abandoned", "duplicate")]
