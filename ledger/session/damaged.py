"""Calls of which an event cannot be read: what follows it is not folded, so nothing may build on where they stand."""

from __future__ import annotations

from ledger.errors import IntegrityFailure


def damaged(call_id: str, why: str) -> IntegrityFailure:
    """Return the refusal to go on with such a call."""
    hint = "Run `ledger db check`; what a newer release recorded needs that release."
    return IntegrityFailure(f"an event of call {call_id} cannot be read, so {why}", hint=hint)
