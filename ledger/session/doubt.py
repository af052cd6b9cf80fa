"""An outcome in doubt: the tool's own reconcile function is asked, then a person."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from ledger.answers import CantTell, DidNotHappen, Happened
from ledger.calls import Call
from ledger.events import Body, CallFailed, CallFlagged, CallSucceeded
from ledger.events.call_bodies import FlagReason
from ledger.execution.context import Context
from ledger.execution.outcome import Unknown, printable, succeeded
from ledger.execution.requests import Ended, Steps, user_code
from ledger.recovery import Here, run_again
from ledger.session.core import Core
from ledger.session.work import Work, context_of
from ledger.strictjson import RESULT, encode_result


class Settler:
    """Turns ends and doubts of one call into the events that record them."""

    def __init__(self, core: Core, work: Work, context: Context | None, *, running: bool = False) -> None:
        self._core = core
        self._work = work
        self._context = context
        self._running = running  # the tool may still be at it: "did not happen" proves nothing yet

    def finished(self, body: CallSucceeded | CallFailed) -> CallSucceeded | CallFailed:
        """Return the end ready for recording."""
        body = printable(body)
        if isinstance(body, CallSucceeded) and self._context is not None and self._context.source is not None:
            body = replace(body, source=encode_result(self._context.source).value)
        return body

    def settle(self, call: Call, doubt: Unknown, *, may_ask: bool) -> Steps[tuple[bool, Body | None]]:
        """
        Return whether to run the call again, and the event that ends or flags it.

        The tool's reconcile function is asked first, where there is one; "it did not happen" lets a `recovery: retry`
        tool run again; what nobody can say goes to a person.
        """
        tool = self._work.tool
        evidence = doubt.evidence
        if may_ask and tool is not None and tool.reconcile is not None:
            answer = yield from self._ask(tool.reconcile)
            if isinstance(answer, Happened):
                return False, self._happened(answer)
            evidence = _merged(evidence, answer)
            if isinstance(answer, DidNotHappen):
                return self._did_not_happen(call, evidence)
        return self._unknown(call, evidence)

    def _did_not_happen(self, call: Call, evidence: Any) -> tuple[bool, Body | None]:
        if self._running or call.recovery != "retry":
            return False, self._flag(evidence)
        return self._again(call, evidence)

    def _unknown(self, call: Call, evidence: Any) -> tuple[bool, Body | None]:
        if self._running or call.recovery != "retry" or not call.supports_idempotency:
            return False, self._flag(evidence)
        return self._again(call, evidence)

    def _again(self, call: Call, evidence: Any) -> tuple[bool, Body | None]:
        wiring = self._core.wiring
        definition = wiring.registry.defined_now(call.tool)
        stage = definition.stage if definition else None
        decision = run_again(call, Here(has_code=True, stage=stage, max_attempts=wiring.max_attempts))
        if decision.action == "run-again":
            return True, None
        return False, CallFlagged(reason=decision.flag or "attempts-exhausted", evidence=self._shown(evidence))

    def _ask(self, reconcile: Any) -> Steps[Any]:
        context = self._context or context_of(self._core, self._work)
        arguments = copy.deepcopy(self._work.to_run or {})
        try:
            answer = yield from user_code(reconcile, arguments, context)
        except Exception as error:  # noqa: BLE001 - a reconcile that fails can't tell
            return CantTell({"reconcile": f"raised {type(error).__name__}"})
        if isinstance(answer, Happened | DidNotHappen | CantTell):
            return answer
        return CantTell({"reconcile": f"answered {type(answer).__name__}"})

    def _happened(self, answer: Happened) -> CallSucceeded:
        end = succeeded(Ended(call_id=self._work.call_id, value=answer.result), self._limit())
        evidence = None if answer.evidence is None else self._shown(answer.evidence)
        found = self.finished(replace(end, duration_ms=None, reconciled=True, evidence=evidence))
        if not isinstance(found, CallSucceeded):  # pragma: no cover - a success stays one
            raise TypeError
        return found

    def _limit(self) -> int:
        version = self._work.version
        return version.contract.max_result_bytes if version is not None else RESULT.max_bytes

    def _flag(self, evidence: Any) -> CallFlagged:
        return CallFlagged(reason="outcome-unknown", evidence=self._shown(evidence))

    def _shown(self, evidence: Any) -> Any:
        return encode_result(evidence).value


def _merged(evidence: Any, answer: Any) -> Any:
    said = "did not happen" if isinstance(answer, DidNotHappen) else "can't tell"
    found = {"reconcile": said, "found": getattr(answer, "evidence", None)}
    return {**evidence, **found} if isinstance(evidence, dict) else found


def unless_in_doubt(end: CallSucceeded | CallFailed, call: Call) -> CallSucceeded | CallFailed | CallFlagged:
    """A refused last attempt says nothing of an earlier one that may have had its effect: then a person is asked."""
    if not proves_nothing(end, call):
        return end
    reason: FlagReason = "attempts-exhausted" if end.code == "unavailable" else "outcome-unknown"
    return CallFlagged(reason=reason, evidence={"attempts": call.attempt, "last": end.message})


def proves_nothing(end: CallSucceeded | CallFailed, call: Call) -> bool:
    """Whether this end only says that the last attempt did nothing, while an earlier one is in doubt."""
    if isinstance(end, CallSucceeded):
        refused = end.status == "not_found"
    else:  # a known bad end (`Failed`) is the tool's word on the call, not on the attempt
        refused = end.error_class != "tool" or end.exception is not None
    return call.in_doubt and refused
