"""A session's place in the store: conflicts, leases, what a newer release wrote, what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger
from ledger.errors import KeyConflict, LeaseLost, ReadOnlySession, SessionOwned, StoreUnavailable
from ledger.events import CallNoted, Draft, Event, MessageRecorded, SessionClaimed, encode
from ledger.ids import Clock
from ledger.session.lease import Heartbeat, Owner, is_dead
from ledger.store.port import Append, Take
from tests.session.agents import asked, opened, recorded, types

CLOCK = Clock()


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with opened(tmp_path) as found:
        yield found


def event(body: Any, **more: Any) -> Draft:
    """An event as another process would write it."""
    return encode(Event(session_id="s", event_id=CLOCK.new_id(), recorded_at=CLOCK.stamp(), body=body, **more))


def said(text: str) -> Draft:
    """A message of the host."""
    return event(MessageRecorded(role="user", provider="openai", message={"role": "user", "content": text}))


def test_what_another_process_appended_is_folded_and_the_turn_goes_on(ledger: Ledger) -> None:
    """A note in the middle of a call moves the session on; the outcome is chained behind it."""

    @ledger.tool("look", effect="read")
    def look(*, context: Any) -> str:
        """Be noted meanwhile."""
        ledger.reader.append(  # type: ignore[attr-defined]  # the store behind the reader
            Append(
                session_id="s", drafts=(event(CallNoted(by="ada", text="hm"), call_id=context.call_id, tool="look"),)
            )
        )
        return "ok"

    session = ledger.session("s")
    assert session.call("look").state == "succeeded"
    assert types(ledger, "s")[-3:] == ["call.started", "call.noted", "call.succeeded"]
    assert session.history.sequence == len(recorded(ledger, "s"))


def test_an_owner_whose_session_was_taken_over_is_refused(tmp_path: Path) -> None:
    """Its outcome carries a stale token: it is kept as evidence only, and the host is told that it was taken over."""
    with opened(tmp_path, lease_seconds=0.0) as ledger:

        @ledger.tool("look", effect="read")
        def look() -> str:
            """Lose the lease meanwhile."""
            claim = event(SessionClaimed(owner="other", token=2))
            taken = Take(owner="other", token=2, seconds=60)
            ledger._wiring.store.append(Append(session_id="s", drafts=(claim,), take=taken))
            return "ok"

        session = ledger.session("s")
        with pytest.raises(LeaseLost) as lost:
            session.call("look")
        assert (lost.value.token, lost.value.current) == (1, 2)
        assert types(ledger, "s")[-3:] == ["call.started", "session.claimed", "call.outcome_arrived_late"]


def test_a_session_of_a_living_owner_is_not_taken(ledger: Ledger, tmp_path: Path) -> None:
    """Another ledger of this process holds it: who and until when is told; waiting ends when it is given back."""
    other = opened(tmp_path)

    @ledger.tool("look", effect="read")
    def look() -> str:
        """Let another one try."""
        with pytest.raises(SessionOwned, match=r"is owned by .+ until 2") as owned:
            other.session("s").dispatch(asked(text="hi"))
        assert owned.value.owner == str(ledger._wiring.owner)
        return "ok"

    ledger.session("s").call("look")
    assert other.session("s", wait=5).dispatch(asked(text="hi")).turn == 2
    claims = [e.body for e in recorded(ledger, "s") if isinstance(e.body, SessionClaimed)]
    assert [claim.token for claim in claims] == [1, 2]
    other.close()


def test_the_lease_taken_again_by_the_same_owner_keeps_its_token(ledger: Ledger) -> None:
    """Turn after turn there is one claim, and after each the lease is given back."""
    session = ledger.session("s")
    for _ in range(3):
        session.dispatch(asked(text="hi"))
    assert types(ledger, "s").count("session.claimed") == 1
    head = ledger.reader.head("s")
    assert head is not None
    assert (head.token, head.expires_at) == (1, "")


def test_a_session_of_a_newer_release_is_read_only(ledger: Ledger) -> None:
    """Its unknown events are shown raw; nothing is written to it here."""
    draft = said("hi")
    newer = Draft(
        draft.event, "session.teleported", draft.head, draft.tail.replace(b"message.recorded", b"session.teleported")
    )
    ledger._wiring.store.append(Append(session_id="s", drafts=(said("one"), newer)))
    session = ledger.session("s")
    assert session.messages() == [{"role": "user", "content": "one"}]
    with pytest.raises(ReadOnlySession, match="newer release"):
        session.dispatch(asked(text="hi"))


def test_a_ledger_that_cannot_write_runs_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the start cannot be recorded the tool does not run; the error is the store's."""

    @ledger.tool("write", effect="write")
    def write() -> None:
        """Never run."""
        pytest.fail("ran")

    def full(request: Any) -> Any:
        raise StoreUnavailable("disk full")

    monkeypatch.setattr(ledger._wiring.store, "append", full)
    session = ledger.session("s")
    with pytest.raises(StoreUnavailable):
        session.call("write")


