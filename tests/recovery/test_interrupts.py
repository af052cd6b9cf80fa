"""A host that is interrupted, told to stop, or ended by its own tool leaves a clean state."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from ledger import Unavailable
from ledger.errors import LeaseLost
from ledger.testing import crash
from tests.recovery.processes import Host
from tests.recovery.scenes import SESSION, Scene
from tests.session.agents import asked, types


def found(scene: Scene) -> list[tuple[str, str | None, str | None]]:
    """Return state, reason and code of the session's calls."""
    from ledger.store.port import CallFilter

    ledger = scene.open(tool=False)
    rows = ledger.reader.calls(CallFilter(session_id=SESSION), limit=10)
    return [(placed.row.state, placed.row.reason, placed.row.code) for placed in rows]


UNKNOWN = ("needs-review", "outcome-unknown", None)
CANCELLED = ("failed", None, "cancelled")


def test_ctrl_c_in_a_write(scene: Scene) -> None:
    """What was at work may have had its effect; what had not begun did not and says so."""
    with Host(scene.folder, ("act", {"number": 1, "then": "wait"}), ("act", {"number": 2})) as host:
        host.heard()
        host.signal(signal.SIGINT)
        assert host.heard() == "end KeyboardInterrupt"
        assert host.ended() == 0
    assert found(scene) == [UNKNOWN, CANCELLED]
    ledger = scene.open(tool=False)
    before = types(ledger, SESSION)
    ledger.session(SESSION).messages()  # at once: the lease was given back
    assert types(ledger, SESSION) == before


def test_ctrl_c_in_a_batch(scene: Scene) -> None:
    """Each call of a group ends for itself: writes in doubt, reads cancelled, the next group not started."""
    wait = {"then": "wait"}
    batch: list[tuple[str, dict[str, Any]]] = [
        ("apart", {"number": 1, **wait}),
        ("apart", {"number": 2, **wait}),
        ("act", {"number": 3}),
    ]
    with Host(scene.folder, *batch) as host:
        assert {host.heard(), host.heard()} == {"in 1", "in 2"}
        host.signal(signal.SIGINT)
        assert host.heard() == "end KeyboardInterrupt"
    assert found(scene) == [UNKNOWN, UNKNOWN, CANCELLED]


def test_ctrl_c_in_reads(scene: Scene) -> None:
    """A read that is cancelled has failed; it may be asked for again."""
    wait = {"then": "wait"}
    with Host(scene.folder, ("look", {"number": 1, **wait}), ("look", {"number": 2, **wait})) as host:
        assert {host.heard(), host.heard()} == {"in 1", "in 2"}
        host.signal(signal.SIGINT)
        assert host.heard() == "end KeyboardInterrupt"
    assert found(scene) == [CANCELLED, CANCELLED]


@pytest.mark.parametrize("point", [crash.before("call.flagged"), crash.after("call.flagged")], ids=str)
def test_ctrl_c_again_while_the_first_is_dealt_with(scene: Scene, point: crash.Point) -> None:
    """Whenever the second comes, nothing recorded is lost and the next process finds the doubt."""

    def again() -> None:
        raise KeyboardInterrupt

    scene.raises = again
    ledger = scene.open()
    session = ledger.session(SESSION)
    crash.arm(ledger, point, end=again)
    with pytest.raises(KeyboardInterrupt):
        session.dispatch(asked(("act", {"number": 1}), ("act", {"number": 2})))
    after = scene.open()
    scene.free(ledger)
    after.session(SESSION).messages()
    [first, second] = found(scene)
    assert first == UNKNOWN
    assert second[:2] in [("failed", None), ("needs-review", "not-started")]
    assert len(scene.ran) == 1


