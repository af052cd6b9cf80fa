"""A call that waits as it may repeat another one, and that other one as it stands now; the flag says how it stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger.audit.reading import placed_calls
from ledger.audit.story import call_of
from ledger.calls import TERMINAL, Call
from ledger.store.port import CallFilter, Reader


@dataclass(frozen=True, slots=True)
class Repeated:
    """
    The call that another one may repeat, as it stands now.

    `compared`: how the versions of the two compare, in words of the file between them; None where nothing says it.
    `heir`: the call that has its place now by a person's word, which may do the same.
    """

    call: Call
    compared: str | None = None
    heir: Call | None = None

    @property
    def last(self) -> Call:
        """The call whose end counts."""
        return self.heir or self.call

    @property
    def happened(self) -> bool:
        """Whether it surely happened, or what took its place did."""
        return self.last.state == "succeeded"

    @property
    def standing(self) -> str:
        """What became of it, in words that go on from its id."""
        call, heir = self.call, self.heir
        if call.state == "succeeded":
            return f"happened{_says(call, 'happened')}"
        then = f"; call {heir.call_id} took its place, which {Repeated(heir).standing}" if heir else ""
        replaced = call.state == "superseded" and call.late is None  # nobody replaces what may have happened
        if replaced or (call.state in TERMINAL and call.never_ran):
            return f"did not happen{_says(call, 'did-not-happen')}{then}"
        if call.state in TERMINAL:
            return f"has ended ({call.state}), and nobody knows whether it happened{then}"
        if call.never_ran:
            return "did not happen so far, and may still run"
        return "is still in doubt"


def may_repeat(call: Call) -> dict[str, Any] | None:
    """Return the evidence of a call that was flagged as it may repeat another (its `mayRepeat`); None: it was not."""
    evidence = call.flag.evidence if call.flag is not None and call.reason == "not-started" else None
    return evidence if isinstance(evidence, dict) and "mayRepeat" in evidence else None


def repeated_by(reader: Reader, call: Call) -> Repeated | None:
    """Return what this call may repeat, as it stands now; None where that is nothing, or cannot be read."""
    evidence = may_repeat(call)
    if evidence is None:
        return None
    found = last = call_of(reader, call.session_id, str(evidence["mayRepeat"]))
    seen = {""}
    while last.superseded_by is not None and last.call_id not in seen:  # a damaged ledger may lead in a circle
        seen.add(last.call_id)
        last = call_of(reader, call.session_id, last.superseded_by)
    return Repeated(found, heir=last if last is not found else None) if found.call_id else None


def held_back(reader: Reader, call: Call) -> list[str]:
    """Return the ids of the calls of its session that wait as they may repeat this one, or one whose place it took."""
    where = CallFilter(session_id=call.session_id, states=("needs-review",), reasons=("not-started",))
    waiting = [call_of(reader, row.session_id, row.call_id) for _, row in placed_calls(reader, where)]
    others = [(each.call_id, repeated_by(reader, each)) for each in waiting]
    return [called for called, other in others if other is not None and other.last.call_id == call.call_id]


def _says(call: Call, verdict: str) -> str:
    return f" (says {call.review.by})" if call.review is not None and call.review.verdict == verdict else ""
