"""What a run's end means for its call: the rule for results, the tool's own words, and every other exception."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ledger.answers import Failed, NotFound, OutcomeUnknown, Rejected, Unavailable
from ledger.calls import Call
from ledger.events import CallFailed, CallSucceeded
from ledger.events.fields import fits
from ledger.events.outcomes import SHOWN_BYTES
from ledger.execution.requests import Ended
from ledger.strictjson import Limits, encode_result

SafeError: TypeAlias = Callable[[BaseException], str | None]

_FIXED = "The tool ended with an error of its own; its text is not shown."
_INTERRUPTED = "The tool was interrupted before it ended."
_CANCELS = KeyboardInterrupt, asyncio.CancelledError


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody knows whether the effect happened; `evidence` is for the reviewer."""

    evidence: Any


@dataclass(frozen=True, slots=True)
class TryAgain:
    """The attempt surely did nothing and may be repeated; `failed` is the end if it may not any more."""

    failed: CallFailed
    retry_after: float | None


@dataclass(frozen=True, slots=True)
class Rules:
    """What the author of the tool and the host declared about ends."""

    exceptions: Literal["unknown", "no-effect"] = "unknown"
    max_result_bytes: int = 16 * 2**20
    safe_error: SafeError | None = None


def judge(ended: Ended, call: Call, rules: Rules) -> CallSucceeded | CallFailed | Unknown | TryAgain:
    """
    Say what the end of a run means.

    The words of a tool that assert "nothing happened" are believed. Any other exception of a started side-effecting
    tool leaves its outcome unknown (a read timeout in a payment is not a failed payment), unless its author declared
    `exceptions="no-effect"`. A result that is not JSON never turns a success into a failure.
    """
    if ended.raised is None:
        return succeeded(ended, rules.max_result_bytes)
    end = _said(ended)
    if end is not None:
        return end
    error = ended.raised
    cancelled = isinstance(error, _CANCELS)
    declared = rules.exceptions == "no-effect" and not isinstance(error, OutcomeUnknown)
    if call.side_effecting and not declared:
        return Unknown({"exception": type(error).__name__, "message": _text(error, rules.safe_error)})
    return CallFailed(
        code="cancelled" if cancelled else "tool_error",
        error_class="environment" if cancelled else "tool",
        message="The call was cancelled." if cancelled else _text(error, rules.safe_error),
        exception=type(error).__name__,
        duration_ms=ended.duration_ms,
    )


def succeeded(ended: Ended, max_bytes: int) -> CallSucceeded:
    """Return the success with its result in JSON, whatever the tool returned."""
    encoded = encode_result(ended.value, Limits(max_bytes))
    marks = tuple({"pointer": e.pointer, "kind": e.kind, "type": e.type} for e in encoded.encodings)
    return CallSucceeded(
        result=encoded.value,
        encodings=marks,
        size=encoded.size,
        truncated_for_model=encoded.size > SHOWN_BYTES,
        duration_ms=ended.duration_ms,
    )


def _said(ended: Ended) -> CallSucceeded | CallFailed | TryAgain | None:
    spent = ended.duration_ms
    match ended.raised:
        case NotFound(code=code, message=message):
            return CallSucceeded(status="not_found", code=code, message=message, duration_ms=spent)
        case Rejected(code=code, message=message, model_can_repair=repairable):
            return CallFailed(
                code=code, error_class="model", message=message, model_can_repair=repairable, duration_ms=spent
            )
        case Unavailable(message=message, retryable=retryable, retry_after=given):
            after = _seconds(given)
            failed = CallFailed(
                code="unavailable",
                error_class="environment",
                message=message if isinstance(message, str) else _FIXED,
                retryable=bool(retryable),
                retry_after=after,
                duration_ms=spent,
            )
            return TryAgain(failed, after) if retryable else failed
        case Failed(code=code, message=message):
            return CallFailed(code=code, error_class="tool", message=message, duration_ms=spent)
        case _:
            return None


def _seconds(given: object) -> float | None:
    """Return a service's `retry_after` as seconds; HTTP headers are texts, and may be anything."""
    try:
        found = float(given)  # type: ignore[arg-type]  # whatever is no number is caught
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _text(error: BaseException, safe_error: SafeError | None) -> str:
    """Return what may be told of an exception: its own text only where it was made to be read."""
    if isinstance(error, OutcomeUnknown):
        return error.message
    fixed = _INTERRUPTED if isinstance(error, _CANCELS) else _FIXED
    try:
        mapped = safe_error(error) if safe_error is not None else None
    except Exception:  # noqa: BLE001 - a faulty mapping must not lose the outcome
        return fixed
    return mapped if isinstance(mapped, str) else fixed


def printable(body: CallSucceeded | CallFailed) -> CallSucceeded | CallFailed:
    """Return the body if JSON can carry it, else with its texts replaced (a tool's words may hold anything)."""
    if fits(body):
        return body
    if isinstance(body, CallFailed):
        return CallFailed(code="tool_error", error_class=body.error_class, message=_FIXED, duration_ms=body.duration_ms)
    return replace(body, code="tool_error", message=_FIXED)
