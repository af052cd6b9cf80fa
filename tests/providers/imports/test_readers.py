"""Transcripts of the providers' formats, read into one neutral stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ledger.providers import conversation, get_format
from ledger.providers.assembling import WINDOW
from ledger.providers.check import check
from ledger.providers.imported import ImportedSession, Outcome, Read, Said, Skipped, Turn
from ledger.providers.readers import read_provider
from tests.providers.anthropic import making as anthropic
from tests.providers.bedrock import test_wire as bedrock
from tests.providers.gemini import making as gemini
from tests.providers.imports.recorded import calls_of, recorded
from tests.providers.odd import FORMATS
from tests.providers.responses import making as responses
from tests.providers.test_openai_host import asking, call, result

USER = {"role": "user", "content": "Hi"}


def read(source: str, *documents: Any) -> list[Read]:
    """Return what a reader yields."""
    return list(read_provider(source, documents))


def turns(items: list[Read]) -> list[Turn]:
    """Return the turns among them."""
    return [item for item in items if isinstance(item, Turn)]


def texts(items: list[Read]) -> list[list[str | None]]:
    """Return the texts of the outcomes, turn by turn."""
    return [[None if each is None else each.text for each in turn.outcomes] for turn in turns(items)]


CHAT = [
    USER | {"x_ts": "2025-08-10T02:44:08.371896"},
    asking(call("a", '{ "n":1 }'), call("b") | {"x_args_reserialized": True}) | {"x_ts": "2025-08-10T02:44:09"},
    result("a", '{"n": 1}') | {"x_ts": "2025-08-10T02:44:10"},
    result("b", "No such order.") | {"x_error": True},
    {"role": "assistant", "content": "Done."},
]
MESSAGES = [
    USER,
    anthropic.said(anthropic.text("I look."), anthropic.use("a", arguments={"n": 1}), anthropic.use("b")),
    anthropic.asked(
        anthropic.result("a", '{"n": 1}'), anthropic.result("b", "No.", is_error=True), anthropic.text("And?")
    ),
    anthropic.said(anthropic.text("Done.")),
]
CONTENTS = [
    gemini.USER,
    gemini.said(gemini.call(args={"n": 1}), gemini.call()),
    gemini.asked(gemini.response(answer={"output": '{"n": 1}'}), gemini.response(answer={"error": "No."})),
    gemini.said(gemini.text("Done.")),
]
CONVERSE = [
    bedrock.USER,
    bedrock.said({"text": "I look."}, bedrock.use("a", arguments={"n": 1}), bedrock.use("b")),
    bedrock.asked(bedrock.result("a", {"text": '{"n": 1}'}), bedrock.result("b", {"text": "No."}, status="error")),
    bedrock.said({"text": "Done."}),
]
ITEMS = [
    USER,
    responses.REASONING,
    responses.call("a", '{ "n":1 }'),
    responses.call("b"),
    responses.output("a", '{"n": 1}'),
    responses.output("b", "No."),
    responses.said("Done."),
]


@pytest.mark.parametrize(
    ("source", "document", "messages"),
    [
        ("openai", {"messages": CHAT}, CHAT),
        ("anthropic", {"messages": MESSAGES}, MESSAGES),
        ("gemini", {"contents": CONTENTS}, CONTENTS),
        ("bedrock", {"messages": CONVERSE}, CONVERSE),
        ("responses", {"input": ITEMS}, ITEMS),
    ],
)
def test_a_session_is_read_alike_in_every_form(source: str, document: Any, messages: list[Any]) -> None:
    """A whole document, a list, or one message after the other: two calls with their outcomes, and a last word."""
    for documents in ([document], [messages], messages):
        items = read(source, *documents)
        assert isinstance(items[0], ImportedSession)
        assert items[0].source == source
        assert [len(turn.reply.calls) for turn in turns(items)] == [2, 0]
        assert texts(items)[0][0] == '{"n": 1}'
        assert turns(items)[1].reply.text == "Done."
        assert [item.role for item in items if isinstance(item, Said)] == ["user"] * (2 if source == "anthropic" else 1)
        assert [type(item) for item in items if isinstance(item, Skipped)] == []


def test_what_the_source_remarks_is_no_part_of_the_messages() -> None:
    """Times, errors, who asked and whose text was not kept stand beside the messages, never in them."""
    session = {
        "session": "tau2/1",
        "model": "gpt-5",
        "started": "2025-08-10T02:44:06",
        "domain": "retail",
        "messages": CHAT,
    }
    head, said, turn, last = read("openai", session)
    assert head == ImportedSession(
        source="openai", id="tau2/1", model="gpt-5", started="2025-08-10T02:44:06", labels={"domain": "retail"}
    )
    assert said == Said(role="user", provider="openai", message=USER, at="2025-08-10T02:44:08.371896")
    assert isinstance(turn, Turn)
    assert turn.at == "2025-08-10T02:44:09"
    assert turn.reserialized == {1}
    assert turn.reply.calls[0].raw == '{ "n":1 }'
    assert turn.outcomes == (
        Outcome(content='{"n": 1}', at="2025-08-10T02:44:10"),
        Outcome(content="No such order.", error=True),
    )
    assert turn.reply.items is None
    assert isinstance(last, Turn)


def test_nulls_say_nothing() -> None:
    """A name that is null is refused by the provider; content that is null is what a message with calls has."""
    said, turn = read("openai", [USER | {"name": None}, asking(call("a")) | {"refusal": None}])[1:]
    assert isinstance(said, Said)
    assert said.message == USER
    assert isinstance(turn, Turn)
    assert turn.reply.items is None


def test_ids_that_repeat_and_ids_that_are_missing_are_kept_apart() -> None:
    """Each result goes to the newest call under its id that has none; without ids, in order."""
    one = [asking(call("search:0", f'{{"n":{n}}}')) for n in range(3)]
    rounds = [message for n in range(3) for message in (one[n], result("search:0", str(n)))]
    twice = [asking(call("c", '{"v":6}'), call("c", '{"v":7}')), result("c", "six"), result("c", "seven")]
    without = [asking(call(None), call("")), result(None, "first"), result("", "second")]
    assert texts(read("openai", rounds + twice + without)) == [
        ["0"],
        ["1"],
        ["2"],
        ["six", "seven"],
        ["first", "second"],
    ]


def test_a_result_without_content_is_an_empty_one() -> None:
    """It answers its call all the same."""
    assert texts(read("openai", [asking(call("a")), {"role": "tool", "tool_call_id": "a"}])) == [[""]]


def test_open_calls_and_orphans_are_kept() -> None:
    """A call without a result stays open; a result without a call is what somebody said."""
    items = read("openai", [asking(call("a"), call("b")), result("b"), result("z", "stray")])
    assert texts(items) == [[None, "seen"]]
    orphan = items[2]
    assert isinstance(orphan, Said)
    assert (orphan.orphan, orphan.role, orphan.message) == (True, "tool", result("z", "stray"))


def test_an_orphan_without_a_role_is_a_tools() -> None:
    """Items of the Responses format have none; a message without one is the user's."""
    items = read("responses", responses.output("z", "stray"), {"content": "Hi"})
    assert [item.role for item in items if isinstance(item, Said)] == ["tool", "user"]


