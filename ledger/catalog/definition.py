"""A tool as the catalog defines it: its versions, its stage, and what replaces it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from ledger.catalog.contract import Contract
from ledger.catalog.guard import Guarded
from ledger.catalog.steps import Upcast
from ledger.errors import CatalogFault
from ledger.events.words import Stage
from ledger.strictjson import Json, JsonObject

NO_UPCASTS: Final[Mapping[int, Upcast]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVersion:
    """
    One published version: what the model reads, what its arguments must be, what the author promises.

    `shape_digest` (`schemaDigest` in events) identifies the version: the schema without words for people.
    `description_digest` covers all the words that the model reads. `formats`
    are those that assert. `path` is the schema's file, or the function. `guarded`: the schema as the guard let it pass,
    for those who look into it (`guarding.guarded_of`); it is no part of what the version says.
    """

    tool: str
    version: int
    schema: JsonObject
    output_schema: JsonObject | None = None
    contract: Contract
    title: str | None = None
    description: str
    use_when: str | None = None
    not_when: str | None = None
    runbook: str | None = None
    stage: Stage = "active"
    formats: frozenset[str] = frozenset()
    shape_digest: str
    description_digest: str
    path: str = ""
    guarded: Guarded | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Another tool for what this one did: `when` says for which part of it, `example` shows its arguments."""

    tool: str
    when: str | None = None
    example: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """
    A tool with all its versions; `current` is the one that is offered, and its stage is the tool's.

    `upcasts` are the steps between versions, by the one that they begin at. `retention_days`: so long an unclosed
    session that knows the tool keeps it from being removed. `reserved`: earlier names, which nobody may use again.
    `path` is its `tool.json`, or the function it was derived from.
    """

    name: str
    current: int
    versions: Mapping[int, ToolVersion]
    stage: Stage = "active"
    replacements: tuple[Replacement, ...] = ()
    hint: str | None = None
    owner: str | None = None
    retention_days: int | None = None
    reserved: tuple[str, ...] = ()
    upcasts: Mapping[int, Upcast] = field(default_factory=lambda: NO_UPCASTS)
    path: str = ""

    @property
    def latest(self) -> ToolVersion:
        """The current version."""
        return self.versions[self.current]

    @property
    def renamed(self) -> Mapping[str, int]:
        """The names that steps of `rename_tool` gave up, each with the last version that had it."""
        steps = ((start, upcast.renames_tool) for start, upcast in sorted(self.upcasts.items()))
        return {names[0]: start for start, names in steps if names is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a tool is quarantined: the file, the place in it (RFC 6901), and what is wrong."""

    tool: str
    path: str
    pointer: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """
    What was read from a catalog folder: the good tools by name, and the faults of the quarantined ones.

    `digest` covers all that the good tools say; two hosts with one digest offer the same. `root` is the folder, empty
    for one that was read from none.
    """

    tools: Mapping[str, ToolDefinition]
    faults: tuple[Fault, ...] = ()
    digest: str
    significant: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    root: str = ""

    @property
    def renamed(self) -> Mapping[str, str]:
        """The names that steps of `rename_tool` gave up, each with what the tool is called now."""
        return {old: tool.name for tool in self.tools.values() for old in tool.renamed}

    def named(self, name: str) -> ToolDefinition | None:
        """
        Return the tool of this name, None where the catalog does not have it.

        Raises `CatalogFault` for a quarantined one, without whose contract nobody knows what may become of its calls,
        and for a name that another tool gave up.
        """
        for fault in self.faults:
            if fault.tool == name:
                raise CatalogFault(fault.message, path=fault.path, pointer=fault.pointer, hint=fault.hint)
        self.check_not_given_up(name, "Register it as {}, with version= where it runs an earlier one.")
        return self.tools.get(name)

    def check_not_given_up(self, name: str, hint: str) -> None:
        """Raise `CatalogFault` for a name that another tool gave up; `hint` says what to do with that tool's name."""
        for tool in self.tools.values():
            if name in tool.reserved:
                message = f"the name {name} was given up by {tool.name}, and is never used again"
                raise CatalogFault(message, path=tool.path, pointer="/reserved", hint=hint.format(tool.name))


def describe(version: ToolVersion) -> str:
    """Return the text that the model reads as the tool's description: what it does, when to use it, when not."""
    parts = [version.description]
    if version.use_when:
        parts.append(f"Use when: {version.use_when}")
    if version.not_when:
        parts.append(f"Do not use when: {version.not_when}")
    return "\n\n".join(part for part in parts if part)
