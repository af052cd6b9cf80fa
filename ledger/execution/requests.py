"""What the engine asks of its driver: the engine decides, a sync or an async driver does it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from ledger.execution.context import Context

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Io:
    """Do blocking work (the store's): answered with its value. Never cancelled half-way."""

    work: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class UserCode:
    """Call a check, a policy, a reconcile function (sync or async): answered with its value."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt of a tool; `inline` runs it on the driver's own thread (a lone call without a deadline)."""

    call_id: str
    function: Callable[..., Any]
    keywords: dict[str, Any]
    context: Context
    inline: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """Begin a run; answered at once."""

    run: Run


@dataclass(frozen=True, slots=True)
class Await:
    """Wait up to `seconds` (None: without end) for runs to end: answered with a list of `Ended`, maybe empty."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LetGo:
    """
    Stop waiting for a run; answered with whether it was still under way, and with None where it never began.

    The end of one that was not is told (again) at the next `Await`.

    `late` is called with its `Ended` on the run's own thread when it comes to an end after all. `interrupt` cancels an
    async tool's task; a thread cannot be stopped, it is only told (`context.cancelled`).
    """

    call_id: str
    late: Callable[[Ended], None]
    interrupt: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended: with a value, or with what it raised; `run` tells the attempts of a call apart."""

    call_id: str
    run: Run | None = None
    value: Any = None
    raised: BaseException | None = None
    duration_ms: float = 0.0


Request: TypeAlias = Io | UserCode | Launch | Await | LetGo
Steps: TypeAlias = Generator[Request, Any, T]


def io(work: Callable[[], T]) -> Steps[T]:
    """Do blocking work as a step of the engine."""
    value: T = yield Io(work)
    return value


def user_code(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Steps[Any]:
    """Call user code as a step of the engine."""
    value = yield UserCode(function, arguments, keywords)
    return value


def launch(run: Run) -> Steps[None]:
    """Begin a run as a step of the engine."""
    yield Launch(run)


def ended_runs(seconds: float | None) -> Steps[list[Ended]]:
    """Wait for runs to end as a step of the engine."""
    found: list[Ended] = yield Await(seconds)
    return found


def let_go(call_id: str, late: Callable[[Ended], None], *, interrupt: bool) -> Steps[bool | None]:
    """Stop waiting for a run as a step of the engine."""
    under_way: bool | None = yield LetGo(call_id, late, interrupt)
    return under_way
