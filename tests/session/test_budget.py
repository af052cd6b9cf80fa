"""Budgets of sessions: counted from events; once one is reached nothing starts, and the session says which it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger import Ask, Ledger, Limits, Session
from ledger.errors import SessionClosed, UsageError
from ledger.events import SessionClosed as Closed
from ledger.events import SessionOpened, TurnRecorded
from ledger.ids import Clock
from ledger.session.budget import cost_of
from ledger.testing import crash
from ledger.testing.contract.building import HandClock
from tests.session.agents import asked, recorded, types
from tests.session.test_border import CutOff, stop


@pytest.fixture
def time() -> HandClock:
    return HandClock()


@pytest.fixture
def ledger(time: HandClock) -> Any:
    with program(None, time) as found:
        yield found


RUNS: list[int] = []


def program(folder: Path | None, time: HandClock) -> Ledger:
    """A program with one write and one read, on the ledger of this folder, or on one in memory."""
    url = "memory://" if folder is None else f"sqlite:///{folder}/ledger.db"
    ledger = Ledger.open(url, clock=Clock(now=lambda: time.moment), jitter=lambda: 0.0)
    RUNS.clear()

    @ledger.tool("send", effect="external")
    def send(n: int = 0) -> int:
        """Send."""
        RUNS.append(n)
        return n

    @ledger.tool("look", effect="read")
    def look(n: int = 0) -> int:
        """Look."""
        RUNS.append(n)
        return n

    return ledger


def end(ledger: Ledger, session_id: str) -> tuple[str, Any]:
    """Why a session was closed, and by which limit."""
    (body,) = [event.body for event in recorded(ledger, session_id) if isinstance(event.body, Closed)]
    return body.reason, body.limit


def why(session: Session) -> str | None:
    """Why the session is closed by now."""
    return session.closed


def test_turns(ledger: Ledger) -> None:
    """The calls of a turn beyond the last one do not start; the session is closed with max_turns."""
    session = ledger.session("s", limits=Limits(turns=2))
    for n in range(2):
        assert session.dispatch(asked(("send", {"n": n}))).calls[0].state == "succeeded"
    assert why(session) is None
    results = session.dispatch(asked(("send", {"n": 2}), ("nobody", {}), ("look", {})))
    assert [(call.state, call.code) for call in results.calls] == [
        ("denied", "max_turns"),
        ("rejected", "unknown_tool"),
        ("denied", "max_turns"),
    ]
    assert results.calls[0].answer["next"] == "stop"
    assert len(results.messages) == 4
    assert RUNS == [0, 1]
    assert why(session) == "max_turns"
    assert end(ledger, "s") == ("max_turns", {"limit": "turns", "max": 2})
    with pytest.raises(SessionClosed, match="max_turns"):
        session.dispatch(asked(("look", {})))


def test_a_last_answer_is_taken(ledger: Ledger) -> None:
    """A turn that asks for nothing starts nothing: it is taken also where the turns are used up."""
    session = ledger.session("s", limits=Limits(turns=1))
    session.dispatch(asked(("send", {})))
    session.dispatch(asked(text="Done."))
    assert session.final
    assert why(session) is None
    session.close()
    assert end(ledger, "s") == ("final_answer", None)


def test_a_turn_of_wrong_calls_ends_it_as_well(ledger: Ledger) -> None:
    """A model that only sends what gates refuse comes to an end too."""
    session = ledger.session("s", limits=Limits(turns=1))
    for _ in range(2):
        results = session.dispatch(asked(("nobody", {})))
    assert results.calls[0].state == "rejected"
    assert why(session) == "max_turns"


def test_calls(ledger: Ledger) -> None:
    """Of a turn's calls so many start as there are left; the others are denied, and the session is closed."""
    session = ledger.session("s", limits=Limits(calls=3))
    session.dispatch(asked(("look", {"n": 1}), ("nobody", {})))
    results = session.dispatch(asked(*(("look", {"n": n}) for n in range(2, 6))))
    assert [call.state for call in results.calls] == ["succeeded", "succeeded", "denied", "denied"]
    assert {call.code for call in results.calls[2:]} == {"max_calls"}
    assert sorted(RUNS) == [1, 2, 3]
    assert end(ledger, "s") == ("budget", {"limit": "calls", "max": 3})


def test_calls_that_are_used_up_run_no_code(ledger: Ledger) -> None:
    """A turn after the last call is denied before any check or policy sees it."""
    seen: list[Any] = []
    session = ledger.session("s", limits=Limits(calls=1))
    session.call("send")
    ledger.check("send")(lambda arguments, context: seen.append(arguments))
    assert session.call("send").code == "max_calls"
    assert not seen
    assert "call.validated" not in types(ledger, "s")[-3:]


