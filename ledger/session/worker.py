"""Resumes many sessions: once, or again and again as the worker that runs what people approve."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, get_args

from ledger.audit.reading import stored_events
from ledger.calls import TERMINAL, WAITING, Call, State
from ledger.errors import LedgerError, SessionOwned, StoreUnavailable
from ledger.events import read_event
from ledger.session.handle import Session
from ledger.session.ledger import Ledger
from ledger.session.resuming import Recovered
from ledger.store.port import CallFilter, EventFilter

PAGE = 200
_OPEN: Final = tuple(sorted(set(get_args(State)) - TERMINAL - {"unknown"}))


@dataclass(frozen=True, slots=True)
class Report:
    """
    What became of one session.

    Decisions as `session.resumed` records them, calls that wait for a person, calls that need code which this process
    lacks, or the error that kept it from being resumed. `resting` is its last event where nothing can happen in it
    before another one follows, or before `until` (as `recordedAt`): all its open calls wait for a person.
    """

    session_id: str
    decisions: list[dict[str, object]] = field(default_factory=list)
    waiting: list[Call] = field(default_factory=list)
    needs_code: list[Call] = field(default_factory=list)
    error: LedgerError | None = None
    resting: int | None = field(default=None, compare=False)
    until: str | None = field(default=None, compare=False)


class Interrupted(KeyboardInterrupt):
    """Somebody interrupted the tool that a resume was running; `report` is what became of the session."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


def resume_one(ledger: Ledger, session_id: str, *, execute: bool, dry_run: bool = False, wait: float = 0.0) -> Report:
    """
    Resume a session and say what became of it.

    Raises `UnknownSession`, `SessionOwned`, `StoreError`s, and `Interrupted` for a KeyboardInterrupt behind a decision.
    """
    session = ledger.session(session_id, wait=wait)
    head = ledger.reader.head(session_id)
    try:
        found = session.resume(dry_run=dry_run, execute=execute)
    except KeyboardInterrupt as error:
        decisions = _decisions_after(ledger, session_id, head.sequence if head is not None else 0)
        if not decisions:  # it had only waited for its turn, or looked: nothing became of the session
            raise
        raise Interrupted(_report(session, Recovered(decisions))) from error
    return _report(session, found)


def _decisions_after(ledger: Ledger, session_id: str, sequence: int) -> list[dict[str, object]]:
    """Return what was decided behind this place in the session: that is recorded before any tool runs."""
    where = EventFilter(session_id=session_id, types=("session.resumed",))
    since = (stored for stored in stored_events(ledger.reader, where) if stored.sequence > sequence)
    last = deque(since, maxlen=1)
    return [each for stored in last for each in getattr(read_event(stored.record, stored).body, "decisions", ())]


def _report(session: Session, found: Recovered) -> Report:
    session_id, history = session.id, session.history
    waiting = [call for call in history.open_calls() if call.state in WAITING]
    broken = history.open_and_broken()
    waiting += broken  # nobody can decide for what cannot be read: a person has to know
    resting = history.sequence if waiting and not broken and len(waiting) == len(history.open_ids) else None
    return Report(session_id, found.decisions, waiting, found.needs_code, resting=resting, until=_first_end(waiting))


def _first_end(waiting: list[Call]) -> str | None:
    """Return when the first request for an approval expires, if one does."""
    ends = [call.approval.expires_at for call in waiting if call.state == "awaiting-approval" and call.approval]
    return min((end for end in ends if end is not None), default=None)


def with_open_calls(ledger: Ledger) -> Iterator[str]:
    """
    Yield the ids of sessions that are not closed and have calls that have not ended, in order.

    Found by the index of open calls: a worker asks every second, and most sessions have ended.
    """
    reader, after = ledger.reader, 0
    found: set[str] = set()
    while page := reader.calls(CallFilter(states=_OPEN), after=after, limit=PAGE):
        found.update(row.session_id for _, row in page)
        after = page[-1].position
    for session_id in sorted(found):
        if not reader.events(EventFilter(session_id=session_id, types=("session.closed",)), limit=1):
            yield session_id


def sweep(
    ledger: Ledger, *, execute: bool, dry_run: bool = False, at_rest: Callable[[str], bool] = lambda _: False
) -> Iterator[Report]:
    """
    Resume every session that has open calls, but those at rest.

    One that cannot be resumed is reported and does not stop the others.
    """
    for session_id in list(with_open_calls(ledger)):
        if at_rest(session_id):
            continue
        try:
            yield resume_one(ledger, session_id, execute=execute, dry_run=dry_run)
        except LedgerError as error:
            yield Report(session_id, error=error)
        except Exception as error:  # noqa: BLE001 - of one session: what is approved in the others runs all the same
            yield Report(session_id, error=_unexpected(session_id, error))


def _unexpected(session_id: str, error: Exception) -> LedgerError:
    """Return an error that no resume should raise, without its text: that may be of the host's own code."""
    found = LedgerError(
        f"resuming session {session_id!r} broke off: {type(error).__name__}",
        code="unexpected",
        hint=f"`ledger resume {session_id}` shows where.",
    )
    found.__cause__ = error
    return found


def follow(ledger: Ledger, stopped: Callable[[float], bool], *, seconds: float = 1.0) -> Iterator[Report]:
    """
    Sweep again and again until `stopped(seconds)` (it waits so long) says so; then nothing of another session begins.

    Reports only where something was done, and an error once until it is another one. Several workers may follow one
    ledger: a session's lease lets one of them work on it, the others pass on. A session in which only people can do
    something now costs one look at its head: thousands may wait for weeks. A store that cannot be reached is told once,
    as a report of no session, and asked again. Raises `StoreUnavailable` once the ledger itself was closed.
    """
    told: dict[str, str] = {}
    rest = _Rest(ledger)
    while True:
        for report in _swept(ledger, rest):
            rest.note(report)
            code = "" if report.error is None or isinstance(report.error, SessionOwned) else report.error.code
            news = code != "" and told.get(report.session_id) != code
            if code:
                told[report.session_id] = code
            else:
                told.pop(report.session_id, None)
                told.pop("", None)  # the store is there
            if report.decisions or news:
                yield report
            if stopped(0):
                return
        if stopped(seconds):
            return


def _swept(ledger: Ledger, rest: _Rest) -> Iterator[Report]:
    """Sweep, and say where the store was out of reach: it comes back, and what was approved is to run then."""
    try:
        yield from sweep(ledger, execute=True, at_rest=rest)
    except StoreUnavailable as error:
        if ledger.closed:
            raise
        yield Report("", error=error)


class _Rest:
    """The sessions in which nothing happens by itself, each with where it stood."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found: dict[str, tuple[int, str | None]] = {}

    def note(self, report: Report) -> None:
        """Remember how a session was left."""
        self._found.pop(report.session_id, None)
        if report.resting is not None:
            self._found[report.session_id] = report.resting, report.until

    def __call__(self, session_id: str) -> bool:
        """Return whether a session is as it was left, and no request in it has expired."""
        sequence, until = self._found.get(session_id, (0, None))
        head = self._ledger.reader.head(session_id) if sequence else None
        return head is not None and head.sequence == sequence and (until is None or self._ledger.now < until)
