"""
What user code answers to the ledger: tools, checks, policies and reconcile functions.

Tools raise:   NotFound, Rejected, Unavailable (nothing happened) · Failed (a known bad end) · OutcomeUnknown
Checks return: None or Invalid
Policies return: Allow, Deny or Ask
Reconcile functions return: Happened, DidNotHappen or CantTell
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ledger.errors import UsageError, restore

MAX_SECONDS: Final = 100 * 365 * 86400
"""So long an approval may be asked for."""
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class ToolAnswer(Exception):
    """What a tool says by raising; `code` is for programs, `message` is safe to show to the model."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:  # a tool may raise it in a process pool
        return restore, (type(self), self.args, self.__dict__)


class NotFound(ToolAnswer):
    """The thing asked for does not exist. Asserts that nothing happened; recorded as success with `not_found`."""

    def __init__(self, message: str, *, code: str = "not_found") -> None:
        super().__init__(message, code=code)


class Rejected(ToolAnswer):
    """The tool refuses these arguments. Asserts that nothing happened; `failed` with this code."""

    def __init__(self, code: str, message: str, *, model_can_repair: bool = True) -> None:
        super().__init__(message, code=code)
        self.model_can_repair = model_can_repair


class Unavailable(ToolAnswer):
    """
    The world did not take the request. Asserts that nothing happened.

    `retryable` lets the ledger try again by itself (reads and `recovery: retry` tools only); `retry_after` in seconds.
    """

    def __init__(self, message: str, *, retryable: bool = True, retry_after: float | None = None) -> None:
        super().__init__(message, code="unavailable")
        self.retryable = retryable
        self.retry_after = retry_after


class Failed(ToolAnswer):
    """A known bad end; effects may remain, and the tool says so. Never run again by itself."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, code=code)


class OutcomeUnknown(ToolAnswer):
    """The tool itself cannot say whether its effect happened (a read timeout after the request was sent)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="outcome_unknown")


@dataclass(frozen=True, slots=True)
class Invalid:
    """
    The business gate refuses the arguments.

    `pointer` (RFC 6901) names the argument; `repairable` says whether the model can do better by itself.
    """

    code: str
    message: str
    pointer: str | None = None
    repairable: bool = True


@dataclass(frozen=True, slots=True)
class Allow:
    """The policy lets the call run; `rule` names what allowed it (recorded, not shown to the model)."""

    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Deny:
    """
    The policy refuses the call.

    `message` is read by the model: no detail that helps probing. `user_action` says what a person could do;
    `rule` is recorded for the audit only.
    """

    code: str
    message: str
    user_action: str | None = None
    rule: str | None = None


def duration(said: str | float) -> float:
    """Return "24h", "15m", "30s", "7d" or a number as seconds. Raises `UsageError` for anything else."""
    if isinstance(said, int | float) and not isinstance(said, bool):
        return float(said)
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd])", said) if isinstance(said, str) else None
    if found is None:
        raise UsageError(f"not a duration: {str(said)[:40]!r}; write 30s, 15m, 24h or 7d")
    return float(found[1]) * _UNITS[found[2]]


def _are_names(who: Any) -> bool:
    return bool(who) and isinstance(who, Collection) and all(isinstance(name, str) and name for name in who)


@dataclass(frozen=True, slots=True)
class Ask:
    """
    A person decides. `who` names those who may approve (None: anybody), `expires` bounds the approval.

    `expires` is a duration: "24h", "15m", "7d", or seconds; None: no end. Raises `UsageError` for names that are none,
    and for what is no time to come.
    """

    who: str | Sequence[str] | None = None
    expires: str | float | None = "24h"
    message: str | None = None
    rule: str | None = None

    def __post_init__(self) -> None:
        """Refuse what nobody could answer or would expire at once, where it is written."""
        if self.who is not None and not _are_names(self.who):
            raise UsageError("Ask(who=) takes a name, or several", hint='Write Ask("ada"), or Ask(who=["ada", "bob"]).')
        if self.expires is not None and not 0 < duration(self.expires) <= MAX_SECONDS:
            raise UsageError(
                "Ask(expires=) takes a time to come, of at most 100 years", hint='Write Ask(expires="24h").'
            )


Decision: TypeAlias = Allow | Deny | Ask


@dataclass(frozen=True, slots=True)
class Happened:
    """The effect happened; `result` is what the tool would have returned, if it can still be known."""

    result: Any = None
    evidence: Any = None


@dataclass(frozen=True, slots=True)
class DidNotHappen:
    """The effect did not happen; `evidence` is kept for the reviewer."""

    evidence: Any = None


@dataclass(frozen=True, slots=True)
class CantTell:
    """Nobody can say; the call goes to a person with this evidence."""

    evidence: Any = None


Reconciled: TypeAlias = Happened | DidNotHappen | CantTell
