"""Two processes and one session: who may work on it, and what a stale one may still say."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from ledger import CantTell, Happened, Ledger
from ledger.errors import SessionOwned, StartDiffers
from ledger.events import MessageRecorded
from ledger.ids import Clock
from ledger.store.port import Append, Appended, Store
from ledger.testing import crash
from tests.recovery.processes import Host
from tests.recovery.scenes import SESSION, START, Scene
from tests.session.agents import asked, recorded, types

WAIT = ("act", {"number": 1, "then": "wait"})


def test_a_live_owner_is_named(scene: Scene) -> None:
    """A second process that wants to work on the session is told who has it, and until when."""
    with Host(scene.folder, WAIT) as host:
        assert host.heard() == "in 1"
        with pytest.raises(SessionOwned) as owned:
            scene.open(tool=False).session(SESSION).messages(start=START)
        assert f":{host.pid}:" in owned.value.owner
        assert owned.value.until > datetime.now(UTC).isoformat()
        host.go_on()
        assert host.heard() == "end succeeded"


def test_reading_and_answering_need_no_lease(scene: Scene) -> None:
    """Whoever looks, or writes a note, disturbs no one."""
    with Host(scene.folder, WAIT) as host:
        host.heard()
        ledger = scene.open(tool=False)
        ledger.note(scene.only(ledger).call_id, "still at it?", by="ada")
        host.go_on()
        assert host.heard() == "end succeeded"
        assert types(ledger, SESSION)[-3:] == ["call.started", "call.noted", "call.succeeded"]


class Telling:
    """Lets the other process go on as soon as this one was refused."""

    def __init__(self, store: Store, host: Host) -> None:
        self._store = store
        self._host = host
        self.refused = 0

    def append(self, request: Append) -> Appended:
        try:
            return self._store.append(request)
        except SessionOwned:
            self.refused += 1
            if self.refused == 1:
                self._host.go_on()
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_a_second_owner_may_wait_for_the_first(scene: Scene) -> None:
    """`wait=` queues it until the first one's turn has ended."""
    with Host(scene.folder, WAIT) as host:
        host.heard()
        ledger = scene.open(tool=False)
        telling = ledger.wrap_store(lambda store: Telling(store, host))
        session = ledger.session(SESSION, wait=60)
        session.dispatch(asked(text="my turn"))
        assert host.heard() == "end succeeded"
        assert telling.refused >= 1
        assert [event.body.token for event in claims(ledger)] == [1, 2]


def claims(ledger: Ledger) -> list[Any]:
    return [event for event in recorded(ledger, SESSION) if event.type == "session.claimed"]


def test_a_dead_owner_is_followed_at_once(scene: Scene) -> None:
    """Its process is gone, so nobody waits for its lease to expire; the token grows."""
    with Host(scene.folder, WAIT) as host:
        host.heard()
        host.signal(signal.SIGKILL)
        host.ended()
    ledger = scene.open(tool=False)
    head = ledger.reader.head(SESSION)
    assert head is not None
    assert head.expires_at > datetime.now(UTC).isoformat()
    ledger.session(SESSION).messages()
    call = scene.only(ledger)
    assert (call.state, call.reason) == ("needs-review", "outcome-unknown")
    assert [event.body.token for event in claims(ledger)] == [1, 2]


def later(seconds: float) -> Clock:
    """A clock ahead of the machine's."""
    return Clock(now=lambda: datetime.now(UTC) + timedelta(seconds=seconds))


def test_a_stalled_owner_that_wakes_up_is_refused(scene: Scene) -> None:
    """Another one took over when its lease had expired; its outcome is evidence, not the call's end."""
    # https://github.com/aegra/aegra/issues/502, https://github.com/aegra/aegra/pull/547 (a reusable worker's name)
    with Host(scene.folder, WAIT) as host:
        host.heard()
        host.signal(signal.SIGSTOP)
        scene.clock = later(120)
        ledger = scene.open(tool=False)
        ledger.session(SESSION).messages()
        assert scene.only(ledger).reason == "outcome-unknown"
        host.go_on()
        host.signal(signal.SIGCONT)
        assert host.heard() == "end LeaseLost"
    call = scene.only(ledger)
    assert call.state == "needs-review"
    assert call.late is not None
    assert (call.late.result, call.late.token, call.late.settles) == ({"done": 1}, 1, False)
    assert types(ledger, SESSION)[-1] == "call.outcome_arrived_late"


def test_a_stalled_owner_starts_nothing_more(scene: Scene) -> None:
    """The rest of its turn belongs to the new owner."""
    with Host(scene.folder, WAIT, ("act", {"number": 2})) as host:
        host.heard()
        host.signal(signal.SIGSTOP)
        scene.clock = later(120)
        ledger = scene.open(tool=False)
        ledger.session(SESSION).messages()
        host.go_on()
        host.signal(signal.SIGCONT)
        assert host.heard() == "end LeaseLost"
    assert (scene.folder / "effects").read_text() == "1\n"
    reasons = [row.row.reason for row in calls(ledger)]
    assert reasons == ["outcome-unknown", "not-started"]


