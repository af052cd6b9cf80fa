"""What a person may say of a call, what comes of it, and what is refused."""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.audit.questions import question
from ledger.calls import Call
from ledger.errors import UnknownCall, UsageError, VerdictRefused
from ledger.events import CallAuthorized, CallDenied, CallFlagged, CallNoted, CallReviewed
from ledger.ids import Clock
from ledger.review import Answer, Reviewer, may_supersede, resolve
from ledger.testing import crash
from tests.recovery.scenes import SESSION, Gone, Scene, gone
from tests.session.agents import answers, asked, recorded, types


def awaiting(scene: Scene, ask: Ask | None = None) -> str:
    """Leave a call that waits for an approval; return its id."""
    scene.ask = ask or Ask()
    return scene.open().session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0].call_id


def flagged(scene: Scene, point: crash.Point | None = None) -> str:
    """Leave a call in doubt after a crash, flagged by the process after it; return its id."""
    call_id = scene.crashed(point or crash.after("call.started"))
    scene.open().session(SESSION).messages()
    return call_id


def not_started(scene: Scene) -> str:
    """Leave a call that surely never ran, flagged."""
    scene.policy = True
    return flagged(scene, crash.after("call.proposed"))


def last(ledger: Ledger, session_id: str = SESSION) -> Any:
    """Return the body of the session's last event."""
    return recorded(ledger, session_id)[-1].body


# -- approvals


def test_an_approved_call_runs_once(scene: Scene) -> None:
    """Its approval says who gave it, from where, with what in hand; the next loop runs it, and no later one again."""
    call_id = awaiting(scene)
    desk = scene.open(tool=False)
    said = desk.approve(call_id, by="ada", note="fine", evidence=["https://x/1"], verified=True)
    assert "owner's loop" in said.next
    body = last(desk)
    assert isinstance(body, CallAuthorized)
    assert (body.by, body.person, body.verified) == ("person", "ada", True)
    assert (body.note, body.evidence) == ("fine", ("https://x/1",))
    assert (body.os_user, bool(body.host)) == (getpass.getuser(), True)
    assert recorded(desk, SESSION)[-1].actor == "person:ada"
    for _ in range(2):
        scene.open().session(SESSION).messages()
    assert (scene.ran, scene.only(desk).state) == ([(1, 1, call_id)], "succeeded")


def test_an_approval_is_given_once(scene: Scene) -> None:
    """The second is refused, with the first one's name."""
    call_id = awaiting(scene)
    ledger = scene.open()
    ledger.approve(call_id, by="ada")
    with pytest.raises(VerdictRefused, match="approved already by ada"):
        ledger.approve(call_id, by="bob")
    with pytest.raises(VerdictRefused, match="approved already by ada"):
        ledger.deny(call_id, by="bob")


def test_only_who_was_asked_may_approve(scene: Scene) -> None:
    """An approval by somebody who is not named is refused; anybody may note."""
    call_id = awaiting(scene, Ask(who=["ada", "eve"]))
    ledger = scene.open()
    with pytest.raises(VerdictRefused, match="Only ada, eve may let it run"):
        ledger.approve(call_id, by="mallory")
    ledger.approve(call_id, by="eve")
    assert ledger.find(call_id).state == "authorized"


def test_who_was_asked_still_holds_when_the_request_has_lapsed(scene: Scene) -> None:
    """A request that expired is a doubt, which only those may run whom the policy asked; anybody may abandon it."""
    hands = Hands()
    scene.clock = hands.clock()
    call_id = awaiting(scene, Ask(who=["ada"], expires="1h"))
    hands.moment += timedelta(hours=2)
    ledger = scene.open()
    ledger.session(SESSION).messages()
    assert ledger.find(call_id).reason == "approval-mismatch"
    with pytest.raises(VerdictRefused, match="Only ada may let it run"):
        ledger.resolve(call_id, "run", by="mallory")
    ledger.resolve(call_id, "run", by="ada")
    assert ledger.find(call_id).state == "authorized"


