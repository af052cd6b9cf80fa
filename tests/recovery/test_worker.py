"""Many sessions resumed at once, and the worker that runs what people approve."""

from __future__ import annotations

import threading

from ledger import Ask, Ledger
from ledger.errors import UnknownSession
from ledger.session import worker
from tests.recovery.processes import Host
from tests.recovery.scenes import Scene
from tests.session.agents import asked


def waiting(scene: Scene, *sessions: str) -> list[str]:
    """Leave a call that waits for an approval in each session."""
    scene.ask = Ask()
    ledger = scene.open()
    found = [ledger.session(name).dispatch(asked(("act", {"number": 1}))).calls[0].call_id for name in sessions]
    ledger.close()
    return found


def test_a_sweep_resumes_what_is_open(scene: Scene) -> None:
    """Sessions without open calls, and closed ones, are passed over."""
    one, two = waiting(scene, "one", "two")
    ledger = scene.open()
    ledger.session("done").dispatch(asked(text="done"))
    ledger.session("two").close()
    ledger.approve(one, by="ada")
    [report] = worker.sweep(ledger, execute=True)
    assert (report.session_id, [d["action"] for d in report.decisions], report.waiting) == ("one", ["run"], [])
    assert [ledger.find(call).state for call in (one, two)] == ["succeeded", "awaiting-approval"]
    assert list(worker.sweep(ledger, execute=True)) == []


def test_what_waits_and_what_lacks_code_is_told(scene: Scene) -> None:
    """A worker without the tools says which calls need them."""
    asked_for, approved = waiting(scene, "one", "two")
    ledger = scene.open(tool=False)
    ledger.approve(approved, by="ada")
    one, two = worker.sweep(ledger, execute=True, dry_run=True)
    assert [call.call_id for call in one.waiting] == [asked_for]
    assert [call.call_id for call in two.needs_code] == [approved]


def test_sessions_are_found_page_by_page(scene: Scene) -> None:
    """However many there are."""
    waiting(scene, "a", "b", "c", "d")
    ledger = scene.open()
    before, worker.PAGE = worker.PAGE, 2
    try:
        assert list(worker.with_open_calls(ledger)) == ["a", "b", "c", "d"]
    finally:
        worker.PAGE = before


def test_a_session_of_another_owner_does_not_stop_the_rest(scene: Scene) -> None:
    """It is reported as owned; whoever has it goes on."""
    [call] = waiting(scene, "z")
    scene.open().approve(call, by="ada")
    with Host(scene.folder, ("apart", {"number": 1, "then": "wait"})) as host:
        host.heard()
        scene.ask = None
        ledger = scene.open()
        owned, done = worker.sweep(ledger, execute=True)
        assert (owned.session_id, type(owned.error).__name__) == ("s", "SessionOwned")
        assert (done.session_id, done.error) == ("z", None)
        host.go_on()
        assert host.heard() == "end succeeded"


def test_a_worker_runs_what_is_approved_while_it_follows(scene: Scene) -> None:
    """It reports only where something was done, and ends when it is told to."""
    [call] = waiting(scene, "one")
    ledger = scene.open()
    looked = threading.Event()
    stop = threading.Event()

    def stopped(seconds: float) -> bool:
        if seconds and not looked.is_set():
            looked.set()
            ledger.approve(call, by="ada")
            return False
        return stop.is_set()

    reports = []
    for report in worker.follow(ledger, stopped):
        reports.append(report.session_id)
        stop.set()
    assert (reports, looked.is_set(), ledger.find(call).state) == (["one"], True, "succeeded")


def test_a_follower_tells_an_error_once(scene: Scene) -> None:
    """Until it is another one; a session of somebody else is no error at all."""
    waiting(scene, "one")
    ledger = scene.open()
    rounds = iter([False, False, False, True])

    def broken(session_id: str, **options: object) -> None:
        raise UnknownSession(session_id)

    ledger.session = broken  # type: ignore[method-assign, assignment]  # a session that cannot be opened
    reports = list(worker.follow(ledger, lambda seconds: next(rounds) if seconds else False))
    assert [report.error.code for report in reports if report.error] == ["unknown_session"]


def test_one_session_is_resumed_by_name(scene: Scene) -> None:
    """As `ledger resume S` does."""
    [call] = waiting(scene, "one")
    ledger: Ledger = scene.open()
    ledger.approve(call, by="ada")
    report = worker.resume_one(ledger, "one", execute=True)
    assert [decision["action"] for decision in report.decisions] == ["run"]