def test_a_key_conflict_that_nobody_holds_is_told(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store says that a key is taken, and then nobody has it: the host is told instead of guessing."""

    @ledger.tool("write", effect="write")
    def write() -> None:
        """Never run."""
        pytest.fail("ran")

    def taken(request: Any) -> Any:
        raise KeyConflict("K", call_id="c")

    monkeypatch.setattr(ledger._wiring.store, "append", taken)
    with pytest.raises(KeyConflict):
        ledger.session("s").call("write", idempotency_key="K")


def test_leaving_with_gives_the_lease_back(ledger: Ledger) -> None:
    """A handle that still holds the lease gives it back on leaving; a lost one is no error there."""
    with ledger.session("s") as session:
        session.dispatch(asked(text="hi"))
        core = session._loop.core
        core.held = True
    assert core.held is False


@pytest.mark.parametrize(
    "owner", ["", "worker-1", "a:b:c:1:2:3", "{host}:other-boot:{ns}:1:2:x", "{host}:{boot}:{ns}:one:2:x", "{me}"]
)
def test_an_owner_that_cannot_be_judged_is_not_dead(owner: str) -> None:
    """Another host, another boot, another form: only its lease's end tells."""
    me = str(Owner())
    host, boot, ns, *_ = me.split(":")
    assert not is_dead(owner.format(host=host, boot=boot, ns=ns, me=me))


def test_an_owner_whose_process_is_gone_is_dead() -> None:
    """No such pid, or the pid belongs to a process that started at another time."""
    host, boot, ns, pid, start, mark = str(Owner()).split(":")
    assert is_dead(f"{host}:{boot}:{ns}:4194304:{start}:{mark}")
    assert is_dead(f"{host}:{boot}:{ns}:99999999999999999999:{start}:{mark}")
    assert is_dead(f"{host}:{boot}:{ns}:{pid}:1:{mark}")


def test_the_name_of_an_owner_is_new_for_each_ledger() -> None:
    """Two ledgers of one process are two owners; each keeps its name."""
    one, two = Owner(), Owner()
    assert len({str(one) for _ in range(2)}) == 1
    assert str(one) != str(two)


class Renewals:
    """A store's `renew`, and what it answers."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    def renew(self, session_id: str, *, token: int, seconds: float) -> bool:
        """Answer as told."""
        self.asked.append((session_id, token))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)


def test_a_forked_child_renews_nothing_of_its_parent() -> None:
    """It was forked while another thread had the lock, which nobody in the child will ever give back."""
    store = Renewals(True)
    heart = Heartbeat(store, 3600)  # type: ignore[arg-type]  # it needs `renew` only
    heart.hold("s", 7)
    with heart._lock:
        heart._pid = -1  # what a child sees: the pid of another process
        heart.hold("t", 8)
        heart.beat()
        heart.stop()
    assert store.asked == [("t", 8)]


def test_the_heartbeat_renews_what_is_held() -> None:
    """A store in trouble is asked again at the next beat; a lease that was lost is not."""
    store = Renewals(StoreUnavailable("x"), True, False)
    heart = Heartbeat(store, 3600)  # type: ignore[arg-type]  # it needs `renew` only
    heart.hold("s", 7)
    for _ in range(4):
        heart.beat()
    assert store.asked == [("s", 7)] * 3
    heart.hold("t", 8)
    heart.drop("t")
    heart.stop()
    heart.beat()
    assert len(store.asked) == 3