def test_who_was_asked_still_holds_after_a_crash(scene: Scene) -> None:
    """What may have happened is for anybody to find out; only those whom the policy asked let it run once more."""
    call_id = awaiting(scene, Ask(who=["ada"]))
    scene.open().approve(call_id, by="ada")
    dying = scene.open()
    crash.arm(dying, crash.after("call.started"), end=gone)
    with pytest.raises(Gone):
        dying.session(SESSION).messages()
    scene.free(dying)
    ledger = scene.open()
    ledger.session(SESSION).messages()
    with pytest.raises(VerdictRefused, match="Only ada may let it run"):
        ledger.resolve(call_id, "did-not-happen", run=True, by="mallory")
    ledger.resolve(call_id, "did-not-happen", by="mallory")
    assert ledger.find(call_id).state == "failed"


def test_other_arguments_are_for_who_was_asked_too(scene: Scene) -> None:
    """A call with a person's arguments runs by that person's word: only whom the policy asked may give it."""
    call_id = awaiting(scene, Ask(who=["ada"]))
    desk = scene.open()
    with pytest.raises(VerdictRefused, match="Only ada may let it run"):
        desk.resolve(call_id, arguments={"number": 2}, by="mallory")
    desk.resolve(call_id, arguments={"number": 2}, by="ada")
    assert desk.find(call_id).state == "superseded"


def test_a_call_of_the_provider_is_settled_and_never_run() -> None:
    """No program has its tool: what is known of it is taken, and neither it nor another call is let run."""
    flag = CallFlagged(reason="outcome-unknown")
    call = Call(call_id="c", state="needs-review", reason=flag.reason, flag=flag, executor="provider", in_doubt=True)
    ada = Reviewer(by="ada")
    gone, again = Answer(verdict="did-not-happen"), Answer(verdict="did-not-happen", run=True)
    for refused in (lambda: resolve(call, again, ada), lambda: may_supersede(call, gone, ada)):
        with pytest.raises(VerdictRefused, match="executed by the provider: nothing runs it here"):
            refused()
    assert [resolve(call, each, ada).run for each in (gone, Answer(verdict="happened"))] == [False, False]


@pytest.mark.parametrize("verdict", ["happened", "abandon"])
def test_other_arguments_beside_a_verdict_that_lets_nothing_run_are_refused(scene: Scene, verdict: str) -> None:
    """The word would be lost, and the new call run."""
    call_id = not_started(scene)
    desk = scene.open()
    with pytest.raises(VerdictRefused, match=f"with {verdict} nothing runs"):
        desk.resolve(call_id, verdict, arguments={"number": 2}, by="ada")
    assert desk.find(call_id).state == "needs-review"


def test_an_approval_is_bound_to_the_arguments_that_were_seen(scene: Scene) -> None:
    """With the digest of other arguments it is refused."""
    call_id = awaiting(scene)
    ledger = scene.open()
    seen = ledger.find(call_id).arguments_digest
    with pytest.raises(VerdictRefused, match="not those you saw"):
        ledger.approve(call_id, by="ada", digest="0" * 64)
    ledger.approve(call_id, by="ada", digest=seen)
    assert ledger.find(call_id).state == "authorized"


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)

    def clock(self) -> Clock:
        return Clock(now=lambda: self.moment)


def test_a_request_that_expired_cannot_be_approved_and_is_flagged(scene: Scene) -> None:
    """The next resume asks a person again, as a doubt; the same word runs it then."""
    hands = Hands()
    scene.clock = hands.clock()
    call_id = awaiting(scene, Ask(expires="15m"))
    hands.moment += timedelta(minutes=15)
    ledger = scene.open()
    with pytest.raises(VerdictRefused, match="expired at"):
        ledger.approve(call_id, by="ada")
    ledger.session(SESSION).messages()
    assert (ledger.find(call_id).state, ledger.find(call_id).reason) == ("needs-review", "approval-mismatch")
    ledger.resolve(call_id, "run", by="ada")
    scene.open().session(SESSION).messages()
    assert scene.ran == [(1, 1, call_id)]


