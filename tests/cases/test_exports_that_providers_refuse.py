"""Reports of conversations that a provider refused for ever: each of them is told in a form that every one takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.providers import conversation, get_format
from ledger.providers.check import check
from ledger.providers.port import ProposedCall, Reply
from tests.providers.odd import FORMATS
from tests.providers.recording import Recording, flagged, ok

EVERY = pytest.mark.parametrize("name", FORMATS)


def session(*calls: ProposedCall, provider: str = "openai") -> tuple[Recording, list[Any]]:
    """Return a session that a user began, in which a model asked for these calls."""
    recording = Recording()
    recording.say("Go.")
    return recording, recording.turn(Reply(kind="tool_calls", provider=provider, calls=calls), parse=True)


def told(recording: Recording, name: str) -> str:
    """Return the conversation as JSON text; it has nothing to refuse."""
    found = conversation(recording.history, get_format(name))
    assert check(name, found) == []
    return json.dumps(found)


@EVERY
def test_a_terminal_was_killed_during_a_blocking_tool(name: str) -> None:
    """Four calls in parallel, two with an end: four answers, the open ones marked as synthetic and unknown."""
    # https://github.com/MoonshotAI/kimi-code/issues/269, https://github.com/HKUDS/OpenHarness/issues/240
    sent = [ProposedCall(name="TaskOutput", raw='{"block":true}', provider_call_id=f"TaskOutput:{n}") for n in range(4)]
    recording, calls = session(*sent)
    recording.run(calls[1], ok("done"))
    recording.run(calls[3], ok("done"))
    recording.run(calls[0])
    recording.run(calls[2], flagged())
    before = len(recording.events)
    text = told(recording, name)
    assert text.count("OUTCOME UNKNOWN") == 2
    assert text.count("synthetic") == 2
    assert len(recording.events) == before
    if name in ("anthropic", "responses", "mistral"):
        assert "TaskOutput:" not in text  # no id of their alphabet


@EVERY
def test_a_provider_reused_an_id(name: str) -> None:
    """One id each round, twice in one message, empty and absent: every result is at its own call."""
    # https://github.com/open-webui/open-webui/issues/28305, https://github.com/NousResearch/hermes-agent/pull/88324,
    # https://github.com/apache/flink-agents/issues/947
    recording = Recording()
    recording.say("Go.")
    rounds: list[list[str | None]] = [["search_web:0"], ["search_web:0"], ["search_web:0"], ["c1", "c1"], ["", None]]
    for number, ids in enumerate(rounds):
        sent = tuple(
            ProposedCall(name="pay", raw=json.dumps({"v": f"<{number}.{n}>"}), provider_call_id=given)
            for n, given in enumerate(ids)
        )
        calls = recording.turn(Reply(kind="tool_calls", provider="openai", calls=sent), parse=True)
        for n, call in enumerate(calls):
            recording.run(call, ok(f"[{number}.{n}]"))
    text = told(recording, name)
    places = [f"{number}.{n}" for number, ids in enumerate(rounds) for n in range(len(ids))]
    assert [text.count(f"<{place}>") for place in places] == [1] * 7
    assert sorted(places, key=lambda place: text.index(f"[{place}]")) == places
    assert "null" not in text.replace('"content": null', "")