def test_of_a_batch_all_ends_are_kept_when_the_session_is_lost(scene: Scene) -> None:
    """The call that ended is told as late, and the one that is still at it tells its end by itself."""
    wait = {"then": "wait"}
    with Host(scene.folder, ("apart", {"number": 1, **wait}), ("apart", {"number": 2, **wait})) as host:
        assert {host.heard(), host.heard()} == {"in 1", "in 2"}
        host.signal(signal.SIGSTOP)
        scene.clock = later(120)
        ledger = scene.open(tool=False)
        ledger.session(SESSION).messages()
        host.go_on()
        host.signal(signal.SIGCONT)
        assert host.heard() == "end LeaseLost"
        late = [event for event in recorded(ledger, SESSION) if event.type == "call.outcome_arrived_late"]
        assert len(late) == 1
    assert [row.row.state for row in calls(ledger)] == ["needs-review"] * 2


def calls(ledger: Ledger) -> Any:
    from ledger.store.port import CallFilter

    return ledger.reader.calls(CallFilter(session_id=SESSION), limit=10)


def test_two_handles_of_one_session_number_their_turns_one_after_the_other(scene: Scene) -> None:
    """A turn that another process recorded meanwhile is not overwritten, and its place is not taken twice."""
    first, second = scene.open(), scene.open()
    one, two = first.session(SESSION), second.session(SESSION)
    one.messages(start=START)
    two.messages()
    assert one.dispatch(asked(("act", {"number": 1}))).turn == 1
    assert two.dispatch(asked(("act", {"number": 2}))).turn == 2
    assert one.dispatch(asked(("act", {"number": 3}))).turn == 3
    turns = [(event.turn, event.type) for event in recorded(first, SESSION) if event.type == "turn.recorded"]
    assert [turn for turn, _ in turns] == [1, 2, 3]
    assert [number for number, _, _ in scene.ran] == [1, 2, 3]


def test_a_turn_that_another_process_has_recorded_already_is_the_same_turn(scene: Scene) -> None:
    """Two processes got the same reply: it is dispatched once, the second one reads the record."""
    first, second = scene.open(), scene.open()
    one, two = first.session(SESSION), second.session(SESSION)
    one.messages(start=START)
    two.messages()
    told = one.dispatch(asked(("act", {"number": 1})))
    again = two.dispatch(asked(("act", {"number": 1})))
    assert (again.turn, again.messages) == (1, told.messages)
    assert len(scene.ran) == 1


def test_a_turn_that_waited_for_another_owner_is_numbered_behind_its_turn(scene: Scene) -> None:
    """While it waited the other one recorded a turn."""
    ledger = scene.open(tool=False)
    session = ledger.session(SESSION, wait=60)
    session.messages(start=START)
    with Host(scene.folder, WAIT) as host:
        assert host.heard() == "in 1"
        telling = ledger.wrap_store(lambda store: Telling(store, host))
        assert session.dispatch(asked(text="my turn")).turn == 2
        assert telling.refused >= 1


@pytest.mark.parametrize("verdict", [False, True], ids=["another resume", "a verdict"])
def test_a_resume_decides_again_when_somebody_was_faster(scene: Scene, *, verdict: bool) -> None:
    """Two workers resume at once, or a person answers meanwhile: nothing is decided on what is no longer so."""
    call_id = scene.crashed(crash.after("call.started"))
    ledger, other = scene.open(), scene.open(tool=False)

    def meanwhile() -> None:
        other.session(SESSION).messages()
        if verdict:
            other.resolve(call_id, "did-not-happen", run=True, by="ada")

    crash.arm(ledger, crash.before("session.resumed"), end=meanwhile)
    found = ledger.resume(SESSION)
    assert [decision["action"] for decision in found.decisions] == (["run"] if verdict else [])
    assert types(ledger, SESSION).count("session.resumed") == (2 if verdict else 1)
    assert len(scene.ran) == (1 if verdict else 0)


FORKED = """
import os, sys
from ledger import CantTell, Happened, Ledger

ledger = Ledger.open(sys.argv[1])
session = ledger.session("s", wait=60)
session.add({"role": "user", "content": "before"})
pid = os.fork()
session.add({"role": "user", "content": "parent" if pid else "child"})
if pid:
    status = os.waitpid(pid, 0)[1]
    session.add({"role": "user", "content": "after"})
    ledger.close()
    sys.exit(status)
os._exit(0)
"""


