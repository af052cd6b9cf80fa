"""Conversations as Anthropic takes them."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.providers import get_format
from ledger.providers.anthropic import OPENING
from ledger.providers.port import ProposedCall, Reply
from tests.providers.anthropic.making import FOUND, SEARCH, THOUGHT, USER, asked, result, said, text, use
from tests.providers.recording import Recording, flagged, ok
from tests.providers.told import asked as run
from tests.providers.told import said as say
from tests.providers.told import told, version

WIRE = get_format("anthropic")
OK = '{"data":1,"next":"none","status":"succeeded"}'


def session() -> Recording:
    """Return a session that the user began."""
    recording = Recording()
    say(recording, "anthropic", USER)
    return recording


@pytest.mark.parametrize(
    ("message", "results"),
    [
        (said(text("Hello.")), ()),
        (said(text("I look."), use("a", arguments={"n": 1}), use("b")), (1, 1)),
        (said(THOUGHT, text("I look."), use("a", caller={"type": "direct"})), (1,)),
        (said(use("a"), text("Wait."), use("b")), (1, 1)),
        (said({"type": "redacted_thinking", "data": "d"}, SEARCH, FOUND, text("Found.")), ()),
        (said(SEARCH, use("a")), (1,)),
    ],
)
def test_what_came_goes_back_the_same(message: dict[str, Any], results: tuple[Any, ...]) -> None:
    """Blocks keep their order, thinking its signature, hosted calls their results; each call is answered once."""
    recording = session()
    run(recording, "anthropic", message, *results)
    found = told(recording, "anthropic")
    assert found[:2] == [USER, message]
    assert [block["content"] for each in found[2:] for block in each["content"]] == [OK] * len(results)


def test_all_results_stand_in_one_message_before_the_text() -> None:
    """An interrupted call and its sibling are answered first, in call order, then comes what the user says."""
    recording = session()
    first, second = recording.turn(WIRE.parse(said(use("toolu_1", "Bash"), use("toolu_2"))))
    recording.run(second, ok(2))
    recording.run(first, flagged())
    say(recording, "anthropic", asked(text("actually use nix")))
    *_, last = told(recording, "anthropic")
    assert [block.get("tool_use_id") for block in last["content"]] == ["toolu_1", "toolu_2", None]
    assert "OUTCOME UNKNOWN" in last["content"][0]["content"]
    assert [block.get("is_error") for block in last["content"]] == [True, None, None]
    assert last["content"][2] == text("actually use nix")


def test_ids_of_another_alphabet_are_rewritten() -> None:
    """`TaskOutput:79` is no id here; the answer names the new one, and it is the same each time."""
    recording = session()
    sent = ProposedCall(name="TaskOutput", raw='{"block":true}', provider_call_id="TaskOutput:79")
    (call,) = recording.turn(Reply(kind="tool_calls", provider="openai", calls=(sent,)), parse=True)
    recording.run(call, ok(1))
    found = told(recording, "anthropic")
    here = found[1]["content"][0]["id"]
    assert here == f"toolu_{call.call_id.replace('-', '')}"
    assert found[2]["content"][0]["tool_use_id"] == here
    assert found[1]["content"][0]["input"] == {"block": True}


def test_ids_that_repeat_stay_apart() -> None:
    """Two calls under one id in one message, and one more later, are three calls with three answers."""
    recording = session()
    run(recording, "anthropic", said(use("a"), use("a")), 1, 2)
    run(recording, "anthropic", said(use("a")), 3)
    found = told(recording, "anthropic")
    results = [block for each in found[1:] for block in each["content"] if block["type"] == "tool_result"]
    assert [block["content"][8] for block in results] == ["1", "2", "3"]
    assert len({block["tool_use_id"] for block in results}) == 3


def test_the_user_opens() -> None:
    """Where the assistant begins, a word of the user stands before it; two messages of one role are one."""
    recording = Recording()
    run(recording, "anthropic", said(text("Hi!")))
    run(recording, "anthropic", said(text("How are you?")))
    say(recording, "anthropic", USER, asked(text("Fine.")))
    assert told(recording, "anthropic") == [
        asked(text(OPENING)),
        said(text("Hi!"), text("How are you?")),
        asked(text("Hi"), text("Fine.")),
    ]


def test_what_a_request_refuses_is_left_out() -> None:
    """Blank texts, thinking without its signature or at the end, searches without a result: none is sent back."""
    recording = session()
    run(recording, "anthropic", said(text(" "), {"type": "thinking", "thinking": "Hm."}, text("Hi."), SEARCH, THOUGHT))
    run(recording, "anthropic", said(THOUGHT))
    assert told(recording, "anthropic") == [USER, said(text("Hi."))]


def test_damaged_items_lose_no_call() -> None:
    """What is no block is left out, a mark of no call too, and a call without a mark stands at the end."""
    recording = session()
    items = {"content": ["?", {"type": "tool_use", "call": 7}, text("I look.")]}
    sent = (ProposedCall(name="f", provider_call_id="a"),)
    (call,) = recording.turn(Reply(kind="tool_calls", provider="anthropic", calls=sent, items=items))
    recording.run(call, ok(1))
    assert told(recording, "anthropic")[1] == said(text("I look."), use("a", "f"))


def test_a_paused_turn_goes_on() -> None:
    """What is under way stays for the answer that ends it, and is dropped where the user speaks instead."""
    recording = session()
    run(recording, "anthropic", said(text("I search."), SEARCH) | {"stop_reason": "pause_turn"})
    assert told(recording, "anthropic") == [USER, said(text("I search."), SEARCH)]
    run(recording, "anthropic", said(FOUND, text("Found.")))
    assert told(recording, "anthropic") == [USER, said(text("I search."), SEARCH, FOUND, text("Found."))]
    recording = session()
    run(recording, "anthropic", said(SEARCH) | {"stop_reason": "pause_turn"})
    say(recording, "anthropic", USER)
    assert told(recording, "anthropic") == [USER, USER]
    recording = session()
    run(recording, "anthropic", said(text("I search."), SEARCH) | {"stop_reason": "pause_turn"})
    say(recording, "anthropic", USER)
    assert told(recording, "anthropic") == [USER, said(text("I search.")), USER]


def test_another_providers_items_stay_behind() -> None:
    """Reasoning of OpenAI is nothing for Anthropic; text, calls and answers are."""
    recording = session()
    reasoning = {"type": "reasoning", "id": "rs", "summary": []}
    call = {"type": "function_call", "call_id": "a", "name": "fs.read", "arguments": '{ "n": 1.0 }'}
    run(recording, "responses", {"output": [reasoning, {"role": "assistant", "content": "I look."}, call]}, 1)
    found = told(recording, "anthropic")
    assert found[1] == said(text("I look."), use("a", "fs_read_4074bc02", {"n": 1.0}))


def test_tools_are_offered_under_names_that_lead_back() -> None:
    """Name, description and a copy of the schema; two tools never get one name."""
    tool = version("fs.read")
    (offered,) = WIRE.tools([tool])
    assert offered == {
        "name": "fs_read_4074bc02",
        "description": "Reads.\n\nUse when: you need it",
        "input_schema": {"type": "object"},
    }
    offered["input_schema"]["x"] = 1
    assert tool.schema == {"type": "object"}
    with pytest.raises(UsageError, match="both get the name"):
        WIRE.tools([tool, version("fs_read_4074bc02")])


def test_the_host_may_build_messages() -> None:
    """A system and a user message, and the body of a request."""
    assert WIRE.system("Be kind.\0") == {"role": "system", "content": "Be kind.\\u0000"}
    assert WIRE.user("Hi.") == asked(text("Hi."))
    assert WIRE.request(None, [USER]) == {"messages": [USER]}
    assert WIRE.request("Be kind.", []) == {"system": "Be kind.", "messages": []}


def test_the_hosts_own_messages_keep_their_blocks() -> None:
    """Images and documents stay; blank texts and messages without content are left out."""
    recording = Recording()
    image = {"type": "image", "source": {"type": "base64", "data": "x"}}
    say(
        recording,
        "anthropic",
        asked(image, text(""), text("Look.")),
        {"role": "user"},
        asked(),
        {"role": "user", "content": " "},
    )
    say(recording, "anthropic", said(use("x", "f")), asked(result("x", [text("one")])), asked(result("y", "two")))
    assert told(recording, "anthropic") == [
        asked(image, text("Look.")),
        said(use("x", "f")),
        asked(result("x", "one"), text("[Result of a call that is not in this conversation] two")),
    ]


def test_parts_and_error_flags_of_the_hosts_results_stay() -> None:
    """A result with an image is the same blocks again, one with an error is one again."""
    recording = session()
    image = {"type": "image", "source": {}}
    say(recording, "anthropic", said(use("x"), use("y")), asked(result("x", [image]), result("y", "no", is_error=True)))
    assert told(recording, "anthropic")[2] == asked(result("x", [image]), result("y", "no", is_error=True))


def test_instructions_stand_beside_the_messages() -> None:
    """Those at the start are left out of the list, a later one is the user's, marked as what it is."""
    recording = Recording()
    say(recording, "openai", {"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"})
    run(recording, "anthropic", said(text("Hi!")))
    say(recording, "anthropic", {"role": "system", "content": "Be brief."})
    assert told(recording, "anthropic") == [
        asked(text("Hi")),
        said(text("Hi!")),
        asked(text("[Instruction from the system, not from the user] Be brief.")),
    ]