@pytest.mark.parametrize("point", [crash.before("call.succeeded"), crash.after("call.succeeded")], ids=str)
def test_ctrl_c_while_an_outcome_is_recorded(scene: Scene, point: crash.Point) -> None:
    """The outcome is known, so it is recorded all the same, once."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    ledger = scene.open()
    session = ledger.session(SESSION)
    session.messages()
    crash.arm(ledger, point, end=interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.dispatch(asked(("act", {"number": 1}), ("act", {"number": 2})))
    assert found(scene)[0] == ("succeeded", None, None)
    assert types(ledger, SESSION).count("call.succeeded") == 1
    scene.free(ledger)
    scene.open().session(SESSION).messages()
    assert [number for number, _, _ in scene.ran] == [1]


@pytest.mark.parametrize(
    ("point", "state"),
    [
        (crash.before("call.started"), None),
        (crash.after("call.started"), ("failed", None, "cancelled")),
    ],
    ids=["before", "after"],
)
def test_ctrl_c_while_a_start_is_recorded(scene: Scene, point: crash.Point, state: Any) -> None:
    """The tool had not begun: a start that was recorded ends as cancelled, and it never ran."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    ledger = scene.open()
    session = ledger.session(SESSION)
    session.messages()
    crash.arm(ledger, point, end=interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.dispatch(asked(("act", {"number": 1})))
    assert found(scene) == ([] if state is None else [state])
    assert scene.ran == []


def test_a_stop_lets_started_calls_end_and_starts_no_others(scene: Scene) -> None:
    """SIGTERM drains: nobody is paged for what has not begun."""
    batch: list[tuple[str, dict[str, Any]]] = [
        ("act", {"number": 1, "then": "wait"}),
        ("act", {"number": 2}),
        ("act", {"number": 3}),
    ]
    with Host(scene.folder, *batch) as host:
        host.heard()
        host.signal(signal.SIGTERM)
        host.go_on()
        assert host.heard() == "end succeeded failed failed"
        assert host.ended() == 0
    assert found(scene) == [("succeeded", None, None), CANCELLED, CANCELLED]
    assert (scene.folder / "effects").read_text() == "1\n"


def test_a_tool_that_ends_the_process(scene: Scene) -> None:
    """`os._exit` in a tool is a crash after its effect."""
    with Host(scene.folder, ("act", {"number": 1, "then": "exit"})) as host:
        assert host.heard() == "in 1"
        assert host.heard() == ""
        assert host.ended() == 3
    scene.open(tool=False).session(SESSION).messages()
    assert found(scene) == [UNKNOWN]


def test_a_tool_that_raises_system_exit(scene: Scene) -> None:
    """It ends the call, not the host: whatever a tool raises is its outcome."""

    def leave() -> None:
        raise SystemExit(1)

    scene.raises = leave
    results = scene.open().session(SESSION).dispatch(asked(("act", {"number": 1})))
    assert (results.calls[0].state, results.calls[0].call.reason) == ("needs-review", "outcome-unknown")


def interrupted() -> None:
    raise KeyboardInterrupt


RETRY = {"effect": "external", "recovery": "retry", "supports_idempotency": True}


def raising(*errors: Exception) -> Any:
    left = iter(errors)

    def end() -> Any:
        raise next(left)

    return end


DOWN = Unavailable("Closed.")


@pytest.mark.parametrize(
    ("options", "errors", "point", "end"),
    [
        ({"effect": "read"}, [DOWN], crash.after("call.attempt_failed"), CANCELLED),
        (RETRY, [DOWN], crash.after("call.attempt_failed"), CANCELLED),
        (RETRY, [TimeoutError(), DOWN], crash.after("call.attempt_failed"), UNKNOWN),
        ({"effect": "read"}, [DOWN, DOWN], crash.before("call.started", 2), CANCELLED),
        ({"effect": "read"}, [DOWN, DOWN], crash.after("call.started", 2), CANCELLED),
        (RETRY, [DOWN, DOWN], crash.before("call.started", 2), CANCELLED),
        (RETRY, [DOWN, DOWN], crash.after("call.started", 2), CANCELLED),
        (RETRY, [TimeoutError()], crash.before("call.started", 2), UNKNOWN),
        (RETRY, [TimeoutError()], crash.after("call.started", 2), UNKNOWN),
    ],
    ids=[
        "a read waits",
        "a write waits",
        "a doubtful write waits",
        "a read starts again",
        "a read is started again",
        "a write starts again",
        "a write is started again",
        "a doubtful write starts again",
        "a doubtful write is started again",
    ],
)
def test_ctrl_c_between_two_attempts(
    scene: Scene, options: dict[str, Any], errors: list[Exception], point: crash.Point, end: Any
) -> None:
    """A write whose first attempt may have happened is in doubt, whatever became of the next; all else is cancelled."""
    scene.options, scene.raises = options, raising(*errors)
    ledger = scene.open()
    session = ledger.session(SESSION)
    session.messages()
    crash.arm(ledger, point, end=interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.dispatch(asked(("act", {"number": 1})))
    assert [states[:2] for states in found(scene)] == [end[:2]]
    assert not scene.only(ledger).not_started


class Pair:
    """Two writes beside each other; the second waits for a word."""

    def __init__(self, scene: Scene) -> None:
        self.on = threading.Event()
        self.ledger = scene.open(tool=False)

        @self.ledger.tool("apart", effect="write", resource_keys=lambda arguments: [str(arguments["number"])])
        def apart(number: int) -> int:
            """Act on something of its own."""
            if number == 2:
                self.on.wait()
            return number

    def dispatch(self) -> Any:
        return self.ledger.session(SESSION).dispatch(asked(*(("apart", {"number": n}) for n in (1, 2))))

    def finish(self) -> None:
        """Let the second one end."""
        self.on.set()
        for thread in threading.enumerate():
            if thread.name == "ledger-apart":
                thread.join()


def test_ctrl_c_as_a_call_has_ended(scene: Scene) -> None:
    """It landed, but nobody had looked yet: its outcome is recorded."""
    pair = Pair(scene)

    def end() -> None:
        pair.finish()
        raise KeyboardInterrupt

    crash.arm(pair.ledger, crash.before("call.succeeded"), end=end)
    with pytest.raises(KeyboardInterrupt):
        pair.dispatch()
    assert [state for state, _, _ in found(scene)] == ["succeeded", "succeeded"]


def test_a_call_has_ended_as_the_session_is_lost(scene: Scene) -> None:
    """Both outcomes are kept as evidence: the one that was being recorded, and the one that had just landed."""
    pair = Pair(scene)
    other = scene.open(tool=False)

    def end() -> None:
        scene.free(pair.ledger)
        other.session(SESSION).messages()
        pair.finish()

    crash.arm(pair.ledger, crash.before("call.succeeded"), end=end)
    with pytest.raises(LeaseLost):
        pair.dispatch()
    assert found(scene) == [UNKNOWN, UNKNOWN]
    assert types(other, SESSION)[-2:] == ["call.outcome_arrived_late"] * 2


def test_ctrl_c_leaves_alone_what_has_ended(scene: Scene) -> None:
    """The first call of the turn was over and recorded."""

    def second() -> Any:
        if scene.ran[-1][0] == 2:
            raise KeyboardInterrupt
        return 1

    scene.raises = second
    with pytest.raises(KeyboardInterrupt):
        scene.open().session(SESSION).dispatch(asked(*(("act", {"number": n}) for n in (1, 2, 3))))
    assert [states[0] for states in found(scene)] == ["succeeded", "needs-review", "failed"]


@pytest.mark.parametrize(
    ("errors", "end"), [([DOWN], CANCELLED), ([TimeoutError(), DOWN], UNKNOWN)], ids=["did nothing", "in doubt"]
)
def test_a_stop_ends_what_waits_for_its_next_attempt(scene: Scene, errors: list[Exception], end: Any) -> None:
    """Nothing is started any more, also not again; the backoff is not waited for."""
    down = Unavailable("Closed.", retry_after=30)
    scene.options, scene.raises = RETRY, raising(*errors[:-1], down)
    ledger = scene.open()
    session = ledger.session(SESSION)
    session.messages()
    crash.arm(ledger, crash.after("call.attempt_failed"), end=ledger.stop)
    assert not session.dispatch(asked(("act", {"number": 1}))).calls[0].call.not_started
    assert [states[:2] for states in found(scene)] == [end[:2]]
