"""A session's events, page by page."""

from __future__ import annotations

import pytest

from ledger.errors import UnknownSession, UsageError
from ledger.providers.port import ProposedCall, Reply
from ledger.replay import call_at, last_sequence, session_at, session_events
from ledger.replay.reading import PAGE
from ledger.store.memory import MemoryStore
from tests.providers.recording import Recording, flagged, happened
from tests.replay.large import LargeSession
from tests.replay.spoiled import spoiled


def a_session() -> Recording:
    """Return a session of one call that was flagged and settled."""
    recording = Recording()
    (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(ProposedCall(name="f"),)))
    recording.run(call, flagged(), happened(1))
    return recording


def test_the_session_is_as_it_was_at_each_event() -> None:
    """`at` shows the state after that event, and nothing of what came later."""
    recording = a_session()
    store = recording.stored()
    states = []
    for at in range(2, len(recording.events) + 1):
        history = session_at(store, "s", at)
        states += [call.state for call in history.calls.values()]
        assert history.sequence == at
    assert states == ["proposed", "validated", "authorized", "started", "needs-review", "succeeded"]
    assert session_at(store, "s").sequence == len(recording.events)


@pytest.mark.parametrize("at", [0, -1, 8])
def test_an_event_that_is_not_there_is_a_clear_error(at: int) -> None:
    """The error says which events there are."""
    with pytest.raises(UsageError, match=rf"session 's' has no event {at}.*1 to 7"):
        session_at(a_session().stored(), "s", at)


def test_no_event_is_no_session() -> None:
    """An unknown session is an error, however it is looked at."""
    with pytest.raises(UnknownSession):
        last_sequence(MemoryStore(), "s")
    with pytest.raises(UnknownSession):
        last_sequence(LargeSession(0), "s")


def test_all_pages_are_read() -> None:
    """A session of several pages is read to its end, and only to where one looks."""
    reader = LargeSession(PAGE)
    assert [event.sequence for event in session_events(reader, "s")] == list(range(1, reader.length + 1))
    assert sum(1 for _ in session_events(reader, "s", PAGE)) == PAGE


def test_one_call_is_folded_alone() -> None:
    """A call is as it was at an event; one without an event by then is not known yet."""
    recording = a_session()
    store = recording.stored()
    (call_id,) = recording.history.calls
    states = [call_at(store, "s", call_id, at).state for at in (1, 2, 5, 7)]
    assert states == ["unknown", "proposed", "started", "succeeded"]
    assert call_at(store, "s", call_id, 7) == recording.history.calls[call_id]


def test_a_call_stays_where_its_events_can_be_read() -> None:
    """A row that cannot be read, and one that does not follow, end what is known of a call."""
    recording = a_session()
    (call_id,) = recording.history.calls
    unread = spoiled(recording, 5, b"\xff not a record")
    assert call_at(unread, "s", call_id, 7).state == "authorized"
    recording.events[3:5] = [recording.events[4]]  # started without having been authorized
    assert call_at(recording.stored(), "s", call_id, 7).state == "validated"
