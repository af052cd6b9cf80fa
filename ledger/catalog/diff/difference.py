"""The difference of two tools: its findings, its verdict, and arguments that show the worst of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ledger.catalog.contract import Contract
from ledger.catalog.diff.examples import Spot
from ledger.catalog.diff.judge import Counterexample, Judge
from ledger.catalog.diff.meaning import word
from ledger.catalog.diff.notes import Note
from ledger.catalog.diff.rules import RULES, VERDICTS, Finding, Verdict, worst
from ledger.catalog.diff.space import Space, TooComplex, read
from ledger.catalog.diff.subject import Subject
from ledger.catalog.diff.walk import ROOT, Suspect, Walk
from ledger.catalog.guard import Guarded
from ledger.catalog.patterns import PatternTooCostly
from ledger.catalog.shape import SIGNIFICANT, shape_of
from ledger.catalog.vocabulary import Dialect
from ledger.strictjson import Json, JsonObject, canonical, to_pointer

_SEMANTIC: Final = VERDICTS.index("semantic")
_DATES: Final = ("introducedAt", "deprecatedAt", "replacement")
_CONTRACT: Final = {
    "effect": "effect_changed",
    "supportsIdempotency": "idempotency_changed",
    "scopes": "scopes_changed",
    **dict.fromkeys(_DATES, "lifecycle_changed"),
}
_WORDS: Final = {"description": "description_changed", "title": "title_changed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a catalog says for both sides: significant annotations, formats that assert, the dialect of no `$schema`."""

    significant: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    dialect: Dialect = "2020-12"


DEFAULT: Final = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`verdict` is the worst of the findings; `counterexample` shows one of the worst, where one was found."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    counterexample: Counterexample | None = None

    @property
    def needs_person(self) -> bool:
        """Whether old calls can't be carried over without somebody's word."""
        return VERDICTS.index(self.verdict) >= _SEMANTIC

    def to_wire(self, upcast: str = "none") -> JsonObject:
        """Return it as the command line prints it; *upcast* says what is known of one between the two versions."""
        return {
            "verdict": self.verdict,
            "findings": [finding.to_wire() for finding in self.findings],
            "counterexample": self.counterexample.to_wire() if self.counterexample else None,
            "upcast": upcast,
        }


def difference(old: Subject, new: Subject, settings: Settings = DEFAULT) -> Difference:
    """
    Return how *new* differs from *old*: of two versions of one tool, or of two tools.

    Pure, and the same for the same input. What can't be shown to be harmless is `semantic`. Raises CatalogFault for a
    schema that a catalog would refuse (references that leave it, patterns without end, sizes).
    """
    findings = list(_beside(old, new, settings))
    suspects, judge = _schemas(old.schema, new.schema, settings, (old.guarded, new.guarded))
    findings += {
        (each.finding.code, each.finding.pointer, each.finding.message): each.finding for each in suspects
    }.values()
    order = [each for each in suspects if VERDICTS.index(each.finding.verdict) >= _SEMANTIC]
    order.sort(key=lambda each: -VERDICTS.index(each.finding.verdict))
    shown = judge.counterexample(order) if judge is not None else None
    weighed = sorted(findings, key=lambda each: -VERDICTS.index(each.verdict))
    return Difference(
        verdict=worst([finding.verdict for finding in findings]), findings=tuple(weighed), counterexample=shown
    )


def missing_tool(name: str, *, gone: bool) -> Finding:
    """Return the finding of a tool that only one of two lists has."""
    code, message = ("tool_removed", "the tool is gone") if gone else ("tool_added", "a new tool")
    return Finding(code, to_pointer([name]), name if gone else None, None if gone else name, f"{name}: {message}")


def _schemas(
    old: Json, new: Json, settings: Settings, known: tuple[Guarded | None, Guarded | None] = (None, None)
) -> tuple[list[Suspect], Judge | None]:
    """Compare two schemas, of which some were read before; return what was found, and who can try it."""
    if old in (None, {}) or new in (None, {}):
        return list(_missing(old, new)), None
    sides = zip((old, new), known, strict=True)
    one, two = (guarded or read(schema, settings.dialect) for schema, guarded in sides)
    if one.dialect == two.dialect and canonical(one.schema) == canonical(two.schema):
        alike = canonical(old) == canonical(new)
        return [] if alike else [
            _plainly("draft_changed", "the same, with bounds or $schema as another draft has them")
        ], None
    significant = settings.significant | SIGNIFICANT
    here, there = (Space(each, settings.formats, significant) for each in (one, two))
    shapes = (canonical(shape_of(each.nodes, each.dialect, significant)) for each in (one, two))  # for 1 == True here
    same = len(set(shapes)) == 1
    walk = Walk(here, there, significant)
    try:
        suspects = walk.all()
        suspects += judged(walk, one, two, [each.finding for each in suspects], same=same)
    except (TooComplex, PatternTooCostly):
        suspects = [*walk.suspects, _plainly("not_proved", "the schemas are too large or too intricate to be compared")]
    return suspects, Judge(here, there)