def test_a_late_result_finds_its_call() -> None:
    """Behind other messages too; but an open call does not hold up a long transcript for ever."""
    late = [asking(call("a")), USER, {"role": "assistant", "content": "Hm."}, result("a", "late")]
    assert texts(read("openai", late))[0] == ["late"]
    many = [asking(call("a")), *[USER] * (WINDOW + 1), result("a", "late")]
    items = read("openai", many)
    assert texts(items) == [[None]]
    assert [item.orphan for item in items if isinstance(item, Said)][-1]


def test_a_turn_is_handed_out_as_soon_as_it_is_answered() -> None:
    """A long transcript is read in a stream: nothing waits for its end but what lacks a result."""
    taken: list[Any] = []

    def documents() -> Iterator[Any]:
        for message in (USER, asking(call("a")), result("a"), USER, asking(call("b")), USER):
            taken.append(message)
            yield message

    reading = read_provider("openai", documents())
    found = [(type(item).__name__, len(taken)) for item in reading]
    assert found == [("ImportedSession", 1), ("Said", 1), ("Turn", 3), ("Said", 4), ("Turn", 6), ("Said", 6)]


def test_calls_of_a_user_are_turns_of_nobody_elses() -> None:
    """A simulated user's calls and results stay together, apart from the model's under the same id."""
    messages = [
        asking(call("a")),
        {"role": "user", "content": "I try.", "x_requestor": "user", "tool_calls": [call("a", name="toggle")]},
        result("a", "toggled") | {"x_requestor": "user"},
        result("a", "looked"),
    ]
    items = read("openai", messages)
    assert [(turn.requestor, turn.reply.provider) for turn in turns(items)] == [("model", "openai"), ("user", "user")]
    assert texts(items) == [["looked"], ["toggled"]]
    assert [item.message for item in items if isinstance(item, Said)] == [{"role": "user", "content": "I try."}]
    silent = read("openai", [{"role": "user", "content": None, "tool_calls": [call("a")]}])
    assert [type(item) for item in silent] == [ImportedSession, Turn]


