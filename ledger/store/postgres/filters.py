"""
Filters as SQL: allow-listed columns, every value a bound parameter.

PostgreSQL keeps statistics and chooses its indexes itself. A filter only repeats the words of the partial indexes that
hold all rows it asks for, without which they could not be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ledger.calls import TERMINAL
from ledger.store.columns import BAD_ENDS, FREQUENT, IS_BAD_END, IS_OPEN, IS_RARE
from ledger.store.port import EQUAL_OF_CALLS, EQUAL_OF_EVENTS, CallFilter, EventFilter
from ledger.store.postgres.texts import kept, short
from ledger.store.rules import SHORTEST_PART, SHOWN_TAIL
from ledger.store.tags import ACTOR, PRINCIPAL, TENANT, label_name
from ledger.strictjson import canonical

LONGEST_INDEXED: Final = 500
"""Characters from which on the indexes of `_SHORT` leave a text out, as the tables say."""

_SHORT: Final = frozenset({"tool", "gate", "code", "error_class"})
_HAS_TAG: Final = (
    "EXISTS (SELECT 1 FROM session_tag t WHERE t.name = %s AND t.value = %s AND t.session_id = {table}.session_id)"
)
_HAS_PART: Final = (
    "(starts_with(call.call_id, %s) OR right(call.call_id, %s) = %s"
    f" OR starts_with(right(call.call_id, {SHOWN_TAIL}), %s))"
)
_TOUCHED: Final = "call.call_id IN (SELECT r.call_id FROM call_resource r WHERE r.resource = %s)"
_REST_OF_SESSION: Final = (
    "event.sequence > coalesce((SELECT p.sequence FROM event p WHERE p.position = %s AND p.session_id = %s), 0)"
)
"""In a session the order by position is the one by sequence, for which there is an index."""


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, with their parameters, over a table and what is joined `beside` it."""

    table: str
    order: str = "position"
    conditions: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    beside: str = ""

    def add(self, condition: str, *values: Any) -> None:
        """Add a condition with its parameters."""
        self.conditions.append(condition)
        self.values += values

    def equal(self, column: str, value: Any) -> None:
        """Add an equality, where a value is asked for; an index holds only what is not too long for it."""
        if value is None:
            return
        written = kept(value) if isinstance(value, str) else value
        self.add(f"{self.table}.{column} = %s", written)
        if column in _SHORT and len(written) < LONGEST_INDEXED:
            self.add(f"length({self.table}.{column}) < {LONGEST_INDEXED}")

    def of_tool(self, tool: str | None, carried: tuple[tuple[str, int], ...]) -> None:
        """Add the name of a tool, where one is asked for, and what was `carried` to it."""
        if tool is None or not carried:
            self.equal("tool", tool)
            return
        name, names = f"{self.table}.tool", [kept(each) for each in dict.fromkeys((tool, *(old for old, _ in carried)))]
        self.add(f"{name} = ANY(%s)", names)
        if all(len(each) < LONGEST_INDEXED for each in names):
            self.add(f"length({name}) < {LONGEST_INDEXED}")
        pairs = f" OR ({name} = %s AND {self.table}.schema_version = %s)" * len(carried)
        self.add(f"({name} = %s{pairs})", names[0], *(each for old, number in carried for each in (kept(old), number)))

    def among(self, column: str, values: tuple[str, ...]) -> None:
        """Add a choice, where there is one; in words where the values are the ledger's own."""
        if values:
            self.add(f"{column} = ANY(%s)", [kept(value) for value in values])

    def within(self, column: str, since: str | None, until: str | None) -> None:
        """Add a half-open range of times."""
        if since is not None:
            self.add(f"{column} >= %s", kept(since))
        if until is not None:
            self.add(f"{column} < %s", kept(until))

    def matching(self, columns: str) -> str:
        """Return the SELECT of all that fits, in any order."""
        where = " AND ".join(self.conditions) or "true"
        return f"SELECT {columns} FROM {self.table}{self.beside} WHERE {where}"  # noqa: S608 - our names

    def select(self, columns: str) -> str:
        """Return the SELECT of a page; its last parameter is the limit."""
        return f"{self.matching(columns)} ORDER BY {self.table}.{self.order} LIMIT %s"


def event_where(where: EventFilter, after: int) -> Where:
    """Return the conditions of a page of events."""
    found = Where("event")
    found.add("event.position > %s", after)
    for column in EQUAL_OF_EVENTS:
        found.equal(column, getattr(where, column))
    found.of_tool(where.tool, where.carried)
    found.among("event.type", where.types)
    if where.types and FREQUENT.isdisjoint(where.types):
        found.add(IS_RARE)
    if where.session_id is not None:
        found.order = "sequence"
        found.add(_REST_OF_SESSION, after, kept(where.session_id))
    if where.actor is not None:
        found.add("substr(event.record, 1, %s) = %s", *_opening(where.actor))
    _tags(found, where)
    if where.of is not None:
        calls = call_where(where.of)
        found.add(f"event.call_id IN ({calls.matching('call.call_id')})", *calls.values)
    found.within("event.recorded_at", where.since, where.until)
    return found


def call_where(where: CallFilter, after: int = -1) -> Where:
    """Return the conditions of a page of calls."""
    found = Where("call")
    if after >= 0:
        found.add("call.position > %s", after)
    for column in EQUAL_OF_CALLS:
        found.equal(column, getattr(where, column))
    found.of_tool(where.tool, where.carried)
    if where.stage not in (None, "active"):
        found.add("stage <> 'active'")
    found.among("call.state", where.states)
    if where.states and TERMINAL.isdisjoint(where.states):
        found.add(IS_OPEN)
    if where.states and BAD_ENDS.issuperset(where.states):
        found.add(IS_BAD_END)
    found.among("call.reason", where.reasons)
    if where.reasons and all(len(kept(reason)) < LONGEST_INDEXED for reason in where.reasons):
        found.add(f"length(call.reason) < {LONGEST_INDEXED}")
    if where.resource is not None:
        found.add(_TOUCHED, short(where.resource))
    _tags(found, where)
    _has_event(found, where)
    found.within("call.proposed_at", where.since, where.until)
    _part(found, where.call_id_part)
    return found


def _tags(found: Where, where: CallFilter | EventFilter) -> None:
    """Ask for the tags of sessions: labels must be there; others find the few sessions that may have such rows."""
    named = ((TENANT, where.tenant), (PRINCIPAL, where.principal), (ACTOR, where.actor))
    asked = [(name, value) for name, value in named if value]
    asked += [(label_name(key), value) for key, value in where.labels]
    for name, value in asked:
        found.add(_HAS_TAG.format(table=found.table), short(name), short(value))


def _opening(actor: str) -> tuple[int, bytes]:
    """Return how a record of this actor begins, and its length: the canonical form has `actor` as its first key."""
    text = b'{"actor":%b,' % canonical(actor)
    return len(text), text


def _has_event(found: Where, where: CallFilter) -> None:
    if not where.types and where.actor is None:
        return
    events = Where("event e")
    events.among("e.type", where.types)
    if where.types and FREQUENT.isdisjoint(where.types):
        events.add(IS_RARE)
    if where.actor is not None:
        events.add("substr(e.record, 1, %s) = %s", *_opening(where.actor))
    found.add(f"call.call_id IN ({events.matching('e.call_id')})", *events.values)


def _part(found: Where, part: str | None) -> None:
    if part is None:
        return
    whole = kept(part)
    if len(part) < SHORTEST_PART:
        found.add("call.call_id = %s", whole)
    else:
        found.add(_HAS_PART, whole, len(whole), whole, whole)
