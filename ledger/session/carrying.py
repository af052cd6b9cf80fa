"""Recorded calls under a newer version of their tool: what the catalog's proved upcasts make of their arguments."""

from __future__ import annotations

from dataclasses import dataclass

from ledger.calls import Call, evolve
from ledger.catalog import ToolVersion, with_defaults
from ledger.catalog.upcast.records import Carried, Journey, NotCarried
from ledger.events import CallUpcast
from ledger.session.core import Core, Item
from ledger.strictjson import Json, digest

UPCASTABLE = ("proposed", "validated", "authorized")
"""States in which a resume carries a call over; what waits for a person stays as the person sees it."""


@dataclass(frozen=True, slots=True)
class Carrying:
    """
    A call as it is after its upcasts, and the events that record them.

    `stopped` says why it did not come to the version that is known here; None: it did, or it is of that version.
    """

    call: Call
    items: tuple[Item, ...] = ()
    stopped: NotCarried | None = None

    @property
    def evidence(self) -> dict[str, object]:
        """What is known for the person who is asked, in the words of the proof."""
        if self.stopped is None:
            return {}
        known = {"code": self.stopped.code, "pointer": self.stopped.pointer, "message": self.stopped.message}
        return {"upcast": {"reached": self.call.schema_version, **known}}


def carry(core: Core, call: Call) -> Carrying:
    """
    Return the call carried to the version that is known here, step by step, as far as proved upcasts lead.

    A call with redacted arguments is not carried (its true ones are nowhere), nor one that ran elsewhere.
    """
    target, recorded = core.wiring.registry.version(call.tool), call.schema_version
    if target is None or recorded is None or not _may_be_carried(core, call, target):
        return Carrying(call)
    start = _version(core, call.tool, recorded)
    if start is None or start.shape_digest != call.schema_digest:
        message = f"the catalog does not hold v{recorded} as it was recorded"
        return Carrying(call, stopped=NotCarried(code="version_unknown", pointer="", message=message))
    journey = core.wiring.registry.upcasts.carry(call.tool, recorded, target.version, _to_run(start, call.to_run))
    return _recorded(core, call, journey)


def _may_be_carried(core: Core, call: Call, target: ToolVersion) -> bool:
    registry = core.wiring.registry
    if target.version == call.schema_version or registry.get(call.tool, call.schema_version) is not None:
        return False  # it runs as it is
    definition = registry.definition(call.tool)
    retired = definition is not None and definition.stage in ("compat", "removed")
    return not (retired or call.redacted or call.ran_elsewhere)


def _version(core: Core, tool: str, number: int) -> ToolVersion | None:
    definition = core.wiring.registry.definition(tool)
    return definition.versions.get(number) if definition is not None else None


def _to_run(version: ToolVersion, arguments: Json) -> Json:
    """Return the arguments with the defaults that would run with them: the digests of an upcast cover these."""
    applied = version.contract.apply_defaults and isinstance(arguments, dict)
    return with_defaults(version.schema, arguments) if applied else arguments


def _recorded(core: Core, call: Call, journey: Journey) -> Carrying:
    items: list[Item] = []
    for step in journey.steps:
        version = _version(core, call.tool, step.upcast.to_version)
        if version is None:  # pragma: no cover - the journey went over it
            break
        stub = call.changed(schema_version=version.version, schema_digest=version.shape_digest)
        items.append(Item(upcast_body(step), stub))
        call = evolve(call, core.event(items[-1]))
    return Carrying(call, tuple(items), journey.stopped)


def upcast_body(step: Carried) -> CallUpcast:
    """Return the event of one certified step."""
    return CallUpcast(
        from_version=step.upcast.from_version,
        to_version=step.upcast.to_version,
        upcast_digest=step.upcast.digest,
        digest_before=step.digest_before,
        digest_after=step.digest_after,
        validator=step.validator,
        arguments=step.arguments,
        keeps_approval=step.upcast.keeps_approval and step.grade == "iso",
    )


def intent_at(core: Core, call: Call, version: int | None) -> Json:
    """
    Return a call's intent in the form of a version, to compare it with one of that version.

    Where it cannot be carried there, the intent itself: in another form it equals nothing.
    """
    recorded = call.intent_version
    if version is None or recorded is None or recorded == version or not isinstance(call.arguments, dict):
        return call.arguments
    low, high = sorted((recorded, version))
    if low != recorded:  # the program went back to an older version: nothing is carried backwards
        return call.arguments
    journey = core.wiring.registry.upcasts.carry(call.tool, low, high, call.arguments)
    return journey.steps[-1].arguments if journey.arrived and journey.steps else call.arguments


def same_intent(core: Core, call: Call, version: int | None, arguments: Json) -> bool:
    """Whether a recorded call asks for the same as these arguments of a version, both in that version's form."""
    carried = intent_at(core, call, version)
    return digest(carried) == digest(arguments)
