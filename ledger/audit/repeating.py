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
    """

    call: Call
    compared: str | None = None

    @property
    def happened(self) -> bool:
        """Whether it surely happened."""
        return self.call.state == "succeeded"

    @property
    def standing(self) -> str:
        """What became of it, in words that go on from its id."""
        call = self.call
        if self.happened:
            return f"happened{_says(call, 'happened')}"
        if call.state in TERMINAL and call.never_ran:
            heir = f"; call {call.superseded_by} took its place" if call.superseded_by else ""
            return f"did not happen{_says(call, 'did-not-happen')}{heir}"
        if call.state in TERMINAL:
            return f"has ended ({call.state}), and nobody knows whether it happened"
        if call.never_ran:
            return "did not happen so far, and may still run"
        return "is still in doubt"


def may_repeat(call: Call) -> dict[str, Any] | None:
    """Return the evidence of a call that was flagged as it may repeat another (its `mayRepeat`); None: it was not."""
    evidence = call.flag.evidence if call.flag is not None and call.reason == "not-started" else None
    return evidence if isinstance(evidence, dict) and "mayRepeat" in evidence else None


def repeated_call(reader: Reader, call: Call) -> Call | None:
    """Return the call that this one may repeat as it stands now; None where there is none, or it cannot be read."""
    evidence = may_repeat(call)
    if evidence is None:
        return None
    found = call_of(reader, call.session_id, str(evidence["mayRepeat"]))
    return found if found.call_id else None


def held_back(reader: Reader, call: Call) -> list[str]:
    """Return the ids of the calls of its session that wait for a person as they may repeat this one."""
    where = CallFilter(session_id=call.session_id, states=("needs-review",), reasons=("not-started",))
    waiting = (call_of(reader, row.session_id, row.call_id) for _, row in placed_calls(reader, where))
    return [each.call_id for each in waiting if (may_repeat(each) or {}).get("mayRepeat") == call.call_id]


def _says(call: Call, verdict: str) -> str:
    return f" (says {call.review.by})" if call.review is not None and call.review.verdict == verdict else ""
