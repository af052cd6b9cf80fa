"""Group commit: who waits is merged, who is alone is not held up, who gives up is gone."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType

import pytest

from ledger.errors import LedgerError, StoreBusy, UsageError
from ledger.store.group import MOST, GroupWriter, Ticket
from tests.helpers.interrupts import interrupted_at


@dataclass(frozen=True)
class Ask:
    session_id: str


class Gate:
    """A commit that stands still until it is let go, and remembers its groups."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.threads: list[int] = []
        self.begun = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.before: Callable[[], None] = lambda: None

    def commit(self, requests: Sequence[Ask]) -> Sequence[str | LedgerError]:
        self.groups.append([request.session_id for request in requests])
        self.threads.append(threading.get_ident())
        self.begun.release()
        self.go.acquire()
        self.before()
        return [self.answer(request) for request in requests]

    def answer(self, request: Ask) -> str | LedgerError:
        return UsageError("no") if request.session_id.startswith("bad") else f"done {request.session_id}"


class Caller(threading.Thread):
    """A thread that asks once."""

    def __init__(self, writer: GroupWriter[Ask, str], name: str, patience: float | None = None) -> None:
        super().__init__(name=name)
        self.writer, self.patience = writer, patience
        self.answer: object = None
        self.start()

    def run(self) -> None:
        try:
            self.answer = self.writer.submit(Ask(self.name), patience=self.patience)
        except LedgerError as refusal:
            self.answer = refusal


def queued(writer: GroupWriter[Ask, str], count: int) -> None:
    """Wait until so many requests are queued."""
    while len(writer._queue) < count:
        threading.Event().wait(0.001)


@pytest.fixture
def gate() -> Gate:
    return Gate()


def test_a_lone_caller_commits_on_its_own_thread(gate: Gate) -> None:
    """Nobody to wait for: no other thread takes part."""
    gate.go.release()
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    assert writer.submit(Ask("a"), patience=None) == "done a"
    assert gate.threads == [threading.get_ident()]
    gate.go.release()
    assert writer.submit(Ask("b"), patience=0) == "done b"
    assert gate.groups == [["a"], ["b"]]


def test_waiting_callers_share_the_next_transaction(gate: Gate) -> None:
    """Who came while a commit was under way is committed with all others that did, sorted by session."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    first = Caller(writer, "first")
    gate.begun.acquire()
    others = []
    for number, name in enumerate(("c", "a", "bad", "b"), 1):
        others.append(Caller(writer, name))
        queued(writer, number)
    gate.go.release(2)
    for caller in (first, *others):
        caller.join()
    assert gate.groups == [["first"], ["a", "b", "bad", "c"]]
    assert gate.threads[1] == others[0].ident
    assert [caller.answer for caller in others if caller.name != "bad"] == ["done c", "done a", "done b"]
    assert isinstance(others[2].answer, UsageError)


def test_a_group_has_a_size(gate: Gate) -> None:
    """More callers than one transaction takes wait for the one after it."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    callers = [Caller(writer, "first")]
    gate.begun.acquire()
    for number in range(MOST + 3):
        callers.append(Caller(writer, f"s{number:03}"))
        queued(writer, number + 1)
    gate.go.release(3)
    for caller in callers:
        caller.join()
    assert [len(group) for group in gate.groups] == [1, MOST, 3]
    assert all(caller.answer == f"done {caller.name}" for caller in callers)


def test_a_caller_gives_up_before_its_turn(gate: Gate) -> None:
    """Whose patience ends in the queue is told so, and its request is not committed."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    first = Caller(writer, "first")
    gate.begun.acquire()
    with pytest.raises(StoreBusy, match=r"0\.01 s"):
        writer.submit(Ask("hasty"), patience=0.01)
    gate.go.release()
    first.join()
    assert gate.groups == [["first"]]


def test_a_commit_under_way_is_not_given_up(gate: Gate) -> None:
    """Once its transaction has begun a caller waits for the answer, its patience over or not: it may be recorded."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    ticket: Ticket[Ask, str] = Ticket(Ask("begun"))  # no more in the queue: a leader took it
    answered = threading.Event()

    def wait() -> None:
        writer._wait(ticket, 0)
        answered.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    assert not answered.is_set()
    ticket.latch.release()
    waiter.join()
    assert answered.is_set()


