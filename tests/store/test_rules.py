"""The rules that adapters share, where the contract's tests do not reach."""

from __future__ import annotations

import pytest

from ledger.store import rules
from ledger.store.port import StoredEvent
from ledger.testing.contract.building import Story, note


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b'{"body":{"reason":"final_answer"}}', "final_answer"),
        (b'{"body":{}}', "?"),
        (b'{"body":[]}', "?"),
        (b"no record", "?"),
    ],
)
def test_a_closing_event_that_cannot_be_read_has_no_reason(record: bytes, reason: str) -> None:
    """A list of sessions survives a row that cannot be read."""
    assert rules.close_reason(record) == reason


@pytest.mark.parametrize("record", [b"no record", b"[]", b"{}"])
def test_a_stored_record_that_cannot_be_read_is_another_one(record: bytes) -> None:
    """A repeat whose stored event is damaged is a conflict, not a repeat."""
    draft = Story().event(note("a"))
    stored = StoredEvent(1, "s1", 1, draft.event.event_id, draft.type, None, None, record, b"")
    assert not rules.same(draft, stored)
    assert rules.same(draft, stored._replace(record=draft.record(1)))
