"""Filters as SQL: allow-listed columns, every value a bound parameter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ledger.calls import TERMINAL, WAITING
from ledger.store.port import CallFilter, EventFilter
from ledger.store.rules import SHORTEST_PART
from ledger.store.sqlite.sql import marks

IS_OPEN: Final = f"state NOT IN ({', '.join(repr(state) for state in sorted(TERMINAL))})"
"""As in the partial index on open calls: SQLite uses that only for the same words."""

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

IS_WAITING: Final = f"state IN ({', '.join(repr(state) for state in sorted(WAITING))})"

_EQUAL_CALL: Final = (
    "session_id",
    "call_id",
    "tool",
    "schema_version",
    "stage",
    "gate",
    "code",
    "error_class",
    "tenant",
    "principal",
    "idempotency_key",
    "duplicate_of",
)
_REST_OF_SESSION: Final = "sequence > ifnull((SELECT sequence FROM event WHERE position = ? AND session_id = ?), 0)"
"""In a session the order by position is the one by sequence, for which there is an index."""

_EQUAL_EVENT: Final = ("session_id", "call_id", "tool", "tenant", "principal")


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, with their parameters, over a table."""

    table: str
    conditions: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, condition: str, *values: Any) -> None:
        """Add a condition with its parameters."""
        self.conditions.append(condition)
        self.values += values

    def equal(self, column: str, value: Any) -> None:
        """Add an equality, where a value is asked for."""
        if value is not None:
            self.add(f"{column} = ?", value)

    def among(self, column: str, values: tuple[str, ...]) -> None:
        """Add a choice, where there is one."""
        if values:
            self.add(f"{column} IN ({marks(len(values))})", *values)

    def within(self, column: str, since: str | None, until: str | None) -> None:
        """Add a half-open range of times."""
        if since is not None:
            self.add(f"{column} >= ?", since)
        if until is not None:
            self.add(f"{column} < ?", until)

    def select(self, columns: str, order: str) -> str:
        """Return the SELECT of a page; its last parameter is the limit."""
        where = " AND ".join(self.conditions)
        return f"SELECT {columns} FROM {self.table} WHERE {where} ORDER BY {order} LIMIT ?"  # noqa: S608 - our names


def event_where(where: EventFilter, after: int) -> Where:
    """Return the conditions of a page of events."""
    found = Where("event")
    found.add("position > ?", after)
    for column in _EQUAL_EVENT:
        found.equal(column, getattr(where, column))
    found.among("type", where.types)
    if where.types and FREQUENT.isdisjoint(where.types):
        found.add(IS_RARE)
    if where.session_id is not None:
        found.add(_REST_OF_SESSION, after, where.session_id)
    found.within("recorded_at", where.since, where.until)
    return found


def call_where(where: CallFilter, after: int) -> Where:
    """Return the conditions of a page of calls."""
    found = Where("call")
    found.add("position > ?", after)
    for column in _EQUAL_CALL:
        found.equal(column, getattr(where, column))
    found.among("state", where.states)
    if where.states and TERMINAL.isdisjoint(where.states):
        found.add(IS_OPEN)
        if where.session_id is None and where.call_id is None:
            found.table = "call INDEXED BY call_open"  # SQLite would walk all calls by position
    found.among("reason", where.reasons)
    found.within("proposed_at", where.since, where.until)
    part = where.call_id_part
    if part is not None and len(part) < SHORTEST_PART:
        found.add("call_id = ?", part)
    elif part is not None:
        found.add("(substr(call_id, 1, ?) = ? OR substr(call_id, -?) = ?)", len(part), part, len(part), part)
    return found
