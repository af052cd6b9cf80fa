"""The authorization gate: the host's policies decide; Deny over Ask over Allow, and doubt denies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ledger.answers import Allow, Ask, Deny, duration
from ledger.catalog import GATE_ERROR
from ledger.events import CallApprovalRequested, CallAuthorized, CallDenied
from ledger.events.fields import fits


@dataclass(frozen=True, slots=True)
class Asked:
    """One policy's answer: its name (recorded) and what it returned, or the exception's class name."""

    policy: str
    answer: object
    failed: str | None = None


def authorize(
    answers: Sequence[Asked], arguments_digest: str, expiry: Callable[[float], str]
) -> CallAuthorized | CallDenied | CallApprovalRequested:
    """
    Return what the policies decided, bound to the digest of the arguments that will run.

    `expiry` turns seconds from now into a time. A policy that fails or answers something else denies (fail closed).
    """
    decision = _decided(answers, arguments_digest, expiry)
    if fits(decision):
        return decision
    return _gate_error(decision.policy or "", "its answer holds other kinds of values than Allow, Deny or Ask take")


def _decided(
    answers: Sequence[Asked], arguments_digest: str, expiry: Callable[[float], str]
) -> CallAuthorized | CallDenied | CallApprovalRequested:
    for asked in answers:
        denied = _denied(asked)
        if denied is not None:
            return denied
    for asked in answers:
        if isinstance(asked.answer, Ask):
            try:
                return _ask(asked.policy, asked.answer, arguments_digest, expiry)
            except Exception as error:  # noqa: BLE001 - whatever a policy puts into its answer: it fails closed
                return _gate_error(asked.policy, str(error))
    first = next((asked for asked in answers if isinstance(asked.answer, Allow)), None)
    rule = first.answer.rule if first is not None and isinstance(first.answer, Allow) else None
    policy = first.policy if first is not None else "none"
    return CallAuthorized(by="policy", arguments_digest=arguments_digest, policy=policy, rule=rule)


def _denied(asked: Asked) -> CallDenied | None:
    if asked.failed is not None:
        return _gate_error(asked.policy, asked.failed)
    match asked.answer:
        case Allow() | Ask():
            return None
        case Deny(code, message, user_action, rule):
            return CallDenied(
                code=code, message=message, requires_user_action=user_action, policy=asked.policy, rule=rule
            )
        case other:
            return _gate_error(asked.policy, f"answered {type(other).__name__}, not Allow, Deny or Ask")


def _gate_error(policy: str, why: str) -> CallDenied:
    message = "The call could not be authorized; it was not executed."
    return CallDenied(code=GATE_ERROR, message=message, policy=policy, rule=why)


def _ask(policy: str, ask: Ask, digest: str, expiry: Callable[[float], str]) -> CallApprovalRequested:
    who = (ask.who,) if isinstance(ask.who, str) else tuple(ask.who) if ask.who is not None else None
    return CallApprovalRequested(
        arguments_digest=digest,
        who=who,
        message=ask.message,
        expires_at=None if ask.expires is None else expiry(duration(ask.expires)),
        policy=policy,
        rule=ask.rule,
    )
