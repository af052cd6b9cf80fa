"""What is known of tools: definitions of the catalog beside what the ledger recorded when it first saw them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from json import dumps
from typing import Any

from ledger.audit import RecordedTool, RecordedVersion, recorded_tools
from ledger.catalog import Catalog, Fault, ToolDefinition, ToolVersion, load_catalog
from ledger.cli.commands import copyable
from ledger.cli.layout import block, facts, heading
from ledger.cli.opening import catalog_folder, reading
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line
from ledger.cli.when import instant
from ledger.errors import NoDatabase, NotKnown


@dataclass(frozen=True, slots=True)
class KnownTool:
    """
    A tool by name, as the catalog defines it and as the ledger recorded it; one of both may be missing.

    `renamed_to`: what the catalog calls it now, where this name was given up.
    """

    name: str
    defined: ToolDefinition | None
    recorded: RecordedTool | None
    renamed_to: str | None = None

    @property
    def versions(self) -> list[int]:
        """Every version that somebody knows."""
        defined = self.defined.versions if self.defined else {}
        recorded = self.recorded.versions if self.recorded else {}
        return sorted({*defined, *recorded})

    @property
    def current(self) -> int | None:
        """The version that is offered; where no catalog says it, the last recorded one."""
        return self.defined.current if self.defined else max(self.versions, default=None)

    @property
    def stage(self) -> str:
        """The tool's stage."""
        if self.defined is not None:
            return self.defined.stage
        return self.recorded.stage.stage if self.recorded and self.recorded.stage else "active"

    def version(self, number: int | None) -> tuple[ToolVersion | None, RecordedVersion | None]:
        """Return one version from both sides."""
        defined = self.defined.versions.get(number or 0) if self.defined else None
        return defined, self.recorded.versions.get(number or 0) if self.recorded else None


def known_tools(shell: Shell) -> tuple[list[KnownTool], tuple[Fault, ...]]:
    """
    Return the tools by name, and the faults of the catalog's quarantined ones.

    Either side may be missing unless it was named; raises `NoDatabase` where there is neither.
    """
    folder = catalog_folder(shell)
    catalog = load_catalog(folder) if folder is not None else None
    recorded = _recorded(shell, needed=catalog is None or "db" in shell.given)
    defined = catalog.tools if catalog is not None else {}
    names, now = sorted({*defined, *recorded}), catalog.renamed if catalog is not None else {}
    return [KnownTool(each, defined.get(each), recorded.get(each), now.get(each)) for each in names], _faults(catalog)


def _recorded(shell: Shell, *, needed: bool) -> dict[str, RecordedTool]:
    try:
        with reading(shell) as reader:
            return recorded_tools(reader)
    except NoDatabase:
        if needed:
            raise
        return {}


def _faults(catalog: Catalog | None) -> tuple[Fault, ...]:
    return catalog.faults if catalog is not None else ()


def tool_row(tool: KnownTool) -> Row:
    """Return a tool's row."""
    defined, recorded = tool.version(tool.current)
    contract = _contract(defined, recorded)
    return {
        "tool": tool.name,
        "current": tool.current,
        "versions": tool.versions,
        "stage": tool.stage,
        "renamedTo": tool.renamed_to,
        "effect": contract.get("effect"),
        "known": [side for side, found in (("catalog", tool.defined), ("ledger", tool.recorded)) if found is not None],
        "description": _words(defined, recorded),
    }


def _contract(defined: ToolVersion | None, recorded: RecordedVersion | None) -> dict[str, Any]:
    if defined is not None:
        return defined.contract.to_wire()
    return recorded.body.contract if recorded is not None else {}


def _words(defined: ToolVersion | None, recorded: RecordedVersion | None) -> str | None:
    if defined is not None:
        return defined.description
    return recorded.body.description if recorded is not None else None


