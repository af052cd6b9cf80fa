"""Whether a side-effecting call may repeat one whose end the model did not know: then it is not executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ledger.calls import TERMINAL, Call
from ledger.events import Body, CallFlagged
from ledger.session.carrying import same_intent, same_masked, same_run, told_apart
from ledger.session.core import Core
from ledger.session.gating import PURE_GATES, passed
from ledger.session.work import Work
from ledger.strictjson import digest

RETIRED: Final = "tool_retired"
"""What the lookup gate says of a retired tool, or of one under a name that it gave up."""

_OF_ANOTHER_VERSION: Final = "it may repeat a call of another version, and nothing says how the two compare"
_UNREADABLE: Final = "it may repeat a call of which not all can be read: nobody knows how that one stands"
_UNDER_ANOTHER_KEY: Final = "it asks for the same as a call whose end is not known, under another key of the host"


def repeated(core: Core, work: Work) -> list[Body]:
    """
    Return the events of a new call that is not executed, as it repeats another or may do so; none: it surely does not.

    A copy is settled by its original's end (`Core.commit`), at once where that is there. What nobody can compare with
    a call that may have had its effect is asked of a person, bound to the arguments that would run. Same tool and same
    arguments alone is no copy: 15 % of real calls repeat a finished one on purpose. It is one only while the call of an
    earlier turn is not terminal, or ended without that the model was told.
    """
    return _repeats(core, work, [*core.history.open_calls(), *_untold(core)])


def repeated_unknowingly(core: Core, work: Work) -> list[Body]:
    """Return the same of what has ended by now: what its model was told, only who takes a call in knows."""
    return _repeats(core, work, _untold(core))


def repeated_since(core: Core, work: Work) -> list[Body]:
    """Return the same of a call that was proposed before: what had ended then, it was compared with."""
    history, turn = core.history, core.history.turn(work.stub.turn)
    ended = (entry.call for entry in history.ended_since(turn.sequence if turn is not None else 0))
    return _repeats(core, work, [*history.open_calls(), *ended])


def _untold(core: Core) -> list[Call]:
    """Return the calls that ended without that the model of this handle was told, as far as anybody knows."""
    told = core.told
    ended = (entry.call for entry in core.history.ended_since(told.until or 0))
    return [*ended, *told.unknown_ends(core.history)]


def _repeats(core: Core, work: Work, calls: Sequence[Call]) -> list[Body]:
    if not work.stub.side_effecting or (work.tool is None and work.refusal is None):
        return []
    home, stub = core.wiring.registry.home, work.stub
    # A copy's original is among them too.
    every = (*calls, *core.history.open_and_broken())
    writes = [call for call in every if call.side_effecting and call.reason != "duplicate"]
    earlier = [call for call in writes if home(call.tool) == home(stub.tool) and call.turn < stub.turn]
    if stub.host_key:  # a host that names its call by a new key says itself that none that has ended is this one
        earlier = [call for call in earlier if call.state not in TERMINAL]
    settling = [call for call in earlier if call.call_id not in core.history.broken]
    unkeyed = [call for call in settling if not (call.host_key and stub.host_key)]
    original = next((call for call in unkeyed if _asks_for_the_same(core, call, work)), None)
    if original is None:
        return _may_repeat(core, work, earlier)
    evidence = {"tool": original.tool, "turn": original.turn, "state": original.state}
    return [CallFlagged(reason="duplicate", duplicate_of=original.call_id, evidence=evidence)]


def _may_repeat(core: Core, work: Work, earlier: Sequence[Call]) -> list[Body]:
    """
    Return the question whether the call shall run beside one that may have done the same under another version.

    Over a change of meaning the arguments of two versions cannot be compared, and a host that gives the same another
    key means another call, or tries anew; a second effect would be worse than a question too much. A call that surely
    never ran is no reason: it is a person's already, or runs as what it is. Of one with an event that cannot be read
    nobody can say that; a copy of it would never be settled.
    """
    if work.refusal is not None:
        return []
    stub = work.stub
    for call in earlier:
        broken = call.call_id in core.history.broken
        happened = broken or call.state == "started" or not call.never_ran
        same = _asks_for_the_same(core, call, work)  # under another key, unless it is broken
        if happened and (same or not told_apart(core, call, stub, work.to_run)):
            why = _UNREADABLE if broken else _UNDER_ANOTHER_KEY if same else _OF_ANOTHER_VERSION
            evidence: dict[str, object] = {"mayRepeat": call.call_id, "version": call.schema_version}
            evidence |= {"state": call.state, "why": why}
            if broken:
                evidence["damaged"] = True
            elif same:
                evidence["hostKey"] = call.host_key
            return [passed(work, PURE_GATES), CallFlagged(reason="not-started", evidence=evidence)]
    return []


def _asks_for_the_same(core: Core, call: Call, work: Work) -> bool:
    """Compare with what the model asked for as well, where a person put other arguments in its place."""
    turn = core.history.turn(call.turn) if call.revision else None
    asked = [core.history.calls[each] for each in turn.slots[call.index]] if turn is not None else [call]
    return any(_same_arguments(core, each, work) for each in asked)


def _same_arguments(core: Core, call: Call, work: Work) -> bool:
    """
    Compare what would run, in the form of one version, however it is spelled: 1 and 1.0, a default written out.

    What was masked can be told in its own process only. Each in the world of the recorded call: one that stands there
    in clear is compared in clear, whatever is known by now to be a secret.
    """
    number, shown = work.stub.schema_version, work.recorded_to_run()
    if work.refusal is not None:  # of a retired tool: nobody has worked out what would run
        intents = (work.intent, work.recorded)
        return same_intent(core, call, number, *intents) or same_run(core, call, number, *intents)
    known = same_masked(core, call, number, (work.intent, work.to_run), (work.recorded, shown))
    if known is not None:
        return known
    quickly = call.schema_version == number and not call.redacted and digest(work.to_run) == call.arguments_digest
    return quickly or same_run(core, call, number, work.to_run, shown)
