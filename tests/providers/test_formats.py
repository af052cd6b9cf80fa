"""The wire formats by name."""

from __future__ import annotations

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
