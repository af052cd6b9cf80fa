"""One recorded call under a newer version of its tool: current, carried by proved upcasts, or a person's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ledger.calls import TERMINAL, Call
from ledger.catalog import DefaultsWithoutEnd, Registry, ToolDefinition, ToolVersion, with_defaults
from ledger.catalog.upcast.records import GRADES, Carried, Grade, Journey, NotCarried
from ledger.strictjson import Json

Status: TypeAlias = Literal["current", "migratable", "needs-person", "invalid", "in-doubt"]
"""
`current`: of the version asked for, or nobody carries it (it ran elsewhere, it is a copy). `migratable`: every step is
proved and certified for this very call. `needs-person`: `code` says why. `invalid`: it does not fit its own version.
`in-doubt`: a write that was started, also where a person is asked about it by now, or of which an outcome came after
somebody let it run: it may have happened with the arguments it had, and no version changes that.
"""

APPROVAL_BOUND: Final = "approval_bound"
"""A person was asked about the old form, or allowed it, and no file says that the answer holds for the new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """
    What becomes of one call; versions are those of its arguments now and of the catalog asked.

    `grade` is the weakest of its steps, `reached` how far they lead, `code`, `pointer` and `message` why no further.
    """

    call: Call
    status: Status
    to_version: int | None = None
    reached: int | None = None
    grade: Grade | None = None
    code: str | None = None
    pointer: str | None = None
    message: str | None = None
    journey: Journey | None = None

    @property
    def carried_to_be_asked(self) -> bool:
        """
        Whether a person allowed the old form and is asked anew about the new one, to which it is carried.

        What waits for a first answer stays as the person sees it: who may give it is part of the request.
        """
        return self.code == APPROVAL_BOUND and self.call.state == "authorized"

    def to_wire(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        call = self.call
        return {
            "callId": call.call_id,
            "sessionId": call.session_id,
            "tool": call.tool,
            "state": call.state,
            "fromVersion": call.schema_version,
            "toVersion": self.to_version,
            "status": self.status,
            "grade": self.grade,
            "reached": self.reached,
            "code": self.code,
            "pointer": self.pointer,
            "message": self.message,
        }


def may_be_carried(call: Call) -> bool:
    """Whether a call's arguments may still change their form: it surely never ran, and would run here."""
    return call.state not in TERMINAL and call.never_ran and not call.ran_elsewhere and call.reason != "duplicate"


def judge(registry: Registry, call: Call, *, to: int | None = None) -> Judged:
    """
    Say what becomes of a call under the catalog of *registry*; `to`: another version than the current one.

    Finished calls are judged as if they were to run, for a report: they stay facts. No record makes it raise.
    """
    definition = registry.defined_now(call.tool)
    if call.ran_elsewhere or call.reason == "duplicate":
        return Judged(call=call, status="current")
    if definition is None or call.schema_version is None:
        return _person(call, None, "tool_unknown", _why_unknown(registry, call.tool))
    target = to if to is not None else definition.current
    if _may_have_happened(call):
        return Judged(call=call, status="in-doubt", to_version=target)
    if call.state == "started" and target != call.schema_version:
        return _person(call, target, "started", "it was started in the old form; what started is not carried")
    return _unstarted(registry, definition, call, target)


def _may_have_happened(call: Call) -> bool:
    """Whether a call that has not ended may have had its effect, so that it keeps the form which it had then."""
    if call.state == "needs-review":
        return not call.never_ran
    return call.contradicted or (call.state == "started" and call.side_effecting)


def _why_unknown(registry: Registry, tool: str) -> str:
    faults = registry.catalog.faults if registry.catalog is not None else ()
    fault = next((each for each in faults if each.tool == tool), None)
    return "the catalog does not have it" if fault is None else f"its files have a fault: {fault.message}"


def is_retired(definition: ToolDefinition, *, side_effecting: bool) -> bool:
    """Whether the tool's stage keeps a call from running, whatever its version."""
    return definition.stage == "removed" or (definition.stage == "compat" and side_effecting)


def _person(call: Call, target: int | None, code: str, message: str) -> Judged:
    return Judged(call=call, status="needs-person", to_version=target, code=code, message=message)


def _unstarted(registry: Registry, definition: ToolDefinition, call: Call, target: int) -> Judged:
    if is_retired(definition, side_effecting=call.side_effecting):
        return _person(call, target, "tool_retired", f"the tool is in stage {definition.stage}")
    recorded = definition.versions.get(call.schema_version or 0)
    if recorded is None or recorded.shape_digest != call.schema_digest:
        message = f"the catalog does not hold v{call.schema_version} as it was recorded"
        return _person(call, target, "version_unknown", message)
    if target == call.schema_version:
        return Judged(call=call, status="current", to_version=target, reached=target)
    if call.redacted:
        return _person(call, target, "redacted", "its sensitive arguments were redacted before disk")
    return _carried(call, target, journey_of(registry, recorded, call, target))


def journey_of(registry: Registry, recorded: ToolVersion, call: Call, target: int) -> Journey:
    """Return how far the call's arguments come, with the defaults that would run with them."""
    return registry.upcasts.carry(recorded.tool, recorded.version, target, to_run(recorded, call.to_run))


def to_run(version: ToolVersion, arguments: Json) -> Json:
    """
    Return the arguments with the defaults that would run with them: the digests of an upcast cover these.

    As they are where the defaults have no end: those never run.
    """
    if not version.contract.apply_defaults or not isinstance(arguments, dict):
        return arguments
    try:
        return with_defaults(version.schema, arguments)
    except DefaultsWithoutEnd:
        return arguments


def _carried(call: Call, target: int, journey: Journey) -> Judged:
    grades = [step.grade for step in journey.steps]
    stopped = journey.stopped
    if stopped is None and _was_allowed(call) and not all(_keeps_approval(step) for step in journey.steps):
        message = "a person is asked about the old form, and no file says that the answer holds for the new one"
        if call.state == "authorized":
            message = (
                "a person allowed the old form; no file says that this holds for the new one, so they are asked anew"
            )
        stopped = NotCarried(code=APPROVAL_BOUND, pointer="", message=message)
    status: Status = "migratable"
    if stopped is not None:
        status = "invalid" if stopped.code == "invalid_before" else "needs-person"
    return Judged(
        call=call,
        status=status,
        to_version=target,
        reached=journey.reached,
        grade=max(grades, key=GRADES.index) if grades else None,
        code=stopped.code if stopped else None,
        pointer=stopped.pointer if stopped else None,
        message=stopped.message if stopped else None,
        journey=journey,
    )


def _was_allowed(call: Call) -> bool:
    """Whether a person was asked about the arguments in their old form, or said that they shall run."""
    asked = call.state in ("awaiting-approval", "authorized") and call.approval is not None
    return asked and call.approval is not None and call.approval.by != "policy"


def _keeps_approval(step: Carried) -> bool:
    return step.upcast.keeps_approval and step.grade == "iso"