def test_an_interrupted_leader_leaves_the_others_to_the_next(gate: Gate) -> None:
    """Ctrl-C in a commit ends that caller only: the rest of its group is committed by the next one."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)

    def interrupt() -> None:
        gate.before = lambda: None
        raise KeyboardInterrupt

    first = Caller(writer, "first")
    gate.begun.acquire()
    interrupted: list[BaseException] = []

    def lead() -> None:
        try:
            writer.submit(Ask("a-leader"), patience=None)
        except KeyboardInterrupt as stop:
            interrupted.append(stop)

    leader = threading.Thread(target=lead)
    leader.start()
    queued(writer, 1)
    second, third = Caller(writer, "second"), Caller(writer, "third")
    queued(writer, 3)
    gate.go.release()
    first.join()
    gate.begun.acquire()
    gate.before = interrupt
    gate.go.release(2)
    for thread in (leader, second, third):
        thread.join()
    assert interrupted
    assert (second.answer, third.answer) == ("done second", "done third")
    assert gate.groups == [["first"], ["a-leader", "second", "third"], ["second", "third"]]


@pytest.mark.parametrize("alone", [True, False])
def test_an_interrupted_waiter_is_withdrawn(gate: Gate, alone: bool) -> None:
    """Ctrl-C in the queue takes the request out; the writer stays usable, whoever was to lead next."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    first = Caller(writer, "first")
    gate.begun.acquire()
    others = [] if alone else [Caller(writer, "other")]
    queued(writer, len(others))

    hit = threading.Event()

    def interrupt(signum: int, frame: FrameType | None) -> None:
        if not hit.is_set():
            hit.set()
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupt)
    main = threading.get_ident()

    def poke() -> None:
        queued(writer, len(others) + 1)
        while not hit.wait(0.01):  # a signal just before a thread falls asleep does not wake it
            signal.pthread_kill(main, signal.SIGUSR1)

    poker = threading.Thread(target=poke)
    poker.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            writer.submit(Ask("interrupted"), patience=None)
    finally:
        signal.signal(signal.SIGUSR1, before)
    poker.join()
    gate.go.release(3)
    for caller in (first, *others):
        caller.join()
    assert writer.submit(Ask("later"), patience=None) == "done later"
    assert "interrupted" not in [name for group in gate.groups for name in group]


def test_an_interrupted_heir_passes_the_lead_on(gate: Gate) -> None:
    """A caller that was named the next leader, and gave up at that moment, leaves no queue without a leader."""

    class Late(GroupWriter[Ask, str]):
        """One caller is interrupted between being named and leading."""

        def _lead(self, own: Ticket[Ask, str]) -> None:
            if own.request.session_id == "heir":
                raise KeyboardInterrupt
            super()._lead(own)

    late = Late(gate.commit)
    first = Caller(late, "first")
    gate.begun.acquire()
    stopped: list[BaseException] = []

    def give_up() -> None:
        try:
            late.submit(Ask("heir"), patience=None)
        except KeyboardInterrupt as stop:
            stopped.append(stop)

    heir = threading.Thread(target=give_up)
    heir.start()
    queued(late, 1)
    other = Caller(late, "other")
    queued(late, 2)
    gate.go.release(2)
    for thread in (first, heir, other):
        thread.join()
    assert stopped
    assert other.answer == "done other"


def answered(gate: Gate, callers: int) -> GroupWriter[Ask, str]:
    """Return a writer that has just answered so many callers."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    writer._away, writer._answered = callers, time.monotonic()
    return writer


def test_a_leader_stands_aside_for_those_who_were_just_answered(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the last of them in the queue it commits for all at once."""
    for name in ("SLICE", "RECENT", "LONGEST"):
        monkeypatch.setattr(f"ledger.store.group.{name}", 60)
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    gate.go.release(9)
    assert [writer.submit(Ask("alone"), patience=None) for _ in range(2)] == ["done alone"] * 2
    assert gate.groups == [["alone"], ["alone"]]  # there was nobody to wait for
    gate.groups.clear()
    writer = answered(gate, 3)
    callers = []
    for number, name in enumerate(("b", "a", "c"), 1):
        callers.append(Caller(writer, name))
        if number < 3:
            queued(writer, number)
    for caller in callers:
        caller.join()
    assert gate.groups == [["a", "b", "c"]]