def test_seconds(ledger: Ledger, time: HandClock) -> None:
    """Time counts from the session's first event; behind it nothing starts, and it is closed with deadline."""
    session = ledger.session("s", limits=Limits(seconds=60))
    assert session.call("send").state == "succeeded"
    time.move(59.9)
    assert session.call("send").state == "succeeded"
    time.move(0.1)
    denied = session.call("send")
    assert (denied.state, denied.code) == ("denied", "deadline")
    assert end(ledger, "s") == ("deadline", {"limit": "seconds", "max": 60})


def test_time_ends_between_the_calls_of_a_turn(ledger: Ledger, time: HandClock) -> None:
    """Where the time ends while a turn runs, the calls that have not started do not start."""

    @ledger.tool("long", effect="external")
    def long() -> str:
        """Take a while."""
        time.move(61)
        return "done"

    session = ledger.session("s", limits=Limits(seconds=60))
    results = session.dispatch(asked(("long", {}), ("send", {})))
    assert [(call.state, call.code) for call in results.calls] == [("succeeded", None), ("denied", "deadline")]
    assert why(session) == "deadline"


USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100}
PRICES = {"input": 3.0, "output": 15.0}


@pytest.mark.parametrize(
    ("usage", "cost", "prices", "worth"),
    [
        (None, None, None, 0.0),
        (USAGE, None, None, 0.0),
        (USAGE, None, PRICES, 0.0045),
        ({"input_tokens": 1_000, "output_tokens": 100}, None, PRICES, 0.0045),
        ({"inputTokens": 1_000, "outputTokens": 100}, None, PRICES, 0.0045),
        ({"promptTokenCount": 1_000, "candidatesTokenCount": 100}, None, PRICES, 0.0045),
        ({"prompt_tokens": "many", "completion_tokens": True}, None, PRICES, 0.0),
        (USAGE | {"cost": 0.01}, None, PRICES, 0.01),
        (USAGE | {"cost": None}, None, PRICES, 0.0045),
        (USAGE | {"cost": -1}, None, PRICES, 0.0045),
        (USAGE | {"cost": 0.01}, 0.02, PRICES, 0.02),
        (USAGE | {"cost": 0.01}, 0, PRICES, 0.0),
        ([], None, PRICES, 0.0),
        ({"prompt_tokens": 10**400, "completion_tokens": 100}, None, PRICES, 0.0015),
        (USAGE | {"cost": 10**400}, None, PRICES, 0.0045),
    ],
)
def test_what_a_turn_costs(usage: Any, cost: Any, prices: Any, worth: float) -> None:
    """The host's word counts first, then the provider's, then the tokens by their prices; what nobody knows is 0."""
    turn = TurnRecorded(kind="tool_calls", provider="openai", calls=1, usage=usage, cost=cost)
    assert cost_of(turn, prices) == pytest.approx(worth)


def test_cost(ledger: Ledger) -> None:
    """Once the turns have cost so much nothing starts any more, the turn that reached it counted."""
    session = ledger.session("s", limits=Limits(cost=0.01, prices=PRICES))
    reply = {"choices": [{"message": asked(("send", {"n": 1})), "finish_reason": "tool_calls"}], "usage": USAGE}
    assert session.dispatch(reply).calls[0].state == "succeeded"
    assert session.dispatch(asked(("send", {"n": 2})), cost=0.0054).calls[0].state == "succeeded"
    last = session.dispatch(asked(("send", {"n": 3})), cost=0.0002)
    assert (last.calls[0].state, last.calls[0].code) == ("denied", "max_cost")
    assert end(ledger, "s") == ("budget", {"limit": "cost", "max": 0.01})
    costs = [event.body.cost for event in recorded(ledger, "s") if isinstance(event.body, TurnRecorded)]
    assert costs == [None, 0.0054, 0.0002]
    exact = ledger.session("u", limits=Limits(cost=2))
    states = [exact.dispatch(asked(("send", {"n": n})), cost=1).calls[0].state for n in range(2)]
    assert states == ["succeeded", "denied"]
    with pytest.raises(UsageError, match="cost= is a number"):
        ledger.session("t").dispatch(asked(("send", {})), cost="much")