def test_an_approval_that_expired_before_it_was_used_runs_nothing(scene: Scene) -> None:
    """It was given in time, but no host was up until later."""
    hands = Hands()
    scene.clock = hands.clock()
    call_id = awaiting(scene, Ask(expires=60))
    scene.open(tool=False).approve(call_id, by="ada")
    hands.moment += timedelta(seconds=61)
    ledger = scene.open()
    ledger.session(SESSION).messages()
    assert (ledger.find(call_id).reason, scene.ran) == ("approval-mismatch", [])


def test_an_approval_that_expires_while_another_call_runs_runs_nothing(scene: Scene) -> None:
    """The second call waited for the first one, longer than the person's word was good for."""
    hands = Hands()
    scene.clock, scene.ask = hands.clock(), Ask(expires="15m")
    turn = scene.open().session(SESSION).dispatch(asked(("act", {"number": 1}), ("act", {"number": 2})))
    ledger = scene.open()
    calls = [ledger.approve(call.call_id, by="ada").call.call_id for call in turn.calls]

    def takes_long() -> None:
        hands.moment += timedelta(minutes=15)

    scene.raises = takes_long
    ledger.session(SESSION).messages()
    found = [ledger.find(call_id) for call_id in calls]
    assert [(call.state, call.reason) for call in found] == [("succeeded", None), ("needs-review", "approval-mismatch")]
    assert "is over" in str(question(found[1]))
    assert [ran[0] for ran in scene.ran] == [1]


def test_what_was_approved_is_what_runs_or_nothing_runs(scene: Scene) -> None:
    """Defaults that are filled in since make other arguments of the same intent: they do not run on that approval."""
    scene.ask = Ask()
    call_id = scene.open().session(SESSION).dispatch(asked(("act", {}))).calls[0].call_id
    scene.open(tool=False).approve(call_id, by="ada")
    scene.options = {"apply_defaults": True}
    ledger = scene.open()
    ledger.session(SESSION).messages()
    assert (ledger.find(call_id).reason, scene.ran) == ("approval-mismatch", [])


def test_a_denied_call_never_runs(scene: Scene) -> None:
    """The model is told that a person refused it."""
    call_id = awaiting(scene)
    ledger = scene.open()
    said = ledger.deny(call_id, by="ada", note="no")
    assert "will not run" in said.next
    body = last(ledger)
    assert isinstance(body, CallDenied)
    assert (body.by, body.note) == ("ada", "no")
    [answer] = answers(ledger.session(SESSION).messages())
    assert (answer["status"], answer["code"]) == ("denied", "denied_by_person")
    with pytest.raises(VerdictRefused, match="has ended: denied"):
        ledger.approve(call_id, by="ada")
    assert scene.ran == []


@pytest.mark.parametrize("left", [flagged, not_started])
def test_a_doubt_is_not_approved(scene: Scene, left: Callable[[Scene], str]) -> None:
    """Approve and deny answer requests; what is in review takes a verdict, and the hint says where to find it."""
    call_id = left(scene)
    ledger = scene.open()
    for answer in (ledger.approve, ledger.deny):
        with pytest.raises(VerdictRefused, match="waits for a verdict; no approval is asked") as refused:
            answer(call_id, by="ada")
        assert f"`ledger review show {call_id}`" in str(refused.value.hint)


def test_a_request_takes_no_verdict(scene: Scene) -> None:
    """Who resolves a call that waits for approval is told which commands answer it."""
    call_id = awaiting(scene)
    ledger = scene.open()
    for verdict in ("run", "abandon", "happened", "did-not-happen"):
        with pytest.raises(VerdictRefused, match="waits for an approval; no verdict is asked") as refused:
            ledger.resolve(call_id, verdict, by="ada")
        for command in ("approve", "deny"):
            assert f"`ledger review {command} {call_id}`" in str(refused.value.hint)


