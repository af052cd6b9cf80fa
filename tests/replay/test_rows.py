"""Each event as a row."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from ledger.calls import TERMINAL
from ledger.errors import UnknownSession, UsageError
from ledger.events import CallNoted
from ledger.providers.port import ProposedCall, Reply
from ledger.replay import replay_rows
from ledger.replay.rows import ReplayRow
from ledger.store.memory import MemoryStore
from tests.providers.recording import Recording, ok
from tests.providers.sessions import recordings
from tests.replay.spoiled import spoiled


def a_session() -> Recording:
    """Return a session of a message and one call that ended, with a note on it after the next turn."""
    recording = Recording()
    recording.say("Send it.")
    sent = ProposedCall(name="send", raw='{"to": "b"}', provider_call_id="a")
    (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)), arguments={"to": "b"})
    recording.run(call, ok({"id": 7}))
    recording.turn(Reply(kind="text", provider="openai", text="Sent."))
    recording.add(CallNoted(by="ann", text="Well done."), call)
    return recording


def test_rows_tell_the_story() -> None:
    """A row holds the event's place and names, the call's state after it, and a few words."""
    recording = a_session()
    rows = list(replay_rows(recording.stored(), "s"))
    assert [(row.sequence, row.type, row.state, row.summary) for row in rows] == [
        (1, "message.recorded", None, "user: Send it."),
        (2, "turn.recorded", None, "tool_calls, 1 call"),
        (3, "call.proposed", "proposed", 'asked with {"to": "b"}'),
        (4, "call.validated", "validated", "passed schema"),
        (5, "call.authorized", "authorized", "by policy"),
        (6, "call.started", "started", "on w, key k"),
        (7, "call.succeeded", "succeeded", '{"id":7}'),
        (8, "turn.recorded", None, "text: Sent."),
        (9, "call.noted", "succeeded", "ann: Well done."),
    ]
    (call_id,) = recording.history.calls
    assert rows[2].to_wire() == {
        "sequence": 3,
        "recordedAt": "2026-11-29T20:00:00.000000Z",
        "turn": 1,
        "index": 0,
        "type": "call.proposed",
        "tool": "send",
        "schemaVersion": 1,
        "callId": call_id,
        "state": "proposed",
        "summary": 'asked with {"to": "b"}',
    }


@given(recordings())
def test_the_states_are_those_of_the_fold(recording: Recording) -> None:
    """After the last event of a call, the row's state is the folded call's; an ended call never moves again."""
    if not recording.events:
        return
    rows = list(replay_rows(recording.stored(), "s"))
    assert [row.sequence for row in rows] == list(range(1, len(recording.events) + 1))
    for call in recording.history.calls.values():
        own = [row.state for row in rows if row.call_id == call.call_id]
        assert own[-1] == call.state
        assert all(before not in TERMINAL or before == after for before, after in pairwise(own))


def test_rows_stop_where_one_looks() -> None:
    """`at` is the last row; an event that is not there, and no session at all, are errors."""
    store = a_session().stored()
    assert [row.sequence for row in replay_rows(store, "s", 4)] == [1, 2, 3, 4]
    with pytest.raises(UsageError, match="Its events are 1 to 9"):
        list(replay_rows(store, "s", 10))
    with pytest.raises(UnknownSession):
        list(replay_rows(MemoryStore(), "s"))


def test_a_row_that_cannot_be_read_is_shown_raw() -> None:
    """One bad row stands there with its place and its raw record; its call stays where it was, the others go on."""
    rows = list(replay_rows(spoiled(a_session(), 6, b"\xff\x00 {"), "s"))
    assert len(rows) == 9
    bad: ReplayRow = rows[5]
    assert (bad.sequence, bad.type, bad.state) == (6, "call.started", "authorized")
    assert bad.raw == "\\xff\x00 {"
    assert bad.to_wire()["raw"] == bad.raw
    assert bad.summary.startswith("this row is no record")
    assert rows[6].summary.startswith("does not follow the call's state, passed over")
    assert [row.state for row in rows[6:]] == ["authorized", None, "authorized"]


def test_an_event_of_a_newer_release_is_shown_raw() -> None:
    """A type that this release does not know is no crash, in a session and in a call."""
    record = (
        b'{"body":{"why":1},"callId":"c9","eventId":"e","format":1,"recordedAt":"t","sequence":7,'
        b'"sessionId":"s","tool":"f","type":"call.paused"}'
    )
    row = list(replay_rows(spoiled(a_session(), 7, record), "s"))[6]
    assert (row.type, row.state, row.call_id) == ("call.paused", "unknown", "c9")
    assert row.raw["body"] == {"why": 1}


def test_an_event_that_does_not_follow_is_said_so() -> None:
    """An event out of order is shown, and passed over in the states."""
    recording = a_session()
    recording.events[4:6] = [recording.events[5]]  # started, never authorized
    rows = list(replay_rows(recording.stored(), "s"))
    assert [(row.type, row.state) for row in rows[3:6]] == [
        ("call.validated", "validated"),
        ("call.started", "validated"),
        ("call.succeeded", "validated"),
    ]
    assert rows[4].summary.startswith("does not follow")
