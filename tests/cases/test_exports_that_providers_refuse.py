"""Reports of conversations that a provider refused for ever: each of them is told in a form that every one takes."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path
from typing import Any

import pytest

from ledger.providers import conversation, get_format
from ledger.providers.check import check
from ledger.providers.export import export
from ledger.providers.port import ProposedCall, Reply
from tests.cases.scenes import Desk
from tests.providers.odd import FORMATS
from tests.providers.recording import Recording, flagged, ok
from tests.session.agents import asked, opened

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
def test_an_interrupted_tool_left_its_call_without_a_result(name: str) -> None:
    """Cancelled, then the user goes on: the result stands before what he says."""
    # https://github.com/anthropics/claude-code/issues/1894
    recording, (call,) = session(ProposedCall(name="Bash", raw="{}", provider_call_id="toolu_1"))
    recording.run(call, flagged())
    recording.say("actually use nix")
    text = told(recording, name)
    assert text.index("OUTCOME UNKNOWN") < text.index("actually use nix")


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


@EVERY
def test_results_were_told_in_the_order_of_their_ends(name: str, desk: Desk) -> None:
    """The call that ended first is told second: a prompt cache holds only where the order does not change."""
    # https://github.com/vercel/ai/pull/16577, https://github.com/agentscope-ai/agentscope/issues/1892
    ledger = desk.open()
    second = threading.Event()

    @ledger.tool("a", effect="read")
    def a() -> str:
        """Wait for the other one."""
        second.wait(30)
        return "first asked"

    @ledger.tool("b", effect="read")
    def b() -> str:
        """Be done at once."""
        second.set()
        return "second asked"

    with ledger.session("s") as found:
        found.dispatch(asked(("a", {}), ("b", {})))
        messages = found.messages(name)
        again = found.messages(name)
    text = json.dumps(messages)
    assert text.index("first asked") < text.index("second asked")
    assert messages == again
    if name == "anthropic":
        assert [block["type"] for block in messages[-1]["content"]] == ["tool_result", "tool_result"]


@EVERY
def test_a_result_was_not_a_number(name: str, tmp_path: Path) -> None:
    """It is stored with what it was, and told as strict JSON."""
    # https://github.com/modelcontextprotocol/python-sdk/issues/3385
    with opened(tmp_path) as ledger:

        @ledger.tool("avg", effect="read")
        def avg() -> float:
            """Divide by nothing."""
            return math.nan

        with ledger.session("s") as found:
            (call,) = found.dispatch(asked(("avg", {}))).calls
            messages = found.messages(name)
    assert call.state == "succeeded"
    assert call.call.encodings
    json.dumps(messages, allow_nan=False)
    assert check(name, messages) == []


def tools(folder: Path, stage: str) -> Path:
    """Write a catalog of two tools, one of them in this stage, and return its folder."""
    for name, now in (("old_tool", stage), ("look", "active")):
        place = folder / "tools" / name
        place.mkdir(parents=True, exist_ok=True)
        document = {"name": name, "description": "Do.", "current": 1, "stage": now}
        versions = {"versions": {"1": {"contract": {"effect": "read"}}}}
        (place / "tool.json").write_text(json.dumps(document | versions), encoding="utf-8")
        (place / "v1.json").write_text('{"type": "object", "properties": {}}', encoding="utf-8")
    return folder / "tools"


@EVERY
def test_a_tool_was_removed_between_two_runs(name: str, tmp_path: Path) -> None:
    """Its calls become text together with their results; those of other tools stay what they are."""
    # https://github.com/code-yeongyu/senpi/pull/437, https://github.com/anthropics/claude-code/issues/78485
    texts = {}
    for stage in ("active", "removed"):
        with opened(tmp_path, catalog=tools(tmp_path, stage)) as ledger:
            ledger.tool("look")(lambda: "y")
            if stage == "active":
                ledger.tool("old_tool")(lambda: "x")
            with ledger.session("s") as found:
                found.dispatch(asked(("old_tool", {}), ("look", {})), turn=1)
                messages = found.messages(name)
        assert check(name, messages) == []
        texts[stage] = json.dumps(messages)
    assert "no longer offered" not in texts["active"]
    assert texts["removed"].count("no longer offered] old_tool") == 2
    assert "no longer offered] look" not in texts["removed"]


def test_reasoning_was_sent_without_its_call() -> None:
    """A reasoning item goes back with the call that it led to, and is dropped only together with it."""
    # https://github.com/pydantic/pydantic-ai/issues/3230, https://github.com/openai/openai-node/issues/1791
    reasoning = {"type": "reasoning", "id": "rs_1", "encrypted_content": "…", "summary": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "w", "arguments": "{}"}
    recording = Recording()
    (made,) = recording.turn(get_format("responses").parse({"output": [reasoning, call]}), parse=True)
    recording.run(made, ok(1))
    body = export(recording.history, get_format("responses"))
    assert body["input"][:2] == [reasoning, call]
    gone = export(recording.history, get_format("responses"), gone=("w",))
    assert check("responses", gone) == []
    assert "rs_1" not in json.dumps(gone)
