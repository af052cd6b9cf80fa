"""What becomes of a copy when its original has ended."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.calls import Call, ends_with, settled_by, stranded
from tests.calls.stories import tell

STARTED = ("proposed", "validated", "authorized", "started")
UNKNOWN = ["flagged", {"reason": "outcome-unknown"}]
LATE = {"token": 1, "settles": True, "result": None}


def late(**said: Any) -> Call:
    """An original that ends after it was flagged."""
    return tell(*STARTED, UNKNOWN, ["outcome_arrived_late", LATE | said])


@pytest.mark.parametrize(
    ("original", "verdict", "known"),
    [
        (tell(*STARTED, "succeeded"), "happened", True),
        (tell(*STARTED, UNKNOWN, ["reviewed", {"verdict": "happened"}]), "happened", False),
        (late(ended="succeeded", status="not_found"), "did-not-happen", False),
        (late(ended="failed", code="half", errorClass="tool", message="m"), "did-not-happen", False),
        (tell(*STARTED, UNKNOWN, ["reviewed", {"verdict": "did-not-happen"}]), "did-not-happen", False),
        (tell(*STARTED, UNKNOWN, ["reviewed", {"verdict": "abandon"}]), "abandon", False),
        (tell("proposed", "rejected"), "abandon", False),
    ],
    ids=["succeeded", "no result", "not found", "failed", "a person's word", "given up", "rejected"],
)
def test_only_what_happened_is_told_as_happened(original: Call, verdict: str, known: bool) -> None:
    """Where the tool found nothing to act on, nothing happened, though the call succeeded."""
    body = settled_by(original)
    assert (body.verdict, body.result_known, body.settled_by) == (verdict, known, original.call_id)
    assert body.result == (original.result if known else None)


def test_a_copy_ends_with_its_original_or_as_it_is_flagged() -> None:
    """Whichever of the two is recorded first; while the original is open nothing ends."""
    original = tell(*STARTED, UNKNOWN)
    ended = tell(["reviewed", {"verdict": "abandon"}], call=original)
    flag = ["flagged", {"reason": "duplicate", "duplicateOf": original.call_id}]
    copy, other = tell("proposed", flag).changed(call_id="copy"), tell("proposed", UNKNOWN).changed(call_id="other")
    calls = {each.call_id: each for each in (original, copy, other)}
    assert list(ends_with(copy, calls, calls)) == []
    assert list(ends_with(ended, calls, calls)) == [(copy, ended)]
    assert list(ends_with(copy, {"copy": copy}, ())) == []  # its original cannot be read
    calls[ended.call_id] = ended
    assert list(ends_with(copy, calls, ())) == [(copy, ended)]
    assert stranded(calls, ["copy", "other"]) == [(copy, ended)]