def test_a_crash_resets_nothing(tmp_path: Path, time: HandClock) -> None:
    """A program that opens the session again, without naming limits, goes on with those of its first event."""
    with program(tmp_path, time) as ledger:
        session = ledger.session("s", limits=Limits(turns=9, calls=2, seconds=60, cost=5, prices=PRICES))
        session.call("send", {"n": 1})
        (first,) = [event.body for event in recorded(ledger, "s") if isinstance(event.body, SessionOpened)]
        assert first.limits == {"turns": 9, "calls": 2, "seconds": 60, "cost": 5, "prices": PRICES}
    with program(tmp_path, time) as ledger:
        session = ledger.session("s")
        session.messages()
        assert session.call("send", {"n": 2}).state == "succeeded"
        assert session.call("send", {"n": 3}).code == "max_calls"
        assert RUNS == [2]
        assert why(session) == "budget"


def test_a_host_may_give_a_session_other_limits(tmp_path: Path, time: HandClock) -> None:
    """The limits given when it is opened again hold in that program; what was used stays counted."""
    with program(tmp_path, time) as ledger:
        ledger.session("s", limits=Limits(calls=1)).call("send", {"n": 1})
    with program(tmp_path, time) as ledger:
        session = ledger.session("s", limits=Limits(calls=2))
        session.messages()
        assert session.call("send", {"n": 2}).state == "succeeded"
        assert session.call("send", {"n": 3}).state == "denied"


def test_what_was_approved_too_late_does_not_run(ledger: Ledger, time: HandClock) -> None:
    """A call that is approved behind the deadline is denied, and the session is closed."""
    ledger.authorize(lambda call, principal: Ask())
    session = ledger.session("s", limits=Limits(seconds=60))
    waiting = session.call("send")
    time.move(60)
    ledger.approve(waiting, by="eva")
    session.wait()
    assert ledger.find(waiting).code == "deadline"
    assert RUNS == []
    assert why(session) == "deadline"


def test_a_step_behind_the_limit_is_denied(ledger: Ledger, time: HandClock) -> None:
    """A call that is taken on step by step is denied where it would start."""
    session = ledger.session("s", limits=Limits(seconds=60))
    call = session.propose("send")
    for _ in range(2):
        call = session.advance(call)
    assert call.state == "authorized"
    time.move(60)
    assert session.advance(call).code == "deadline"
    assert why(session) == "deadline"


@pytest.mark.parametrize(
    ("limits", "later", "ended"),
    [(Limits(seconds=60), 60, ("failed", "cancelled")), (Limits(calls=1), 0, ("succeeded", None))],
)
def test_what_was_under_way_is_not_started_again(
    tmp_path: Path, time: HandClock, limits: Limits, later: float, ended: tuple[str, Any]
) -> None:
    """A read that a crash cut off is not tried again behind the deadline; a call that was counted may go on."""
    with program(tmp_path, time) as ledger:
        crash.arm(ledger, crash.before("call.succeeded"), end=stop)
        with pytest.raises(CutOff):
            ledger.session("s", limits=limits).call("look")
    time.move(later)
    with program(tmp_path, time) as ledger:
        ledger.resume("s")
        (row,) = ledger.calls(session_id="s")
        assert (row["state"], row.get("code")) == ended
        assert ("session.closed" in types(ledger, "s")) is (ended[0] == "failed")


def test_imported_words_about_limits_do_no_harm(ledger: Ledger) -> None:
    """Limits of a record that are none of ours are no limits."""
    session = ledger.session("s")
    session.call("send")
    assert session.history.opened is not None
    odds: list[Any] = [{"turns": 0}, {"turns": "many"}, {"hours": 1}, {"prices": {}}, {"cost": 10**400}]
    for odd in odds:
        object.__setattr__(session.history.opened, "limits", odd)
        assert session.call("send").state == "succeeded"


@pytest.mark.parametrize(
    "wrong",
    [
        {"turns": 0},
        {"turns": True},
        {"calls": 1.5},
        {"calls": -1},
        {"seconds": 0},
        {"seconds": float("inf")},
        {"seconds": True},
        {"cost": "much"},
        {"cost": 10**400},
        {"prices": {"input": 1.0}},
        {"prices": 3.0},
        {"prices": {"input": 1.0, "output": -1}},
    ],
)
def test_wrong_limits_are_told(wrong: dict[str, Any]) -> None:
    """Limits are numbers above 0; prices name both kinds of tokens."""
    with pytest.raises(UsageError):
        Limits(**wrong)


def test_a_time_beyond_the_calendar_is_no_end(ledger: Ledger) -> None:
    """Limits that no clock ever reaches stop nothing, and a limit of any size can be waited for."""
    session = ledger.session("s", limits=Limits(seconds=1e300))
    assert session.dispatch(asked(("send", {}))).calls[0].state == "succeeded"
    assert session.wait(10**400).waiting is False
    assert session.wait(-(10**400)).waiting is False
