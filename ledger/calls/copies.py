"""What becomes of a copy when its original has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ledger.calls.call import Call
from ledger.calls.follows import TERMINAL
from ledger.events import CallReviewed
from ledger.events.call_bodies import Verdict


def ends_with(after: Call, calls: Mapping[str, Call], among: Iterable[str]) -> Iterator[tuple[Call, Call]]:
    """
    Yield the copies that end with what a call has just come to, each with its original.

    Those of it (`among` these calls) where it has ended. Itself, where it was flagged as a copy of a call that had
    ended by then: no end is to come any more that would settle it.
    """
    if after.state in TERMINAL:
        copies = (calls[call_id] for call_id in among)
        yield from ((copy, after) for copy in copies if _waits_for(copy) == after.call_id)
    else:
        original = calls.get(_waits_for(after) or "")
        if original is not None and original.state in TERMINAL:
            yield after, original


def stranded(calls: Mapping[str, Call], among: Iterable[str]) -> list[tuple[Call, Call]]:
    """Return the copies `among` these calls whose original has ended without them, each with its original."""
    return [found for call_id in among for found in ends_with(calls[call_id], calls, ())]


def _waits_for(copy: Call) -> str | None:
    """Return the id of the call whose end settles this one, if it is an open copy."""
    return copy.flag.duplicate_of if copy.state == "needs-review" and copy.flag is not None else None


def settled_by(original: Call) -> CallReviewed:
    """
    Return how the original's end is carried over to its copy; evidence names the call that took its place.

    Where nothing was found to act on, nothing happened: the copy must not be told as a success without a result.
    """
    heir = original.superseded_by
    happened = original.state == "succeeded" and original.status != "not_found"
    return CallReviewed(
        verdict="happened" if happened else _unless_it_happened(original),
        by="ledger",
        settled_by=original.call_id,
        evidence=() if heir is None else ({"supersededBy": heir},),
        result=original.result if happened else None,
        result_known=happened and original.result_known,
    )


def _unless_it_happened(original: Call) -> Verdict:
    return "did-not-happen" if original.state in ("succeeded", "failed") else "abandon"