def test_the_old_function_messages_are_read() -> None:
    """They name a tool and have no id."""
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
        {"role": "function", "name": "look", "content": "seen"},
        {"role": "function", "name": "other", "content": "stray"},
    ]
    items = read("openai", messages)
    assert texts(items) == [["seen"]]
    assert isinstance(items[-1], Said)
    named = [asking(call("x", name="look")), {"role": "function", "name": "look", "content": "seen"}]
    assert texts(read("openai", named)) == [["seen"]]


def test_a_request_with_its_reply_is_a_session() -> None:
    """Exchanges as proxies log them: the request's messages, then what came; each is a session of its own."""
    exchange = {
        "session": "e",
        "request": {"messages": [USER]},
        "response": {"choices": [{"message": asking(call("a"))}]},
    }
    items = read("openai", exchange, exchange | {"response": None}, USER)
    assert [type(item).__name__ for item in items] == ["ImportedSession", "Said", "Turn"] + [
        "ImportedSession",
        "Said",
    ] * 2
    assert [item.id for item in items if isinstance(item, ImportedSession)] == ["e", "e", None]
    kept = {"id": "resp_1", "instructions": "Be kind.", "input": "Hi", "output": [responses.call("a")]}
    head, system, user, turn = read("responses", kept)
    assert isinstance(system, Said)
    assert isinstance(user, Said)
    assert isinstance(turn, Turn)
    assert (system.message["content"], user.message["content"]) == ("Be kind.", "Hi")
    assert turn.reply.response_id == "resp_1"
    assert isinstance(head, ImportedSession)