def test_a_call_that_waits_for_nobody_takes_no_answer(scene: Scene) -> None:
    """Neither what is proposed nor what has ended."""
    ledger = scene.open()
    session = ledger.session(SESSION)
    proposed = session.propose("act", {"number": 1})
    with pytest.raises(VerdictRefused, match="is proposed; no approval is asked"):
        ledger.approve(proposed.call_id)
    with pytest.raises(VerdictRefused, match="is proposed; no verdict is asked"):
        ledger.resolve(proposed.call_id, "abandon")
    with pytest.raises(VerdictRefused, match="is proposed; no answer is asked"):
        ledger.resolve(proposed.call_id, arguments={"number": 2})


# -- verdicts


def test_it_happened_and_this_is_the_result(scene: Scene) -> None:
    """The model reads the person's result as the call's; nothing runs."""
    call_id = flagged(scene)
    ledger = scene.open()
    said = ledger.resolve(call_id, "happened", result={"done": 5}, by="ada", note="seen in the mailbox")
    assert (said.call.state, said.call.result, said.call.result_known) == ("succeeded", {"done": 5}, True)
    assert "settled" in said.next
    assert scene.open().session(SESSION).messages() == ledger.session(SESSION).messages()
    assert scene.ran == []


def test_it_happened_and_nobody_knows_the_result(scene: Scene) -> None:
    """Then the result is said to be unknown, which is not the same as null."""
    call_id = flagged(scene)
    assert not scene.open().resolve(call_id, "happened", by="ada").call.result_known
    with pytest.raises(VerdictRefused, match="resolved already: happened, by ada"):
        scene.open().resolve(call_id, "abandon", by="bob")


def test_it_did_not_happen(scene: Scene) -> None:
    """The call has failed, and the model may send it again."""
    call_id = flagged(scene)
    ledger = scene.open()
    call = ledger.resolve(call_id, "did-not-happen", by="ada").call
    assert (call.state, call.code) == ("failed", "did_not_happen")
    ledger.session(SESSION).messages()
    assert scene.ran == []


def test_it_did_not_happen_and_is_sent_again(scene: Scene) -> None:
    """The second attempt carries the same idempotency key."""
    call_id = flagged(scene, crash.before("call.succeeded"))
    ledger = scene.open()
    assert "owner's loop" in ledger.resolve(call_id, "did-not-happen", run=True, by="ada").next
    scene.open().session(SESSION).messages()
    assert scene.ran == [(1, 1, call_id), (1, 2, call_id)]
    assert ledger.find(call_id).state == "succeeded"


def test_what_never_ran_is_run_by_one_word(scene: Scene) -> None:
    """`run` answers not-started."""
    call_id = not_started(scene)
    ledger = scene.open()
    ledger.resolve(call_id, "run", by="ada")
    scene.open().session(SESSION).messages()
    assert scene.ran == [(1, 1, call_id)]


def test_a_call_is_abandoned(scene: Scene) -> None:
    """Nobody knows, and nobody will."""
    call = scene.open().resolve(flagged(scene), "abandon", by="ada").call
    assert call.state == "abandoned"
    assert isinstance(call.review, CallReviewed)
    assert call.review.by == "ada"


@pytest.mark.parametrize(
    ("verdict", "about", "why"),
    [
        ("run", {}, "may have run already"),
        ("happened", {"run": True}, "belongs to did-not-happen"),
        ("abandon", {"run": True}, "belongs to did-not-happen"),
        ("happened", {"digest": "0" * 64}, "not those you saw"),
    ],
)
def test_a_verdict_that_could_do_it_twice_is_refused(
    scene: Scene, verdict: str, about: dict[str, Any], why: str
) -> None:
    """What may have run is not run by the word `run` alone, and not together with another verdict."""
    call_id = flagged(scene)
    ledger = scene.open()
    with pytest.raises(VerdictRefused, match=why):
        ledger.resolve(call_id, verdict, by="ada", **about)
    assert ledger.find(call_id).state == "needs-review"


@pytest.mark.parametrize("about", [{"verdict": "perhaps"}, {"verdict": None}, {"verdict": "abandon", "speed": 1}])
def test_a_verdict_has_its_words(scene: Scene, about: dict[str, Any]) -> None:
    """No verdict, an unknown one and an unknown option are refused."""
    call_id = flagged(scene)
    with pytest.raises(UsageError):
        scene.open().resolve(call_id, by="ada", **about)


