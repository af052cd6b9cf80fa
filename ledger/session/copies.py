"""Copies whose original ended without them: they are settled where the session is looked at next."""

from __future__ import annotations

from ledger.calls import settled_by, stranded
from ledger.execution.requests import Steps
from ledger.session.core import Core, Item


def settle_stranded(core: Core) -> Steps[None]:
    """
    Record the ends of copies whose original has ended without them; nobody could give them one.

    Such are of an earlier release, or the original's end was imported by one. It needs no lease, as a verdict; what
    cannot be written to stays as it is.
    """
    history = core.history
    found = [] if history.read_only else stranded(history.calls, [call.call_id for call in history.open_calls()])
    if found:
        items = [Item(settled_by(original), copy, causation=original.last_event_id) for copy, original in found]
        yield from core.commit(items, worker=False)
