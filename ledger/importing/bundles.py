"""Imports the ledger's own export: the very bytes that were recorded, so that the digests are equal."""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from ledger.calls import NEW_CALL, TERMINAL, WAITING, Call, call_row, evolve
from ledger.counting import counted
from ledger.errors import IllegalTransition, LedgerError, UsageError
from ledger.events import (
    CallFlagged,
    CallProposed,
    Draft,
    Event,
    SessionClaimed,
    ToolStageChanged,
    ToolVersionPublished,
    TurnRecorded,
    encode,
    read_event,
)
from ledger.events.call_bodies import FlagReason
from ledger.ids import iso, parse_iso
from ledger.importing.identity import usable, uuid8
from ledger.importing.lines import Line
from ledger.importing.plan import ACTOR
from ledger.importing.refusals import OF_THE_STORE, changed, too_much_open, went_on
from ledger.importing.report import Problem, SessionReport, Told, state_of
from ledger.providers.bundle import BundleFault, BundleRecord, BundleSession, read_bundle
from ledger.store.port import Append, Store, StoredEvent, Take
from ledger.strictjson import canonical, loads

_HEAD: Final = b'{"bundle"'
_GLUED: Final = re.compile(rb'(?<=\})(?=\{"(?:bundle|digest|end)":)')
"""Between two lines that lost the line feed between them: no JSON text holds that, not even in a string."""

_BLANK: Final = b" \t\r\n\0"
_MOST_EVENTS: Final = 1000
_MOST_BYTES: Final = 4 * 2**20
_PAGE: Final = 500
_FAULT: Final = "bundle_fault"
_MOST_OPEN: Final = 64 * 2**20
"""Bytes of a commit at most, also where a call is open that could run before the next one."""

_ALLOWED: Final = "a person allowed it in the ledger that it comes from, which may run it"
_OPEN: Final = "it had not ended in the ledger that it comes from, which may run it"
_STARTED: Final = "it was started in the ledger that it comes from, which may know how it ended, or run it again"


def imported_bundle(lines: Iterable[Line], stores: Callable[[], Store], now: str) -> Iterator[Told]:
    """
    Import the sessions of a ledger's export and yield what became of each, and what could not be read.

    A session is taken up to the first line of it that is not as it was written; the next one is found again.
    A call that is open there and may change the world, or that a person allowed, is asked of a person here, at `now`
    (ISO 8601 UTC): the ledger that it comes from may run it too. `stores` is asked for each session's store when it
    begins.
    """
    feed = _Feed(lines)
    while True:
        more = feed.seek()
        yield from feed.problems()
        if not more:
            return
        one: _Bundled | None = None
        try:
            for item in read_bundle(feed.session()):
                if isinstance(item, BundleSession):
                    one = _Bundled(stores(), item.id, now)
                elif isinstance(item, BundleRecord) and one is not None:
                    one.take(item)
        except BundleFault as error:
            feed.fault(error)
        yield from feed.problems()
        if one is not None:
            yield one.end()


