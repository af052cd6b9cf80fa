"""Outcomes that come when nobody waits any more."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import CantTell, DidNotHappen, Failed, Happened, Ledger, NotFound, OutcomeUnknown, Rejected, Unavailable
from ledger.errors import LeaseLost
from ledger.events import CallOutcomeArrivedLate
from ledger.events.outcomes import in_time, late
from ledger.providers.answer import answer
from ledger.providers.texts import COPY_ENDED
from ledger.testing import crash
from tests.recovery.scenes import SESSION, Scene
from tests.session.agents import asked, recorded, types


class Slow:
    """A tool that is at it until it is let on; it does not listen to cancellation."""

    def __init__(self, scene: Scene, **options: Any) -> None:
        self.scene = scene
        self.on = threading.Event()
        self.end: Callable[[], Any] = lambda: {"done": 1}
        scene.options = {"effect": "external", "timeout_seconds": 0.01, **options}
        scene.raises = self._work

    def _work(self) -> Any:
        self.on.wait()
        return self.end()

    def finish(self) -> None:
        """Let it come to its end, and wait until that is dealt with."""
        self.on.set()
        for thread in threading.enumerate():
            if thread.name == "ledger-act":
                thread.join()


@pytest.fixture
def slow(scene: Scene) -> Iterator[Slow]:
    found = Slow(scene)
    yield found
    found.finish()


def overdue(slow: Slow, ledger: Ledger | None = None) -> tuple[Ledger, str]:
    """Make a call whose time is up before it ends."""
    ledger = ledger or slow.scene.open()
    call = ledger.session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0]
    assert (call.state, call.call.reason) == ("needs-review", "outcome-unknown")
    return ledger, call.call_id


def last(ledger: Ledger) -> CallOutcomeArrivedLate:
    body = recorded(ledger, SESSION)[-1].body
    assert isinstance(body, CallOutcomeArrivedLate)
    return body


def raising(error: BaseException) -> Callable[[], Any]:
    def end() -> Any:
        raise error

    return end


@pytest.mark.parametrize(
    ("end", "state", "code"),
    [
        (lambda: {"done": 7}, "succeeded", None),
        (raising(NotFound("no such thing")), "succeeded", "not_found"),
        (raising(Rejected("too_much", "no")), "failed", "too_much"),
        (raising(Failed("half", "half of it")), "failed", "half"),
        (raising(Unavailable("down")), "failed", "unavailable"),
    ],
    ids=["succeeded", "not found", "rejected", "failed", "unavailable"],
)
def test_a_late_outcome_settles_the_doubt(slow: Slow, end: Callable[[], Any], state: str, code: str | None) -> None:
    """Where nobody else had the session meanwhile, it counts as the first word."""
    slow.end = end
    ledger, call_id = overdue(slow)
    slow.finish()
    call = ledger.find(call_id)
    assert (call.state, call.code) == (state, code)
    assert last(ledger).settles


def test_an_end_that_says_nothing_leaves_the_doubt(slow: Slow) -> None:
    """An exception after the deadline is as unknown as the deadline."""
    slow.end = raising(ConnectionResetError())
    ledger, call_id = overdue(slow)
    before = types(ledger, SESSION)
    slow.finish()
    assert types(ledger, SESSION) == before
    assert ledger.find(call_id).state == "needs-review"


def test_after_another_owner_it_is_evidence_for_the_reviewer(slow: Slow) -> None:
    """It does not decide any more, but the verdict `happened` takes its result."""
    ledger, call_id = overdue(slow)
    other = slow.scene.open()
    other.session(SESSION).dispatch(asked(text="go on"))  # it claims the session
    slow.finish()
    assert not last(ledger).settles
    assert ledger.find(call_id).state == "needs-review"
    call = other.resolve(call_id, "happened", by="ada").call
    assert (call.state, call.result, call.result_known) == ("succeeded", {"done": 1}, True)


def test_an_earlier_attempts_outcome_does_not_settle_a_later_one(slow: Slow) -> None:
    """Somebody sent it again, in another process, and that attempt is in doubt now."""
    ledger, call_id = overdue(slow)
    ledger.resolve(call_id, "did-not-happen", run=True, by="ada")
    slow.end = lambda: {"done": "first or second"}
    slow.scene.open().session(SESSION).messages()  # the second attempt: overdue as well
    assert [attempt for _, attempt, _ in slow.scene.ran] == [1, 2]
    slow.finish()
    attempts = {
        event.attempt: event.body.settles
        for event in recorded(ledger, SESSION)
        if isinstance(event.body, CallOutcomeArrivedLate)
    }
    assert attempts == {1: False, 2: True}
    assert ledger.find(call_id).state == "succeeded"


def test_an_outcome_against_a_verdict_is_put_before_a_person_again(slow: Slow) -> None:
    """Somebody said that it did not happen and shall run; then its end arrived: it is not run a second time."""
    ledger, call_id = overdue(slow)
    ledger.resolve(call_id, "did-not-happen", run=True, by="ada")
    slow.finish()
    ledger.session(SESSION).messages()
    call = ledger.find(call_id)
    assert (call.state, call.reason, len(slow.scene.ran)) == ("needs-review", "outcome-unknown", 1)


def test_a_closed_session_takes_a_late_outcome(slow: Slow) -> None:
    """Its queue is still worked on."""
    ledger, call_id = overdue(slow)
    ledger.session(SESSION).close()
    slow.finish()
    assert ledger.find(call_id).state == "succeeded"


def test_a_copy_is_settled_by_its_originals_late_outcome(slow: Slow) -> None:
    """In the same commit."""
    ledger, _ = overdue(slow)
    session = ledger.session(SESSION)
    session.messages()
    copy = session.dispatch(asked(("act", {"number": 1}), ids=("x",))).calls[0]
    assert copy.call.reason == "duplicate"
    slow.finish()
    assert ledger.find(copy.call_id).result == {"done": 1}


@pytest.mark.parametrize(
    "error",
    [NotFound("no such account"), Failed("half", "Money left, and did not arrive."), Unavailable("down")],
    ids=["not found", "failed", "unavailable"],
)
def test_a_copy_is_not_told_more_than_is_known(slow: Slow, error: Exception) -> None:
    """No success where nothing was found, no person's word where nobody was asked, no all-clear where effects are."""
    ledger, _ = overdue(slow)
    session = ledger.session(SESSION)
    session.messages()
    copy = session.dispatch(asked(("act", {"number": 1}), ids=("x",))).calls[0].call_id
    slow.end = raising(error)
    slow.finish()
    call = ledger.find(copy)
    told = answer(call)
    assert (call.state, told["message"], told["next"]) == ("failed", COPY_ENDED, "query_state")


