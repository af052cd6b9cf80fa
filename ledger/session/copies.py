"""What becomes of a copy when its original has ended."""

from __future__ import annotations

from typing import Final

from ledger.calls import Call, State
from ledger.events import CallReviewed
from ledger.events.call_bodies import Verdict

_CARRIED: Final[dict[State, Verdict]] = {"succeeded": "happened", "failed": "did-not-happen"}


def settled_by(original: Call) -> CallReviewed:
    """Return how the original's end is carried over to its copy; evidence names the call that took its place."""
    heir = original.superseded_by
    return CallReviewed(
        verdict=_CARRIED.get(original.state, "abandon"),
        by="ledger",
        settled_by=original.call_id,
        evidence=() if heir is None else ({"supersededBy": heir},),
        result=original.result if original.state == "succeeded" else None,
        result_known=original.result_known if original.state == "succeeded" else False,
    )
