"""Streams of the SDKs, accumulated here."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.providers import get_format
from tests.providers.reading import cases, check_reply, plainly, sdk


@pytest.mark.parametrize("form", [plainly, sdk], ids=["dicts", "pydantic objects"])
@pytest.mark.parametrize("case", cases("streams", "read"), ids=lambda case: case["name"])
def test_a_stream_is_put_together(case: dict[str, Any], form: Any) -> None:
    """Chunks and events become the reply that they made; one that was cut off is never complete."""
    reply = get_format(case["format"]).parse(form(case["events"]))
    check_reply(reply, case["read"])
    assert reply.provider == case["format"]


@pytest.mark.parametrize("case", cases("streams", "read"), ids=lambda case: case["name"])
def test_the_events_stay_as_they_are(case: dict[str, Any]) -> None:
    """The host's own objects are not changed by reading them."""
    before = repr(case["events"])
    get_format(case["format"]).parse(tuple(case["events"]))
    assert repr(case["events"]) == before


@pytest.mark.parametrize("case", cases("streams", "refused"), ids=lambda case: case["name"])
def test_what_is_no_stream_is_refused(case: dict[str, Any]) -> None:
    """A list of anything else, and a stream that ended with an error, are refused by name."""
    with pytest.raises(UsageError, match=case["refused"]):
        get_format(case["format"]).parse(case["events"])
