"""A host's own Anthropic transcript, completed from the ledger."""

from __future__ import annotations

import json
from typing import Any

from ledger.providers import complete, get_format
from ledger.providers.check import check
from tests.providers.anthropic.making import USER, asked, result, said, text, use
from tests.providers.recording import Recording, flagged, happened, ok
from tests.providers.told import asked as run

WIRE = get_format("anthropic")


def recorded() -> Recording:
    """Return a session with two calls in one turn."""
    recording = Recording()
    run(recording, "anthropic", said(use("a", arguments={"n": 1}), use("b", arguments={"n": 2})), 1, 2)
    return recording


ASKED = said(use("a", arguments={"n": 1}), use("b", arguments={"n": 2}))


def data(message: Any) -> list[Any]:
    """Return what the results in a message say."""
    found = []
    for block in message["content"]:
        if block["type"] == "tool_result":
            content = block["content"]
            found.append(json.loads(content).get("data", content) if content.startswith("{") else content)
    return found


def test_the_missing_results_come_first_in_the_next_message() -> None:
    """The host's own result stays, the missing one stands beside it in call order, the text behind both."""
    found = complete(recorded().history, [USER, ASKED, asked(text("And?"), result("b", "own"))], WIRE)
    assert check("anthropic", found) == []
    assert data(found[2]) == [1, "own"]
    assert found[2]["content"][-1] == text("And?")


def test_a_message_is_made_where_there_is_none() -> None:
    """At the end, and before another message of the assistant, the results get a message of their own."""
    found = complete(recorded().history, [USER, ASKED], WIRE)
    assert data(found[2]) == [1, 2]
    found = complete(recorded().history, [USER, ASKED, said(text("Hm."))], WIRE)
    assert [message["role"] for message in found] == ["user", "assistant", "user", "assistant"]


def test_results_that_came_too_late_move_up() -> None:
    """What stood behind another message is moved to its call; a message with nothing left is gone."""
    late = [
        USER,
        ASKED,
        asked(text("And?")),
        said(text("Hm.")),
        asked(result("a", "x")),
        asked(result("b", "y"), text("!")),
    ]
    found = complete(recorded().history, late, WIRE)
    assert check("anthropic", found) == []
    assert found[2] == asked(result("a", "x"), result("b", "y"), text("And?"))
    assert found[3:] == [said(text("Hm.")), asked(text("!"))]


def test_what_lacks_nothing_stays_object_for_object() -> None:
    """Results in any order right behind their calls are whole."""
    messages = [USER, ASKED, asked(result("b"), result("a"), text("x")), "?", asked(result("z"))]
    found = complete(recorded().history, messages, WIRE)
    assert all(one is other for one, other in zip(found, messages, strict=True))


def test_a_whole_turn_between_broken_ones_is_left_alone() -> None:
    """Only what lacks a result is rebuilt."""
    messages = [USER, said(use("p")), asked(text("x")), said(use("q")), asked(result("q")), said(use("r"))]
    found = complete(recorded().history, messages, WIRE)
    assert found[3] is messages[3]
    assert found[4] is messages[4]
    assert check("anthropic", found) == []


def test_a_call_without_an_id_gets_one_with_its_answer() -> None:
    """The host's message is not changed; the completed one holds an id that the answer names."""
    sent = said(use("", arguments={"n": 1}), use("b", arguments={"n": 2}))
    found = complete(recorded().history, [USER, sent], WIRE)
    ids = [block["id"] for block in found[1]["content"]]
    assert [block["tool_use_id"] for block in found[2]["content"]] == ids
    assert sent["content"][0]["id"] == ""
    assert check("anthropic", found) == []


def test_what_the_ledger_does_not_know_is_an_error_that_says_so() -> None:
    """A call from elsewhere is answered as not recorded, and never as a success."""
    found = complete(recorded().history, [USER, said(use("z", "own"))], WIRE)
    (block,) = found[2]["content"]
    assert json.loads(block["content"])["code"] == "not_recorded"
    assert block["is_error"] is True


def test_a_later_end_is_told_once() -> None:
    """A host whose transcript says "under review" is told the verdict in a note, once it keeps it no second time."""
    recording = Recording()
    (call,) = recording.turn(WIRE.parse(said(use("a"))))
    recording.run(call, flagged())
    recording.turn(WIRE.parse(said(text("I wait."))))
    transcript = [USER, said(use("a")), asked(result("a", "under review")), said(text("I wait."))]
    recording.add(happened({"id": 7}), call)
    found = complete(recording.history, transcript, WIRE)
    assert found[:4] == transcript
    assert '"data":{"id":7}' in found[4]["content"][0]["text"]
    merged = [*transcript, asked(*found[4]["content"], text("And?"))]
    assert complete(recording.history, merged, WIRE) == merged


def test_an_answer_that_stands_already_needs_no_note() -> None:
    """A transcript that was answered with the end itself is told nothing more."""
    recording = Recording()
    (call,) = recording.turn(WIRE.parse(said(use("a"))))
    recording.run(call, flagged())
    recording.turn(WIRE.parse(said(text("I wait."))))
    recording.add(happened({"id": 7}), call)
    found = complete(recording.history, [USER, said(use("a")), said(text("I wait."))], WIRE)
    assert len(found) == 4
    assert complete(recording.history, found, WIRE) == found


def test_answers_of_a_call_that_ran_are_no_errors() -> None:
    """`is_error` is left out where the call succeeded."""
    recording = Recording()
    (call,) = recording.turn(WIRE.parse(said(use("a"))))
    recording.run(call, ok({"status": "failed"}))
    found = complete(recording.history, [USER, said(use("a"))], WIRE)
    assert "is_error" not in found[2]["content"][0]