def test_nothing_of_a_closed_session_is_sent_again(scene: Scene) -> None:
    """What is known can still be said."""
    call_id = flagged(scene)
    ledger = scene.open()
    ledger.session(SESSION).close()
    for verdict, run in (("did-not-happen", True), ("run", False)):
        with pytest.raises(VerdictRefused):
            ledger.resolve(call_id, verdict, run=run, by="ada")
    assert ledger.resolve(call_id, "happened", by="ada").call.state == "succeeded"


def test_without_a_name_the_os_user_answers(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may run under a number that has no name."""
    call_id = flagged(scene)
    ledger = scene.open()
    ledger.note(call_id, "looked")
    assert last(ledger).by == getpass.getuser()

    def nobody() -> str:
        raise OSError

    monkeypatch.setattr(getpass, "getuser", nobody)
    ledger.note(call_id, "looked again")
    assert (last(ledger).by, last(ledger).os_user) == ("unknown", "unknown")


def test_a_note_is_taken_in_any_state(scene: Scene) -> None:
    """A wrong verdict is corrected by a note, which says what it corrects."""
    call_id = flagged(scene)
    ledger = scene.open()
    ledger.resolve(call_id, "happened", by="ada")
    verdict = recorded(ledger, SESSION)[-1].event_id
    said = ledger.note(call_id, "it did not", by="ada", corrects=verdict, evidence=["mail.txt"])
    assert (said.call.state, said.next) == ("succeeded", "Noted.")
    body = last(ledger)
    assert isinstance(body, CallNoted)
    assert (body.text, body.corrects, body.evidence) == ("it did not", verdict, ("mail.txt",))
    ledger.session(SESSION).close()
    ledger.note(call_id, "and closed", by="ada")
    assert types(ledger, SESSION)[-1] == "call.noted"


def test_a_call_is_found_by_a_part_of_its_id(scene: Scene) -> None:
    """A part that fits no call is told."""
    call_id = flagged(scene)
    ledger = scene.open()
    assert ledger.note(call_id[-8:], "by its tail").call.call_id == call_id
    with pytest.raises(UnknownCall):
        ledger.note("0000-nothing", "?")


# -- other arguments


@pytest.mark.parametrize("given", [{"number": 2}, '{"number": 2}'], ids=["value", "text"])
def test_a_person_sends_other_arguments_instead(scene: Scene, given: Any) -> None:
    """A new call takes the old one's place: the intent, the person's arguments and what ran are all on record."""
    call_id = awaiting(scene)
    desk = scene.open()
    said = desk.resolve(call_id, arguments=given, by="ada", note="less")
    old = desk.find(call_id)
    assert (old.state, old.superseded_by, old.arguments) == ("superseded", said.call.call_id, {"number": 1})
    assert (said.call.state, said.call.revision, said.call.arguments) == ("authorized", 1, {"number": 2})
    messages = scene.open().session(SESSION).messages()
    assert scene.ran == [(2, 1, said.call.call_id)]
    [answer] = answers(messages)
    assert answer["status"] == "succeeded"


def test_other_arguments_where_it_never_ran(scene: Scene) -> None:
    """They need no further word."""
    call_id = not_started(scene)
    scene.open().resolve(call_id, arguments={"number": 3}, by="ada")
    scene.open().session(SESSION).messages()
    assert [number for number, _, _ in scene.ran] == [3]


def test_other_arguments_in_doubt_need_the_word_that_it_did_not_happen(scene: Scene) -> None:
    """Else the effect could be there twice, in two forms."""
    call_id = flagged(scene)
    ledger = scene.open()
    for verdict in (None, "happened"):
        with pytest.raises(VerdictRefused, match="may have run already"):
            ledger.resolve(call_id, verdict, arguments={"number": 2}, by="ada")
    ledger.resolve(call_id, "did-not-happen", arguments={"number": 2}, by="ada")
    scene.open().session(SESSION).messages()
    assert [number for number, _, _ in scene.ran] == [2]


@pytest.mark.parametrize(("given", "why"), [({"number": "x"}, "schema gate"), ('{"number":', "decode gate")])
def test_other_arguments_must_fit_the_tool(scene: Scene, given: Any, why: str) -> None:
    """A person's arguments pass the same pure gates as a model's."""
    call_id = awaiting(scene)
    ledger = scene.open()
    with pytest.raises(UsageError, match=why):
        ledger.resolve(call_id, arguments=given, by="ada")
    assert ledger.find(call_id).state == "awaiting-approval"


def test_other_arguments_need_the_tools_schema(scene: Scene) -> None:
    """A process that does not know the tool cannot check them."""
    call_id = awaiting(scene)
    with pytest.raises(UsageError, match="schema of act is not known here"):
        scene.open(tool=False).resolve(call_id, arguments={"number": 2}, by="ada")


# -- two at once


def racing(scene: Scene, call_id: str) -> Ledger:
    """Return a ledger whose first append comes a moment after somebody else's verdict."""
    ledger, other = scene.open(), scene.open(tool=False)
    crash.arm(ledger, crash.before(1), end=lambda: other.deny(call_id, by="eve"))
    return ledger


@pytest.mark.parametrize(
    "answer",
    [
        lambda ledger, call_id: ledger.approve(call_id, by="ada"),
        lambda ledger, call_id: ledger.resolve(call_id, arguments={"number": 2}, by="ada"),
    ],
    ids=["approve", "supersede"],
)
def test_of_two_answers_at_once_the_first_counts(scene: Scene, answer: Callable[[Ledger, str], Any]) -> None:
    """The other one is refused, and nothing of it is recorded."""
    call_id = awaiting(scene)
    ledger = racing(scene, call_id)
    with pytest.raises(VerdictRefused, match="changed meanwhile: it is denied"):
        answer(ledger, call_id)
    assert scene.only(ledger).state == "denied"


def test_an_answer_is_taken_while_the_owner_works(scene: Scene) -> None:
    """Verdicts need no lease: the worker folds them in and goes on."""
    scene.ask = Ask()
    ledger = scene.open()
    session = ledger.session(SESSION)
    first = session.dispatch(asked(("act", {"number": 1}))).calls[0].call_id
    desk = scene.open(tool=False)
    crash.arm(ledger, crash.before(1), end=lambda: desk.note(first, "seen"))
    session.dispatch(asked(("act", {"number": 2})))
    assert "call.noted" in types(ledger, SESSION)
    assert [call.state for call in session.history.calls.values()] == ["awaiting-approval"] * 2


def test_the_answers_evidence_is_json(scene: Scene) -> None:
    """What a verdict is bound to and built on can be read back."""
    call_id = flagged(scene)
    ledger = scene.open()
    ledger.resolve(call_id, "did-not-happen", run=True, by="ada", evidence=[{"sha256": "ab"}], note="n")
    body = last(ledger)
    assert json.loads(json.dumps(body.evidence)) == [{"sha256": "ab"}]
    assert body.arguments_digest == ledger.find(call_id).arguments_digest


@pytest.mark.parametrize("word", ["run", "note"])
def test_a_verdict_is_about_what_its_author_saw(scene: Scene, word: str) -> None:
    """What was said and done meanwhile is to be looked at first: the second of two words is not about a third run."""
    call_id = flagged(scene)
    ledger, other = scene.open(), scene.open()

    def meanwhile() -> None:
        if word == "run":
            scene.raises = lambda: 1 / 0
            other.resolve(call_id, "did-not-happen", run=True, by="ada")
            other.session(SESSION).messages()
        else:
            other.note(call_id, "I saw it on the bill.", by="ada")

    crash.arm(ledger, crash.before(1), end=meanwhile)
    with pytest.raises(VerdictRefused, match="changed meanwhile: it is needs-review"):
        ledger.resolve(call_id, "did-not-happen", run=True, by="bob")
    ledger.session(SESSION).messages()
    assert len(scene.ran) == (1 if word == "run" else 0)
