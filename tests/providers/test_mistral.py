"""Mistral's format: OpenAI's messages under ids of nine letters and digits."""

from __future__ import annotations

from ledger.providers import get_format
from tests.providers.recording import Recording
from tests.providers.test_openai_host import asking, call, result
from tests.providers.told import asked, said, told

WIRE = get_format("mistral")


def test_ids_that_fit_stay_and_others_are_derived() -> None:
    """Nine letters and digits, the same each time, and the answers name them."""
    recording = Recording()
    message = asking(call("a1B2c3D4e"), call("call_too_long"), call(""))
    asked(recording, "mistral", message, 1, 2, 3)
    found = told(recording, "mistral")
    ids = [each["id"] for each in found[0]["tool_calls"]]
    assert ids[0] == "a1B2c3D4e"
    assert len(set(ids)) == 3
    assert [each["tool_call_id"] for each in found[1:]] == ids
    assert told(recording, "mistral") == found


def test_its_own_items_and_the_messages_of_the_same_kind_are_kept() -> None:
    """What OpenAI's format cannot say goes back to Mistral; a host's chat messages are taken from both."""
    recording = Recording()
    said(recording, "openai", {"role": "system", "content": "Be kind."}, asking(call("x" * 9)), result("x" * 9))
    asked(recording, "mistral", {"role": "assistant", "content": "Hi", "prefix": False})
    assert told(recording, "mistral") == [
        {"role": "system", "content": "Be kind."},
        asking(call("x" * 9)),
        result("x" * 9),
        {"role": "assistant", "content": "Hi", "prefix": False},
    ]
    assert "prefix" not in told(recording, "openai")[-1]
