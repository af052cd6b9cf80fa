"""What is looked up by more than an event's columns: tags of sessions, resources of calls, spans of time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from ledger.events import CallStarted, Event, SessionOpened
from ledger.strictjson import canonical

Tag: TypeAlias = tuple[str, str, str]
"""(name, value, session id): the session has an event with this tenant, principal, actor, or label (`label:NAME`)."""

TENANT: Final = "tenant"
PRINCIPAL: Final = "principal"
ACTOR: Final = "actor"

SPAN: Final = 1024
"""A span of time is closed by the event that crosses a multiple of this; it holds what no span held before."""


def label_name(key: str) -> str:
    """Return the name of a label's tag."""
    return f"label:{key}"


def label_text(value: Any) -> str:
    """Return a label's value as it is asked for: a text is itself, anything else its canonical JSON."""
    return value if isinstance(value, str) else canonical(value).decode()


def tags_of(event: Event) -> Iterator[Tag]:
    """Yield the tags that an event gives its session; an empty tenant, principal or actor is none."""
    for name, value in ((TENANT, event.tenant), (PRINCIPAL, event.principal), (ACTOR, event.actor)):
        if value:
            yield name, value, event.session_id
    if isinstance(event.body, SessionOpened):
        for key, label in (event.body.labels or {}).items():
            yield label_name(key), label_text(label), event.session_id


def resources_of(event: Event) -> tuple[str, ...]:
    """Return the resources that a call touches from this event on; planned but not started touches none."""
    return (event.body.resource_keys or ()) if isinstance(event.body, CallStarted) else ()


def closes_span(first: int, last: int) -> bool:
    """Return whether events at these positions (first to last) cross a multiple of `SPAN`."""
    return last // SPAN != (first - 1) // SPAN


def spans(times: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    """Yield the spans of events given as (position, recorded at), in order: (last position, earliest, latest)."""
    earliest = latest = ""
    for position, moment in times:
        earliest = min(earliest or moment, moment)
        latest = max(latest, moment)
        if closes_span(position, position):
            yield position, earliest, latest
            earliest = latest = ""