@pytest.mark.parametrize(
    ("source", "document"),
    [
        ("anthropic", {"system": "Be kind.", "messages": [USER]}),
        ("anthropic", {"system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}], "messages": []}),
        ("bedrock", {"system": [{"text": "Be kind."}], "messages": []}),
        ("gemini", {"systemInstruction": {"parts": [{"text": "Be kind."}]}, "contents": []}),
        ("responses", {"instructions": "Be kind.", "input": []}),
    ],
)
def test_instructions_beside_the_messages_are_said_first(source: str, document: Any) -> None:
    """In whichever shape: a system message."""
    said = read(source, document)[1]
    assert isinstance(said, Said)
    assert (said.role, said.message["content"]) == ("system", "Be kind.")
    assert [
        type(item) for item in read(source, document | {"system": 5, "systemInstruction": 5, "instructions": None})
    ][:1] == [ImportedSession]


def test_replies_among_the_messages_are_turns() -> None:
    """A completion, a candidate or a response as the API gave it."""
    assert turns(read("openai", {"choices": [{"message": asking(call("a"))}]}))[0].reply.calls[0].name == "look"
    assert (
        turns(read("gemini", {"candidates": [{"content": gemini.said(gemini.call())}]}))[0].reply.calls[0].name
        == "look"
    )
    items = read("responses", responses.REASONING, {"id": "r", "output": [responses.call("a")]})
    assert [turn.reply.response_id for turn in turns(items)] == [None, "r"]
    reply = anthropic.said(anthropic.use("a")) | {"stop_reason": "tool_use", "id": "m"}
    assert turns(read("anthropic", reply))[0].reply.response_id == "m"


def test_a_choice_alone_is_a_reply() -> None:
    """As some servers answer: the message beside its finish reason, without a list of choices."""
    (turn,) = turns(read("openai", {"finish_reason": "TOOL_CALL", "message": asking(call("a"))}))
    assert (turn.reply.stop_reason, len(turn.reply.calls)) == ("TOOL_CALL", 1)


def test_what_is_no_message_is_named() -> None:
    """Nothing is passed over in silence."""
    items = read("openai", 7, {"choices": []}, [None])
    assert [item.what for item in items if isinstance(item, Skipped)] == [
        "no message: int",
        "openai: the reply has no choice.",
        "no message: NoneType",
    ]
    assert [item.place for item in items if isinstance(item, Skipped)] == [0, 1, 2]


def test_orphans_of_a_message_with_several_results_stand_alone() -> None:
    """Each is the provider's own kind of message again."""
    stray = read("anthropic", anthropic.asked(anthropic.result("x", "1"), anthropic.result("y", "2")))
    assert [item.message for item in stray if isinstance(item, Said)] == [
        anthropic.asked(anthropic.result("x", "1")),
        anthropic.asked(anthropic.result("y", "2")),
    ]
    (alone,) = [item for item in read("gemini", gemini.asked(gemini.response("f", {"x": 1}))) if isinstance(item, Said)]
    assert alone.message == gemini.asked(gemini.response("f", {"x": 1}))
    items = recorded(read("gemini", gemini.asked(gemini.response("f", {"x": 1})))).history
    assert '{"x":1}' in repr(conversation(items, get_format("openai")))


def test_a_message_of_another_format_stays_a_message() -> None:
    """An assistant's message whose content is another provider's is kept as it is."""
    foreign = anthropic.said(anthropic.use("a"))
    (said,) = [item for item in read("openai", foreign) if isinstance(item, Said)]
    assert said.message == foreign


def test_items_that_a_server_executed_are_the_models() -> None:
    """A search for tools, its output and the message behind them are one turn."""
    search = {"type": "tool_search_call", "call_id": "s", "execution": "server", "arguments": {}, "status": "completed"}
    found = {"type": "tool_search_output", "call_id": "s", "execution": "server", "tools": []}
    items = read("responses", [USER, search, found, responses.said("Found.")])
    (turn,) = turns(items)
    assert [hosted.name for hosted in turn.reply.hosted] == ["tool_search"]
    assert conversation(recorded(items).history, get_format("responses")) == [
        USER,
        search,
        found,
        responses.said("Found."),
    ]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("source", "documents"),
    [
        ("openai", CHAT),
        ("anthropic", MESSAGES),
        ("bedrock", CONVERSE),
        ("gemini", CONTENTS),
        ("responses", ITEMS),
    ],
)
def test_what_was_imported_through_one_format_goes_out_in_any(source: str, documents: list[Any], name: str) -> None:
    """Read, told in another format and read again: the same calls, arguments and results, and nothing refused."""
    items = read(source, documents)
    told = conversation(recorded(items).history, get_format(name))
    assert check(name, told) == []
    again = read("openai" if name == "mistral" else name, told)
    assert [(one[0], one[2]) for one in calls_of(again)] == [(one[0], one[2]) for one in calls_of(items)]
    texts_before = [json.loads(t) if t.startswith("{") else t for *_, t in calls_of(items)]
    texts_after = [json.loads(t) if t.startswith("{") else t for *_, t in calls_of(again)]
    assert [one.get("error", one) if isinstance(one, dict) else one for one in texts_after] == [
        one.get("error", one) if isinstance(one, dict) else one for one in texts_before
    ]


def test_a_message_of_a_framework_is_named_and_not_taken_for_a_result() -> None:
    """Without a role, of a type of its own: it is passed over, and the good ones around it are read."""
    items = read("openai", [USER, {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "a"}]}])
    assert [item.what for item in items if isinstance(item, Skipped)] == [
        "a message without a role, of the type ai: no provider's"
    ]
    assert [item.role for item in items if isinstance(item, Said)] == ["user"]
    assert turns(items) == []
