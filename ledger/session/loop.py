"""What a session handle does, as steps of the engine: the sync and the async API drive the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from ledger.calls import WAITING, Call
from ledger.errors import (
    KeyConflict,
    LeaseLost,
    LedgerError,
    StartDiffers,
    StoreError,
    UnknownSession,
    UsageError,
    WrongSequence,
)
from ledger.events import MessageRecorded, SessionClosed
from ledger.events.session_bodies import CloseReason
from ledger.execution.requests import Steps, ended_runs, user_code
from ledger.history import Settled, Turn
from ledger.providers.conversation import conversation, note_message, turn_messages
from ledger.providers.estimate import estimated_tokens
from ledger.providers.names import original_name
from ledger.providers.port import HOST, ProposedCall, Reply
from ledger.providers.transcripts import complete
from ledger.session.border import principal_id, wire
from ledger.session.core import Core, Item
from ledger.session.endings import given_up
from ledger.session.identity import Texts, find_turn
from ledger.session.intake import Terms, take_in
from ledger.session.keys import recorded_under
from ledger.session.offering import chose, kept, offered
from ledger.session.results import CallResult, Results, apart
from ledger.session.resuming import Recovered, resume
from ledger.session.seat import Worker
from ledger.session.shapes import shape_of
from ledger.session.stepwise import advance
from ledger.session.told import Told
from ledger.strictjson import JsonObject, canonical

T = TypeVar("T")
Taking: TypeAlias = Callable[[Core, Reply, Terms], Steps[int]]

POLL_SECONDS = 0.25
"""How often `wait` looks whether a person has answered."""


@dataclass(slots=True)
class Loop:
    """
    One handle: what it has told its model, what it has offered, how long it waits for another owner.

    `offers`: its host has said what is offered, so the session's recorded offer no longer counts.

    `principal` is what the host gave, for its policies.
    """

    core: Core
    principal: Any = None
    tenant: str | None = None
    on_behalf_of: str | None = None
    wait_seconds: float = 0.0
    told: Told = field(default_factory=Told)
    offered: frozenset[str] | None = None
    offers: bool = False
    offered_tokens: int = 0
    recovered: bool = False
    broken_off: int = 0

    def entered(self, steps: Steps[T]) -> Steps[T]:
        """
        Do the steps as the one that works on the session in this process; the lease never outlives them.

        What breaks off in the middle is read anew, and recovered before the next step.
        """
        core, me = self.core, Worker()
        try:
            yield from core.enter(me, self.wait_seconds)
            if not core.loaded:
                yield from core.refresh()
            self.recovered = self.recovered and self.broken_off == core.broken_off
            self.broken_off = core.broken_off
            self._identify()
            core.budget.over = None
            return (yield from steps)
        except GeneratorExit:  # nobody drives any more: no further step is possible
            if core.seat.held_by(me):
                core.forget()
                core.let_lapse()
            raise
        except BaseException as error:
            if core.seat.held_by(me):
                yield from self._break_off(error)
            raise
        finally:
            core.seat.leave(me)

    def _break_off(self, error: BaseException) -> Steps[None]:
        with suppress(LedgerError):  # the first error is the one to tell; the lease expires by itself
            yield from self.core.release()
        if isinstance(error, LedgerError) and not isinstance(error, StoreError | LeaseLost):
            return
        self.core.forget()
        with suppress(LedgerError):
            yield from self.core.refresh()

    def _identify(self) -> None:
        """Say who acts now: the principal and the tenant come from the host, and a session keeps its tenant."""
        core = self.core
        core.actor, core.principal = self.principal, principal_id(self.principal)
        core.on_behalf_of, core.told = self.on_behalf_of, self.told
        if core.history.opened is None:
            core.tenant = self.tenant
        elif self.tenant is not None and self.tenant != core.tenant:
            raise UsageError(
                f"session {core.session_id!r} belongs to another tenant than {self.tenant!r}",
                hint="Open it with its own tenant, or under another session id.",
            )

    # -- recovery

    def recover(self) -> Steps[Recovered]:
        """Decide about every open call, act, and tell the listeners what ended."""
        yield from self.core.refresh()
        self.told.at_most_open(self.core.history)
        found = yield from resume(self.core)
        self.recovered = True
        yield from self._notify()
        yield from self._close_if_spent()
        return found

    def resume(self, *, dry_run: bool, execute: bool) -> Steps[Recovered]:
        """Recover as asked. Raises `UnknownSession`."""
        yield from self.core.refresh()
        if self.core.history.sequence == 0:
            raise UnknownSession(self.core.session_id)
        self.told.at_most_open(self.core.history)
        found = yield from resume(self.core, dry_run=dry_run, execute=execute)
        yield from self._notify()
        yield from self._close_if_spent()
        return found

    def _notify(self) -> Steps[None]:
        core = self.core
        news = [entry for entry in core.history.resolved if entry.sequence > (core.notified or 0)]
        core.notified = core.history.sequence
        for entry in news:
            for listener in core.wiring.listeners:
                try:
                    yield from user_code(listener, apart(entry.call))
                except Exception:
                    core.wiring.log.exception("an on_resolved listener failed for call %s", entry.call.call_id)

    # -- the conversation

    def messages(self, format_name: str, start: Sequence[JsonObject] | None) -> Steps[list[JsonObject]]:
        """Return the whole conversation; record how it starts, once."""
        yield from self.recover()
        form = wire(format_name)
        kept = self._keeps_texts()
        if start is not None and kept:
            yield from self._start(format_name, start)
        self.told.everything(self.core.history)
        told = conversation(self.core.history, form, gone=self._gone())
        return told if kept else [*(start or ()), *told]

    def _gone(self) -> list[str]:
        """Return the tools that no request declares any more: providers refuse calls of tools that are not declared."""
        registry = self.core.wiring.registry
        stages = ((name, registry.definition(name)) for name in registry.names)
        removed = (name for name, definition in stages if definition is not None and definition.stage == "removed")
        return [*removed, *registry.given_up]

    def _keeps_texts(self) -> bool:
        opened = self.core.history.opened or self.core.opening
        return opened.transcript == "full"

    def _start(self, format_name: str, start: Sequence[JsonObject]) -> Steps[None]:
        items = [Item(_message(format_name, message, None, start=True)) for message in start]
        while not self.core.history.entries:
            with suppress(WrongSequence):  # somebody else began it this very moment: look at what they recorded
                yield from self.core.commit(items, release=True)
                return
        recorded = [entry.message for entry in self.core.history.starts]
        if canonical(recorded) != canonical(list(start)):
            raise StartDiffers(
                f"session {self.core.session_id!r} started with other messages than start=",
                hint="Leave start= out, and give later messages to session.add(message).",
            )

    def add(self, format_name: str, message: JsonObject, key: str | None) -> Steps[None]:
        """Record a later message of the host, once for each key."""
        if not self.recovered:
            yield from self.recover()
        body = _message(format_name, message, key, start=False)
        while not self._added(body) and self._keeps_texts():
            with suppress(WrongSequence):  # somebody else recorded something first: it may be this very message
                yield from self.core.commit([Item(body)], release=True)
                return

    def _added(self, body: MessageRecorded) -> bool:
        """Whether this message is recorded under its key; raises `UsageError` where another one is."""
        known = self.core.history.keys.get(body.key) if body.key is not None else None
        told = canonical(body.message), canonical(self.core.secrets.scrubbed(body.message))
        if known is not None and canonical(known.message) not in told:
            raise UsageError(f"another message was added under the key {body.key!r}", hint="Use a new key.")
        return known is not None

    def complete(self, format_name: str, messages: Sequence[JsonObject]) -> Steps[list[JsonObject]]:
        """Return the host's own transcript with every unanswered call answered."""
        yield from self.recover()
        self.told.everything(self.core.history)
        return complete(self.core.history, list(messages), wire(format_name))

    # -- turns and calls

    def look(self) -> Steps[None]:
        """Do nothing but enter: the session is read then."""
        yield from ()

    def offer(self, format_name: str, only: object) -> list[JsonObject]:
        """Return the tools for the model's request; these are what it may choose from in its next turn."""
        versions = offered(self.core, only)
        definitions = wire(format_name).tools(versions)
        self.offered, self.offers = frozenset(version.tool for version in versions), True
        self._weigh(len(versions), estimated_tokens(definitions))
        return definitions

    def _weigh(self, count: int, tokens: int) -> None:
        wiring, before, self.offered_tokens = self.core.wiring, self.offered_tokens, tokens
        budget = wiring.tools_budget
        if budget is not None and tokens > budget and tokens != before:  # once for each offer, not at each turn
            told = "session %s is offered %d tools of about %d tokens, above the budget of %d"
            wiring.log.warning(told, self.core.session_id, count, tokens, budget)

    def dispatch(self, format_name: str, reply: object, terms: Terms, turn: int | None) -> Steps[Results]:
        """Record, gate and run a turn of the model; the same turn again is answered from the record."""
        form = wire(format_name)
        parsed = self._named(form.parse(reply))
        if not self.offers:
            if not self.recovered:
                yield from self.recover()
            terms = replace(terms, offered=kept(self.core))
        number = yield from self.turn(parsed, terms, turn)
        found = self.core.history.turn(number)
        if found is None:  # pragma: no cover - it was recorded a line ago
            raise UsageError(f"turn {number} cannot be read")
        calls = tuple(CallResult(call) for call in self.core.history.turn_calls(found))
        return Results(turn=number, calls=calls, messages=turn_messages(self.core.history, found, form))

    def _named(self, reply: Reply) -> Reply:
        names = self.core.wiring.registry.names
        calls = tuple(replace(call, name=original_name(call.name, names)) for call in reply.calls)
        return replace(reply, calls=calls, model=reply.model or self.core.opening.model)

    def turn(
        self, reply: Reply, terms: Terms, given: int | None, take: Taking = take_in, shown: str | None = None
    ) -> Steps[int]:
        """Return the number of the turn that this reply is, taken in if it is new; `shown`: its text as recorded."""
        if not self.recovered:
            yield from self.recover()
        number = None
        while number is None:
            known = self._known(reply, given, terms.idempotency_key, (reply.text, shown or reply.text))
            with suppress(
                WrongSequence
            ):  # somebody else recorded something before this turn was: look again what it is
                number = known.number if known is not None else (yield from take(self.core, reply, terms))
        yield from self._close_if_spent()
        self.told.results(self.core.history, number)
        found = self.core.history.turn(number)
        if found is None or chose(found.body):
            self.offered = None
        return number

    def _known(self, reply: Reply, given: int | None, key: str | None, texts: Texts) -> Turn | None:
        history = self.core.history
        last = history.turns[-1].number if history.turns else 0
        if given is None and last <= self.told.turn and reply.response_id not in history.responses:
            return None
        shapes = [shape_of(self.core, call, key) for call in reply.calls]
        return find_turn(
            history, shapes, texts=texts, response_id=reply.response_id, given=given, delivered=self.told.turn
        )

    def call(self, call: ProposedCall, terms: Terms, turn: int | None, take: Taking = take_in) -> Steps[CallResult]:
        """Make one call of the host's own; an idempotency key used before gets the recorded call."""
        if not self.recovered:
            yield from self.recover()
        if terms.idempotency_key is not None:
            found = yield from recorded_under(self.core, call, terms.idempotency_key)
            if found is not None:
                return CallResult(found)
        reply = Reply(kind="tool_calls", provider=HOST, calls=(call,))
        try:
            number = yield from self.turn(reply, terms, turn, take)
        except KeyConflict:  # somebody else took the key this very moment
            found = yield from recorded_under(self.core, call, terms.idempotency_key or "")
            if found is None:
                raise
            return CallResult(found)
        recorded = self.core.history.turn(number)
        return CallResult(self.core.history.turn_calls(recorded)[0] if recorded is not None else Call())

    def advance(self, call_id: str) -> Steps[CallResult]:
        """Take a call one step further."""
        found = yield from advance(self.core, call_id)
        yield from self._close_if_spent()
        return CallResult(found)

    # -- waiting and closing

    def wait(self, format_name: str, seconds: float | None) -> Steps[Results]:
        """
        Wait until nobody is asked any more (or so long), run what was approved, and tell what ended as notes.

        A ledger that stops waits no longer.
        """
        clock = self.core.wiring.clock
        until = None if seconds is None else clock.monotonic() + seconds
        while True:
            yield from self.recover()
            asked = [call for call in self.core.history.open_calls() if call.state in WAITING]
            late = until is not None and clock.monotonic() >= until
            if not asked or late or self.core.wiring.stopping:
                break
            yield from ended_runs(POLL_SECONDS if until is None else min(POLL_SECONDS, until - clock.monotonic()))
        news = self.told.news(self.core.history)
        self.told.ends(self.core.history)
        return self._told(format_name, news, asked)

    def _told(self, format_name: str, news: Sequence[Settled], asked: Sequence[Call]) -> Results:
        form = wire(format_name)
        calls = tuple(CallResult(call) for call in (*(entry.call for entry in news), *asked))
        return Results(turn=self.told.turn, calls=calls, messages=[note_message(entry, form) for entry in news])

    def _close_if_spent(self) -> Steps[None]:
        """Close the session where one of its limits kept something from starting."""
        over, self.core.budget.over = self.core.budget.over, None
        if over is not None:
            yield from self.close(over.reason, over.message, over.to_wire())

    def close(self, reason: CloseReason | None, message: str | None, limit: JsonObject | None = None) -> Steps[None]:
        """
        Close the session; closing it twice is the same as once.

        What waits for a person stays in the queue; a write without an outcome is flagged, and what has not ended
        otherwise ends as cancelled: nothing of a closed session runs any more.
        """
        yield from self.core.refresh()
        while self.core.history.closed is None:
            with suppress(WrongSequence):  # somebody else recorded something first: it may be open, or the closing
                yield from self._close(reason, message, limit)

    def _close(self, reason: CloseReason | None, message: str | None, limit: JsonObject | None) -> Steps[None]:
        yield from resume(self.core, execute=False)
        history = self.core.history
        if history.closed is not None:
            return
        left = [call for call in history.open_calls() if call.state not in WAITING]
        ends = [Item(given_up(call, "The session was closed."), call) for call in left]
        why: CloseReason = reason or ("final_answer" if history.final else "aborted")
        body = SessionClosed(
            reason=why, turns=len(history.turns), calls=len(history.calls), message=message, limit=limit
        )
        yield from self.core.commit([*ends, Item(body)], release=True)


def _message(format_name: str, message: JsonObject, key: str | None, *, start: bool) -> MessageRecorded:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise UsageError(
            f"a message is an object with a role, not {type(message).__name__}",
            hint='For example {"role": "user", "content": "…"}.',
        )
    return MessageRecorded(role=message["role"], provider=format_name, message=message, key=key, start=start)
