"""
Filters as SQL: allow-listed columns, every value a bound parameter, and what leads to the rows.

SQLite keeps no statistics here, and what is asked for decides everything: so a filter says itself by which index it
wants to be answered. A `+` in front of a column keeps SQLite from choosing that one's index instead.
"""

from __future__ import annotations

from typing import Final

from ledger.calls import TERMINAL
from ledger.store.columns import BAD_ENDS, FREQUENT, IS_BAD_END, IS_OPEN, IS_RARE
from ledger.store.port import EQUAL_OF_CALLS, EQUAL_OF_EVENTS, CallFilter, EventFilter
from ledger.store.rules import SHORTEST_PART, SHOWN_TAIL
from ledger.store.sqlite.where import NO_HINTS, Hints, Where
from ledger.store.tags import ACTOR, PRINCIPAL, TENANT, label_name
from ledger.strictjson import canonical

ACTIVE: Final = "active"
"""The stage that the index by stage leaves out."""

_WHICH: Final = ("session_id", "call_id", "idempotency_key", "duplicate_of")
_FEW: Final = ("call_id", "call_id_part", "idempotency_key", "duplicate_of", "resource")
"""Conditions that hardly any call meets."""
_INDEXES: Final = {"code": "call_code", "gate": "call_gate", "error_class": "call_class", "reasons": "call_reason"}
"""Conditions that calls meet which did not go well, each with its index in the order of positions."""

_REST_OF_SESSION: Final = "sequence > ifnull((SELECT sequence FROM event WHERE position = ? AND session_id = ?), 0)"
"""In a session the order by position is the one by sequence, for which there is an index."""

_TAGGED: Final = "(SELECT session_id AS tagged FROM session_tag WHERE name = ? AND value = ?)"
_TOUCHED: Final = "(SELECT call_id AS touched, position AS at FROM call_resource WHERE resource = ? AND position > ?)"
_HAS_TAG: Final = (
    "EXISTS (SELECT 1 FROM session_tag t WHERE t.name = ? AND t.value = ? AND t.session_id = {table}.session_id)"
)
_HAS_PART: Final = (
    "call.call_id IN (SELECT call_id FROM call"
    " WHERE substr(call_id, 1, ?) = ? OR substr(call_id, -?) = ? OR substr(call_id, -?, ?) = ?)"
)
_BY_ACTOR: Final = "substr(record, 1, ?) = ?"


def tags_asked(where: CallFilter | EventFilter) -> list[tuple[str, str]]:
    """Return the tags that a session of a row must have."""
    named = ((TENANT, where.tenant), (PRINCIPAL, where.principal), (ACTOR, where.actor))
    found = [(name, value) for name, value in named if value]
    return found + [(label_name(key), value) for key, value in where.labels]


def event_where(where: EventFilter, after: int, hints: Hints = NO_HINTS) -> Where:
    """Return the conditions of a page of events."""
    found = Where("event")
    _lead_events(found, where, hints)
    _positions(found, after, hints)
    for column in EQUAL_OF_EVENTS:
        found.equal(column, getattr(where, column))
    found.of_tool(where.tool, where.carried, name="tool", version="schema_version")
    found.among("type", where.types)
    if where.types and FREQUENT.isdisjoint(where.types):
        found.add(IS_RARE)
    if where.session_id is not None:
        found.order = "sequence"
        found.add(_REST_OF_SESSION, after, where.session_id)
    if where.actor is not None:
        found.add(_BY_ACTOR, *_opening(where.actor))
    _labels(found, where)
    if where.of is not None:
        _of_calls(found, where.of)
    found.within("recorded_at", where.since, where.until)
    return found


def _lead_events(found: Where, where: EventFilter, hints: Hints) -> None:
    if where.session_id is not None or where.call_id is not None:
        return
    if where.of is not None and is_rare(where.of):
        found.lead("event")
    elif hints.tag is not None:
        found.lead(f"{_TAGGED} CROSS JOIN event ON event.session_id = tagged", *hints.tag)


def _of_calls(found: Where, where: CallFilter) -> None:
    calls = call_where(where, 0, whole=True)
    if is_rare(where):
        found.add(f"call_id IN ({calls.matching('call.call_id')})", *calls.values)
        return
    calls.add("call.call_id = event.call_id")
    found.add(f"EXISTS ({calls.matching('1')})", *calls.values)


