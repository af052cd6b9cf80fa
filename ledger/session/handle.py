"""What an agent loop talks to: one session, in a sync and an async spelling of the same steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from ledger.errors import UsageError
from ledger.events.session_bodies import CloseReason
from ledger.execution.drive import adrive, drive
from ledger.execution.requests import Steps
from ledger.history import History
from ledger.providers.port import ProposedCall
from ledger.session.border import messages as checked
from ledger.session.border import optional_text, seconds, text, whole
from ledger.session.budget import checked_cost
from ledger.session.core import Core
from ledger.session.intake import OnRejection, Terms, take_in
from ledger.session.loop import Loop
from ledger.session.results import CallResult, Results
from ledger.session.resuming import Recovered
from ledger.session.stepwise import propose
from ledger.session.structured import AnswerCheck, Structured, Wanted, structured
from ledger.strictjson import JsonObject

T = TypeVar("T")


class Session:
    """
    One run of an agent. Opening it runs nothing; recovery runs at the first `messages`, `complete` or `dispatch`.

    A handle is what one model reads: what its `messages`, `complete`, `wait` and `dispatch` returned is known to have
    been told, what another handle returned is not. So a repeat that a model sends unknowingly is not executed.

    Every method has an async twin with an `a` before its name (`wait`: `await_`). Leaving `with` closes nothing; it
    gives the lease back.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def __repr__(self) -> str:
        return f"<Session {self.id!r} at {self._loop.core.history.sequence}>"

    @property
    def id(self) -> str:
        """The session's id."""
        return self._loop.core.session_id

    @property
    def history(self) -> History:
        """The session as this process knows it; read only."""
        return self._loop.core.history

    @property
    def final(self) -> bool:
        """Whether the last word is the model's answer without a call."""
        return self._loop.core.history.final

    @property
    def closed(self) -> CloseReason | None:
        """Why it is closed, as far as this process knows: a session is closed by itself once its limits are reached."""
        closed = self._loop.core.history.closed
        return closed.reason if closed is not None else None

    # -- sync

    def messages(self, format: str = "openai", *, start: Sequence[JsonObject] | None = None) -> list[JsonObject]:
        """
        Return the whole conversation, valid for the provider: every call has exactly one answer.

        `start` (system and user messages) is recorded while the session has no message; an equal one is ignored later,
        another raises `StartDiffers`. Open calls are recovered first.
        """
        return self._run(self._loop.messages(format, None if start is None else checked(start, "start=")))

    def add(self, message: JsonObject, *, key: str | None = None, format: str = "openai") -> None:
        """Record a later message of the host, once for each `key`."""
        self._run(self._loop.add(format, message, optional_text(key, "key=")))

    def complete(self, messages: Sequence[JsonObject], *, format: str = "openai") -> list[JsonObject]:
        """Return the host's own transcript with every unanswered call answered from the ledger."""
        return self._run(self._loop.complete(format, checked(messages, "the transcript")))

    def dispatch(self, reply: object, **options: Any) -> Results:
        """
        Record a turn of the model, decide all its gates, run what is allowed, record the outcomes.

        Takes the SDK's object, a dict, or a stream's chunks or events as a list. Options: `turn` (its number, from 1),
        `on_rejection` ("run_rest" | "run_none"), `tool_choice` (what the host asked of the model), `cost` (of the turn,
        for `Limits(cost=)`), `format` ("openai", "responses", "anthropic", "bedrock", "gemini", "mistral"). Never
        raises for a tool's failure; raises `DivergentTurn`, `SessionClosed`, `SessionOwned`, `LeaseLost` and
        `StoreError`s.
        """
        return self._run(self._dispatch(reply, **options))

    def structured(self, reply: object, schema: object, check: AnswerCheck | None = None, **options: Any) -> Structured:
        """
        Judge a model's answer that must fit a schema: it is no tool call.

        `schema` is a dict or a type (a pydantic model). `check(value)` returns None, an `Invalid`, or a list of them.
        What does not fit is asked for again at most 3 times, counted from the record, as long as the session's limits
        allow it; then the text is kept, marked `unstructured`. Options: `turn`, `cost`, `format`, as in `dispatch`.
        Raises `UsageError` for a reply with tool calls, `CatalogFault` for a bad schema.
        """
        return self._run(self._structured(reply, (schema, check), **options))

    def call(self, name: str, arguments: Any = None, **options: Any) -> CallResult:
        """
        Make one call of the host's own.

        `arguments` is a dict or a JSON text. Options: `turn`, and `idempotency_key`, unique in the tenant: used again
        with the same tool and arguments it gets the recorded call; with others, or with those of a version that nobody
        can compare, it raises `KeyConflict`.
        """
        return self._run(self._call(name, arguments, **options))

    def propose(self, name: str, arguments: Any = None, **options: Any) -> CallResult:
        """Record an intent and nothing more; take it on with `advance`."""
        return self._run(self._call(name, arguments, propose_only=True, **options))

    def advance(self, call: CallResult | str) -> CallResult:
        """Take a call one step further: through its gates, then to its outcome."""
        return self._run(self._loop.advance(_id_of(call)))

    def wait(self, timeout: float | None = None, *, format: str = "openai") -> Results:
        """
        Wait (at most `timeout` seconds) until no person is asked any more, and run what was approved.

        `messages` of the results are notes that tell the model what became of the calls.
        """
        return self._run(self._loop.wait(format, seconds(timeout, "timeout=")))

    def close(self, reason: CloseReason | None = None, *, message: str | None = None) -> None:
        """Close the session; by default as `final_answer` after a final answer, else as `aborted`."""
        self._run(self._loop.close(reason, message))

    def resume(self, *, dry_run: bool = False, execute: bool = True) -> Recovered:
        """Decide about every open call and act, as the first `messages` does; says what was decided."""
        return self._run(self._loop.resume(dry_run=dry_run, execute=execute))

    def tools(self, format: str = "openai", *, only: Collection[str] | None = None) -> list[JsonObject]:
        """
        Return the tools for the model's request, retired ones left out; a call of another one is `not_offered`.

        `only`: the names of those that the task can use now. With `find_tools` among them the model can search for
        more: what it found is offered from the next turn on, after a resume too. A tool that was hidden meanwhile
        stays with the sessions that had it. `tools_tokens` says how much they take. Raises `UsageError` for a name
        that nobody knows.
        """
        if not self._loop.core.loaded:  # what was found, cut or hidden is in the record
            self._run(self._loop.look())
        return self._loop.offer(format, only)

    @property
    def tools_tokens(self) -> int:
        """
        About how many tokens the definitions take that `tools` returned last (0: none yet).

        The bytes of their canonical JSON by 4, rounded up. Above the ledger's `tools_budget` a warning is logged.
        """
        return self._loop.offered_tokens

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        drive(self._loop.core.leave())

    # -- async

    async def amessages(self, format: str = "openai", *, start: Sequence[JsonObject] | None = None) -> list[JsonObject]:
        """Async twin of `messages`."""
        return await self._arun(self._loop.messages(format, None if start is None else checked(start, "start=")))

    async def aadd(self, message: JsonObject, *, key: str | None = None, format: str = "openai") -> None:
        """Async twin of `add`."""
        await self._arun(self._loop.add(format, message, optional_text(key, "key=")))

    async def acomplete(self, messages: Sequence[JsonObject], *, format: str = "openai") -> list[JsonObject]:
        """Async twin of `complete`."""
        return await self._arun(self._loop.complete(format, checked(messages, "the transcript")))

    async def adispatch(self, reply: object, **options: Any) -> Results:
        """Async twin of `dispatch`: the event loop is never blocked by a commit or a sync tool."""
        return await self._arun(self._dispatch(reply, **options))

    async def astructured(
        self, reply: object, schema: object, check: AnswerCheck | None = None, **options: Any
    ) -> Structured:
        """Async twin of `structured`."""
        return await self._arun(self._structured(reply, (schema, check), **options))

    async def acall(self, name: str, arguments: Any = None, **options: Any) -> CallResult:
        """Async twin of `call`."""
        return await self._arun(self._call(name, arguments, **options))

    async def apropose(self, name: str, arguments: Any = None, **options: Any) -> CallResult:
        """Async twin of `propose`."""
        return await self._arun(self._call(name, arguments, propose_only=True, **options))

    async def aadvance(self, call: CallResult | str) -> CallResult:
        """Async twin of `advance`."""
        return await self._arun(self._loop.advance(_id_of(call)))

    async def await_(self, timeout: float | None = None, *, format: str = "openai") -> Results:  # noqa: ASYNC109 - the same word in both spellings
        """Async twin of `wait`."""
        return await self._arun(self._loop.wait(format, seconds(timeout, "timeout=")))

    async def aclose(self, reason: CloseReason | None = None, *, message: str | None = None) -> None:
        """Async twin of `close`."""
        await self._arun(self._loop.close(reason, message))

    async def atools(self, format: str = "openai", *, only: Collection[str] | None = None) -> list[JsonObject]:
        """Async twin of `tools`."""
        if not self._loop.core.loaded:
            await self._arun(self._loop.look())
        return self._loop.offer(format, only)

    async def aresume(self, *, dry_run: bool = False, execute: bool = True) -> Recovered:
        """Async twin of `resume`."""
        return await self._arun(self._loop.resume(dry_run=dry_run, execute=execute))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await adrive(self._loop.core.leave())

    # -- both

    def run_steps(self, make: Callable[[Core], Steps[T]]) -> T:
        """Do steps of the engine as the one that works on the session; for the ledger's own modules."""
        return self._run(make(self._loop.core))

    def _run(self, steps: Steps[T]) -> T:
        return drive(self._loop.entered(steps))

    async def _arun(self, steps: Steps[T]) -> T:
        return await adrive(self._loop.entered(steps))

    def _dispatch(
        self,
        reply: object,
        *,
        turn: int | None = None,
        on_rejection: OnRejection = "run_rest",
        tool_choice: Any = None,
        cost: float | None = None,
        format: str = "openai",
    ) -> Steps[Results]:
        if on_rejection not in ("run_rest", "run_none"):
            raise UsageError(f"on_rejection is run_rest or run_none, not {on_rejection!r}")
        offered = self._loop.offered
        told = checked_cost(cost)
        terms = Terms(on_rejection=on_rejection, offered=offered, tool_choice=tool_choice, cost=told)
        return self._loop.dispatch(format, reply, terms, whole(turn, "turn="))

    def _structured(
        self,
        reply: object,
        wanted: Wanted,
        *,
        turn: int | None = None,
        cost: float | None = None,
        format: str = "openai",
    ) -> Steps[Structured]:
        terms = Terms(offered=self._loop.offered, cost=checked_cost(cost))
        return structured(self._loop, format, reply, wanted, terms, whole(turn, "turn="))

    def _call(
        self,
        name: str,
        arguments: Any,
        *,
        turn: int | None = None,
        idempotency_key: str | None = None,
        propose_only: bool = False,
    ) -> Steps[CallResult]:
        raw = arguments if isinstance(arguments, str) else None
        given = None if raw is not None else arguments
        call = ProposedCall(name=text(name, "a tool's name"), raw=raw, arguments=given)
        terms = Terms(idempotency_key=optional_text(idempotency_key, "idempotency_key="))
        return self._loop.call(call, terms, whole(turn, "turn="), propose if propose_only else take_in)


def _id_of(call: CallResult | str) -> str:
    return call.call_id if isinstance(call, CallResult) else text(call, "a call")
