"""The words of SQL that all back ends share: columns in their order, conditions of partial indexes, a session's row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ledger.calls import TERMINAL, WAITING, CallRow
from ledger.store import rules
from ledger.store.port import GroupKey, SessionRow

Row = tuple[Any, ...]

EVENT_COLUMNS: Final = (
    "session_id",
    "sequence",
    "event_id",
    "type",
    "format",
    "call_id",
    "tool",
    "schema_version",
    "turn",
    "idx",
    "revision",
    "attempt",
    "tenant",
    "principal",
    "recorded_at",
    "record",
    "digest",
)
STORED: Final = "position, session_id, sequence, event_id, type, call_id, tool, record, digest"
"""The columns of a `StoredEvent`, in order."""

CALL_COLUMNS: Final = CallRow._fields
CALL_LIST: Final = ", ".join(CALL_COLUMNS)
PLACED: Final = f"position, {CALL_LIST}"
"""The columns of a `PlacedCall`, in order."""

IDENTITY: Final = 6
"""The first columns of a call say which one it is (id, session, place, tool); no event changes them."""

IS_OPEN: Final = f"state NOT IN ({', '.join(repr(state) for state in sorted(TERMINAL))})"
"""As in the partial index on open calls: SQLite uses one only for the same words."""

BAD_ENDS: Final = TERMINAL - {"succeeded"}
IS_BAD_END: Final = f"state IN ({', '.join(repr(state) for state in sorted(BAD_ENDS))})"
"""As in the partial index on calls that ended badly."""

FREQUENT: Final = frozenset(
    {
        "call.authorized",
        "call.proposed",
        "call.started",
        "call.succeeded",
        "call.validated",
        "message.recorded",
        "turn.recorded",
    }
)
"""Types that the index by type leaves out."""

IS_RARE: Final = f"type NOT IN ({', '.join(repr(name) for name in sorted(FREQUENT))})"
"""As in the partial index by type."""

CARRIED: Final = f"SELECT DISTINCT call_id AS carried FROM event WHERE type = 'call.upcast' AND {IS_RARE}"  # noqa: S608 - ours
"""The ids of the calls that an upcast carried."""


def counted(by: Iterable[GroupKey], is_carried: str) -> list[str]:
    """Return the expressions by which calls are counted; only of those that are carried the proposal is looked at."""
    proposed = "(SELECT event.schema_version FROM event WHERE event.position = call.position)"
    recorded = f"CASE WHEN {is_carried} THEN {proposed} ELSE call.schema_version END"
    return [recorded if name == "recorded_version" else f"call.{name}" for name in by]


IS_WAITING: Final = f"state IN ({', '.join(repr(state) for state in sorted(WAITING))})"

RUNS: Final = "(SELECT 1 FROM call WHERE call.call_id = limited_start.call_id AND call.state = 'started')"
PLACES: Final = "SELECT limit_key, free_at, call_id FROM limited_start"
SESSIONS: Final = f"""
    SELECT session_id, sequence,
      (SELECT recorded_at FROM event e WHERE e.session_id = h.session_id AND e.sequence = 1),
      (SELECT recorded_at FROM event e WHERE e.session_id = h.session_id AND e.sequence = h.sequence),
      (SELECT record FROM event e WHERE e.session_id = h.session_id AND e.type = 'session.closed'
        ORDER BY e.position LIMIT 1),
      (SELECT count(*) FROM call c WHERE c.session_id = h.session_id),
      (SELECT count(*) FROM call c WHERE c.session_id = h.session_id AND {IS_OPEN} AND {IS_WAITING}),
      (SELECT count(*) FROM call c WHERE c.session_id = h.session_id AND {IS_OPEN}),
      owner, expires_at
    FROM session_head h
"""  # noqa: S608 - our own names
"""A row a session, for `session_row`; a condition and an order follow."""


def session_row(row: Row) -> SessionRow:
    """Return a row of `SESSIONS` whose texts are as they were meant; its closing event is as recorded."""
    session_id, sequence, opened_at, last_at, closing, calls, waiting, is_open, owner, expires_at = row
    return SessionRow(
        session_id=session_id,
        sequence=sequence,
        opened_at=opened_at,
        last_at=last_at,
        closed=rules.close_reason(closing) if closing is not None else None,
        calls=calls,
        waiting=waiting,
        open=is_open,
        owner=owner,
        owned_until=expires_at,
    )
