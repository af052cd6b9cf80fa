"""A recorded session as messages, streamed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import UnknownSession
from ledger.events import CallNoted, MessageRecorded, SessionOpened
from ledger.providers import conversation, get_format
from ledger.providers.port import ProposedCall, Reply
from ledger.replay import begins_with_instructions, replay_json, replay_messages, replay_rows, session_at
from ledger.store.memory import MemoryStore
from ledger.strictjson import canonical
from tests.providers.recording import Recording, ok
from tests.providers.sessions import recordings
from tests.replay.large import ROUND, LargeSession
from tests.replay.spoiled import spoiled

WIRE = get_format("openai")


@given(recordings(), st.data())
def test_the_stream_is_the_conversation_byte_for_byte(recording: Recording, data: st.DataObject) -> None:
    """At any event, streaming gives what folding the whole session gives, a second time too."""
    store = recording.stored()
    if not recording.events:
        return
    at = data.draw(st.integers(1, len(recording.events)))
    whole = canonical(conversation(session_at(store, "s", at), WIRE))
    assert canonical(list(replay_messages(store, "s", WIRE, at=at))) == whole
    assert canonical(list(replay_messages(store, "s", WIRE, at=at))) == whole
    assert store.head("s") is not None
    assert store.head("s").sequence == len(recording.events)  # type: ignore[union-attr]  # a message by its place


def test_an_unknown_session_is_an_error() -> None:
    """A session without an event is named in the error."""
    with pytest.raises(UnknownSession, match="no session 'x'"):
        list(replay_messages(MemoryStore(), "x", WIRE))


def test_a_call_with_an_unreadable_row_stays_so_in_the_stream() -> None:
    """What follows a row that cannot be read is passed over, many turns later too."""
    recording = Recording()
    sent = ProposedCall(name="f", raw="{}")
    (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)), arguments={})
    recording.run(call)
    recording.add(CallNoted(by="ann", text="Look."), call)
    recording.turn(Reply(kind="text", provider="openai", text="I wait."))
    recording.add(ok(1), call)
    store = spoiled(recording, 6, b"nonsense")
    told = list(replay_messages(store, "s", WIRE))
    assert told == conversation(session_at(store, "s"), WIRE)
    assert len(told) == 3


def test_a_large_session_is_the_same_in_both_ways() -> None:
    """Over many pages, with verdicts that come a turn later, the stream is still the folded conversation."""
    reader = LargeSession(150)
    assert list(replay_messages(reader, "s", WIRE)) == conversation(session_at(reader, "s"), WIRE)


STREAMS: list[Callable[[Any], Iterator[Any]]] = [
    lambda reader: replay_rows(reader, "s"),
    lambda reader: replay_json(reader, "s"),
    lambda reader: replay_messages(reader, "s", WIRE),
]


@pytest.mark.uncounted  # nor is the memory of what counts
@pytest.mark.parametrize("stream", STREAMS, ids=["rows", "json", "messages"])
def test_memory_does_not_grow_with_the_session(stream: Callable[[Any], Iterator[Any]]) -> None:
    """Three times the events need no more memory; the messages only keep the ids that are taken."""

    def peak(rounds: int) -> int:
        tracemalloc.start()
        try:
            for _ in stream(LargeSession(rounds)):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # what is imported and cached on first use
    assert peak(450) - peak(150) < 300 * ROUND * 40  # bytes: 40 an event is far less than an event holds


@pytest.mark.parametrize(("roles", "found"), [(("system", "user"), True), (("user", "system"), False), ((), False)])
def test_whether_instructions_come_first(roles: tuple[str, ...], found: bool) -> None:
    """The first message decides, and there is none behind a turn."""
    recording = Recording()
    for role in roles:
        recording.add(MessageRecorded(role=role, provider="openai", message={"role": role, "content": "x"}))
    recording.turn(Reply(kind="text", provider="openai", text="Hi."))
    store = recording.stored()
    assert begins_with_instructions(store, "s") == found


def test_a_session_that_only_opened_begins_with_nothing() -> None:
    """Its events hold neither a message nor a turn."""
    recording = Recording()
    recording.add(SessionOpened())
    assert not begins_with_instructions(recording.stored(), "s")
