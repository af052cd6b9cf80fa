"""Conversations as Gemini takes them."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.providers import get_format
from ledger.providers.gemini import OPENING, UNSIGNED
from ledger.providers.names import key_name, letter_name, original_name
from ledger.providers.port import ProposedCall, Reply
from tests.providers.gemini.making import USER, asked, call, response, said, text
from tests.providers.recording import Recording, flagged, ok
from tests.providers.told import asked as run
from tests.providers.told import said as say
from tests.providers.told import told, version

WIRE = get_format("gemini")
DONE = {"output": {"data": 1, "next": "none", "status": "succeeded"}}


def session() -> Recording:
    """Return a session that the user began."""
    recording = Recording()
    say(recording, "gemini", USER)
    return recording


@pytest.mark.parametrize(
    ("message", "results"),
    [
        (said(text("Hello.")), ()),
        (said(text("I look."), call("f", {"n": 1}), call("g")), (1, 1)),
        (said({"text": "Hm.", "thought": True}, call("f", thoughtSignature="s"), call("g")), (1, 1)),
        (said(call("f", given_id="a"), call("g", given_id="b"), text("Wait.")), (1, 1)),
        (said({"text": "", "thoughtSignature": "s"}), ()),
        (said({"executableCode": {"code": "1"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}), ()),
    ],
)
def test_what_came_goes_back_the_same(message: dict[str, Any], results: tuple[Any, ...]) -> None:
    """Parts keep their order and their signatures; each call is answered once, in order, under its name."""
    recording = session()
    run(recording, "gemini", message, *results)
    found = told(recording, "gemini")
    assert found[:2] == [USER, message]
    parts = [part["functionResponse"] for each in found[2:] for part in each["parts"]]
    assert [part["response"] for part in parts] == [DONE] * len(results)


def test_no_id_is_made_up() -> None:
    """Calls without ids, and those whose ids repeat, are told apart by their order; ids that came go back."""
    recording = session()
    pay = (call("pay", {"city": "Denver"}), call("pay", {"city": "Moab"}, given_id=""))
    run(recording, "gemini", said(*pay), "first", "second")
    run(recording, "gemini", said(call("f", given_id="a")), 3)
    run(recording, "gemini", said(call("f", given_id="a"), call("g", given_id="b")), 4, 5)
    found = told(recording, "gemini")
    bodies = [next(iter(part.values())) for content in found[1:] for part in content["parts"]]
    assert [body.get("id") for body in bodies] == [None] * 4 + ["a", "a"] + [None] * 4
    datas = [body["response"]["output"]["data"] for body in bodies if "response" in body]
    assert datas == ["first", "second", 3, 4, 5]


def test_an_error_is_told_as_one() -> None:
    """What did not succeed, or is not known to have, stands under `error`."""
    recording = session()
    (sent,) = recording.turn(WIRE.parse(said(call("f"))))
    recording.run(sent, flagged())
    answer = told(recording, "gemini")[2]["parts"][0]["functionResponse"]["response"]
    assert list(answer) == ["error"]
    assert answer["error"]["code"] == "outcome_unknown"


def test_calls_of_another_model_are_marked_as_unsigned() -> None:
    """The first call of each message that Gemini did not make carries what its newer models accept for a signature."""
    recording = session()
    sent = tuple(ProposedCall(name=name, raw="{}", provider_call_id=name) for name in ("f", "g"))
    for made in recording.turn(Reply(kind="tool_calls", provider="openai", text="I look.", calls=sent), parse=True):
        recording.run(made, ok(1))
    first = told(recording, "gemini")[1]["parts"]
    assert first == [text("I look."), call("f", given_id="f", thoughtSignature=UNSIGNED), call("g", given_id="g")]


def test_the_user_opens_and_the_model_speaks_once() -> None:
    """Where the model begins, a word of the user stands before it; two contents of the model are one."""
    recording = Recording()
    run(recording, "gemini", said(text("Hi!")))
    run(recording, "gemini", said(call("f")), 1)
    say(recording, "gemini", USER, USER)
    found = told(recording, "gemini")
    assert found[0] == asked(text(OPENING))
    assert found[1] == said(text("Hi!"), call("f"))
    assert found[3:] == [USER, USER]


def test_an_empty_text_is_left_out() -> None:
    """It is refused; a content with nothing else is none."""
    recording = session()
    run(recording, "gemini", said(text("")))
    say(recording, "gemini", asked(text("")), asked(text(""), {"inlineData": {"mimeType": "image/png", "data": "x"}}))
    assert told(recording, "gemini") == [USER, asked({"inlineData": {"mimeType": "image/png", "data": "x"}})]


def test_names_begin_with_a_letter() -> None:
    """A name that Gemini takes stays, dots and all; another one is marked, and leads back to its tool."""
    names = ["fs.read", "7zip", "-x", "_a:b-c", "é", "x" * 70, "7" * 64, ""]
    mapped = [letter_name(name) for name in names]
    assert mapped[:4] == ["fs.read", "_7zip_98fa304e", "_-x_a4209624", "_a:b-c"]
    assert [original_name(name, names) for name in mapped] == names
    assert [key_name(name) for name in mapped] == [key_name(name) for name in names]
    assert max(map(len, mapped)) <= 64


def test_tools_are_one_list_of_declarations() -> None:
    """Name, description and a copy of the schema; without a tool there is no list; names never collide."""
    assert WIRE.tools([version("fs.read")]) == [
        {
            "functionDeclarations": [
                {
                    "name": "fs.read",
                    "description": "Reads.\n\nUse when: you need it",
                    "parametersJsonSchema": {"type": "object"},
                }
            ]
        }
    ]
    assert WIRE.tools([]) == []
    with pytest.raises(UsageError, match="both get the name _7zip_98fa304e"):
        WIRE.tools([version("7zip"), version("_7zip_98fa304e")])


def test_the_host_may_build_messages() -> None:
    """A user's content, instructions, and the body of a request."""
    assert WIRE.user("Hi.\0") == asked(text("Hi.\\u0000"))
    assert WIRE.system("Be kind.") == {"role": "system", "parts": [text("Be kind.")]}
    assert WIRE.request(None, [USER]) == {"contents": [USER]}
    assert WIRE.request("Be kind.", []) == {"systemInstruction": {"parts": [text("Be kind.")]}, "contents": []}


def test_the_hosts_own_calls_are_answered_in_order() -> None:
    """Responses of the host's keep their objects and get the order of the calls; one without a call becomes a text."""
    recording = session()
    say(recording, "gemini", said(call("f"), call("g"), call("f", {"n": 2})))
    say(recording, "gemini", asked(response("g", {"x": 1}), response("f"), response("f", {"error": "no"})))
    say(recording, "gemini", asked(response("h", {"y": 2}), text("And?")))
    found = told(recording, "gemini")
    assert found[2] == asked(response("f", {"output": "seen"}), response("g", {"x": 1}), response("f", {"error": "no"}))
    assert found[3:] == [
        asked(text('[Result of a call that is not in this conversation] {"y":2}')),
        asked(text("And?")),
    ]


def test_results_of_another_provider_are_wrapped() -> None:
    """A text that is no answer of the ledger's stays a text, whatever is in it."""
    recording = session()
    calls = [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]
    say(recording, "openai", {"role": "assistant", "content": None, "tool_calls": calls})
    say(recording, "openai", {"role": "tool", "tool_call_id": "a", "content": '{"n": 1}'})
    found = told(recording, "gemini")
    assert found[2]["parts"][0]["functionResponse"]["response"] == {"output": '{"n": 1}'}
