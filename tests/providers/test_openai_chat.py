"""Messages and tools in the OpenAI Chat format."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.calls import Call
from ledger.catalog.contract import Contract
from ledger.catalog.definition import ToolVersion
from ledger.errors import UsageError
from ledger.providers import conversation, get_format, original_name
from ledger.providers.openai_chat import arguments_text
from tests.providers.recording import Recording

WIRE = get_format("openai")


def replayed(message: dict[str, Any], **known: Any) -> dict[str, Any]:
    """Return the assistant message that comes back for one that came."""
    recording = Recording()
    recording.turn(WIRE.parse(message), **known)
    return conversation(recording.history, WIRE)[0]


def version(tool: str, schema: dict[str, Any] | None = None) -> ToolVersion:
    """Return a tool to offer."""
    return ToolVersion(
        tool=tool,
        version=1,
        schema=schema or {"type": "object"},
        contract=Contract(effect="read"),
        description="Reads.",
        use_when="you need it",
        shape_digest="",
        description_digest="",
    )


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "Hello."},
        {"role": "assistant", "content": "", "reasoning_content": "Greet.", "annotations": []},
        {"role": "assistant", "content": None, "refusal": "I can't."},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi"}, {"type": "thinking", "thinking": []}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{ "a":1 }'},
                    "extra_content": {"google": {"thought_signature": "s"}},
                },
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
    ],
    ids=["text", "reasoning", "refusal", "parts", "calls"],
)
def test_what_came_goes_back_the_same(message: dict[str, Any]) -> None:
    """Text, raw arguments and everything that was not understood return to the provider verbatim."""
    assert replayed(message) == message


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ({"content": None}, {"content": ""}),
        ({"content": "x", "audio": {"id": "au", "data": "…"}}, {"content": "x", "audio": {"id": "au"}}),
        ({"content": "x", "audio": {"id": ""}}, {"content": "x"}),
        ({"content": "x", "audio": "?"}, {"content": "x"}),
        ({"content": "x", "function_call": {"name": "", "arguments": ""}}, {"content": "x"}),
        ({"content": '{"a":1}', "parsed": {"a": 1}}, {"content": '{"a":1}'}),
        ({"content": "a\0b\udce9"}, {"content": "a\\u0000b\\udce9"}),
        ({"content": "x", "tool_calls": {"id": 1}}, {"content": "x"}),
    ],
    ids=[
        "nothing",
        "audio",
        "no audio",
        "other audio",
        "empty function call",
        "parsed",
        "NUL and surrogate",
        "no list of calls",
    ],
)
def test_what_a_request_refuses_is_put_right(message: dict[str, Any], sent: dict[str, Any]) -> None:
    """What a provider sends but does not take back is left out or written in the form of a request."""
    assert replayed({"role": "assistant"} | message) == {"role": "assistant"} | sent


def test_a_custom_call_and_a_strange_name_go_back_as_functions() -> None:
    """What no declared function is goes back as one with a legal name and arguments, and its text in the answer."""
    calls = [
        {"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls"}},
        {"id": "b", "function": {"name": "rm -rf", "arguments": "nonsense"}},
    ]
    recording = Recording()
    recording.turn(WIRE.parse({"role": "assistant", "tool_calls": calls}))
    assistant, first, second = conversation(recording.history, WIRE)
    assert [call["function"]["arguments"] for call in assistant["tool_calls"]] == ["{}", "{}"]
    assert [call["type"] for call in assistant["tool_calls"]] == ["function", "function"]
    assert '"rawArguments":"ls"' in first["content"]
    assert '"rawArguments":"nonsense"' in second["content"]


@pytest.mark.parametrize(
    ("raw", "arguments", "text"),
    [
        ('{ "a":1 }', {"a": 1}, '{ "a":1 }'),
        (None, {"b": 1, "a": 2}, '{"a":2,"b":1}'),
        ("", {}, "{}"),
        ("[1]", None, "{}"),
        ('{"a":1,"a":2}', None, "{}"),
        (None, None, "{}"),
    ],
)
def test_arguments_are_always_a_text_with_an_object(raw: str | None, arguments: Any, text: str) -> None:
    """The exact text where it is a strict JSON object, the canonical one of an object that came as such, else `{}`."""
    assert arguments_text(Call(raw_arguments=raw, arguments=arguments)) == text


def test_tools_are_offered_under_names_that_lead_back() -> None:
    """A tool is offered with its description and a copy of its schema, under a name the provider takes."""
    tool = version("fs.read", {"type": "object", "properties": {}})
    (offered,) = WIRE.tools([tool])
    assert offered == {
        "type": "function",
        "function": {
            "name": "fs_read_4074bc02",
            "description": "Reads.\n\nUse when: you need it",
            "parameters": {"type": "object", "properties": {}},
        },
    }
    offered["function"]["parameters"]["properties"]["x"] = {}
    assert tool.schema == {"type": "object", "properties": {}}
    assert original_name("fs_read_4074bc02", ["grep", "fs.read"]) == "fs.read"


def test_two_tools_never_share_a_name() -> None:
    """Where two tools get one name, nothing is offered and both are named."""
    with pytest.raises(UsageError, match=r"fs.read and fs_read_4074bc02 both get the name fs_read_4074bc02"):
        WIRE.tools([version("fs.read"), version("fs_read_4074bc02")])


def test_the_host_may_build_messages() -> None:
    """A system and a user message, as the provider takes them."""
    assert WIRE.system("Be kind.\0") == {"role": "system", "content": "Be kind.\\u0000"}
    assert WIRE.user("Hi.") == {"role": "user", "content": "Hi."}
