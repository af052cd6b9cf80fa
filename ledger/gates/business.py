"""The business gate: what the host's own checks say about arguments that fit the schema."""

from __future__ import annotations

from ledger.answers import Invalid
from ledger.catalog import GATE_ERROR
from ledger.events import CallRejected
from ledger.events.fields import fits


def business(answer: object) -> CallRejected | None:
    """Return why the call stops here, or None; an answer that is neither None nor Invalid fails closed."""
    if answer is None:
        return None
    if not isinstance(answer, Invalid):
        return faulty(f"a check must return None or Invalid, not {type(answer).__name__}")
    violations = (
        ()
        if answer.pointer is None
        else ({"pointer": answer.pointer, "keyword": answer.code, "message": answer.message},)
    )
    refused = CallRejected(
        gate="business",
        code=answer.code,
        error_class="model",
        message=answer.message,
        violations=violations,
        model_can_repair=answer.repairable,
    )
    return refused if fits(refused) else faulty("Invalid takes texts, and whether the model can repair it")


def faulty(why: str) -> CallRejected:
    """Return the rejection for a check that itself failed: nothing runs that was not checked."""
    return CallRejected(
        gate="business",
        code=GATE_ERROR,
        error_class="tool",
        message="The call could not be checked; it was not executed.",
        hint=why,
    )
