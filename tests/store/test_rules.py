"""The rules that adapters share, where the contract's tests do not reach."""

from __future__ import annotations

import pytest

from ledger.store import rules


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
