"""Who still holds on to a tool: calls of it that are open, and sessions that know it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from ledger.audit.reading import placed_calls, sessions, stored_events
from ledger.calls import TERMINAL, CallRow, State
from ledger.events import TurnRecorded, read_event
from ledger.store.port import CallFilter, EventFilter, Reader, SessionRow

_OPEN: Final = tuple(state for state in get_args(State) if state not in TERMINAL)


def open_calls(reader: Reader, tool: str) -> Iterator[CallRow]:
    """Yield the calls of a tool that have not ended, oldest first; a closed session holds nothing that could run."""
    closed: dict[str, bool] = {}
    for _, row in placed_calls(reader, CallFilter(tool=tool, states=_OPEN)):
        if row.session_id not in closed:
            closed[row.session_id] = _is_closed(reader, row.session_id)
        if not closed[row.session_id]:
            yield row


def _is_closed(reader: Reader, session_id: str) -> bool:
    found = EventFilter(session_id=session_id, types=("session.closed",))
    return bool(reader.events(found, limit=1))


def knowing_sessions(reader: Reader, tool: str, *, since: str | None = None) -> Iterator[SessionRow]:
    """
    Yield the sessions that are not closed and know a tool: it was offered there, or they hold a call of it.

    `since` (ISO 8601 UTC): only those in which something happened since then.
    """
    for row in sessions(reader):
        if row.closed is None and (since is None or row.last_at >= since) and _knows(reader, row.session_id, tool):
            yield row


def _knows(reader: Reader, session_id: str, tool: str) -> bool:
    if reader.calls(CallFilter(session_id=session_id, tool=tool), limit=1):
        return True
    for stored in stored_events(reader, EventFilter(session_id=session_id, types=("turn.recorded",))):
        body = read_event(stored.record, stored).body
        offered = body.offered if isinstance(body, TurnRecorded) else None
        if any(isinstance(each, Mapping) and each.get("tool") == tool for each in offered or ()):
            return True
    return False