def _opening(actor: str) -> tuple[int, bytes]:
    """Return how a record of this actor begins, and its length: the canonical form has `actor` as its first key."""
    text = b'{"actor":%b,' % canonical(actor)
    return len(text), text


def _positions(found: Where, after: int, hints: Hints) -> None:
    column = "+position" if found.led else "position"
    found.add(f"{column} > ?", max(after, hints.low))
    if hints.high is not None:
        found.add(f"{column} <= ?", hints.high)


def _labels(found: Where, where: CallFilter | EventFilter) -> None:
    for key, value in where.labels:
        found.add(_HAS_TAG.format(table=found.table), label_name(key), value)


def is_rare(where: CallFilter) -> bool:
    """Return whether an index finds the calls that fit, because only few do."""
    return _few(where) or _index(where) is not None


def _few(where: CallFilter) -> bool:
    return any(getattr(where, name) is not None for name in _FEW) or _rare_types(where)


def _rare_types(where: CallFilter | EventFilter) -> bool:
    return bool(where.types) and FREQUENT.isdisjoint(where.types)


def _index(where: CallFilter) -> str | None:
    """Return the partial index that holds the calls that fit and few others."""
    for name, index in _INDEXES.items():
        if getattr(where, name):
            return index
    if where.stage not in (None, ACTIVE):
        return "call_stage"
    if where.states and BAD_ENDS.issuperset(where.states):
        return "call_end"
    return "call_open" if where.states and TERMINAL.isdisjoint(where.states) else None


def call_where(where: CallFilter, after: int, hints: Hints = NO_HINTS, *, whole: bool = False) -> Where:
    """Return the conditions of a page of calls; `whole`: of all of them, in any order."""
    found = Where("call")
    _lead_calls(found, where, after, hints)
    if not whole:
        _positions(found, after, hints)
    for column in EQUAL_OF_CALLS:
        found.equal(f"call.{column}" if column in _WHICH else _beside(where, column), getattr(where, column))
    name, version = _beside(where, "tool"), _beside(where, "schema_version")
    found.of_tool(where.tool, where.carried, name=name, version=version)
    if where.stage not in (None, ACTIVE):
        found.add("stage <> 'active'")
    _states(found, where)
    found.among(_beside(where, "reason"), where.reasons)
    _labels(found, where)
    _has_event(found, where)
    found.within("proposed_at", where.since, where.until)
    _part(found, where.call_id_part)
    return found


def _beside(where: CallFilter, column: str) -> str:
    """Return a column of calls; where a session is asked for, its index leads, and none of this column."""
    return f"+call.{column}" if where.session_id is not None else f"call.{column}"


def _states(found: Where, where: CallFilter) -> None:
    if where.states and TERMINAL.isdisjoint(where.states):
        found.among("state", where.states)
        found.add(IS_OPEN)
        return
    found.among(_beside(where, "state"), where.states)
    if where.states and BAD_ENDS.issuperset(where.states):
        found.add(IS_BAD_END)


def _lead_calls(found: Where, where: CallFilter, after: int, hints: Hints) -> None:
    if where.resource is not None:
        source = f"{_TOUCHED} CROSS JOIN call ON call.call_id = touched"
        found.lead(source, where.resource, after, order="at")
    elif where.session_id is not None or _few(where):
        found.lead("call")
    elif (index := _index(where)) is not None:
        found.source = f"call INDEXED BY {index}"  # SQLite would walk all calls by position
    elif hints.tag is not None:
        found.lead(f"{_TAGGED} CROSS JOIN call ON call.session_id = tagged", *hints.tag)


def _has_event(found: Where, where: CallFilter) -> None:
    if not where.types and where.actor is None:
        return
    events = Where("event e")
    events.among("e.type", where.types)
    if where.actor is not None:
        events.add("substr(e.record, 1, ?) = ?", *_opening(where.actor))
    if _rare_types(where):
        events.add(IS_RARE)
        found.add(f"call.call_id IN ({events.matching('e.call_id')})", *events.values)
    else:
        events.add("e.call_id = call.call_id")
        found.add(f"EXISTS ({events.matching('1')})", *events.values)


def _part(found: Where, part: str | None) -> None:
    if part is not None and len(part) < SHORTEST_PART:
        found.add("call.call_id = ?", part)
    elif part is not None:  # ids alone are in the index of the primary key
        found.add(_HAS_PART, *(len(part), part) * 2, SHOWN_TAIL, len(part), part)
