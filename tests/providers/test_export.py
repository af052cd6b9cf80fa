"""A whole session as the body of a request, and calls of tools that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.events import CallFailed
from ledger.providers import conversation, get_format
from ledger.providers.check import check
from ledger.providers.export import export, leading_system
from ledger.providers.port import USER, ProposedCall, Reply
from tests.providers.anthropic.making import THOUGHT
from tests.providers.anthropic.making import said as blocks
from tests.providers.anthropic.making import use as tool_use
from tests.providers.odd import FORMATS
from tests.providers.recording import Recording
from tests.providers.test_openai_host import asking, call
from tests.providers.told import asked, said

EVERY = pytest.mark.parametrize("name", FORMATS)
SYSTEM = (
    {"role": "system", "content": "Be kind."},
    {"role": "developer", "content": [{"type": "text", "text": "Now."}]},
)


def session() -> Recording:
    """Return a session with instructions, a word of the user and two calls."""
    recording = Recording()
    said(recording, "openai", *SYSTEM, {"role": "user", "content": "Hi"})
    asked(recording, "openai", asking(call("a", '{ "n": 1 }', "old_tool"), call("b", "{}", "look")), "x", "y")
    return recording


@EVERY
def test_a_body_holds_instructions_where_the_provider_wants_them(name: str) -> None:
    """Beside the messages or among them: they are there once, and the body has nothing to refuse."""
    body = export(session().history, get_format(name))
    assert check(name, body) == []
    assert repr(body).count("Be kind.") == 1
    assert len(body) == (2 if get_format(name).system_apart else 1)


def test_instructions_are_what_the_session_begins_with() -> None:
    """Those of all providers, joined; a session without any has none."""
    recording = session()
    assert leading_system(recording.history) == "Be kind.\n\nNow."
    assert leading_system(Recording().history) is None
    assert export(Recording().history, get_format("anthropic")) == {"messages": []}


@EVERY
def test_a_call_of_a_removed_tool_becomes_text_with_its_result(name: str) -> None:
    """Neither the call nor its result is left in the provider's own form; the other call is untouched."""
    found = conversation(session().history, get_format(name), gone=("old_tool",))
    assert check(name, found) == []
    told = repr(found)
    assert told.count("[Call of a tool that is no longer offered] old_tool") == 1
    assert told.count("[Result of a tool that is no longer offered] old_tool") == 1
    alone = conversation(session().history, get_format(name), gone=("old_tool", "look"))
    assert check(name, alone) == []
    assert "tool_call" not in repr(alone)
    assert "unction" not in repr(alone)


def test_opaque_items_go_with_the_call_that_they_led_to() -> None:
    """Thinking before a call that is told as text is dropped with it; the text stays."""
    recording = Recording()
    asked(recording, "anthropic", blocks(THOUGHT, {"type": "text", "text": "I look."}, tool_use("a", "old_tool")), 1)
    found = conversation(recording.history, get_format("anthropic"), gone=("old_tool",))
    (block,) = found[1]["content"]
    assert block["text"].startswith("I look.\n[Call of a tool that is no longer offered] old_tool {}")


@EVERY
def test_what_a_user_called_is_told_no_model(name: str) -> None:
    """No provider has read it: it is recorded, and left out."""
    recording = session()
    before = conversation(recording.history, get_format(name))
    sent = ProposedCall(name="toggle_data", raw="{}", provider_call_id="u")
    (made,) = recording.turn(Reply(kind="tool_calls", provider=USER, calls=(sent,)), parse=True)
    recording.run(made, CallFailed(code="tool_error", error_class="tool", message="Off."))
    assert conversation(recording.history, get_format(name)) == before


@EVERY
def test_arguments_that_are_no_object_are_an_empty_one(name: str) -> None:
    """The raw text is quoted in the answer: nothing that cannot be read is sent as arguments."""
    recording = Recording()
    said(recording, "openai", {"role": "user", "content": "Hi"})
    sent: tuple[Any, ...] = (
        ProposedCall(name="f", raw='{"a":', provider_call_id="a"),
        ProposedCall(name="g", raw="[1]"),
    )
    recording.turn(Reply(kind="tool_calls", provider="openai", calls=sent))
    found = conversation(recording.history, get_format(name))
    assert check(name, found) == []
    assert "rawArguments" in repr(found)
