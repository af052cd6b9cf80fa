"""Answers of imported calls: what the model read in its time, word for word."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.calls import NEW_CALL, Call
from ledger.providers.verbatim import LONGEST, told_content, told_text
from tests.providers.recording import happened


def imported(**known: Any) -> Call:
    """Return an imported call."""
    return NEW_CALL.changed(**{"imported": True, "state": "succeeded", "provider": "anthropic"} | known)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (imported(result="y" * 20_000), "y" * 20_000),
        (imported(result='{"n": 1 }'), '{"n": 1 }'),
        (imported(result=""), ""),
        (imported(result="a\0b\udce9"), "a\\u0000b\\udce9"),
        (imported(result=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "ab"),
        (imported(result=[{"type": "image"}]), '[{"type":"image"}]'),
        (imported(result={"b": 1, "a": 2}), '{"a":2,"b":1}'),
        (imported(state="failed", message="No such file."), "No such file."),
    ],
)
def test_it_is_told_word_for_word(call: Call, text: str) -> None:
    """A text as it is and in full, parts joined, anything else as JSON; an error as its text."""
    assert told_text(call, 8192) == text


@pytest.mark.parametrize(
    "call",
    [
        imported(result="x").changed(imported=False),
        imported(result="x" * (LONGEST + 1)),
        imported().changed(state="needs-review", reason="outcome-unknown"),
        imported().changed(state="failed", message=""),
        imported(result="x").changed(review=happened("x")),
        imported().changed(state="failed", message="No.", review=happened("x")),
    ],
)
def test_everything_else_is_the_ledgers_own_answer(call: Call) -> None:
    """Own calls, bombs, open ones, errors without a text, and what a person found: one JSON object."""
    assert told_text(call, 8192).startswith("{")
    assert len(told_text(call, 8192)) < 10_000


def test_parts_go_back_to_their_own_provider_only() -> None:
    """A list of parts or an object is the same again for the provider that it was made for."""
    parts = [{"type": "image", "data": "\0"}]
    assert told_content(imported(result=parts), "anthropic") == [{"type": "image", "data": "\\u0000"}]
    assert told_content(imported(result=parts), "openai") is None
    assert told_content(imported(result="text"), "anthropic") is None
    assert told_content(imported(result=parts).changed(imported=False), "anthropic") is None
