"""Proves on the schemas that an upcast is pure format: what the old form becomes, beside what the new form takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

from ledger.catalog.definition import ToolVersion
from ledger.catalog.diff import Difference, Finding, Settings, Subject, difference, of_version
from ledger.catalog.diff.containment import equal
from ledger.catalog.diff.difference import DEFAULT
from ledger.catalog.diff.rules import VERDICTS
from ledger.catalog.diff.space import read
from ledger.catalog.guard import Guarded
from ledger.catalog.steps import EACH, Steps, Upcast
from ledger.catalog.upcast.image import Image
from ledger.catalog.upcast.origins import check_origins
from ledger.catalog.upcast.reading import Closed
from ledger.catalog.upcast.records import Grade
from ledger.catalog.upcast.stops import Stop, Unprovable
from ledger.catalog.upcast.trial import Loss, Trial
from ledger.catalog.upcast.values import back
from ledger.catalog.vocabulary import DIALECTS, Dialect
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, to_pointer
from ledger.strictjson.pointer import from_pointer

Status: TypeAlias = Literal["proved", "unknown", "refuted", "none"]
"""`none`: there is no upcast, or its file itself says that the change is one of meaning."""

NARROWING: Final = frozenset(
    [
        "alternative_removed",
        "bound_narrowed",
        "condition_added",
        "dependency_added",
        "enum_narrowed",
        "null_removed",
        "number_narrowed",
        "object_closed",
        "pattern_changed",
        "pattern_narrowed",
        "required_added",
        "type_removed",
    ]
)
"""Differences that only refuse: what still passes means what it meant. All others that are semantic are not."""

_UNKNOWN: Final = ("not_proved", "property_added_open")
"""What nobody can vouch for; the second: an undeclared property of a record would be read from now on."""
_DEFAULTS: Final = ("default_added", "default_changed", "default_removed")
_NO_IMAGE: Final = "some values have no place in the new form"
_MOST: Final = 8
"""Places that a member to copy lists one by one."""
_ISO: Final = VERDICTS.index("iso")
_SEMANTIC: Final = VERDICTS.index("semantic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What stands in the way of a proof, by a stable code (a rule of the difference, or one of the operations')."""

    code: str
    pointer: str
    message: str

    def to_wire(self) -> JsonObject:
        """Return it as the command line prints it."""
        return {"code": self.code, "pointer": self.pointer, "message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """
    What is known of an upcast from the schemas alone; only `proved` ones are ever applied.

    `counterexample` are arguments of the old form that show why it is refuted, where some were found; `image` is what
    became of them. `write` is what the file lacks, where that is all: a person who means it copies it there.
    """

    status: Status
    grade: Grade | None = None
    reasons: tuple[Reason, ...] = ()
    counterexample: Json = None
    image: Json = None
    write: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it may be applied to a record, which is still checked by itself."""
        return self.status == "proved"

    def to_wire(self) -> JsonObject:
        """Return it as the command line prints it."""
        return {
            "status": self.status,
            "grade": self.grade,
            "reasons": [reason.to_wire() for reason in self.reasons],
            "counterexample": self.counterexample,
            "image": self.image,
            "write": self.write,
        }


def prove(upcast: Upcast, old: ToolVersion, new: ToolVersion, settings: Settings = DEFAULT) -> Proof:
    """
    Return whether the upcast carries arguments of *old* to *new* as pure format: F1 to F6 of the rules.

    Works on the closed readings of both schemas; the contract must not change, and a named person asserts that every
    leaf keeps its meaning. Pure, and never raises: what cannot be read or followed is unknown.
    """
    return prove_closed(upcast, Closed(old, settings.dialect), Closed(new, settings.dialect), settings)


def prove_closed(upcast: Upcast, old: Closed, new: Closed, settings: Settings = DEFAULT) -> Proof:
    """Do the same with the closed readings in *settings*' dialect, which others need too."""
    if upcast.semantic is not None:
        return _because("none", "semantic", "", upcast.semantic)
    if not upcast.asserted_by:
        return _because("unknown", "not_asserted", "", "nobody says in the file that every leaf keeps its meaning")
    for op in upcast.ops:
        if op.op == "introduce_optional" and not op.says:
            return _because("unknown", "absence_not_asserted", op.pointer, "nobody says what its absence means")
    try:
        return _Comparison(upcast, old, new, settings).proof()
    except CatalogFault as fault:
        return _because("unknown", "schema_refused", fault.pointer, fault.fault)


def _because(status: Status, code: str, pointer: str, message: str) -> Proof:
    return Proof(status=status, reasons=(Reason(code=code, pointer=pointer, message=message),))


def _dialect_of(schema: JsonObject, dialect: Dialect) -> Dialect:
    named = schema.get("$schema")
    return DIALECTS[named.removesuffix("#")] if isinstance(named, str) else dialect


def _refers_to_itself(schema: Json) -> bool:
    """Whether a reference is left that leads out of the definitions: what it means would change with the operations."""
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            target = each.get("$ref")
            if isinstance(target, str) and not target.startswith(("#/$defs/", "#/definitions/")):
                return True
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return False


class _Comparison:
    """The image of the old form beside the new one. Raises CatalogFault."""

    def __init__(self, upcast: Upcast, old: Closed, new: Closed, settings: Settings) -> None:
        self.upcast = upcast
        self.old = old
        self.new = new
        self.settings = settings
        here, self.there = old.schema, new.schema
        self.image = Image(here, _dialect_of(here, settings.dialect))
        self.trial = Trial(upcast.ops, old, new)

    def proof(self) -> Proof:
        """Follow the operations over the old schema, then compare what it became with the new one."""
        if _refers_to_itself(self.image.schema):
            return _because("unknown", "recursive", "", "the schema refers to itself where operations may reach")
        try:
            for op in self.upcast.ops:
                self.image.apply(op)
            check_origins(self.upcast.ops, self.old.schema, self.image.schema)
        except Unprovable as stop:
            loss = None if self.upcast.narrows else self.trial.loss()
            found = _because("refuted" if loss or stop.refuted else "unknown", stop.code, stop.pointer, stop.message)
            return _shown(found, loss)
        return self._compared()

    def _compared(self) -> Proof:
        """Let the difference find what only refuses, what widens, and what turns."""
        before = self._before()
        after = replace(of_version(self.new.version), schema=self.there, guarded=self.new.guarded)
        found = difference(before, after, self.settings)
        against = [each for each in found.findings if VERDICTS.index(each.verdict) >= _SEMANTIC]
        against = [each for each in against if not self._is_of_no_record(each)]
        hard = [each for each in against if each.code not in NARROWING]
        unknown = _reasons([each for each in found.findings if each.code in _UNKNOWN]) + self._unsaid(found)
        if unknown and all(each.code in _UNKNOWN for each in hard):
            return Proof(status="unknown", reasons=unknown + _reasons(against))
        partial = bool(self.image.partial or against)
        if hard or (partial and not self.upcast.narrows):
            return self._refuted(found, hard or against, certain=bool(hard))
        return self._graded(found, partial=partial)

    def _is_of_no_record(self, finding: Finding) -> bool:
        """Whether it is about absence where no record has that: another default of what is always given."""
        return finding.code in _DEFAULTS and _is_required(self.image.schema, from_pointer(finding.pointer))

    def _before(self) -> Subject:
        before = replace(of_version(self.old.version), schema=self.image.schema, guarded=self._image_read)
        names = self.upcast.renames_tool
        return replace(before, name=names[1]) if names is not None and before.name == names[0] else before

    @cached_property
    def _image_read(self) -> Guarded:
        """The image as the difference reads it; many operations leave the schema as it is."""
        schema = self.image.schema
        return self.old.guarded if schema is self.old.schema else read(schema, self.settings.dialect)

    def _unsaid(self, found: Difference) -> tuple[Reason, ...]:
        """Return the new options of which the file does not say what their absence means."""
        said = {place_of(op.path) for op in self.upcast.ops if op.op == "introduce_optional"}
        new = [each.pointer for each in found.findings if each.code == "property_added" and each.pointer not in said]
        message = "it is new, and no introduce_optional says what its absence means"
        return tuple(Reason(code="absence_not_asserted", pointer=pointer, message=message) for pointer in new)

    def _refuted(self, found: Difference, against: list[Finding], *, certain: bool) -> Proof:
        message = "some values of the old form have no image here, and the file does not list what it `narrows`"
        left = tuple(Reason(code="not_total", pointer=pointer, message=message) for pointer in self.image.partial)
        reasons, loss = _reasons(against) + left, self._loss(found)
        places: list[Finding | Reason] = [
            *against,
            *(Reason(code="", pointer=each, message=_NO_IMAGE) for each in self.image.partial),
        ]
        write = None if certain else _to_write("narrows", places)
        if loss is None and not certain and not self.image.exact:  # it may be about values that are no images
            return Proof(status="unknown", reasons=reasons, write=write)
        return _shown(Proof(status="refuted", reasons=reasons, write=write), loss)

    def _loss(self, found: Difference) -> Loss | None:
        if found.counterexample is None:
            return self.trial.loss()
        try:
            origin = back(self.upcast.ops, found.counterexample.arguments)
        except Stop:
            return self.trial.loss()
        known = Loss(origin, found.counterexample.arguments) if self.trial.is_old(origin) else None
        return self.trial.loss([origin]) or known

    def _graded(self, found: Difference, *, partial: bool) -> Proof:
        wider = [each for each in found.findings if _ISO < VERDICTS.index(each.verdict) < _SEMANTIC]
        exact = not partial and self.image.exact and not wider and self._is_equal()
        if any(op.op == "restructure" for op in self.upcast.ops) and (partial or not exact):
            return _because("refuted", "not_the_same_shape", "", "the two forms do not have one canonical shape")
        grade: Grade = "partial" if partial else "iso" if exact else "embed"
        if (wider or grade == "embed") and not self.upcast.widens:
            listed = _reasons(wider) or (Reason(code="wider", pointer="", message="the new form takes more"),)
            write = _to_write("widens", listed)
            message = f"the file does not list what it `widens`; who means that writes {write}"
            why = Reason(code="widening_not_listed", pointer="", message=message)
            return Proof(status="unknown", grade=grade, reasons=(why, *listed), write=write)
        return Proof(status="proved", grade=grade)

    def _is_equal(self) -> bool:
        """Whether the new form takes what the image takes, and nothing else."""
        return equal(self._image_read, self.new.guarded, self.settings.formats)


def _is_required(node: Json, place: Steps) -> bool:
    """Whether the property whose default stands at this place is always given; only plain ways lead to a yes."""
    if not isinstance(node, dict) or place[0] not in ("properties", "items"):
        return False
    if place[0] == "items":
        return _is_required(node.get("items"), place[1:])
    name, rest = place[1], place[2:]
    if rest == ("default",):
        return name in node.get("required", ())
    return _is_required(node.get("properties", {}).get(name), rest)


def place_of(path: Steps) -> str:
    """Return the pointer into a schema of what a path into values names."""
    steps = [each for step in path for each in (("items",) if step == EACH else ("properties", step))]
    return to_pointer(steps)


def _to_write(key: str, places: Sequence[Finding | Reason]) -> str:
    """Return the member of the file that lists these places."""
    said = [f"{each.pointer}: {each.message}" if each.pointer else each.message for each in places]
    more = [f"{len(said) - _MOST} more places"] if len(said) > _MOST else []
    return f'"{key}": {json.dumps([*dict.fromkeys(said[:_MOST]), *more], ensure_ascii=False)}'


def _reasons(findings: list[Finding]) -> tuple[Reason, ...]:
    return tuple(Reason(code=each.code, pointer=each.pointer, message=each.message) for each in findings)


def _shown(proof: Proof, loss: Loss | None) -> Proof:
    return proof if loss is None else replace(proof, counterexample=loss.arguments, image=loss.image)
