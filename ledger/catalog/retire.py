"""A tool's way out of use, stage by stage: what may follow, and its `tool.json` then. Decides on files alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ledger.catalog.compile import compile_guarded
from ledger.catalog.definition import Catalog, Replacement, ToolDefinition
from ledger.catalog.documents import STAGES
from ledger.catalog.guarding import guarded_of
from ledger.catalog.notes import Note
from ledger.catalog.words import listed, shown
from ledger.errors import RetirementRefused
from ledger.events.words import Stage
from ledger.strictjson import JsonObject, canonical

_BEFORE: Final = ("versions", "retirement", "reserved")
"""Keys of a `tool.json` that a new stage is written in front of, so that the file reads as all others do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retirement:
    """
    What is asked for. None: that stays as the file says it.

    `replacements` are what is there instead; an empty one stands for "nothing is".
    """

    stage: Stage
    replacements: tuple[Replacement, ...] | None = None
    hint: str | None = None
    retention_days: int | None = None


def skipped(old: Stage, new: Stage) -> tuple[Stage, ...]:
    """Return the stages that are left out on the way from one to a later one."""
    return STAGES[STAGES.index(old) + 1 : STAGES.index(new)]


def retired(definition: ToolDefinition, document: JsonObject, catalog: Catalog, asked: Retirement) -> JsonObject:
    """
    Return the tool's `tool.json` in its new stage; nothing but stage and retirement differs.

    Raises `RetirementRefused` where a removed tool would come back, where a replacement is missing, retired itself or
    the tool itself, where its example is none of its arguments, or where several retired tools share a replacement
    without saying by an example which call of it they mean, and where another tool's replacement would be retired.
    """
    name = definition.name
    if definition.stage == "removed" and asked.stage != "removed":
        raise RetirementRefused(
            f"{name} is removed, and a removed tool does not come back: its name stands for what was recorded",
            code="tool_removed",
            hint="Give the new tool another name.",
        )
    replacements = definition.replacements if asked.replacements is None else asked.replacements
    for replacement in replacements:
        _check(name, replacement, catalog)
    _no_one_leans_on(name, catalog)
    changed = _staged(document, definition, asked.stage)
    retirement = {**document.get("retirement", {})}
    retirement |= {"replacements": [_to_wire(each) for each in replacements]} if replacements else {}
    if asked.replacements == ():
        retirement.pop("replacements", None)
    retirement |= {} if asked.hint is None else {"hint": asked.hint}
    retirement |= {} if asked.retention_days is None else {"retentionDays": asked.retention_days}
    return _inserted(changed, "retirement", retirement) if retirement else changed


def retirement_notes(catalog: Catalog) -> Iterator[Note]:
    """Yield the replacements of retired tools that models cannot use: by hand a file is soon written wrong."""
    for definition in catalog.tools.values():
        for index, replacement in enumerate(definition.replacements if definition.stage != "active" else ()):
            try:
                _check(definition.name, replacement, catalog)
            except RetirementRefused as refused:
                yield Note(
                    code="replacement_unfit",
                    tool=definition.name,
                    path=definition.path,
                    pointer=f"/retirement/replacements/{index}",
                    message=refused.message,
                    hint=refused.hint,
                )


def _check(tool: str, replacement: Replacement, catalog: Catalog) -> None:
    name = replacement.tool
    definition = catalog.tools.get(name)
    if name == tool:
        raise _bad(f"{tool} cannot replace itself")
    if definition is None:
        raise _bad(f"the replacement {shown(name)} is no tool of the catalog", hint=f"There is {_active(catalog)}.")
    if definition.stage != "active":
        raise _bad(f"the replacement {name} is itself {definition.stage}", hint="Name what is there instead of it.")
    if replacement.example is None:
        sharing = ", ".join(each.name for each in _sharing(tool, name, catalog))
        if sharing:
            hint = f"Say with an example which call of {name} it is: --example '{name}={{...}}'."
            raise _bad(f"{name} stands for {sharing} too, and nothing says what tells them apart", hint=hint)
        return
    version = definition.latest
    schema = compile_guarded(guarded_of(version), version.formats)
    for violation in schema.violations(replacement.example):
        where = f" at {violation.pointer}" if violation.pointer else ""
        raise _bad(f"the example for {name} is no call of it{where}: {violation.message}")
    for other in _sharing(tool, name, catalog):
        if any(
            each.tool == name and canonical(each.example) == canonical(replacement.example)
            for each in other.replacements
        ):
            hint = "Its discriminator has another value for each of the tools that became one."
            raise _bad(f"{other.name} has the same example for {name}: nothing tells them apart", hint=hint)


def _sharing(tool: str, replacement: str, catalog: Catalog) -> Sequence[ToolDefinition]:
    """Return the other tools that have the same replacement."""
    named = (each for each in catalog.tools.values() if each.name != tool)
    return [each for each in named if any(other.tool == replacement for other in each.replacements)]


def _no_one_leans_on(tool: str, catalog: Catalog) -> None:
    """A model that is told to use a retired tool would be told to use another one: nobody follows a chain."""
    leaning = _sharing(tool, tool, catalog)
    if leaning:
        first = leaning[0]
        command = f"ledger tool retire {first.name} --stage {first.stage} --use NEW"
        message = f"{tool} is what {', '.join(each.name for each in leaning)} was replaced with"
        raise _bad(message, hint=f"Give {first.name} another replacement first: `{command}`.")


def _active(catalog: Catalog) -> str:
    return listed([name for name, each in catalog.tools.items() if each.stage == "active"])


def _bad(message: str, *, hint: str | None = None) -> RetirementRefused:
    return RetirementRefused(message, code="bad_replacement", hint=hint)


def _staged(document: JsonObject, definition: ToolDefinition, stage: Stage) -> JsonObject:
    """Return the document with another stage: of the tool, and no other one of its current version."""
    current = str(definition.current)
    entry = {key: value for key, value in document["versions"][current].items() if key != "stage"}
    changed = {**document, "versions": {**document["versions"], current: entry}}
    return _inserted(changed, "stage", stage)


def _inserted(document: JsonObject, key: str, value: object) -> JsonObject:
    """Return the document with a key: in its place, or where files have it by custom."""
    if key in document:
        return {**document, key: value}
    changed: JsonObject = {}
    for each, old in document.items():
        if each in _BEFORE and key not in changed:
            changed[key] = value
        changed[each] = old
    return changed


def _to_wire(replacement: Replacement) -> JsonObject:
    wire = {"tool": replacement.tool, "when": replacement.when, "example": replacement.example}
    return {key: value for key, value in wire.items() if value is not None}
