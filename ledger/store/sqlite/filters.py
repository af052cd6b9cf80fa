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
_EQUAL_EVENT: Final = ("session_id", "call_id", "tool", "tenant", "principal")


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, with their parameters."""

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

    def __str__(self) -> str:
        return " AND ".join(self.conditions)


def event_where(where: EventFilter, after: int) -> Where:
    """Return the conditions of a page of events."""
    found = Where()
    found.add("position > ?", after)
    for column in _EQUAL_EVENT:
        found.equal(column, getattr(where, column))
    found.among("type", where.types)
    found.within("recorded_at", where.since, where.until)
    return found


def call_where(where: CallFilter, after: int) -> Where:
    """Return the conditions of a page of calls."""
    found = Where()
    found.add("position > ?", after)
    for column in _EQUAL_CALL:
        found.equal(column, getattr(where, column))
    found.among("state", where.states)
    if where.states and TERMINAL.isdisjoint(where.states):
        found.add(IS_OPEN)
    found.among("reason", where.reasons)
    found.within("proposed_at", where.since, where.until)
    part = where.call_id_part
    if part is not None and len(part) < SHORTEST_PART:
        found.add("call_id = ?", part)
    elif part is not None:
        found.add("(substr(call_id, 1, ?) = ? OR substr(call_id, -?) = ?)", len(part), part, len(part), part)
    return found
