"""Proves on the schemas that an upcast is pure format: what the old form becomes, beside what the new form takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ledger.catalog.definition import ToolVersion
from ledger.catalog.diff import Difference, Finding, Settings, Subject, contained, difference, of_version
from ledger.catalog.diff.difference import DEFAULT
from ledger.catalog.diff.rules import VERDICTS
from ledger.catalog.steps import Upcast
from ledger.catalog.upcast.image import Image
from ledger.catalog.upcast.reading import closed
from ledger.catalog.upcast.records import Grade
from ledger.catalog.upcast.stops import Stop, Unprovable
from ledger.catalog.upcast.values import back
from ledger.catalog.vocabulary import DIALECTS, Dialect
from ledger.strictjson import Json, JsonObject

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
    became of them.
    """

    status: Status
    grade: Grade | None = None
    reasons: tuple[Reason, ...] = ()
    counterexample: Json = None
    image: Json = None

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
        }


def prove(upcast: Upcast, old: ToolVersion, new: ToolVersion, settings: Settings = DEFAULT) -> Proof:
    """
    Return whether the upcast carries arguments of *old* to *new* as pure format: F1 to F6 of the rules.

    Works on the closed readings of both schemas; the contract must not change, and a named person asserts that every
    leaf keeps its meaning. Raises CatalogFault for a schema that a catalog refuses.
    """
    if upcast.semantic is not None:
        return _because("none", "semantic", "", upcast.semantic)
    if not upcast.asserted_by:
        return _because("unknown", "not_asserted", "", "nobody says in the file that every leaf keeps its meaning")
    image = Image(closed(old.schema, settings.dialect), _dialect_of(old.schema, settings.dialect))
    if _refers_to_itself(image.schema):
        return _because("unknown", "recursive", "", "the schema refers to itself where operations may reach")
    try:
        for op in upcast.ops:
            if op.op == "introduce_optional" and not op.says:
                return _because("unknown", "absence_not_asserted", op.pointer, "nobody says what its absence means")
            image.apply(op)
    except Unprovable as stop:
        return _because("refuted" if stop.refuted else "unknown", stop.code, stop.pointer, stop.message)
    return _compared(upcast, image, replace(of_version(old), schema=image.schema), new, settings)


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


def _compared(upcast: Upcast, image: Image, before: Subject, new: ToolVersion, settings: Settings) -> Proof:
    """Compare the image with the new form: the difference finds what only refuses, what widens, and what turns."""
    there = closed(new.schema, settings.dialect)
    after = replace(of_version(new), schema=there)
    names = upcast.renames_tool
    if names is not None and before.name == names[0]:
        before = replace(before, name=names[1])
    found = difference(before, after, settings)
    against = [each for each in found.findings if VERDICTS.index(each.verdict) >= _SEMANTIC]
    hard = [each for each in against if each.code not in NARROWING]
    if any(each.code == "not_proved" for each in hard):
        return Proof(status="unknown", reasons=_reasons(against))
    partial = bool(image.partial or against)
    if hard or (partial and not upcast.narrows):
        return _refuted(upcast, found, hard or against, image)
    relation = contained(image.schema, there, formats=settings.formats, dialect=settings.dialect).relation
    wider = [each for each in found.findings if _ISO < VERDICTS.index(each.verdict) < _SEMANTIC]
    if any(op.op == "restructure" for op in upcast.ops) and (partial or wider or relation != "equal"):
        return _because("refuted", "not_the_same_shape", "", "the two forms do not have one canonical shape")
    grade: Grade = "partial" if partial else "iso" if image.exact and relation == "equal" else "embed"
    if (wider or grade == "embed") and not upcast.widens:
        listed = _reasons(wider) or (Reason(code="wider", pointer="", message="the new form takes more"),)
        why = Reason(code="widening_not_listed", pointer="", message="the file does not list what it `widens`")
        return Proof(status="unknown", grade=grade, reasons=(why, *listed))
    return Proof(status="proved", grade=grade)


def _reasons(findings: list[Finding]) -> tuple[Reason, ...]:
    return tuple(Reason(code=each.code, pointer=each.pointer, message=each.message) for each in findings)


def _refuted(upcast: Upcast, found: Difference, against: list[Finding], image: Image) -> Proof:
    message = "some values of the old form have no image here, and the file does not list what it `narrows`"
    left = tuple(Reason(code="not_total", pointer=pointer, message=message) for pointer in image.partial)
    shown = found.counterexample
    if shown is None:
        return Proof(status="refuted", reasons=_reasons(against) + left)
    try:
        origin = back(upcast.ops, shown.arguments)
    except Stop:
        origin = None
    return Proof(status="refuted", reasons=_reasons(against) + left, counterexample=origin, image=shown.arguments)