@pytest.mark.parametrize(("slice_", "recent", "longest"), [(0, 60, 60), (60, 60, 0), (60, 0, 60)])
def test_a_leader_does_not_wait_for_those_who_stay_away(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, slice_: float, recent: float, longest: float
) -> None:
    """It commits alone where nobody came in a while, where it stood aside long enough, where all left before."""
    monkeypatch.setattr("ledger.store.group.SLICE", slice_)
    monkeypatch.setattr("ledger.store.group.RECENT", recent)
    monkeypatch.setattr("ledger.store.group.LONGEST", longest)
    gate.go.release(2)
    writer = answered(gate, 3)
    assert [writer.submit(Ask(name), patience=None) for name in ("a", "d")] == ["done a", "done d"]
    assert gate.groups == [["a"], ["d"]]


@pytest.mark.parametrize("name", ["submit", "_came", "_stand_aside", "_lead", "_hand_on", "_appoint"])
def test_ctrl_c_at_any_line_of_the_leader_leaves_the_writer_usable(name: str) -> None:
    """Whatever line it hits, the same thread's next request, and another thread's, are answered."""
    code = getattr(GroupWriter, name).__code__
    for line in itertools.count(1):
        gate = Gate()
        gate.go.release(9)
        writer = answered(gate, 2)
        hit = interrupted_at(line, code, lambda w=writer: w.submit(Ask("first"), patience=5))  # type: ignore[misc]  # bound
        assert writer.submit(Ask("second"), patience=5) == "done second"
        other = Caller(writer, "other", patience=5)
        other.join()
        assert other.answer == "done other"
        if not hit:
            break
    assert line > 1


@pytest.mark.parametrize("name", ["_lead", "_finish", "_hand_on", "_appoint"])
def test_ctrl_c_at_any_line_of_the_leader_leaves_nobody_waiting(name: str) -> None:
    """Those in its group, and those behind, are answered although it never asks again."""
    code = getattr(GroupWriter, name).__code__
    for line in itertools.count(1):
        gate = Gate()
        gate.go.release(9)
        writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
        writer._leader = -1  # somebody else, until its ticket is queued
        others = [Caller(writer, "beside")]
        queued(writer, 1)
        writer._leader = None

        def others_come(writer: GroupWriter[Ask, str] = writer, others: list[Caller] = others) -> None:
            if len(others) == 1:
                others.append(Caller(writer, "behind"))
                queued(writer, 1)

        gate.before = others_come
        hit = interrupted_at(line, code, lambda w=writer: w.submit(Ask("first"), patience=5))  # type: ignore[misc]  # bound
        for caller in others:
            caller.join(20)
            assert caller.answer == f"done {caller.name}"
        if not hit:
            break
    assert line > 1


def test_a_group_that_an_interrupted_leader_left_behind_is_answered(gate: Gate) -> None:
    """Its callers still wait; the thread that was cut off hands their requests on when it comes again."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    gate.go.release(9)
    left = Ticket[Ask, str](Ask("left"))
    left.thread = -1
    done = Ticket[Ask, str](Ask("done"))
    done.thread, done.done = -1, True
    own = Ticket[Ask, str](Ask("own"))
    writer._group, writer._leader = [left, done, own], threading.get_ident()
    writer._finish()
    assert not done.latch.locked()
    assert (left.leads, writer._leader, writer._queue) == (True, -1, [left])


def test_a_leader_that_was_cut_off_twice_leads_again(gate: Gate) -> None:
    """A second Ctrl-C hit it as it was handing on: it does so when it comes again."""
    writer: GroupWriter[Ask, str] = GroupWriter(gate.commit)
    gate.go.release(9)
    writer._leader = threading.get_ident()
    assert writer.submit(Ask("again"), patience=5) == "done again"


def test_a_caller_may_be_woken_twice() -> None:
    """An interrupted leader may have woken some of its group already: once more does nothing."""
    ticket: Ticket[Ask, str] = Ticket(Ask("a"))
    ticket.wake()
    ticket.wake()
    assert ticket.latch.acquire(blocking=False)
