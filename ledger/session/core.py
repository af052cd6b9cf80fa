"""One session's truth in this process: its history, its place in the store and how events get there."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ledger.calls import NEW_CALL, TERMINAL, Call, CallRow, call_row, ends_with, evolve, settled_by
from ledger.errors import IllegalTransition, LedgerError, ReadOnlySession, SessionClosed, SessionOwned, WrongSequence
from ledger.events import (
    BatchPlanned,
    Body,
    CallFlagged,
    CallOutcomeArrivedLate,
    CallProposed,
    CallStarted,
    CallSuperseded,
    Event,
    SessionClaimed,
    SessionOpened,
    TurnRecorded,
    encode,
    event_with,
    read_event,
)
from ledger.events.outcomes import in_time
from ledger.execution.batch import Member
from ledger.execution.requests import Steps, ended_runs, io
from ledger.history import History
from ledger.session.appending import AFTER_CLOSE, DECIDED, Item, Prepared
from ledger.session.budget import Budget
from ledger.session.lease import is_dead
from ledger.session.seat import Seat, Worker
from ledger.session.secrets import Secrets
from ledger.session.told import Told
from ledger.session.wiring import Wiring
from ledger.store.places import together
from ledger.store.port import Append, Head, Take

__all__ = ["Core", "Item"]

PAGE = 500
"""Events read at a time."""

_POLL_SECONDS = 0.05


@dataclass(slots=True, weakref_slot=True, eq=False)
class Core:
    """
    Shared by all handles of a session in one ledger; who has the `seat` works on it.

    `secrets` are the values that are masked before disk, and the true arguments of the calls that hold any: they exist
    in this process only. `adrift` are calls that nobody waits for any more and that still run here.
    """

    wiring: Wiring
    history: History
    opening: SessionOpened
    actor: Any = None  # the principal as the host gave it, for its own policies
    principal: str | None = None
    tenant: str | None = None
    on_behalf_of: str | None = None
    head: Head | None = None
    loaded: bool = False
    held: bool = False
    token: int = 0
    budget: Budget = field(default_factory=Budget)
    notified: int | None = None  # the listeners know what ended up to here; None: before the session was first read
    told: Told = field(default_factory=Told)  # what the model of the handle knows that works on it now
    secrets: Secrets = field(init=False)
    adrift: dict[str, Member] = field(default_factory=dict)
    patience: float = 0.0  # until when (monotonic) another owner is waited for
    seat: Seat = field(default_factory=Seat)
    broken_off: int = 0  # how often something broke off: every handle recovers again then

    def __post_init__(self) -> None:
        self.secrets = self.wiring.secrets_of(self.session_id)

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.history.session_id

    # -- reading

    def refresh(self) -> Steps[None]:
        """Read on from where the history stands; the first time, the whole session."""
        yield from io(self.load)

    def load(self) -> None:
        """Do what `refresh` does, on this thread."""
        store, history = self.wiring.store, self.history
        while True:
            rows = store.read(self.session_id, after=history.sequence, limit=PAGE)
            for row in rows:
                event = read_event(row.record, row)
                history.load(event)
                history.sequence = row.sequence  # also where the row itself cannot be read
            if len(rows) < PAGE:
                break
        self.head = store.head(self.session_id)
        if self.notified is None:
            self.notified = history.sequence
        self.loaded = True
        if history.opened is not None:
            self.tenant = history.tenant

    # -- writing

    def commit(
        self, items: Sequence[Item], *, worker: bool = True, release: bool = False, whole: bool = False
    ) -> Steps[list[Item]]:
        """
        Record items in one transaction, in order; return those that another's append made illegal meanwhile.

        With `whole` they stand and fall together.

        A conflict folds what the other wrote, checks again which items are still legal, and chains again. With
        `worker` the lease is taken (or its token checked), with `release` given back in the same commit.
        A turn, a message, a resume or a closing is not chained again: that is `WrongSequence`. Raises `LeaseLost`,
        `SessionOwned`, `SessionClosed`, `ReadOnlySession` and what the store raises.
        """
        while True:
            self._writable(items)
            prepared = self._prepare(items, worker=worker)
            if whole and prepared.refused:
                return prepared.refused
            if not prepared.drafts:
                if release:
                    yield from self.release()
                return prepared.refused
            request = self._request(prepared, worker=worker, release=release)
            try:
                appended = yield from io(partial(self.wiring.store.append, request))
            except (WrongSequence, SessionOwned) as error:
                yield from self._meanwhile(items, error)
                continue
            self._absorb(prepared, appended.sequences, appended.head)
            if worker:
                self._settle_lease(released=release)
            return prepared.refused

    def _meanwhile(self, items: Sequence[Item], error: WrongSequence | SessionOwned) -> Steps[None]:
        """Read what another owner records, as long as it may be waited for; raises where that is no help."""
        if isinstance(error, SessionOwned):
            if self.wiring.clock.monotonic() >= self.patience:
                raise error
            yield from ended_runs(_POLL_SECONDS)
        before = self.history.sequence
        yield from self.refresh()
        moved = isinstance(error, WrongSequence) or self.history.sequence != before
        if moved and any(isinstance(item.body, DECIDED) for item in items):
            raise WrongSequence(self.session_id, expected=before, actual=self.history.sequence)

    def release(self) -> Steps[None]:
        """Give the lease back, where it is held."""
        if self.held:
            self.held = False
            self.wiring.heartbeat.drop(self.session_id)
            yield from io(lambda: self.wiring.store.release(self.session_id, token=self.token))

    def _settle_lease(self, *, released: bool) -> None:
        if released:
            self.held = False
            self.wiring.heartbeat.drop(self.session_id)
        elif not self.held:
            self.held = True
            self.wiring.heartbeat.hold(self.session_id, self.token)

    def _writable(self, items: Sequence[Item]) -> None:
        if self.history.read_only:
            raise ReadOnlySession(
                f"session {self.session_id!r} holds events of a newer release; here it can only be read",
                hint="Upgrade this program.",
            )
        closed = self.history.closed
        if closed is not None and not all(isinstance(item.body, AFTER_CLOSE) for item in items):
            raise SessionClosed(self.session_id, closed.reason)

    def _prepare(self, items: Sequence[Item], *, worker: bool) -> Prepared:
        prepared = Prepared()
        if self.history.sequence == 0:
            self._add(prepared, Item(self.opening))
        if worker and not self.held:
            self._claim(prepared)
        prefix = len(prepared.drafts)
        for item in items:
            if self._moved_on(item):
                prepared.refused.append(item)
                continue
            try:
                after = self._add(prepared, item)
            except IllegalTransition:
                prepared.refused.append(item)
                continue
            if after is not None and (after.state in TERMINAL or after.flag is not None):
                self._settle_copies(prepared, after)
        if len(prepared.drafts) == prefix and items:
            return Prepared(refused=prepared.refused)
        return prepared

    def _moved_on(self, item: Item) -> bool:
        call = item.call
        return item.seen is not None and call is not None and self.history.calls[call.call_id].sequence != item.seen

    def _claim(self, prepared: Prepared) -> None:
        """Count on a token: ours where we were the last owner, else the next one, told by `session.claimed`."""
        owner = str(self.wiring.owner)
        if self.head is not None and self.head.owner == owner:
            self.token = self.head.token
        else:
            self.token = (self.head.token if self.head else 0) + 1
            self._add(prepared, Item(SessionClaimed(owner=owner, token=self.token)))

    def _settle_copies(self, prepared: Prepared, after: Call) -> None:
        """The original's end and each copy's share one commit; so do a copy and its end where that came before it."""
        calls = ChainMap(prepared.calls, self.history.calls)
        for copy, original in ends_with(after, calls, self.history.open_ids):
            self._add(prepared, Item(settled_by(original), copy, causation=original.last_event_id))

    def _add(self, prepared: Prepared, item: Item) -> Call | None:
        after: Call | None = None
        before = NEW_CALL
        if item.call is not None:
            call_id = item.call.call_id
            before = prepared.calls.get(call_id) or self.history.calls.get(call_id) or NEW_CALL
        event = self._event(item, self._timely(item, before), self._cause(prepared, item, before))
        if isinstance(event.body, TurnRecorded | CallSuperseded):
            prepared.cause = event.event_id
        if event.call_id is not None:
            after = evolve(before, event, self.history.sequence + len(prepared.drafts) + 1)
            prepared.calls[event.call_id] = after
        prepared.drafts.append(encode(event))
        prepared.afters.append(after)
        prepared.guards += item.guards
        return after

    def _cause(self, prepared: Prepared, item: Item, before: Call) -> str | None:
        """Return the id of the event that led to this one, where there is one."""
        if isinstance(item.body, CallProposed):
            return prepared.cause
        if isinstance(item.body, BatchPlanned):
            return prepared.cause or self.history.turns[-1].event_id
        return item.causation or before.last_event_id

    def _timely(self, item: Item, before: Call) -> Body:
        """Return the body as it must be now: what others recorded meanwhile is known only at the append."""
        body = self.secrets.scrubbed_body(item.body)
        if isinstance(body, CallStarted) and body.token != self.token:
            return replace(body, token=self.token)  # known only once the lease is counted on
        if isinstance(body, CallOutcomeArrivedLate) and body.settles:
            another = before.attempt != item.attempt or self.history.claimed_since(before)
            return replace(body, settles=False) if another else body
        if isinstance(body, CallFlagged) and before.state == "started" and before.late is not None:
            return in_time(before.late) if before.late.settles else body  # it came just before the flag
        return body

    def event(self, item: Item) -> Event:
        """Return an item as an event, to see what it leads to; what is recorded is made at the commit."""
        return self._event(item, item.body, None)

    def _event(self, item: Item, body: Body, cause: str | None) -> Event:
        call = item.call
        whose = self if call is None else call  # a call stays whose it is, whoever takes it on or answers for it
        values: dict[str, Any] = {
            "session_id": self.session_id,
            "event_id": self.wiring.clock.new_id(),
            "recorded_at": self.wiring.clock.stamp(),
            "actor": item.actor,
            "principal": whose.principal,
            "tenant": whose.tenant,
            "on_behalf_of": whose.on_behalf_of,
            "causation_id": cause,
            "turn": item.turn,
        }
        if call is not None:
            values |= {
                "call_id": call.call_id,
                "tool": call.tool,
                "schema_version": call.schema_version,
                "schema_digest": call.schema_digest,
                "turn": call.turn,
                "index": call.index,
                "revision": call.revision,
                "attempt": item.attempt or call.attempt or None,
            }
        return event_with(values, body)

    def _request(self, prepared: Prepared, *, worker: bool, release: bool) -> Append:
        rows: tuple[CallRow, ...] = tuple(call_row(call) for call in prepared.calls.values())
        take = self._take() if worker and not self.held else None
        return Append(
            session_id=self.session_id,
            drafts=tuple(prepared.drafts),
            calls=rows,
            expected=self.history.sequence,
            token=self.token if worker and self.held else None,
            take=take,
            release=release,
            guards=together(prepared.guards),
        )

    def _take(self) -> Take:
        head = self.head
        owner = str(self.wiring.owner)
        dead = head.token if head and head.owner and head.owner != owner and is_dead(head.owner) else None
        return Take(owner=owner, token=self.token, seconds=self.wiring.lease_seconds, dead=dead)

    def _absorb(self, prepared: Prepared, sequences: Sequence[int], head: Head) -> None:
        for draft, after, sequence in zip(prepared.drafts, prepared.afters, sequences, strict=True):
            self.history.apply(draft.event, sequence, after)
            if after is not None and after.state in TERMINAL:
                self.secrets.truths.pop(after.call_id, None)
        if self.secrets:
            self.wiring.keep_secrets(self.session_id, self.secrets)
        self.head = head

    # -- one at a time

    def enter(self, who: Worker, wait: float) -> Steps[None]:
        """
        Begin to work on the session in this process; raises `SessionOwned` where another thread does.

        `wait` (seconds) is also how long the lease of another process is waited for.
        """
        until = self.wiring.clock.monotonic() + wait
        while not self.seat.take(who):
            if self.wiring.clock.monotonic() >= until:
                raise SessionOwned(self.session_id, owner="another thread of this process", until="it is done")
            yield from ended_runs(_POLL_SECONDS)
        self.patience = until

    def leave(self) -> Steps[None]:
        """Give the lease back, unless somebody of this process works under it: who does gives it back."""
        me = Worker()
        if self.seat.take(me):
            try:
                yield from self.release()
            finally:
                self.seat.leave(me)

    def forget(self) -> None:
        """Read the session anew at the next refresh: something broke off in the middle."""
        self.history = History(self.session_id)
        self.loaded = False
        self.broken_off += 1

    def let_lapse(self) -> None:
        """Stop renewing the lease, without another step: it is given back if the store allows, else it expires."""
        if self.held:
            self.held = False
            self.wiring.heartbeat.drop(self.session_id)
            with suppress(LedgerError):
                self.wiring.store.release(self.session_id, token=self.token)