def test_a_ledger_that_is_closed_cannot_take_it(slow: Slow, caplog: pytest.LogCaptureFixture) -> None:
    """There is nobody to tell: it is logged."""
    ledger, call_id = overdue(slow)
    ledger.close()
    with caplog.at_level(logging.WARNING, "ledger.late"):
        slow.finish()
    assert call_id in caplog.text


def erase(folder: Path) -> None:
    """Take the events of the session out of the file."""
    with contextlib.closing(sqlite3.connect(folder / "ledger.db")) as file:
        for (name,) in file.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            file.execute(f'drop trigger "{name}"')
        file.execute("delete from event where session_id = ?", (SESSION,))
        file.commit()


@pytest.mark.parametrize("how", ["erased", "broken"])
def test_no_late_outcome_raises(slow: Slow, caplog: pytest.LogCaptureFixture, how: str) -> None:
    """Neither of a session that is gone, nor where a store raises what no store should: it is logged."""
    ledger, call_id = overdue(slow)
    if how == "erased":
        erase(slow.scene.folder)
    else:
        crash.arm(ledger, crash.before("call.outcome_arrived_late"), end=raising(ZeroDivisionError()))
    with caplog.at_level(logging.WARNING, "ledger.late"):
        slow.finish()
    assert f"late outcome of call {call_id} was not recorded" in caplog.text
    assert ("unknown_call" if how == "erased" else "ZeroDivisionError") in caplog.text


