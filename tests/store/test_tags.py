"""What is looked up by more than an event's columns."""

from __future__ import annotations

from ledger.events import Event, SessionOpened
from ledger.store import tags
from ledger.testing.contract.building import note


def event(**about: str | None) -> Event:
    return Event(session_id="s", event_id="e", recorded_at="t", body=note("n"), **about)  # type: ignore[arg-type]  # texts only


def test_an_event_tags_its_session() -> None:
    """Tenant, principal and actor, where there is one; labels of an opening, as they are asked for."""
    about = event(tenant="t", principal="p", actor="a")
    assert list(tags.tags_of(about)) == [("tenant", "t", "s"), ("principal", "p", "s"), ("actor", "a", "s")]
    assert list(tags.tags_of(event(tenant="", principal=None))) == []
    opened = Event(session_id="s", event_id="e", recorded_at="t", body=SessionOpened(labels={"a": "x", "n": [1, None]}))
    assert list(tags.tags_of(opened)) == [("label:a", "x", "s"), ("label:n", "[1,null]", "s")]


def test_spans_close_where_a_multiple_is_crossed() -> None:
    """Whatever is appended together, the last of it closes the span when it crosses a multiple."""
    size = tags.SPAN
    assert tags.closes_span(size, size)
    assert tags.closes_span(size - 1, size)
    assert tags.closes_span(1, 3 * size + 5)
    assert not tags.closes_span(size + 1, 2 * size - 1)
    assert not tags.closes_span(1, 1)


def test_spans_hold_the_times_of_their_events() -> None:
    """Each span has the earliest and the latest of what no span before held; what is left has none yet."""
    size = tags.SPAN
    times = [(n, "b") for n in range(1, 2 * size + 10)]
    times[5], times[size] = (6, "a"), (size + 1, "z")
    assert list(tags.spans(times)) == [(size, "a", "b"), (2 * size, "b", "z")]
