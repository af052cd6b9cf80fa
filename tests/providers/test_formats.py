"""The wire formats by name."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.providers import get_format


def test_a_format_is_found_by_its_name() -> None:
    """Each format knows its own name."""
    assert get_format("openai").name == "openai"


def test_an_unknown_format_names_those_there_are() -> None:
    """A wrong name is a usage error that says what to write."""
    with pytest.raises(UsageError, match="no wire format 'opneai'"):
        get_format("opneai")
    with pytest.raises(UsageError, match="There is: anthropic, bedrock, gemini, mistral, openai, responses"):
        get_format("")


REPLIES: dict[str, dict[str, Any]] = {
    "anthropic": {"id": "", "role": "assistant", "content": "Hi."},
    "gemini": {"responseId": "", "candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}}]},
    "mistral": {"id": "", "choices": [{"message": {"role": "assistant", "content": "Hi."}}]},
    "openai": {"id": "", "choices": [{"message": {"role": "assistant", "content": "Hi."}}]},
    "responses": {"id": "", "output": [{"type": "message", "role": "assistant", "content": "Hi."}]},
}


@pytest.mark.parametrize("name", REPLIES)
def test_an_empty_id_of_a_reply_is_none(name: str) -> None:
    """What says nothing is recorded as nothing: no later reply is known by it."""
    assert get_format(name).parse(REPLIES[name]).response_id is None
