"""Filters and counts over Python objects: what the memory adapter answers with, and the rules that others share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ledger.calls import CallRow
from ledger.events import Event
from ledger.store import rules
from ledger.store.port import EQUAL_OF_CALLS, CallFilter, EventFilter, GroupKey, Tally
from ledger.store.tags import label_name


class Facts(Protocol):
    """What a filter asks beside a row's own columns."""

    def tagged(self, session_id: str, name: str, value: str) -> bool:
        """Return whether a session has a tag."""

    def touched(self, call_id: str, resource: str) -> bool:
        """Return whether a call was started with a resource key."""

    def events_of(self, call_id: str) -> Iterable[tuple[str, str | None]]:
        """Return type and actor of a call's events."""

    def proposed_under(self, call_id: str) -> int | None:
        """Return the version of its tool that a call was proposed under."""


def event_fits(where: EventFilter, event: Event, type: str, facts: Facts, calls: Collection[str] | None) -> bool:
    """Return whether an event is asked for; `calls`: the ids of those that it may be of, None: of any or none."""
    wanted = (
        (where.session_id, event.session_id),
        (where.call_id, event.call_id),
        (where.schema_version, event.schema_version),
        (where.tenant, event.tenant or ""),
        (where.principal, event.principal),
        (where.actor, event.actor),
    )
    return (
        all(asked is None or asked == value for asked, value in wanted)
        and _of_tool(where, event.tool, event.schema_version)
        and (not where.types or type in where.types)
        and (calls is None or event.call_id in calls)
        and _within(event.recorded_at, where.since, where.until)
        and _labelled(where.labels, event.session_id, facts)
    )


def call_fits(where: CallFilter, row: CallRow, facts: Facts) -> bool:
    """Return whether a call is asked for."""
    for name in EQUAL_OF_CALLS:
        asked = getattr(where, name)
        if asked is not None and asked != getattr(row, name):
            return False
    return (
        _of_tool(where, row.tool, row.schema_version)
        and (not where.states or row.state in where.states)
        and (not where.reasons or row.reason in where.reasons)
        and (where.call_id_part is None or _part_fits(where.call_id_part, row.call_id))
        and _within(row.proposed_at, where.since, where.until)
        and (where.resource is None or facts.touched(row.call_id, where.resource))
        and _labelled(where.labels, row.session_id, facts)
        and _has_event(where, row.call_id, facts)
    )


def _of_tool(where: CallFilter | EventFilter, tool: str | None, version: int | None) -> bool:
    return where.tool in (None, tool) or (tool, version) in where.carried


def _labelled(labels: Iterable[tuple[str, str]], session_id: str, facts: Facts) -> bool:
    return all(facts.tagged(session_id, label_name(key), value) for key, value in labels)


def _has_event(where: CallFilter, call_id: str, facts: Facts) -> bool:
    if not where.types and where.actor is None:
        return True
    return any(
        (not where.types or name in where.types) and (where.actor is None or actor == where.actor)
        for name, actor in facts.events_of(call_id)
    )


def _part_fits(part: str, call_id: str) -> bool:
    if len(part) < rules.SHORTEST_PART:
        return part == call_id
    return call_id.startswith(part) or call_id.endswith(part) or call_id[-rules.SHOWN_TAIL :].startswith(part)


def _within(moment: str, since: str | None, until: str | None) -> bool:
    return (since is None or moment >= since) and (until is None or moment < until)


# -- counts

_Key = tuple[str | int | None, ...]


class Group(NamedTuple):
    """A group while it is counted."""

    states: Counter[str]
    repairable: int
    timed: int


def rank(count: int, percent: int) -> int:
    """Return which of so many sorted values is the percentile, from 1: nearest rank, so it is one of them."""
    return (count * percent + 99) // 100


def tally(key: _Key, group: Group, p50: float | None, p95: float | None) -> Tally:
    """Return what became of a group."""
    calls = group.states.total()
    states = dict(sorted(group.states.items()))
    return Tally(key=key, calls=calls, states=states, repairable=group.repairable, timed=group.timed, p50=p50, p95=p95)


def in_order(found: Iterable[Tally]) -> list[Tally]:
    """Return the groups with the most calls first; equal ones by their key, nothing before something."""
    return sorted(found, key=lambda each: (-each.calls, [(value is not None, value or "") for value in each.key]))


def tallies(rows: Iterable[CallRow], by: Sequence[GroupKey], facts: Facts) -> list[Tally]:
    """Return the calls counted by these columns."""
    groups: Mapping[_Key, list[CallRow]] = defaultdict(list)
    for row in rows:
        groups[tuple(_value(row, name, facts) for name in by)].append(row)
    return in_order(_of(key, found) for key, found in groups.items())


def _value(row: CallRow, name: GroupKey, facts: Facts) -> str | int | None:
    if name == "recorded_version":
        return facts.proposed_under(row.call_id) if _is_carried(row, facts) else row.schema_version
    found: str | int | None = getattr(row, name)
    return found


def _is_carried(row: CallRow, facts: Facts) -> bool:
    return any(name == "call.upcast" for name, _ in facts.events_of(row.call_id))


def _of(key: _Key, rows: Sequence[CallRow]) -> Tally:
    times = sorted(row.duration_ms for row in rows if row.duration_ms is not None)
    group = Group(Counter(row.state for row in rows), sum(row.model_can_repair for row in rows), len(times))
    p50, p95 = (times[rank(len(times), percent) - 1] if times else None for percent in (50, 95))
    return tally(key, group, p50, p95)
