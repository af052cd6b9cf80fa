"""Replies in the format `bedrock`, as they come."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.providers import get_format
from tests.providers.reading import cases, check_reply, plainly, sdk

WIRE = get_format("bedrock")


@pytest.mark.parametrize("form", [plainly, sdk], ids=["dict", "pydantic object"])
@pytest.mark.parametrize("case", cases("bedrock", "read"), ids=lambda case: case["name"])
def test_a_reply_is_read_as_it_came(case: dict[str, Any], form: Any) -> None:
    """SDK objects and dicts are read alike: calls, texts, what the provider executed, and the rest verbatim."""
    reply = WIRE.parse(form(case["reply"]))
    check_reply(reply, case["read"])
    assert reply.provider == "bedrock"


@pytest.mark.parametrize("case", cases("bedrock", "refused"), ids=lambda case: case["name"])
def test_what_is_no_reply_is_refused_by_name(case: dict[str, Any]) -> None:
    """The error says what was given and what is taken."""
    with pytest.raises(UsageError) as caught:
        WIRE.parse(case["reply"])
    assert case["refused"] in str(caught.value)
    assert "Give the " in str(caught.value)
