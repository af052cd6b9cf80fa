"""Real transcripts and real exchanges with providers, read, recorded and told again."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ledger.events import MessageRecorded
from ledger.providers import complete, conversation, get_format
from ledger.providers.check import check_openai
from tests.providers.recording import Recording, ok

WIRE = get_format("openai")
PART = 3
"""Each so many-th session here; `make soak` tells and completes all of them."""


def lines(path: Path) -> Iterator[Any]:
    """Yield the objects of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def replies(corpus: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each recorded reply in the OpenAI Chat format with the messages it answers."""
    for exchange in lines(corpus / "provider_exchanges.jsonl.gz"):
        for each in exchange["interactions"]:
            reply = each.get("response")
            if isinstance(reply, dict) and reply.get("choices") and "message" in reply["choices"][0]:
                yield reply, each["request"]["messages"]


def sent_back(value: Any) -> Any:
    """Return a message as a request holds it: without nulls, and each call a function."""
    left_out = {"audio", "function_call"}  # empty ones, which one real server sends with every message
    whole = {key: item for key, item in value.items() if item not in (None, []) and key not in left_out}
    whole["content"] = value.get("content")
    if "tool_calls" in whole:
        calls = [{key: item for key, item in call.items() if key != "index"} for call in whole["tool_calls"]]
        whole["tool_calls"] = [call | {"type": "function"} for call in calls if len(call["id"]) <= 40]
        for call in whole["tool_calls"]:
            call["function"] = {"arguments": "{}"} | call["function"]  # one real provider leaves them out
    return whole


def recorded(messages: list[dict[str, Any]]) -> Recording:
    """Return a session in which a transcript happened; each result belongs to the next call without one."""
    recording = Recording()
    waiting: list[Any] = []
    for message in messages:
        if message["role"] == "assistant":
            waiting = recording.turn(WIRE.parse(message), parse=True)
        elif message["role"] == "tool" and waiting:
            recording.run(waiting.pop(0), ok(message["content"]))
        else:
            recording.add(MessageRecorded(role=message["role"], provider="openai", message=message))
    return recording


def test_recorded_replies_go_back_as_they_came(corpus: Path) -> None:
    """Each reply of a real provider is read, and returns as the same message: calls, ids, raw texts, reasoning."""
    count = 0
    for reply, _ in replies(corpus):
        recording = Recording()
        recording.turn(WIRE.parse(reply), arguments={})
        told = conversation(recording.history, WIRE)
        wanted = sent_back(reply["choices"][0]["message"])
        if wanted.get("tool_calls") == []:
            del wanted["tool_calls"]  # under ids that are too long for OpenAI itself
        assert {key: told[0].get(key) for key in wanted} == wanted
        assert check_openai(told) == []
        count += 1
    assert count > 100


def test_recorded_requests_lack_nothing(corpus: Path) -> None:
    """What a provider accepted comes back from `complete` as it is, and is accepted out of a session too."""
    count = 0
    for _, messages in replies(corpus):
        recording = Recording()
        assert complete(recording.history, messages, WIRE) == messages
        for message in messages:
            recording.add(MessageRecorded(role=message["role"], provider="openai", message=message))
        assert check_openai(conversation(recording.history, WIRE)) == []
        count += len(messages)
    assert count > 200


def test_real_sessions_are_told_whole(corpus: Path) -> None:
    """Sessions with repeated ids and parallel calls: each call keeps its raw text and gets its own result."""
    calls = repeated = 0
    for session in itertools.islice(lines(corpus / "sessions.jsonl.gz"), 0, None, PART):
        messages = session["messages"]
        recording = recorded(messages)
        told = conversation(recording.history, WIRE)
        assert check_openai(told) == []
        asked = [call for m in messages if m["role"] == "assistant" for call in m.get("tool_calls") or ()]
        raw = [call["function"]["arguments"] for call in asked]
        assert [call["function"]["arguments"] for m in told for call in m.get("tool_calls", ())] == raw
        given = [call["id"] for call in asked]
        calls, repeated = calls + len(given), repeated + len(given) - len(set(given))
        results = [json.loads(m["content"]) for m in told if m["role"] == "tool"]
        assert len(results) == len(raw)
    assert (calls > 4_000 / PART, repeated > 0) == (True, True)


def test_real_sessions_are_completed_after_a_loss(corpus: Path) -> None:
    """A host that lost its results gets them back from the ledger, each at its place."""
    for session in itertools.islice(lines(corpus / "sessions.jsonl.gz"), 1, None, PART):
        recording = recorded(session["messages"])
        told = conversation(recording.history, WIRE)
        kept = [message for message in told if message["role"] != "tool"]
        assert complete(recording.history, kept, WIRE) == told
