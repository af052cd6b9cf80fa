"""A session as one JSON object."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from ledger import Ledger
from ledger.errors import UnknownSession
from ledger.events import (
    CallFlagged,
    CallProposed,
    CallSuperseded,
    CallUpcast,
    CallValidated,
    MessageRecorded,
    SessionClosed,
    SessionOpened,
)
from ledger.providers import answer
from ledger.providers.port import ProposedCall, Reply
from ledger.replay import replay_json, replay_rows, session_at
from ledger.store.memory import MemoryStore
from tests.providers.recording import Recording, flagged, happened, ok
from tests.providers.sessions import recordings
from tests.replay.large import LargeSession
from tests.replay.spoiled import spoiled

SEND = ProposedCall(name="send", raw='{"to":"b"}', provider_call_id="a")


def asking(*calls: ProposedCall) -> Reply:
    """Return a reply with calls."""
    return Reply(kind="tool_calls", provider="openai", calls=calls or (SEND,), stop_reason="tool_calls")


def document(store: Any, at: int | None = None) -> Any:
    """Return the object that the pieces make; they are printable ASCII."""
    text = "".join(replay_json(store, "s", at))
    assert text.isascii()
    assert text.isprintable()
    return json.loads(text)


def test_what_the_provider_executed_is_listed() -> None:
    """Its calls stand beside those of the host, with the end that came later too; no other turn has the key."""
    with Ledger.open("memory://") as host, host.session("s") as session:
        search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
        found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
        paused = {"role": "assistant", "content": [search], "stop_reason": "pause_turn"}
        session.dispatch(paused, format="anthropic")
        session.dispatch({"role": "assistant", "content": [found]}, format="anthropic")
        first, second = document(host.reader)["turns"]
        assert [(call["tool"], call["state"], call["arguments"], call["result"]) for call in first["hosted"]] == [
            ("web_search", "succeeded", {"query": "x"}, [])
        ]
        assert (first["calls"], "hosted" in second) == ([], False)
        assert [call["state"] for call in document(host.reader, 4)["turns"][0]["hosted"]] == ["proposed"]
        asked = next(row for row in replay_rows(host.reader, "s") if row.type == "call.proposed")
        assert asked.summary == 'asked with {"query":"x"} (run by the provider)'


def test_a_session_is_one_object() -> None:
    """What was said before each turn, its calls with their states and answers, and how the session ended."""
    recording = Recording()
    recording.add(SessionOpened(agent="mini"))
    recording.say("Send it.")
    (call,) = recording.turn(asking(), arguments={"to": "b"})
    recording.run(call, ok("é\x7f"))
    recording.turn(Reply(kind="text", provider="openai", text="Sent."))
    recording.say("Thanks.")
    recording.add(SessionClosed(reason="final_answer", turns=2, calls=1))
    time = "2026-11-29T20:00:00.000000Z"
    assert document(recording.stored()) == {
        "sessionId": "s",
        "at": 11,
        "turns": [
            {
                "turn": 1,
                "sequence": 3,
                "kind": "tool_calls",
                "provider": "openai",
                "text": None,
                "stopReason": "tool_calls",
                "calls": [
                    {
                        "callId": call.call_id,
                        "index": 0,
                        "revision": 0,
                        "tool": "send",
                        "schemaVersion": 1,
                        "effect": "write",
                        "state": "succeeded",
                        "attempt": 1,
                        "providerCallId": "a",
                        "rawArguments": '{"to":"b"}',
                        "arguments": {"to": "b"},
                        "proposedAt": time,
                        "startedAt": time,
                        "endedAt": time,
                        "answer": {"status": "succeeded", "data": "é\x7f", "next": "none"},
                    }
                ],
                "before": [
                    {
                        "sequence": 2,
                        "role": "user",
                        "provider": "openai",
                        "message": {"role": "user", "content": "Send it."},
                    }
                ],
            },
            {
                "turn": 2,
                "sequence": 9,
                "kind": "text",
                "provider": "openai",
                "text": "Sent.",
                "stopReason": None,
                "calls": [],
                "before": [],
            },
        ],
        "state": "closed",
        "opened": {"agent": "mini"},
        "closed": {"reason": "final_answer", "turns": 2, "calls": 1},
        "before": [
            {"sequence": 10, "role": "user", "provider": "openai", "message": {"role": "user", "content": "Thanks."}}
        ],
    }


@given(recordings())
def test_the_calls_stand_as_the_fold_says(recording: Recording) -> None:
    """Streamed or folded, each call has the same state, answer and reading, at every event."""
    for at in range(1, len(recording.events) + 1, 3):
        store = recording.stored()
        history = session_at(store, "s", at)
        told = [call for turn in document(store, at)["turns"] for call in turn["calls"]]
        slots = [slot for turn in history.turns for slot in turn.slots]
        assert [call["callId"] for call in told] == [slot[-1] for slot in slots]
        for call, slot in zip(told, slots, strict=True):
            now = history.calls[slot[-1]]
            assert (call["state"], call["answer"]) == (now.state, json.loads(json.dumps(answer(now))))
            assert call.get("read", call["answer"]) == json.loads(json.dumps(answer(history.read_as(now))))


def test_a_verdict_after_the_turn_shows_both_answers() -> None:
    """`answer` is how the call ended, `read` what the model had read, and the note stands before the next turn."""
    recording = Recording()
    (call,) = recording.turn(asking(), arguments={})
    recording.run(call, flagged())
    recording.turn(Reply(kind="text", provider="openai", text="I wait."))
    recording.add(happened(7), call)
    store = recording.stored()
    shown = document(store)
    (found,) = shown["turns"][0]["calls"]
    assert (found["state"], found["answer"]["data"]) == ("succeeded", 7)
    assert found["read"]["status"] == "needs_review"
    assert shown["before"] == [{"sequence": 8, "settled": call.call_id, "state": "succeeded"}]
    earlier = document(store, 7)
    assert earlier["state"] == "waiting"
    assert earlier["turns"][0]["calls"][0]["state"] == "needs-review"
    assert document(store, 5)["state"] == "open"


def test_what_ran_is_shown_where_it_is_not_what_was_asked() -> None:
    """Arguments of another version, and those that a person gave, stand beside the intent."""
    recording = Recording()
    upcast, replaced = recording.turn(asking(SEND, SEND), arguments={"to": "b"})
    moved = CallUpcast(
        from_version=1,
        to_version=2,
        upcast_digest="u",
        digest_before="d",
        digest_after="d2",
        validator="v",
        arguments={"recipients": ["b"]},
    )
    recording.add(CallValidated(gates=(), validator="v", arguments_digest="d"), upcast)
    recording.add(moved, upcast)
    recording.add(CallFlagged(reason="not-started"), replaced)
    recording.turn(Reply(kind="text", provider="openai", text="I wait."))
    recording.add(CallSuperseded(superseded_by="new", by="ann"), replaced)
    recording.add(CallProposed(arguments={"to": "c"}), replaced, call_id="new", revision=1)
    first, second = document(recording.stored())["turns"][0]["calls"]
    assert (first["arguments"], first["executed"]) == ({"to": "b"}, {"recipients": ["b"]})
    assert (second["callId"], second["revision"]) == ("new", 1)
    assert (second["arguments"], second["executed"]) == ({"to": "b"}, {"to": "c"})
    between = document(recording.stored(), len(recording.events) - 1)["turns"][0]["calls"][1]
    assert (between["callId"], between["state"]) == (replaced.call_id, "superseded")


def test_unreadable_rows_stand_where_they_were() -> None:
    """A row that cannot be read is shown raw before the next turn, or behind the last."""
    recording = Recording()
    recording.add(SessionOpened())
    recording.turn(Reply(kind="text", provider="openai", text="Hi."))
    recording.add(MessageRecorded(role="user", provider="openai", message={}))
    first = document(spoiled(recording, 1, b"{}"))["turns"][0]["unreadable"]
    assert [(row["sequence"], row["type"], row["raw"]) for row in first] == [(1, "session.opened", {})]
    last = document(spoiled(recording, 3, b"nonsense"))
    assert [row["raw"] for row in last["unreadable"]] == ["nonsense"]
    assert last["before"] == []


def test_an_empty_session_is_an_object_too() -> None:
    """A session without a turn has an empty list of them; one without an event is unknown."""
    recording = Recording()
    recording.add(SessionOpened())
    assert document(recording.stored())["turns"] == []
    with pytest.raises(UnknownSession):
        list(replay_json(MemoryStore(), "s"))


def test_cold_and_warm_replay_are_equal_and_write_nothing() -> None:
    """Reading twice gives the same bytes, and the session is as long as before."""
    reader = LargeSession(120)
    assert list(replay_json(reader, "s")) == list(replay_json(reader, "s"))
    assert list(replay_rows(reader, "s")) == list(replay_rows(LargeSession(120), "s"))
    states = [call["state"] for turn in document(reader)["turns"] for call in turn["calls"]]
    assert states == ["succeeded"] * 120