class _Feed:
    """The lines of a bundle, session by session; what stands on one line without its line feed is taken apart."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = iter(lines)
        self._parts: deque[tuple[Line, bytes]] = deque()
        self._problems: list[Problem] = []
        self._at: Line | None = None

    def seek(self) -> bool:
        """Go to where the next session begins; false where none does."""
        first: Line | None = None
        count = 0
        while (part := self._peek()) is not None and not part[1].startswith(_HEAD):
            first = first or part[0]
            count += 1
            self._parts.popleft()
        if first is not None:
            left = counted(count, "line is", "lines are")
            self._tell(first, _FAULT, f"{left} left out: of no session that is whole up to there")
        return part is not None

    def session(self) -> Iterator[bytes]:
        """Yield the lines of the session that begins here."""
        begun = False
        while (part := self._peek()) is not None and not (begun and part[1].startswith(_HEAD)):
            begun = True
            self._at = part[0]
            self._parts.popleft()
            if not self._at.whole:
                raise BundleFault(f"a line of {self._at.size} bytes is longer than any is read", line=self._at.number)
            yield part[1]

    def fault(self, error: BundleFault) -> None:
        """Take in what is wrong with the line that was handed out last."""
        line = self._at
        assert line is not None  # noqa: S101 - for the type checker: a session has a line
        self._tell(line, _FAULT, error.message.partition(": ")[2].rstrip("."))

    def problems(self) -> Iterator[Problem]:
        """Yield what was found since."""
        found, self._problems = self._problems, []
        yield from found

    def _peek(self) -> tuple[Line, bytes] | None:
        while not self._parts:
            line = next(self._lines, None)
            if line is None:
                return None
            text = line.text.strip(_BLANK)
            if b"\0" in line.text:
                self._tell(line, "nul", counted(line.text.count(0), "byte is 0", "bytes are 0"))
            parts = _GLUED.split(text) if text or not line.whole else []
            if len(parts) > 1:
                self._tell(line, "glued", f"{len(parts)} records stand on one line")
            self._parts.extend((line, part) for part in parts)
        return self._parts[0]

    def _tell(self, line: Line, code: str, message: str) -> None:
        self._problems.append(Problem(line=line.number, offset=line.offset, code=code, message=message))


class _Bundled:
    """One session of a bundle on its way into the store."""

    def __init__(self, store: Store, session_id: str, now: str) -> None:
        self._now = now
        self._store = store
        self._session_id = session_id
        head = store.head(session_id)
        self._sequence = self._before = head.sequence if head is not None else 0
        self._owner, self._token = (head.owner, head.token) if head is not None else (None, 0)
        self._stored = self._recorded()
        self._drafts: list[Draft] = []
        self._size = self._added = self._turns = 0
        self._claims = 0
        self._calls: dict[str, Call] = {}
        self._open: dict[str, Call] = {}  # those that two ledgers could run now
        self._touched: dict[str, None] = {}
        self._lost: set[str] = set()
        self._error: LedgerError | None = None
        if not usable(session_id):
            self._error = UsageError(f"{session_id!r} can be no session's id")

    def take(self, record: BundleRecord) -> None:
        """Take in the next event. Raises `BundleFault` where it is none that a ledger wrote."""
        if self._error is not None:
            return
        draft = _draft(record)
        self._turns += isinstance(draft.event.body, TurnRecorded)
        with self._refusing():
            if record.sequence > self._before:
                self._append(draft, record.sequence)
            else:
                self._compare(record)
                self._fold(draft.event, record.sequence)

    def _compare(self, record: BundleRecord) -> None:
        stored = next(self._stored)
        if stored.record != record.record:
            if stored.type == "call.flagged" and read_event(stored.record, stored).actor == ACTOR:
                raise went_on(self._session_id, record.sequence, export=True)
            raise changed(self._session_id, record.sequence, f"event {record.sequence} of the export", export=True)

    def _append(self, draft: Draft, sequence: int) -> None:
        event = draft.event
        body = event.body
        if isinstance(body, ToolVersionPublished | ToolStageChanged):
            raise UsageError(f"session {self._session_id!r} holds an event of the catalog: no ledger wrote that")
        if isinstance(body, CallProposed):
            known = self._store.call(event.call_id or "")
            if known is not None and known.session_id != self._session_id:
                raise UsageError(f"call {event.call_id} is recorded already, in session {known.session_id!r}")
        self._make_room()  # before, not behind: the last commit also holds what is asked anew
        if isinstance(body, SessionClaimed) and body.token == self._token + 1 and body.owner != self._owner:
            self._claims += 1  # the lease's count moves in the commit of the claim, as it did there
            self._owner, self._token = body.owner, body.token
        self._keep(draft, sequence)

    def _make_room(self) -> None:
        """Commit what is there if it is enough: where no call is open, for a worker may look, or nothing follow."""
        if not self._open and (len(self._drafts) >= _MOST_EVENTS or self._size >= _MOST_BYTES):
            self._flush()
        elif self._size >= _MOST_OPEN:
            raise too_much_open(self._session_id, len(self._open), _MOST_OPEN)

    def _keep(self, draft: Draft, sequence: int) -> None:
        self._drafts.append(draft)
        self._size += len(draft.head)
        if draft.event.call_id is not None:
            self._touched[draft.event.call_id] = None
        self._fold(draft.event, sequence)

    def _ask_anew(self) -> None:
        """Flag what two ledgers could run now: here it runs by a person's word only."""
        for call in list(self._open.values()) if self._drafts else ():
            self._keep(encode(_asked_anew(call, self._now)), self._sequence + len(self._drafts) + 1)

    def _fold(self, event: Event, sequence: int) -> None:
        call_id = event.call_id
        if call_id is None or call_id in self._lost:
            return
        self._open.pop(call_id, None)
        try:
            call = self._calls[call_id] = evolve(self._calls.get(call_id, NEW_CALL), event, sequence)
        except IllegalTransition:
            self._lost.add(call_id)
            return
        if _could_run(call):
            self._open[call_id] = call

    def _flush(self) -> None:
        if not self._drafts:
            return
        request = Append(
            session_id=self._session_id,
            drafts=tuple(self._drafts),
            calls=tuple(call_row(self._calls[call_id]) for call_id in self._touched if call_id in self._calls),
            expected=self._sequence or "none",
            take=self._taken(),
            release=self._claims > 0,
        )
        appended = self._store.append(request)
        self._sequence = appended.sequences[-1]
        self._added += 0 if appended.repeated else len(self._drafts)
        self._drafts, self._size, self._claims, self._touched = [], 0, 0, {}

    def _taken(self) -> Take | None:
        if self._owner is None or not self._claims:
            return None
        return Take(owner=self._owner, token=self._token, seconds=0, claims=self._claims)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Keep why the session is not taken; what is wrong with the store ends the import."""
        try:
            yield
        except OF_THE_STORE:
            raise
        except LedgerError as error:
            self._error = error

    def end(self) -> SessionReport:
        """Commit what is left, and say what became of it."""
        if self._error is None:
            with self._refusing():
                self._ask_anew()
                self._flush()
        return SessionReport(
            session_id=self._session_id,
            state=state_of(self._error, known=self._before > 0, added=self._added),
            added=self._added,
            turns=self._turns,
            calls=len(self._calls),
            open=sum(call.state not in TERMINAL for call in self._calls.values()),
            error=self._error,
        )

    def _recorded(self) -> Iterator[StoredEvent]:
        after = 0
        while True:  # asked for no more events than there are
            page = self._store.read(self._session_id, after=after, limit=_PAGE)
            yield from page
            after = page[-1].sequence


def _could_run(call: Call) -> bool:
    """Whether a ledger may run the call by itself, and that twice would be too often: reads may be made by both."""
    if call.state in TERMINAL or call.state in WAITING or call.executor == "provider":
        return False
    return call.side_effecting or call.allowed_by_person


def _asked_anew(call: Call, now: str) -> Event:
    known: dict[str, object] = {"found": call.state, "imported": _ALLOWED if call.allowed_by_person else _OPEN}
    reason: FlagReason = "not-started" if call.never_ran and not call.contradicted else "outcome-unknown"
    if call.state == "started":
        reason = "outcome-unknown"
        known |= {"imported": _STARTED, "worker": call.worker, "startedAt": call.started_at, "attempt": call.attempt}
    return Event(
        session_id=call.session_id,
        event_id=uuid8(hashlib.sha256(canonical([call.session_id, call.last_event_id, "asked anew"])).digest()),
        recorded_at=now,
        body=CallFlagged(reason=reason, evidence=known),
        call_id=call.call_id,
        tool=call.tool,
        schema_version=call.schema_version,
        schema_digest=call.schema_digest,
        turn=call.turn,
        index=call.index,
        revision=call.revision,
        attempt=call.attempt or None,
        actor=ACTOR,
        principal=call.principal,
        tenant=call.tenant,
        on_behalf_of=call.on_behalf_of,
        causation_id=call.last_event_id,
    )


def _draft(record: BundleRecord) -> Draft:
    """Return a record as a store takes it; raises `BundleFault` where a ledger writes another one."""
    try:
        if canonical(loads(record.record)) == record.record:
            draft = record.draft()
            at = draft.event.recorded_at
            if draft.event.session_id == record.session_id and iso(parse_iso(at)) == at:
                return draft
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError, LedgerError):
        pass
    raise BundleFault("the record is not as a ledger writes it", line=record.sequence)