def test_a_ledger_may_be_forked(scene: Scene) -> None:
    """Parent and child go on with the same handle, each as an owner of its own; nothing is lost or doubled."""
    url = f"sqlite:///{scene.folder}/ledger.db"
    done = subprocess.run([sys.executable, "-c", FORKED, url], check=False)
    assert done.returncode == 0
    ledger = scene.open(tool=False)
    bodies = [event.body for event in recorded(ledger, SESSION)]
    said = [body.message["content"] for body in bodies if isinstance(body, MessageRecorded)]
    assert sorted(said) == ["after", "before", "child", "parent"]
    assert (said[0], said[-1]) == ("before", "after")
    owners = {claim.body.owner for claim in claims(ledger)}
    assert len(owners) == 2


@pytest.mark.parametrize("ends", ["happened", "cannot tell", "raises"])
def test_a_tool_is_asked_what_happened_under_the_lease(scene: Scene, ends: str) -> None:
    """A resume claims the session, records what it decided, and only then runs the host's `reconcile`."""
    seen: list[Any] = []

    def reconcile(arguments: Any, context: Any) -> Any:
        head = ledger.reader.head(SESSION)
        owned = head is not None and head.owner == claims(ledger)[-1].body.owner
        try:
            scene.open().session(SESSION).messages()
        except SessionOwned:
            seen.append((types(ledger, SESSION)[-2:], owned))
        if ends == "raises":
            raise ConnectionResetError
        return Happened({"done": 1}) if ends == "happened" else CantTell()

    scene.options = {"effect": "external", "reconcile": reconcile}
    call_id = scene.crashed(crash.after("call.started"))
    ledger = scene.open()
    ledger.session(SESSION).messages()
    assert seen == [(["session.claimed", "session.resumed"], True)]
    assert ledger.find(call_id).state == ("succeeded" if ends == "happened" else "needs-review")
    assert types(ledger, SESSION).count("session.resumed") == 1


def test_leaving_with_in_another_thread_takes_no_lease_away(scene: Scene) -> None:
    """A tool runs under it: only who works on the session gives it back."""
    entered, leave = threading.Event(), threading.Event()

    def work() -> str:
        entered.set()
        leave.wait(10)
        return "done"

    scene.raises = work
    ledger, other = scene.open(), scene.open(tool=False)
    thread = threading.Thread(target=lambda: ledger.session(SESSION).call("act"))
    with ledger.session(SESSION):
        thread.start()
        assert entered.wait(10)
    with pytest.raises(SessionOwned):
        other.resume(SESSION)
    leave.set()
    thread.join()
    assert types(ledger, SESSION)[-2:] == ["call.started", "call.succeeded"]


def test_two_that_begin_a_session_at_once_begin_it_once(scene: Scene) -> None:
    """The same first messages, from two processes: the second finds them recorded; other ones are refused."""
    ledger, other = scene.open(), scene.open()
    crash.arm(ledger, crash.before(1), end=lambda: other.session(SESSION).messages(start=START))
    assert ledger.session(SESSION).messages(start=START) == START
    more = scene.open()
    crash.arm(more, crash.before(1), end=lambda: other.session("t").messages(start=START))
    with pytest.raises(StartDiffers):
        more.session("t").messages(start=[{"role": "user", "content": "Do something else."}])


def test_two_that_add_a_message_under_one_key_add_it_once(scene: Scene) -> None:
    """A request that a web server handles twice at the same moment is said once; without a key both are said."""
    ledger, other = scene.open(), scene.open()
    for key, count in (("k", 1), (None, 2)):
        message = {"role": "user", "content": f"under {key}"}
        crash.arm(ledger, crash.before(1), end=partial(other.session(SESSION).add, message, key=key))
        ledger.session(SESSION).add(message, key=key)
        assert other.session(SESSION).messages().count(message) == count


@pytest.mark.parametrize("open_call", [False, True])
def test_two_that_close_a_session_at_once_close_it_once(scene: Scene, *, open_call: bool) -> None:
    """Closing twice is the same as once, from wherever, also where both have a call to flag before."""
    ledger, other = scene.open(), scene.open()
    ledger.session(SESSION).messages(start=START)
    if open_call:
        ledger.session(SESSION).propose("act", {"number": 1})
    crash.arm(ledger, crash.before(1), end=other.session(SESSION).close)
    ledger.session(SESSION).close()
    assert types(ledger, SESSION).count("session.closed") == 1


@pytest.mark.parametrize("closes", [False, True], ids=["a call", "a closing"])
def test_what_comes_just_before_a_closing_is_ended_by_it(scene: Scene, *, closes: bool) -> None:
    """No call of a closed session stays open: what another process proposed meanwhile ends as cancelled."""
    scene.options = {"effect": "read"}
    ledger, other = scene.open(), scene.open()
    ledger.session(SESSION).messages(start=START)

    def meanwhile() -> None:
        other.session(SESSION).propose("act", {"number": 1})
        if closes:
            other.session(SESSION).close()

    crash.arm(ledger, crash.before(1), end=meanwhile)
    ledger.session(SESSION).close()
    assert [call["state"] for call in ledger.calls()] == ["failed"]
    assert types(ledger, SESSION).count("session.closed") == 1
