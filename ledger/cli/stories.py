"""Rows and stories of calls and events, as several commands show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledger.audit.names import NO_NAMES, Names
from ledger.audit.queries import asked_events, placed_events
from ledger.audit.rows import stored_to_wire
from ledger.cli.rows import Row
from ledger.replay.summary import summary as summary_of
from ledger.store.port import Reader


def told_events(
    reader: Reader,
    filters: Mapping[str, Any],
    *,
    after: int = 0,
    limit: int | None = None,
    summary: bool = False,
    names: Names = NO_NAMES,
) -> Iterator[Row]:
    """Yield events as `audit.event_rows` does; for people with a `summary` in a few words."""
    for stored, event in placed_events(reader, asked_events(reader, filters, names), after=after, limit=limit):
        row = stored_to_wire(stored, event)
        yield row | {"summary": summary_of(event.body)} if summary else row
