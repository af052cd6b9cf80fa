"""Recorded calls under a newer version of their tool: what the catalog's proved upcasts make of their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledger.calls import Call, evolve
from ledger.catalog import ToolVersion
from ledger.catalog.equality import whole
from ledger.catalog.sameness import ask_the_same, written_out
from ledger.catalog.upcast.records import Carried, Journey, NotCarried
from ledger.events import CallUpcast
from ledger.schema_migration import judge
from ledger.schema_migration.judging import to_run
from ledger.session.core import Core, Item
from ledger.session.redaction import MASK, alike
from ledger.session.work import definition_of, truly_same
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


def carry(core: Core, call: Call, *, to: int | None = None) -> Carrying:
    """
    Return the call carried to the version that is known here (or `to`), step by step, as far as proved upcasts lead.

    A call that its own version's code still runs here stays as it is; so does one with redacted arguments (its true
    ones are nowhere), of a retired tool, or that ran elsewhere. Nothing is carried to a draft: its upcast may still be
    edited, and what it makes of a call would run.
    """
    registry = core.wiring.registry
    name, recorded = registry.home(call.tool), call.schema_version
    target = registry.version(name)
    if target is None or recorded is None or registry.get(name, recorded) is not None:
        return Carrying(call)
    if to is None and registry.upcasts.is_draft(name, target.version):
        return Carrying(call)
    judged = judge(registry, call, to=target.version if to is None else to)
    if judged.journey is None:
        found = judged.code == "version_unknown"
        stopped = NotCarried(code=judged.code or "", pointer="", message=judged.message or "") if found else None
        return Carrying(call, stopped=stopped)
    return carried(core, call, judged.journey)


def carried(core: Core, call: Call, journey: Journey) -> Carrying:
    """Return the call as it is after a journey's steps, and their events."""
    items, registry = list[Item](), core.wiring.registry
    for step in journey.steps:
        version = registry.upcasts.version(registry.home(call.tool), step.upcast.to_version)
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


def same_intent(core: Core, call: Call, version: int | None, arguments: Json, shown: Json) -> bool:
    """
    Whether a recorded call asks for the same as these arguments of a version.

    `shown` are the same as they may be recorded: a call whose sensitive values were masked is compared with those.
    """
    return _same(core, call, (call.intent_version, call.arguments), (version, shown if call.redacted else arguments))


def same_run(core: Core, call: Call, version: int | None, arguments: Json, shown: Json) -> bool:
    """
    Whether a recorded call would run, or ran, with the same as these arguments of a version.

    However they are spelled: with defaults written out or not, 100 or 100.0, equal as its function gets them.
    A carried call is compared in its first form too: a program that went back to that has no way from the newer one.
    """
    definition, given = definition_of(core, call), (version, shown if call.redacted else arguments)
    forms = {call.intent_version: call.arguments, call.schema_version: call.to_run}
    for number, form in forms.items():
        form_of = version if number is None else number  # of a transcript from elsewhere: as it would be taken here
        recorded = definition.versions.get(form_of or 0) if definition is not None else None
        filled = (number, to_run(recorded, form) if recorded is not None else form)
        if any(_ask_the_same(core, call, higher, *pair) for higher, *pair in _pairs(core, call, filled, given)):
            return True
    return False


def same_masked(
    core: Core, call: Call, version: int | None, given: tuple[Json, Json], shown: tuple[Json, Json] | None = None
) -> bool | None:
    """
    Do the same for a call that this process masked; None: its true arguments were those of another one, or none.

    `given` and `shown` are the intent and what would run. Without the true arguments only a digest is left, to the
    letter: where more than what is masked is spelled otherwise, it may be the same by what is shown; if that is given.
    """
    known = truly_same(core, call, version, *given)
    if known is not False:
        return known
    true = core.secrets.truths.get(call.call_id)
    if true is not None:
        return _truly_ask_the_same(core, call, version, true.to_run, given[1])
    if shown is None or digest(call.arguments) == digest(shown[0]):
        return False
    return same_run(core, call, version, given[1], shown[1])


def told_apart(core: Core, call: Call, other: Call, arguments: Json) -> bool:
    """
    Whether a recorded call surely is another one than `other`, which would run with these arguments.

    Asked where `same_run` found them to be different. Two calls of one form then are; calls of two versions are as far
    as the files between them say what stayed the same (`Upcasts.apart`).
    """
    version, recorded_version = other.schema_version, call.schema_version
    if recorded_version is None or (version, other.schema_digest) == (recorded_version, call.schema_digest):
        return True  # of a transcript from elsewhere nobody knows another form than the one it has
    if call.executed is not None and version == call.intent_version:
        return True  # carried from this version: `same_run` has compared its first form
    if version is None or version == recorded_version:
        return False
    recorded = None if call.redacted else call.to_run  # what was masked may be any value
    (low, older), (high, newer) = sorted(((recorded_version, recorded), (version, arguments)), key=lambda at: at[0])
    registry = core.wiring.registry
    return registry.upcasts.apart(registry.home(call.tool), low, high, older, newer)


def _same(core: Core, call: Call, *given: tuple[int | None, Json]) -> bool:
    """Whether two calls' arguments, each with its version, are the same to the letter. What is masked may be any."""
    same = alike if call.redacted else _spelled_alike
    return any(same(form, newer) for _, form, newer in _pairs(core, call, *given))


def _spelled_alike(one: Json, other: Json) -> bool:
    return digest(one) == digest(other)


def _ask_the_same(core: Core, call: Call, number: int | None, form: Json, newer: Json) -> bool:
    """Whether arguments of one version ask the same of its tool. What is masked may be any value."""
    if not call.redacted:
        return _truly_ask_the_same(core, call, number, form, newer)
    version = _version(core, call, number)
    wholly = {MASK: MASK}  # nothing is filled in there
    return wholly in (form, newer) or alike(whole(written_out(version, form)), whole(written_out(version, newer)))


def _truly_ask_the_same(core: Core, call: Call, number: int | None, one: Json, other: Json) -> bool:
    registry = core.wiring.registry
    tool = registry.get(registry.home(call.tool), number)
    return ask_the_same(_version(core, call, number), tool, one, other)


def _version(core: Core, call: Call, number: int | None) -> ToolVersion | None:
    definition = definition_of(core, call)
    return definition.versions.get(number or 0) if definition is not None else None


def _pairs(core: Core, call: Call, *given: tuple[int | None, Json]) -> Iterator[tuple[int | None, Json, Json]]:
    """
    Yield two calls' arguments, each given with its version: as they are, then in the form of the higher one (named).

    The older ones are put there, whichever call is newer: a program may have gone back to an older version. As they
    are, since who asks may be older than the program too: a reply that a host kept, a script. Nothing is certified, and
    nothing runs by this: it keeps a second effect from happening.
    """
    (low, older), (high, newer) = sorted(given, key=lambda each: each[0] or 0)
    yield high, older, newer
    if low is not None and high is not None and low != high and isinstance(older, dict):
        registry = core.wiring.registry
        yield high, registry.upcasts.reshape(registry.home(call.tool), low, high, older), newer
