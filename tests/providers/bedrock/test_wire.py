"""Conversations as Bedrock's Converse takes them."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.providers import complete, get_format
from ledger.providers.anthropic import OPENING
from ledger.providers.check import check
from tests.providers.recording import Recording
from tests.providers.told import asked as run
from tests.providers.told import said as say
from tests.providers.told import told, version

WIRE = get_format("bedrock")
OK = '{"data":1,"next":"none","status":"succeeded"}'
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}


def use(given_id: Any, name: str = "look", arguments: Any = None, **more: Any) -> dict[str, Any]:
    """Return a call."""
    return {"toolUse": {"toolUseId": given_id, "name": name, "input": arguments or {}} | more}


def result(given_id: Any, *content: Any, **more: Any) -> dict[str, Any]:
    """Return a result."""
    return {"toolResult": {"toolUseId": given_id, "content": list(content)} | more}


def said(*blocks: Any) -> dict[str, Any]:
    """Return an assistant's message."""
    return {"role": "assistant", "content": list(blocks)}


def asked(*blocks: Any) -> dict[str, Any]:
    """Return a user's message."""
    return {"role": "user", "content": list(blocks)}


USER = asked({"text": "Hi"})


@pytest.mark.parametrize(
    ("message", "results"),
    [
        (said({"text": "Hello."}), ()),
        (said({"text": "I look."}, use("a", arguments={"n": 1}), use("b")), (1, 1)),
        (said(THOUGHT, use("a", type="tool_use")), (1,)),
        (said({"citationsContent": {"content": []}}), ()),
        (
            said(
                use("s", type="server_tool_use"),
                result("s", {"text": "x"}, type="found", status="error"),
                {"text": "y"},
            ),
            (),
        ),
    ],
)
def test_what_came_goes_back_the_same(message: dict[str, Any], results: tuple[Any, ...]) -> None:
    """Blocks keep their order, reasoning its signature; each call is answered once, in one message."""
    recording = Recording()
    say(recording, "bedrock", USER)
    run(recording, "bedrock", message, *results)
    found = told(recording, "bedrock")
    assert found[:2] == [USER, message]
    assert [block["toolResult"]["content"] for each in found[2:] for block in each["content"]] == [
        [{"text": OK}]
    ] * len(results)


def test_roles_alternate() -> None:
    """The user opens where the assistant began, and two messages of one role are one."""
    recording = Recording()
    run(recording, "bedrock", said({"text": "Hi!"}))
    run(recording, "bedrock", said(use("a")), 1)
    say(recording, "bedrock", USER)
    found = told(recording, "bedrock")
    assert [each["role"] for each in found] == ["user", "assistant", "user"]
    assert found[0] == asked({"text": OPENING})
    assert found[2]["content"][1] == {"text": "Hi"}


def test_the_hosts_own_messages_keep_their_blocks() -> None:
    """Images stay, blank texts do not; results keep parts and status, one without a text is empty."""
    recording = Recording()
    image = {"image": {"format": "png", "source": {"bytes": "x"}}}
    say(recording, "bedrock", asked(image, {"text": " "}, {"text": "Look."}), asked({"text": ""}))
    say(recording, "bedrock", said(use("a"), use("b"), use("c")))
    say(
        recording,
        "bedrock",
        asked(result("a", image), result("b", {"text": ""}), result("c", {"text": "no"}, status="error")),
    )
    assert told(recording, "bedrock") == [
        asked(image, {"text": "Look."}),
        said(use("a"), use("b"), use("c")),
        asked(result("a", image), result("b"), result("c", {"text": "no"}, status="error")),
    ]


def test_the_missing_results_come_first_in_the_next_message() -> None:
    """What is there stays, a call without an id gets one with its answer."""
    recording = Recording()
    run(recording, "bedrock", said(use("a"), use("b")), 1, 2)
    found = complete(recording.history, [USER, said(use("a"), use("b")), asked(result("b", {"text": "own"}))], WIRE)
    assert check("bedrock", found) == []
    assert found[2] == asked(result("a", {"text": OK}), result("b", {"text": "own"}))
    whole = [USER, said(use("a")), asked(result("a", {"text": "x"})), said({"text": "Done."})]
    assert complete(recording.history, whole, WIRE) == whole
    nameless = complete(recording.history, [USER, said(use(""))], WIRE)
    assert check("bedrock", nameless) == []


def test_a_later_end_is_told_once() -> None:
    """A note that stands in the transcript is not told again, nor is an answer that stands there."""
    note = WIRE.user("A note.")
    assert WIRE.holds([USER, asked({"text": "A note."}, {"text": "x"})], note)
    assert not WIRE.holds([USER], note)


def test_tools_and_bodies() -> None:
    """Specifications with a JSON schema; instructions beside the messages."""
    assert WIRE.tools([version("fs.read")]) == [
        {
            "toolSpec": {
                "name": "fs_read_4074bc02",
                "description": "Reads.\n\nUse when: you need it",
                "inputSchema": {"json": {"type": "object"}},
            }
        }
    ]
    assert WIRE.request(None, [USER]) == {"messages": [USER]}
    assert WIRE.request("Be kind.", []) == {"system": [{"text": "Be kind."}], "messages": []}


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([USER, said(use("a")), asked(result("a", {"text": "x"}))], []),
        ([USER, said(use("a"))], [(2, "unanswered")]),
        ([USER, USER], [(1, "order")]),
        ([asked({"text": " "})], [(0, "content")]),
        ([asked("Hi")], [(0, "content")]),
        ([asked({})], [(0, "content")]),
        ([{"role": "user", "content": "Hi"}], [(0, "content")]),
        ([asked({"image": {}})], []),
        (["Hi", "Hi"], [(0, "message"), (1, "message")]),
    ],
)
def test_each_rule_is_checked(messages: list[Any], found: list[tuple[int, str]]) -> None:
    """What Anthropic would refuse, two messages of one role in a row, and content that is no list of blocks."""
    assert [(problem.place, problem.code) for problem in check("bedrock", messages)] == found
