"""Many sessions resumed: once, and again and again."""

import itertools
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger
from ledger.errors import LedgerError, SessionOwned, StoreUnavailable, UnknownSession
from ledger.ids import Clock
from ledger.session import worker
from ledger.session.worker import Interrupted, Report, follow, resume_one, sweep, with_open_calls
from tests.session.agents import asked, opened


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path) as found:

        @found.tool("send", effect="external")
        def send(to: str) -> str:
            """Send."""
            return to

        @found.authorize
        def policy(call: Any, principal: Any) -> Any:
            return Ask()

        for name in ("a", "b", "c"):
            with found.session(name) as session:
                session.dispatch(asked(("send", {"to": name})))
        with found.session("c") as session:
            session.close()
        with found.session("d") as session:
            session.dispatch(asked(text="Nothing to do."))
        yield found


def waiting(ledger: Ledger) -> dict[str, str]:
    return {row["sessionId"]: row["callId"] for row in ledger.reviews()}


@pytest.mark.parametrize("page", [1, 2, 200])
def test_sessions_with_open_calls_are_found(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    """Closed ones, and those whose calls have all ended, are passed over."""
    monkeypatch.setattr(worker, "PAGE", page)
    assert list(with_open_calls(ledger)) == ["a", "b"]


def test_an_interrupted_resume_says_what_became_of_its_session(ledger: Ledger) -> None:
    """Who interrupts a tool still learns what was decided and who waits; for others it is a KeyboardInterrupt."""

    @ledger.tool("stuck", effect="external")
    def stuck() -> None:
        """Be interrupted."""
        raise KeyboardInterrupt

    with ledger.session("e") as session:
        session.dispatch(asked(("stuck", {})))
    called = waiting(ledger)["e"]
    ledger.approve(called)
    with pytest.raises(Interrupted) as interrupted:
        resume_one(ledger, "e", execute=True)
    report = interrupted.value.report
    assert [(each["callId"], each["action"]) for each in report.decisions] == [(called, "run")]
    assert [(call.call_id, call.state) for call in report.waiting] == [(called, "needs-review")]
    assert isinstance(interrupted.value, KeyboardInterrupt)


def test_an_earlier_resume_is_not_told_as_the_one_that_was_interrupted(ledger: Ledger) -> None:
    """Where nothing was decided yet, nothing became of the session: it is told as any other interruption."""
    interrupted: list[bool] = []
    told = []

    def touched(_: Any) -> list[str]:
        if interrupted:
            raise KeyboardInterrupt
        return []

    @ledger.tool("stuck", effect="external", resource_keys=touched)
    def stuck() -> None:
        """Be interrupted."""
        interrupted.append(True)
        raise KeyboardInterrupt

    with ledger.session("e") as session:
        session.dispatch(asked(("stuck", {}), ("stuck", {})))
    for called in [row["callId"] for row in ledger.reviews() if row["sessionId"] == "e"]:
        ledger.approve(called)
        with pytest.raises(KeyboardInterrupt) as last:
            resume_one(ledger, "e", execute=True)
        told.append(isinstance(last.value, Interrupted))
    assert told == [True, False]


def test_a_report_says_what_became_of_a_session(ledger: Ledger) -> None:
    """Who waits, what ran, and what needs code that is not here."""
    report = resume_one(ledger, "a", execute=True)
    assert ([call.tool for call in report.waiting], report.decisions, report.needs_code) == (["send"], [], [])
    ledger.approve(waiting(ledger)["a"])
    lacking = resume_one(ledger, "a", execute=False)
    assert [call.state for call in lacking.needs_code] == ["authorized"]
    planned = resume_one(ledger, "a", execute=True, dry_run=True)
    done = resume_one(ledger, "a", execute=True)
    assert [each["action"] for each in planned.decisions] == [each["action"] for each in done.decisions] == ["run"]
    assert resume_one(ledger, "a", execute=True) == Report("a")
    with pytest.raises(UnknownSession):
        resume_one(ledger, "nobody", execute=True)


def broken(monkeypatch: pytest.MonkeyPatch, errors: Mapping[str, Exception]) -> None:
    """Let some sessions fail to be resumed."""
    right = worker.resume_one

    def resume(ledger: Ledger, session_id: str, **options: Any) -> Report:
        if session_id in errors:
            raise errors[session_id]
        return right(ledger, session_id, **options)

    monkeypatch.setattr(worker, "resume_one", resume)


def test_one_session_does_not_stop_the_rest(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that cannot be resumed is reported, and the others are resumed."""
    broken(monkeypatch, {"a": StoreUnavailable("no luck")})
    first, second = sweep(ledger, execute=True)
    assert first.error is not None
    assert first.error.code == "store_unavailable"
    assert (second.session_id, len(second.waiting)) == ("b", 1)


def test_no_error_of_one_session_ends_a_worker(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a resume raises is told of its session, without the text, and the others are resumed."""
    broken(monkeypatch, {"a": KeyError("a secret")})
    first, second = sweep(ledger, execute=True)
    assert first.error is not None
    assert (first.error.code, "KeyError" in str(first.error), "secret" in str(first.error)) == (
        "unexpected",
        True,
        False,
    )
    assert (second.session_id, len(second.waiting)) == ("b", 1)


def test_a_worker_runs_what_people_approve(ledger: Ledger) -> None:
    """It reports only where something was done, and ends when it is told to."""
    rounds = []

    def stopped(seconds: float) -> bool:
        rounds.append(seconds)
        if len(rounds) == 3:  # behind the first round, in which nothing was to be done
            ledger.approve(waiting(ledger)["b"])
        return len(rounds) == 6

    reports = list(follow(ledger, stopped, seconds=0.25))
    assert [(report.session_id, report.decisions[0]["action"]) for report in reports] == [("b", "run")]
    assert rounds == [0, 0, 0.25, 0, 0.25, 0.25]  # nothing was to be done in "a" but once


def test_a_session_at_rest_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only a person can do something it rests until something follows there, or a request expires."""
    moments = iter(datetime(2026, 11, 30, tzinfo=UTC) + timedelta(seconds=n) for n in itertools.count())
    late: list[datetime] = []
    clock = Clock(now=lambda: late[0] if late else next(moments))
    resumed: list[str] = []
    right = worker.resume_one

    def resume(ledger: Ledger, session_id: str, **options: Any) -> Report:
        resumed.append(session_id)
        return right(ledger, session_id, **options)

    monkeypatch.setattr(worker, "resume_one", resume)
    with opened(tmp_path, clock=clock) as ledger:
        ledger.tool("send", effect="external")(_send)
        ledger.authorize(lambda call, _: Ask(expires="1h" if call.arguments["to"] == "a" else None))
        for name in ("a", "b"):
            with ledger.session(name) as session:
                session.dispatch(asked(("send", {"to": name})))
        rounds = []

        def stopped(seconds: float) -> bool:
            rounds.append(list(resumed))
            resumed.clear()
            if len(rounds) == 4:
                late.append(next(moments) + timedelta(hours=2))
            return len(rounds) == 6

        reports = list(follow(ledger, stopped))
    assert [report.decisions[0]["action"] for report in reports] == ["flag"]
    assert rounds == [["a"], ["b"], [], [], ["a"], []]


def _send(to: str) -> str:
    """Send."""
    return to


def test_a_worker_that_is_told_to_stop_begins_no_other_session(ledger: Ledger) -> None:
    """What was approved in a session that it has not begun stays approved."""
    for call_id in (waiting(ledger)["a"], waiting(ledger)["b"]):
        ledger.approve(call_id)
    reports: list[str] = []
    for report in follow(ledger, lambda _: bool(reports)):
        reports.append(report.session_id)
        ledger.stop()
    assert reports == ["a"]
    assert [row["state"] for row in ledger.calls(session="b")] == ["authorized"]


def test_an_error_is_told_once(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker repeats no error until it is another one, and does not report sessions that others work on."""
    errors: dict[str, LedgerError] = {
        "a": StoreUnavailable("no luck"),
        "b": SessionOwned("b", owner="somebody", until="soon"),
    }
    broken(monkeypatch, errors)
    rounds = []

    def stopped(seconds: float) -> bool:
        rounds.append(seconds)
        if len(rounds) == 6:
            errors["a"] = LedgerError("another")
        return len(rounds) == 9

    reports = list(follow(ledger, stopped))
    codes = [report.error.code for report in reports if report.error is not None]
    assert codes == ["store_unavailable", "ledger_error"]


def test_a_store_out_of_reach_does_not_end_a_worker(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told once for each time, and what was approved runs once the store is back; a closed ledger ends it."""
    right, rounds = worker.with_open_calls, itertools.count(1)
    ledger.approve(waiting(ledger)["b"])

    def listed(ledger: Ledger) -> Iterator[str]:
        if next(rounds) in (1, 2, 4):
            raise StoreUnavailable("the server is gone")
        return right(ledger)

    monkeypatch.setattr(worker, "with_open_calls", listed)
    found = follow(ledger, lambda _: False)
    first, ran, again = (next(found) for _ in range(3))
    assert [(each.session_id, each.error and each.error.code) for each in (first, ran, again)] == [
        ("", "store_unavailable"),
        ("b", None),
        ("", "store_unavailable"),
    ]
    assert ran.decisions[0]["action"] == "run"
    ledger.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        next(found)
