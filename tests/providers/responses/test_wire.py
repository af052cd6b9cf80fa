"""Conversations as the Responses API takes them."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.providers import get_format
from ledger.providers.port import ProposedCall, Reply
from tests.providers.recording import Recording, ok
from tests.providers.responses.making import REASONING, SEARCH, SHELL, SHOWN, USER, call, output, said
from tests.providers.told import asked as run
from tests.providers.told import said as say
from tests.providers.told import told, version

WIRE = get_format("responses")
OK = '{"data":1,"next":"none","status":"succeeded"}'
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}


@pytest.mark.parametrize(
    ("items", "results"),
    [
        ([said("Hello.")], ()),
        ([said("I look."), call("a", '{ "n":1 }'), call("b")], (1, 1)),
        ([REASONING, call("a", id="fc_1", status="completed"), REASONING, call("b", namespace="tools")], (1, 1)),
        ([REASONING, SEARCH, MESSAGE], ()),
        ([call("a"), MESSAGE], (1,)),
    ],
)
def test_what_came_goes_back_the_same(items: list[Any], results: tuple[Any, ...]) -> None:
    """Items keep their order, reasoning its follower, raw arguments every byte; each call is answered once."""
    recording = Recording()
    run(recording, "responses", {"output": items}, *results)
    found = told(recording, "responses")
    assert found[: len(items)] == items
    assert found[len(items) :] == [output(item["call_id"], OK) for item in items if item.get("type") == "function_call"]


def test_reasoning_never_stands_alone() -> None:
    """Where the model was cut off behind it, or its call is told as text, it is dropped with what it led to."""
    recording = Recording()
    run(recording, "responses", {"status": "incomplete", "output": [said("Hm."), REASONING]})
    run(recording, "responses", {"output": [REASONING]})
    assert told(recording, "responses") == [said("Hm.")]


def test_reasoning_goes_to_no_other_provider() -> None:
    """Its call does, with the exact text of its arguments."""
    recording = Recording()
    run(recording, "responses", {"output": [REASONING, call("a", '{ "n":1 }')]}, 1)
    found = told(recording, "openai")
    assert found[0]["tool_calls"][0]["function"]["arguments"] == '{ "n":1 }'
    assert "rs_1" not in repr(found)


def test_long_and_odd_ids_are_rewritten() -> None:
    """A `call_id` has at most 64 characters of one alphabet; the output names the same."""
    recording = Recording()
    sent = tuple(ProposedCall(name="f", raw="{}", provider_call_id=given) for given in ("i" * 65, "search:0", None))
    for made in recording.turn(Reply(kind="tool_calls", provider="openai", calls=sent), parse=True):
        recording.run(made, ok(1))
    found = told(recording, "responses")
    assert len({item["call_id"] for item in found}) == 3


def test_built_in_tools_are_told_as_functions() -> None:
    """A custom or a built-in tool's call that the ledger answers is a function's call with a function's output."""
    recording = Recording()
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls"}
    for made in recording.turn(WIRE.parse([SHELL, custom])):
        recording.run(made, ok(1))
    assert told(recording, "responses") == [
        call("a", '{"action":{"command":["ls"]}}', "local_shell"),
        call("c", "{}", "sh"),
        output("a", OK),
        output("c", '{"data":1,"next":"none","rawArguments":"ls","status":"succeeded"}'),
    ]


def test_the_hosts_own_pairs_of_built_in_tools_stay() -> None:
    """A call that its own kind of output answers is that call again."""
    recording = Recording()
    say(recording, "responses", SHELL, SHOWN, call("b"), output("b", [{"type": "input_text", "text": "x"}] * 2))
    found = told(recording, "responses")
    assert found == [SHELL, SHOWN, call("b"), output("b", [{"type": "input_text", "text": "x"}] * 2)]


def test_the_hosts_own_items_are_put_right() -> None:
    """Missing outputs are told as such, orphans become texts, content that is none becomes one."""
    recording = Recording()
    say(
        recording,
        "responses",
        {"role": "developer", "content": "Be kind."},
        call("a"),
        USER,
        output("b"),
        {"role": "user"},
    )
    found = told(recording, "responses")
    assert [item.get("type", item.get("role")) for item in found] == [
        "developer",
        "function_call",
        "function_call_output",
        "user",
        "user",
        "user",
    ]
    assert "not_recorded" in found[2]["output"]
    assert found[4]["content"] == "[Result of a call that is not in this conversation] seen"
    assert found[5] == {"role": "user", "content": ""}


def test_items_that_are_no_messages_stay_what_they_are() -> None:
    """A reference of the host's has neither role nor content."""
    recording = Recording()
    reference = {"type": "item_reference", "id": "x", "role": "user"}
    say(recording, "responses", reference)
    assert told(recording, "responses") == [reference]


def test_another_providers_messages_become_role_and_text() -> None:
    """Instructions stay instructions, the model's words its own, everything else the user's; blanks are left out."""
    recording = Recording()
    say(recording, "openai", {"role": "system", "content": "Be kind."}, {"role": "user", "content": " "})
    say(
        recording, "gemini", {"role": "model", "parts": [{"text": "Hi."}]}, {"role": "critic", "parts": [{"text": "?"}]}
    )
    say(recording, "elsewhere", {"role": "assistant", "content": {"a": 1}})
    assert told(recording, "responses") == [
        {"role": "system", "content": "Be kind."},
        said("Hi."),
        {"role": "user", "content": "?"},
        said('{"a":1}'),
    ]


def test_tools_and_bodies() -> None:
    """Functions, not strict; the body of a request with instructions or without."""
    (offered,) = WIRE.tools([version("fs.read")])
    assert offered["type"] == "function"
    assert (offered["name"], offered["parameters"], offered["strict"]) == (
        "fs_read_4074bc02",
        {"type": "object"},
        False,
    )
    assert WIRE.system("Be kind.\0") == {"role": "system", "content": "Be kind.\\u0000"}
    assert WIRE.request(None, [USER]) == {"input": [USER]}
    assert WIRE.request("Be kind.", []) == {"instructions": "Be kind.", "input": []}
    assert get_format("openai").request("Be kind.", [USER]) == {
        "messages": [{"role": "system", "content": "Be kind."}, USER]
    }