def known_tool(shell: Shell, name: str, *, whoever_has_it: bool = False) -> KnownTool:
    """Return one tool; with *whoever_has_it* the one that gave this name up. Raises `NotKnown`, with near names."""
    tools, _ = known_tools(shell)
    tool = next((tool for tool in tools if tool.name == name), None)
    heir = next((each for each in tools if each.defined and name in each.defined.renamed), None)
    if heir is not None and whoever_has_it:
        return heir
    if tool is None and heir is not None:
        raise given_up(shell, name, heir.name)
    if tool is None:
        near = get_close_matches(name, [tool.name for tool in tools], n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "See `ledger tool list`."
        raise NotKnown(
            f"there is no tool {name!r} in the catalog, and the ledger has seen none", code="unknown_tool", hint=hint
        )
    return tool


def given_up(shell: Shell, name: str, now: str) -> NotKnown:
    """Return the refusal of a name that its tool has no more."""
    hint = f"See `{copyable(shell, 'tool', 'show', now)}`."
    return NotKnown(f"{name} was renamed to {now}", code="unknown_tool", hint=hint)


def tool_story(shell: Shell, name: str, number: int | None) -> Row:
    """Return all that is known of one version of a tool. Raises `NotKnown` for a tool or a version that is not."""
    tool = known_tool(shell, name)
    wanted = tool.current if number is None else number
    defined, recorded = tool.version(wanted)
    if defined is None and recorded is None and number is not None:
        there = ", ".join(map(str, tool.versions)) or "none"
        raise NotKnown(f"{name} has no version {number}", code="unknown_tool", hint=f"There are: {there}.")
    return {**tool_row(tool), "version": wanted, **_version(tool, defined, recorded)}


def _version(tool: KnownTool, defined: ToolVersion | None, recorded: RecordedVersion | None) -> Row:
    body = recorded.body if recorded is not None else None
    schema = defined.schema if defined is not None else body.schema if body is not None else None
    output = defined.output_schema if defined is not None else body.output_schema if body is not None else None
    here = defined.shape_digest if defined is not None else None
    there = recorded.schema_digest if recorded is not None else None
    return {
        "description": _words(defined, recorded),
        "useWhen": defined.use_when if defined is not None else None,
        "notWhen": defined.not_when if defined is not None else None,
        "runbook": defined.runbook if defined is not None else body.runbook if body is not None else None,
        "contract": _contract(defined, recorded),
        "schema": schema,
        "outputSchema": output,
        "schemaDigest": here or there,
        "recordedDigest": there,
        "recordedAt": recorded.recorded_at if recorded is not None else None,
        "agrees": here == there if here and there else None,
        "owner": tool.defined.owner if tool.defined is not None else None,
        "replacements": _replacements(tool),
        "hint": _hint(tool),
    }


def _replacements(tool: KnownTool) -> list[Any]:
    if tool.defined is not None:
        return [{"tool": each.tool, "when": each.when, "example": each.example} for each in tool.defined.replacements]
    return list(tool.recorded.stage.replacements) if tool.recorded and tool.recorded.stage else []


def _hint(tool: KnownTool) -> str | None:
    if tool.defined is not None:
        return tool.defined.hint
    return tool.recorded.stage.hint if tool.recorded and tool.recorded.stage else None


def stage_of(row: Row) -> str:
    """Return where a tool stands, for people: its stage, or what it is called now."""
    return f"renamed to {row['renamedTo']}" if row["renamedTo"] else str(row["stage"])


def tool_lines(story: Row) -> Iterator[Line]:
    """Yield the page of one version of a tool for people."""
    number = "" if story["version"] is None else f" v{story['version']}"
    yield (Ink(f"{story['tool']}{number}", "strong"), f"  {stage_of(story)}")
    yield from block(story["description"] or "It has no description.", indent="")
    if story["agrees"] is False:
        yield Ink("The catalog's schema is another than the one recorded for this version: raise the version.", "bad")
    named: dict[str, object] = {
        "use when": story["useWhen"],
        "not when": story["notWhen"],
        "known by": " and ".join(story["known"]),
        "versions": ", ".join(map(str, story["versions"])) or None,
        "owner": story["owner"],
        "recorded": f"{instant(story['recordedAt'])} UTC" if story["recordedAt"] else None,
        "digest": story["schemaDigest"],
        "runbook": story["runbook"],
        "replaced by": ", ".join(str(each.get("tool")) for each in story["replacements"]) or None,
        "hint": story["hint"],
    }
    yield from heading("What is known")
    yield from facts({name: fact for name, fact in named.items() if fact is not None})
    if story["contract"]:
        yield from heading("Contract")
        yield from facts(story["contract"])
    if story["schema"] is not None:
        yield from heading("Arguments")
        yield from block(dumps(story["schema"], indent=2, ensure_ascii=False))