def test_secrets_do_not_come_back_with_a_late_outcome(scene: Scene) -> None:
    """What the arguments' schema calls sensitive is masked in it as in any other."""
    slow = Slow(scene)
    number = {"type": "integer", "x-sensitive": True}
    schema = {"type": "object", "properties": {"number": number}, "additionalProperties": False}
    scene.options |= {"schema": schema}
    slow.end = lambda: {"echo": "card 12345678"}
    ledger = scene.open()
    ledger.session(SESSION).dispatch(asked(("act", {"number": 12345678})))
    slow.finish()
    assert last(ledger).result == {"echo": "card [redacted]"}


@pytest.mark.parametrize(
    ("answer", "state"), [(Happened({"done": 3}), "succeeded"), (DidNotHappen(), "needs-review")], ids=["yes", "no"]
)
def test_a_tool_that_is_still_at_it_may_be_asked(slow: Slow, answer: Any, state: str) -> None:
    """But "not yet" is no "no": it is not started a second time beside itself, whatever its author declared."""
    slow.scene.options |= {
        "reconcile": lambda arguments, context: answer,
        "recovery": "retry",
        "supports_idempotency": True,
    }
    ledger = slow.scene.open()
    call = ledger.session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0]
    assert (call.state, len(slow.scene.ran)) == (state, 1)


def test_an_outcome_that_came_just_before_the_flag_is_the_outcome(slow: Slow) -> None:
    """The deadline was over and the tool ended while its doubt was being written down: there is no doubt."""
    ledger = slow.scene.open()
    crash.arm(ledger, crash.before("call.flagged"), end=slow.finish)
    call = ledger.session(SESSION).dispatch(asked(("act", {"number": 1}))).calls[0]
    assert (call.state, call.result) == ("succeeded", {"done": 1})
    assert types(ledger, SESSION)[-2:] == ["call.outcome_arrived_late", "call.succeeded"]


def test_an_outcome_of_a_lost_session_does_not_replace_the_flag(slow: Slow) -> None:
    """It came before the flag, but from an owner that had lost the session: the flag stands, with it as evidence."""
    slow.scene.options |= {"reconcile": lambda arguments, context: CantTell()}
    ledger = slow.scene.open()
    other = slow.scene.open(tool=False)

    def taken() -> None:
        slow.scene.free(ledger)
        other.session(SESSION).dispatch(asked(text="mine now"))  # it lacks the code that could tell
        slow.finish()

    crash.arm(ledger, crash.before("call.flagged"), end=taken)
    with pytest.raises(LeaseLost):
        ledger.session(SESSION).dispatch(asked(("act", {"number": 1})))
    assert slow.scene.only(other).state == "started"
    slow.scene.open().session(SESSION).messages()
    call = slow.scene.only(other)
    assert (call.state, call.reason) == ("needs-review", "outcome-unknown")
    assert call.late is not None
    assert not call.late.settles


@pytest.mark.parametrize(
    "end",
    [lambda: {"done": 1}, raising(Rejected("no", "No.")), raising(NotFound("gone"))],
    ids=["succeeded", "rejected", "not found"],
)
def test_an_outcome_in_time_is_what_it_was_late(slow: Slow, end: Callable[[], Any]) -> None:
    """Nothing of an outcome is lost on the way from one form to the other."""
    slow.end = end
    ledger, _ = overdue(slow)
    slow.finish()
    body = last(ledger)
    assert late(in_time(body), token=body.token, settles=True) == body


def test_a_late_outcome_names_its_source(scene: Scene) -> None:
    """Where the data came from is kept, as of an outcome in time."""
    on = threading.Event()
    ledger = scene.open(tool=False)

    @ledger.tool("look", effect="write", timeout_seconds=0.01)
    def look(*, context: Any) -> int:
        """Look, slowly."""
        context.source = {"uri": "file:///a"}
        on.wait()
        return 1

    call = ledger.session(SESSION).dispatch(asked(("look", {}))).calls[0]
    assert call.state == "needs-review"
    on.set()
    for thread in threading.enumerate():
        if thread.name == "ledger-look":
            thread.join()
    assert (last(ledger).source, ledger.find(call.call_id).source) == ({"uri": "file:///a"}, {"uri": "file:///a"})