def judged(walk: Walk, one: Guarded, two: Guarded, findings: list[Finding], *, same: bool) -> Iterator[Suspect]:
    """Yield what the findings do not say: another spelling; and a doubt where they say less than could be proved."""
    verdict = worst([finding.verdict for finding in findings])
    if one.dialect != two.dialect:
        yield _plainly("draft_changed", f"{one.dialect} became {two.dialect}")
    if same:
        if not findings and one.dialect == two.dialect:
            yield _plainly("rewritten", "the same in another order, or under another $id")
        return
    if VERDICTS.index(verdict) >= _SEMANTIC:
        return
    forth = walk.forth.contained(ROOT, ROOT)
    codes = {finding.code for finding in findings}
    if "property_added_open" in codes:
        forth = forth or walk.mostly.contained(ROOT, ROOT)
    equal = forth and walk.back.contained(ROOT, ROOT)
    if not forth or (VERDICTS.index(verdict) < VERDICTS.index("embed") and not (equal or "nullable_spelling" in codes)):
        yield _plainly("not_proved", RULES["not_proved"][1])
    elif verdict in ("identical", "annotation"):
        yield _plainly("spelling_changed", "the same values in another spelling")


def _plainly(code: str, message: str) -> Suspect:
    return _suspect(Finding(code, "", None, None, message))


def _suspect(finding: Finding) -> Suspect:
    return Suspect(finding, Note(code=finding.code, message=finding.message), Spot())


def _missing(old: Json, new: Json) -> Iterator[Suspect]:
    if old in (None, {}) and new in (None, {}):
        return
    if new in (None, {}):
        yield _suspect(Finding("schema_missing", "", old, new, "there was a schema, and now there is none"))
    else:
        yield _suspect(Finding("schema_added", "", old, new, "there was no schema, and now there is one"))


def _beside(old: Subject, new: Subject, settings: Settings) -> Iterator[Finding]:
    """Yield what changed beside the schema of the arguments."""
    if old.name is not None and new.name is not None and old.name != new.name:
        yield Finding("tool_renamed", "/name", old.name, new.name, "the tool has another name")
    yield from _words(old, new)
    yield from _contracts(old.contract, new.contract)
    yield from _hints(old, new)
    if old.output_schema is not None and new.output_schema is not None:
        inner, _ = _schemas(old.output_schema, new.output_schema, settings)
        if VERDICTS.index(worst([each.finding.verdict for each in inner])) > VERDICTS.index("dialect"):
            yield _output(old, new)
    elif old.output_schema != new.output_schema:
        yield _output(old, new)


def _hints(old: Subject, new: Subject) -> Iterator[Finding]:
    for hint in sorted(old.hints.keys() | new.hints.keys()):
        one, two = old.hints.get(hint), new.hints.get(hint)
        if canonical(one) != canonical(two):
            same = old.hint(hint) == new.hint(hint)
            code = "metadata_changed" if same else "hint_changed"
            message = f"{hint} is said now" if same else f"{hint} says something else"
            yield Finding(code, f"/annotations/{hint}", one, two, message)


def _output(old: Subject, new: Subject) -> Finding:
    message = "what the tool answers has another schema"
    return Finding("output_changed", "/outputSchema", old.output_schema, new.output_schema, message)


def _words(old: Subject, new: Subject) -> Iterator[Finding]:
    for key in sorted(old.words.keys() | new.words.keys()):
        one, two = old.words.get(key), new.words.get(key)
        if canonical(one) != canonical(two):
            note = word(key, one, two)
            code = note.code if key in _WORDS or note.outcome is not None else "metadata_changed"
            pointer = to_pointer(key.split("/") if key.startswith("annotations/") else [key])
            yield Finding(code, pointer, one, two, note.message)


def _contracts(old: Contract | None, new: Contract | None) -> Iterator[Finding]:
    if old is None or new is None:
        if old is not new:
            one, two = (None if each is None else each.to_wire() for each in (old, new))
            yield Finding("contract_changed", "/contract", one, two, "only one side says what it promises")
        return
    before, after = old.to_wire(), new.to_wire()
    if canonical(before) == canonical(after):
        return
    for key in sorted(before.keys() | after.keys()):
        one, two = before.get(key), after.get(key)
        if canonical(one) != canonical(two):
            code = _CONTRACT.get(key, "contract_changed")
            yield Finding(code, f"/contract/{key}", one, two, f"the contract's {key} changed")
