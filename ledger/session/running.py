"""Runs the authorized calls of a turn: starts recorded before, outcomes after, one group after the other."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field

from ledger.calls import Call
from ledger.errors import LeaseLost, RateLimited
from ledger.events import CallAttemptFailed, CallFailed, CallFlagged, CallRejected, CallStarted, CallSucceeded
from ledger.execution.backoff import LONGEST_WAIT, backoff
from ledger.execution.batch import Member, conflict, groups
from ledger.execution.outcome import Rules, TryAgain, Unknown, judge
from ledger.execution.requests import Ended, Run, Steps, ended_runs, launch, let_go
from ledger.ids import parse_iso
from ledger.session import limits
from ledger.session.core import Core, Item
from ledger.session.doubt import Settler, unless_in_doubt
from ledger.session.endings import cancelled, given_up
from ledger.session.gating import in_time
from ledger.session.late import LateOutcome, record_late
from ledger.session.starting import Bound, bind, start_item, unbound_end, unlaunched_end
from ledger.session.work import Work

Interrupted = (KeyboardInterrupt, asyncio.CancelledError)
_LOOK_SECONDS = 0.25
"""How often one who waits for a call looks whether the program was told to stop."""
_ENDS = (CallSucceeded, CallFailed, CallFlagged, CallAttemptFailed)


@dataclass(slots=True)
class Flying:
    """A started call: until when it is waited for (monotonic seconds, None: without end), and its context."""

    work: Work
    run: Run
    deadline: float | None


@dataclass(slots=True)
class Runner:
    """
    Works through the calls of one turn.

    `pending` are events that will share the next commit: the gates' before the first start, a group's last outcome
    with the next group's starts. The lease is given back with the last of them.
    """

    core: Core
    pending: list[Item] = field(default_factory=list)
    flying: dict[str, Flying] = field(default_factory=dict)
    waiting: dict[str, tuple[float, Work]] = field(default_factory=dict)
    unlaunched: dict[str, int] = field(default_factory=dict)  # call -> the attempt that is being started
    bound: dict[str, Bound] = field(default_factory=dict)  # kept while a call waits for a place: bound once an attempt
    deadlines: dict[str, float] = field(default_factory=dict)  # monotonic
    interrupt: BaseException | None = None

    def run(self, works: Sequence[Work]) -> Steps[None]:
        """Run the calls, in the order asked as far as they conflict; raises only what interrupted the host."""
        try:
            yield from self._run(works)
        except LeaseLost:
            yield from self._taken_over()
            raise
        except GeneratorExit:
            raise  # nobody drives any more
        except BaseException:
            yield from self._leave_behind()
            raise

    def _run(self, works: Sequence[Work]) -> Steps[None]:
        try:
            yield from self._groups(works)
        except Interrupted as error:
            self.interrupt = error
            yield from self.core.refresh()  # what was under way may have been recorded
            while self.flying or self.waiting:
                yield from self._abandon()
        if self.interrupt is not None:
            self._cancel_rest(works)
        yield from self._commit(release=True)
        if self.interrupt is not None:
            raise self.interrupt

    def _commit(self, *more: Item, release: bool = False) -> Steps[list[Item]]:
        """Record what is pending; an interruption on the way loses no outcome that is known."""
        items = [*self.pending, *more]
        self.pending = [item for item in items if isinstance(item.body, _ENDS)]
        try:
            refused = yield from self.core.commit(items, release=release)
        except RateLimited:
            self.pending = items[: len(items) - len(more)]  # nothing was recorded: the rest is tried without the starts
            raise
        self.pending = []
        return refused

    def _groups(self, works: Sequence[Work]) -> Steps[None]:
        members = [Member(n, work.stub.side_effecting, work.keys) for n, work in enumerate(works)]
        for group in groups(members, workers=self.core.wiring.workers):
            if self.core.wiring.stopping or self._interrupted():
                self._cancel_rest(works)
                return
            clear = self._clear(in_time(self.core, [works[n] for n in group], self.pending))
            if clear:
                yield from self._start(clear, alone=len(clear) == 1)
            while self.flying or self.waiting:
                yield from self._round()
                if self._interrupted() or self.core.wiring.drained:
                    yield from self._abandon()

    def _clear(self, works: Sequence[Work]) -> list[Work]:
        """Leave out what conflicts with a call that nobody waits for any more but that still runs."""
        clear: list[Work] = []
        for work in works:
            member = Member(0, work.stub.side_effecting, work.keys)
            adrift = self.core.adrift
            if work.call_id in adrift:
                continue  # a person let it run again, but the first run has not ended: the next resume looks again
            if any(conflict(member, other) for other in adrift.values()):
                message = "An earlier call that touches the same is still running; this one did not start."
                self.pending.append(Item(cancelled(message), work.stub))
            else:
                clear.append(work)
        return clear

    def _interrupted(self) -> bool:
        return self.interrupt is not None

    def _cancel_rest(self, works: Sequence[Work]) -> None:
        """Calls that have not started end as such: they page nobody."""
        done = {item.call.call_id for item in self.pending if item.call and isinstance(item.body, _ENDS)}
        for work in works:
            call = self._call_of(work)
            if work.call_id in done:
                continue
            if call.state in ("unknown", "proposed", "validated", "authorized"):
                self.pending.append(Item(cancelled("The call was cancelled before it started."), work.stub))
            elif call.state == "started" and work.call_id in self.unlaunched:
                self.pending.append(Item(unlaunched_end(call, self.unlaunched[work.call_id]), call))

    # -- starting

    def _start(self, works: Sequence[Work], *, alone: bool) -> Steps[None]:
        works = self._affordable(works)
        while works:
            works, starts = self._bound(works)
            if not starts:
                return
            try:
                refused = yield from self._commit(*starts)
            except RateLimited as full:
                works = self._with_a_place(works, starts, full)
                continue
            lost = {item.call.call_id for item in refused if item.call}
            for work, start in zip(works, starts, strict=True):
                if work.call_id not in lost:
                    yield from self._launch(work, start, alone=alone)
            return

    def _bound(self, works: Sequence[Work]) -> tuple[list[Work], list[Item]]:
        """Return what can start with its start; the rest ends here."""
        ready: list[tuple[Work, Item]] = []
        for work in works:
            call = self._call_of(work)
            start = start_item(self.core, work, call, self._time_left(work))
            self.unlaunched[work.call_id] = start.attempt or 1
            bound = self.bound.get(work.call_id)
            if bound is None or bound.attempt != start.attempt:
                found = bind(self.core, work, start)
                if isinstance(found, CallRejected):
                    self.pending.append(Item(unbound_end(call, found), call))
                    continue
                self.bound[work.call_id] = found
            ready.append((work, start))
        return [work for work, _ in ready], [start for _, start in ready]

    def _affordable(self, works: Sequence[Work]) -> Sequence[Work]:
        """Leave out what the session's limits let start no more: it ends here."""
        calls = [self._call_of(work) for work in works]
        refused = self.core.budget.refused(self.core.history, self.core.wiring.clock.now(), calls)
        for call, limit in zip(calls, refused, strict=True):
            if limit is not None:
                body = given_up(call, limit.message) if call.state == "started" else limit.denied()
                self.pending.append(Item(body, call))
        return [work for work, limit in zip(works, refused, strict=True) if limit is None]

    def _with_a_place(self, works: Sequence[Work], starts: Sequence[Item], full: RateLimited) -> list[Work]:
        """Leave out what a limit has no place for: it waits for its siblings, or it is denied."""
        left, out = limits.parted(works, starts, full)
        siblings = [*left, *(flight.work for flight in self.flying.values())]
        waits = limits.may_free(self.core, siblings, full)
        for work in out:
            if waits:
                self.deadlines.pop(work.call_id, None)  # its time begins when it starts
                self.waiting[work.call_id] = (self.core.wiring.clock.monotonic() + _LOOK_SECONDS, work)
            else:
                self.pending.append(Item(limits.denied(self.core, work, full), self._call_of(work)))
        return left

    def _call_of(self, work: Work) -> Call:
        return self.core.history.calls.get(work.call_id) or work.stub

    def _time_left(self, work: Work) -> float | None:
        """A call has one deadline for all its attempts, from the first start on."""
        timeout = work.version.contract.timeout_seconds if work.version else None
        if timeout is None:
            return None
        now = self.core.wiring.clock.monotonic()
        return max(0.0, self.deadlines.setdefault(work.call_id, now + timeout) - now)

    def _launch(self, work: Work, start: Item, *, alone: bool) -> Steps[None]:
        body, tool, bound = start.body, work.tool, self.bound.pop(work.call_id)
        if tool is None or not isinstance(body, CallStarted):  # pragma: no cover - gates saw to it
            return
        keywords, context = bound.keywords, bound.context
        context.deadline = None if body.deadline is None else parse_iso(body.deadline)
        inline = alone and work.call_id not in self.deadlines and not inspect.iscoroutinefunction(tool.function)
        run = Run(call_id=work.call_id, function=tool.function, keywords=keywords, context=context, inline=inline)
        self.flying[work.call_id] = Flying(work, run, self.deadlines.get(work.call_id))
        self.unlaunched.pop(work.call_id, None)
        yield from launch(run)

    # -- one round: ends, deadlines, next attempts

    def _round(self) -> Steps[None]:
        yield from self._take_ends(self._patience())
        now = self.core.wiring.clock.monotonic()
        for flight in [f for f in self.flying.values() if f.deadline is not None and f.deadline <= now]:
            yield from self._overdue(flight)
        if self.core.wiring.stopping:
            self._give_up_waiting("The program was told to stop.")
        due = [work for at, work in self.waiting.values() if at <= now]
        if self.pending and (self.flying or self.waiting):
            yield from self._commit()
        if due:
            for work in due:
                del self.waiting[work.call_id]
            yield from self._start(due, alone=False)

    def _take_ends(self, seconds: float | None) -> Steps[None]:
        """Judge what has ended; it counts as flying until it is judged, so that an interruption does not lose it."""
        for ended in (yield from ended_runs(seconds)):
            flight = self.flying.get(ended.call_id)
            if flight is None or flight.run is not ended.run:
                continue  # told twice
            if isinstance(ended.raised, KeyboardInterrupt):
                self.interrupt = ended.raised
            yield from self._judge(flight, ended)
            del self.flying[ended.call_id]
            self._hurry()

    def _hurry(self) -> None:
        """Let those look at once that wait for a sibling's place."""
        for call_id, (_, work) in list(self.waiting.items()):
            if self._call_of(work).state != "started":
                self.waiting[call_id] = (0.0, work)

    def _patience(self) -> float:
        """Return how long to wait for an end: until the next deadline or attempt, and never long without a look."""
        now = self.core.wiring.clock.monotonic()
        times = [f.deadline for f in self.flying.values() if f.deadline is not None]
        times += [at for at, _ in self.waiting.values()]
        return max(0.0, min(now + _LOOK_SECONDS, *times) - now) if times else _LOOK_SECONDS

    def _judge(self, flight: Flying, ended: Ended) -> Steps[None]:
        work = flight.work
        call = self.core.history.calls[work.call_id]
        end = judge(ended, call, self.rules(work))
        settler = Settler(self.core, work, flight.run.context)
        if isinstance(end, TryAgain):
            self._try_again(work, call, end, flight.deadline)
        elif isinstance(end, Unknown):
            asked = not isinstance(ended.raised, KeyboardInterrupt)
            yield from self._settle(settler, work, call, end, asked=asked)
        else:
            self.pending.append(Item(unless_in_doubt(settler.finished(end), call), call))

    def _settle(self, settler: Settler, work: Work, call: Call, end: Unknown, *, asked: bool) -> Steps[None]:
        again, body = yield from settler.settle(call, end, may_ask=asked)
        if body is not None:
            self.pending.append(Item(body, call))
        if again:
            self.waiting[work.call_id] = (self.core.wiring.clock.monotonic(), work)

    def _try_again(self, work: Work, call: Call, end: TryAgain, deadline: float | None) -> None:
        """Only reads and `recovery: retry` tools run again by themselves, within attempts and deadline."""
        wiring = self.core.wiring
        wait = backoff(call.attempt, wiring.jitter(), end.retry_after)
        at = wiring.clock.monotonic() + wait
        allowed = not call.side_effecting or call.recovery == "retry"
        stopped = wiring.stopping or self.interrupt is not None
        too_late = wait > LONGEST_WAIT if deadline is None else at >= deadline
        if not allowed or stopped or call.attempt >= wiring.max_attempts or too_late:
            failed = Settler(self.core, work, None).finished(end.failed)
            self.pending.append(Item(unless_in_doubt(failed, call), call))
            return
        attempt = CallAttemptFailed(code=end.failed.code, message=end.failed.message, backoff_seconds=round(wait, 3))
        self.pending.append(Item(attempt, call))
        self.waiting[work.call_id] = (at, work)

    def _overdue(self, flight: Flying) -> Steps[None]:
        work, call = flight.work, self.core.history.calls[flight.work.call_id]
        if (yield from self._let_go(flight)) is False:
            return  # it ended this very moment: the next round has it
        if not call.side_effecting:
            message = "The tool did not answer within its time."
            failed = CallFailed(code="timeout", error_class="environment", message=message, retryable=True)
            self.pending.append(Item(failed, call))
            return
        seconds = work.version.contract.timeout_seconds if work.version else None
        settler = Settler(self.core, work, flight.run.context, running=True)
        yield from self._settle(settler, work, call, Unknown({"timeoutSeconds": seconds}), asked=True)

    # -- interruption

    def _abandon(self) -> Steps[None]:
        """Stop waiting: what started may still have its effect, and its late outcome is kept."""
        for flight in list(self.flying.values()):
            work, call = flight.work, self.core.history.calls[flight.work.call_id]
            under_way = yield from self._let_go(flight)
            if under_way is None:
                continue  # it is among those that have not started
            if not under_way:
                yield from self._take_ends(0)
            elif call.side_effecting:
                settler = Settler(self.core, work, flight.run.context, running=True)
                yield from self._settle(settler, work, call, Unknown({"cancelled": True}), asked=False)
            else:
                self.pending.append(Item(cancelled("The call was cancelled.", started=True), call))
        self._give_up_waiting("The call was cancelled.")

    def _give_up_waiting(self, why: str) -> None:
        """Calls that wait for their next attempt end as what is known of the attempts so far."""
        for _, work in self.waiting.values():
            call = self._call_of(work)
            self.pending.append(Item(given_up(call, why), call))
        self.waiting.clear()

    def _let_go(self, flight: Flying) -> Steps[bool | None]:
        """Wait no longer; return whether the tool was still at it (its end is told as late); None: it never began."""
        work = flight.work
        late = LateOutcome(self.core, work, self.core.history.calls[work.call_id], self.rules(work))
        under_way = yield from let_go(work.call_id, late, interrupt=work.cancellable)
        if under_way is None:
            self.unlaunched[work.call_id] = self.core.history.calls[work.call_id].attempt
        if under_way:
            self.core.adrift[work.call_id] = Member(0, work.stub.side_effecting, work.keys)
            if late.ended:  # pragma: no cover - it ended between the last two lines
                self.core.adrift.pop(work.call_id, None)
        if under_way is not False:
            del self.flying[work.call_id]
        return under_way

    def _leave_behind(self) -> Steps[None]:
        """The ledger itself failed: what still runs is told as late, if the store is well again by then."""
        for flight in list(self.flying.values()):
            yield from self._let_go(flight)

    def _taken_over(self) -> Steps[None]:
        """Another owner has the session now: what is known, or comes to be known, is evidence for its reviewer."""
        yield from self.core.refresh()
        while self.flying:
            for flight in list(self.flying.values()):
                yield from self._let_go(flight)
            yield from self._take_ends(0)
        ends, self.pending = self.pending, []
        for item in ends:
            match item.body:
                case CallSucceeded() | CallFailed(not_started=False) as end if item.call is not None:
                    yield from record_late(self.core, item.call, end)
                case _:
                    pass  # it never ran, or nobody knows: the new owner decides

    def rules(self, work: Work) -> Rules:
        """Return what was declared about the ends of this call."""
        contract = work.version.contract if work.version else None
        safe = self.core.wiring.safe_error
        return Rules(contract.exceptions, contract.max_result_bytes, safe) if contract else Rules(safe_error=safe)