def test_a_tool_that_must_not_be_interrupted_is_left_alone(scene: Scene, tmp_path: Path) -> None:
    """`cancellable: false`: at its deadline the caller stops waiting, the tool goes on, its outcome is kept."""
    slow = Slow(scene, cancellable=False)
    ledger, call_id = overdue(slow)
    slow.finish()
    assert ledger.find(call_id).state == "succeeded"


def test_an_outcome_against_a_verdict_stops_the_start(slow: Slow) -> None:
    """It came in the last moment before the call was started again: it is not started."""
    ledger, call_id = overdue(slow)
    ledger.resolve(call_id, "did-not-happen", run=True, by="ada")
    other = slow.scene.open()
    crash.arm(other, crash.before("call.started"), end=slow.finish)
    other.session(SESSION).messages()
    assert (len(slow.scene.ran), ledger.find(call_id).state) == (1, "needs-review")


def test_nothing_starts_beside_a_write_that_is_still_at_it(slow: Slow) -> None:
    """Its time is up and nobody waits for it, but it touches what the next call touches."""
    ledger = slow.scene.open()
    results = ledger.session(SESSION).dispatch(asked(("act", {"number": 1}), ("act", {"number": 2})))
    assert [(call.state, call.call.not_started) for call in results.calls] == [
        ("needs-review", False),
        ("failed", True),
    ]


def test_a_call_that_is_still_at_it_is_not_started_beside_itself(slow: Slow) -> None:
    """A person said that it did not happen and shall run, but in this process it is not over."""
    ledger, call_id = overdue(slow)
    ledger.resolve(call_id, "did-not-happen", run=True, by="ada")
    ledger.session(SESSION).messages()
    assert (len(slow.scene.ran), ledger.find(call_id).state) == (1, "authorized")


def test_an_outcome_against_a_verdict_stops_a_step(slow: Slow) -> None:
    """The same where a host takes its calls on one step at a time: what is not started does not run."""
    ledger, call_id = overdue(slow)
    ledger.resolve(call_id, "did-not-happen", run=True, by="ada")
    other = slow.scene.open()
    session = other.session(SESSION)
    crash.arm(other, crash.before("call.started"), end=slow.finish)
    assert (session.advance(call_id).state, len(slow.scene.ran)) == ("authorized", 1)
    session.messages()
    assert (ledger.find(call_id).state, len(slow.scene.ran)) == ("needs-review", 1)


def test_a_late_refusal_says_nothing_of_an_earlier_attempt(slow: Slow) -> None:
    """The first attempt may have happened: the second one's refusal is kept for the reviewer, and settles nothing."""
    slow.scene.options |= {"recovery": "retry", "supports_idempotency": True}
    slow.end = raising(Unavailable("Closed.", retryable=False))
    first = iter([raising(OutcomeUnknown("Timed out after sending."))])
    work = slow.scene.raises
    assert work is not None

    def end() -> Any:
        return next(first, work)()

    slow.scene.raises = end
    ledger, call_id = overdue(slow)
    slow.finish()
    assert (last(ledger).settles, ledger.find(call_id).state) == (False, "needs-review")


@pytest.mark.parametrize("way", ["resume", "step"])
@pytest.mark.parametrize("known", [True, False])
def test_what_replaced_a_call_that_did_happen_asks_again(slow: Slow, known: bool, way: str) -> None:
    """As where the call itself was to run again; what the person knew when they replaced it is no news."""
    ledger, original = overdue(slow)
    if known:
        with slow.scene.open() as another:  # another owner came between: the outcome is only evidence
            another.session(SESSION).add({"role": "user", "content": "Well?"})
        slow.finish()
        assert ledger.find(original).late is not None
    said = ledger.resolve(original, "did-not-happen", arguments={"number": 2}, by="ada")
    slow.finish()
    assert (ledger.find(original).late is None) is known
    session = slow.scene.open().session(SESSION)
    if way == "resume":
        session.messages()
    else:
        session.advance(said.call.call_id)
    call = ledger.find(said.call.call_id)
    assert (call.state, call.reason) == (("succeeded", None) if known else ("needs-review", "approval-mismatch"))
    if not known:
        assert call.flag is not None
        assert "arrived after a person's word" in str(call.flag.evidence)
        ledger.resolve(call.call_id, "run", by="ada")
        session.messages()
    assert [ran[0] for ran in slow.scene.ran] == [1, 2]
