"""Whether a side-effecting call may repeat one whose end the model did not know: then it is not executed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from ledger.calls import TERMINAL, Call
from ledger.events import Body, CallFlagged
from ledger.history import Settled
from ledger.session.carrying import same_intent, same_run, told_apart
from ledger.session.copies import settled_by
from ledger.session.core import Core
from ledger.session.gating import PURE_GATES, passed
from ledger.session.work import Work
from ledger.strictjson import digest

RETIRED: Final = "tool_retired"
"""What the lookup gate says of a retired tool, or of one under a name that it gave up."""


def repeated(core: Core, work: Work, *, since: int = 0) -> list[Body]:
    """
    Return the events of a call that is not executed, as it repeats another or may do so; none: it surely does not.

    A copy is settled by its original's end. What nobody can compare with a call that may have had its effect is asked
    of a person, bound to the arguments that would run. `since`: see `duplicate_of`.
    """
    original = duplicate_of(core, work, since)
    if original is None:
        return _may_repeat(core, work, since)
    evidence = {"tool": original.tool, "turn": original.turn, "state": original.state}
    flagged: list[Body] = [CallFlagged(reason="duplicate", duplicate_of=original.call_id, evidence=evidence)]
    # An original that has ended has no end to come any more that would settle the copy.
    return [*flagged, settled_by(original)] if original.state in TERMINAL else flagged


def duplicate_of(core: Core, work: Work, since: int = 0) -> Call | None:
    """
    Return the call of an earlier turn that this side-effecting proposal repeats while its end was unknown to the model.

    Same tool and same arguments alone is no duplicate: 15 % of real calls repeat a finished one on purpose. It is one
    only while the earlier call is not terminal, or was settled after the model read it as open and was not yet told:
    surely told is what was settled before the event `since`, at which this proposal was recorded. A host's own new key
    tells a call from one that has ended, not from one that may have happened.
    """
    return next((call for call in _earlier(core, work, since) if _same_arguments(core, call, work)), None)


def _earlier(core: Core, work: Work, since: int) -> Iterator[Call]:
    """Yield the calls of the same tool and of earlier turns whose end the model did not know; no copies of these."""
    if not work.stub.side_effecting or (work.tool is None and work.refusal is None):
        return
    history, home = core.history, core.wiring.registry.home
    told = max(core.told_until, since)
    # One that a person settled before the next turn may have been read as open by the model that now replies; a host
    # that names its call by a new key says itself that it is another one.
    settled = () if work.stub.host_key is not None else (history.resolved, history.settled)
    untold = (call for entries in settled for call in _ended_behind(entries, told))
    for call in (*history.open_calls(), *untold):
        earlier = home(call.tool) == home(work.stub.tool) and call.turn < work.stub.turn and call.side_effecting
        if earlier and call.reason != "duplicate":  # a copy's original is among them too
            yield call


def _ended_behind(entries: Sequence[Settled], sequence: int) -> list[Call]:
    """Return the calls that ended behind an event of the session."""
    return [entry.call for entry in takewhile(lambda entry: entry.sequence > sequence, reversed(entries))]


def _may_repeat(core: Core, work: Work, since: int) -> list[Body]:
    """
    Return the question whether the call shall run beside one that may have done the same under another version.

    Over a change of meaning the arguments of two versions cannot be compared; a second effect would be worse than a
    question too much. A call that surely never ran is no reason: it is a person's already, or runs as what it is.
    """
    if work.refusal is not None:
        return []
    stub = work.stub
    for call in _earlier(core, work, since):
        happened = call.state == "started" or not call.never_ran
        if happened and not told_apart(core, call, stub, work.to_run):
            why = "it may repeat a call of another version, and nothing says how the two compare"
            evidence = {"mayRepeat": call.call_id, "version": call.schema_version, "state": call.state, "why": why}
            return [passed(work, PURE_GATES), CallFlagged(reason="not-started", evidence=evidence)]
    return []


def _same_arguments(core: Core, call: Call, work: Work) -> bool:
    """Compare what would run, in the form of one version; a digest tells masked values in its own process only."""
    number, recorded = work.stub.schema_version, call.arguments_digest
    if work.refusal is not None:  # of a retired tool: nobody has worked out what would run
        return same_intent(core, call, number, work.intent, work.recorded)
    if call.schema_version != number or (call.redacted and call.call_id not in core.wiring.masked):
        return same_run(core, call, number, work.to_run, work.recorded_to_run())
    return recorded == work.digest if recorded is not None else digest(call.arguments) == digest(work.recorded)
