"""
The lock of a catalog: what was published, by digests. Entries are added, never changed and never dropped.

A version is identified by its shape and its contract; both stay as they were published. Wordings may change (another
wording is no other version), and each that was ever published stays listed, newest last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ledger.catalog.contract import Contract
from ledger.catalog.definition import Catalog, ToolDefinition, ToolVersion
from ledger.catalog.shape import shape_digest
from ledger.catalog.steps import Upcast
from ledger.strictjson import Json, JsonObject, digest

TOOL: Final = "tool.json"
META: Final = "../meta/lock.schema.json"
DATES: Final = ("introducedAt", "deprecatedAt", "replacement")
"""Words of a contract that say when, not what: they may be added to a published version."""

Documents: TypeAlias = Mapping[str, Json]
"""The JSON files of one tool's folder by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """
    One wording of a version: the digest of what models read, and of each of its files (of their JSON values).

    `formats`: those that the schema names and the catalog had checked; `catalog.json` may let more of them assert.
    """

    description: str
    files: Mapping[str, str]
    formats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedVersion:
    """A published version: SHA-256 (hex) of its shape, contract and output shape; its wordings, newest last."""

    shape: str
    contract: str
    output: str | None = None
    wordings: tuple[Wording, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTool:
    """A published tool: its versions, the digests of its upcasts by file, and the names that it reserves."""

    versions: Mapping[int, LockedVersion] = field(default_factory=dict)
    upcasts: Mapping[str, str] = field(default_factory=dict)
    reserved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """All that was published, by the tools' names."""

    tools: Mapping[str, LockedTool] = field(default_factory=dict)

    def of(self, definition: ToolDefinition) -> LockedTool:
        """Return the versions and upcasts of a tool that were published, under its name and those that it gave up."""
        found = [self.tools[name] for name in (*definition.renamed, definition.name) if name in self.tools]
        versions = {number: version for each in found for number, version in each.versions.items()}
        return LockedTool(
            versions=versions, upcasts={file: each for one in found for file, each in one.upcasts.items()}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What publishing adds: `what` is tool, version, wording, upcast or reserved; `name` says which of them."""

    what: str
    tool: str
    name: str


@dataclass(slots=True)
class _Growing:
    additions: list[Addition] = field(default_factory=list)

    def add(self, what: str, tool: str, name: object) -> None:
        self.additions.append(Addition(what=what, tool=tool, name=str(name)))


def promise_digest(contract: Contract) -> str:
    """Return the SHA-256 (hex) of what a contract promises: without its dates."""
    return digest({word: value for word, value in contract.to_wire().items() if word not in DATES})


def output_digest(version: ToolVersion, significant: frozenset[str]) -> str | None:
    """Return the digest of the output schema's shape, None where there is none."""
    output = version.output_schema
    return shape_digest(output, significant=significant) if output is not None else None


def lock_of(version: ToolVersion, documents: Documents, significant: frozenset[str]) -> LockedVersion:
    """Return how a version would be locked now; *documents* are its tool's files."""
    files = schema_files(documents[TOOL], version.version)
    return LockedVersion(
        shape=version.shape_digest,
        contract=promise_digest(version.contract),
        output=output_digest(version, significant),
        wordings=(
            Wording(
                description=version.description_digest,
                files={name: digest(documents[name]) for name in files},
                formats=tuple(sorted(version.formats.intersection(_formats(version.schema)))),
            ),
        ),
    )


def _formats(schema: Json) -> Iterator[str]:
    """Yield each format that a schema names."""
    if isinstance(schema, dict):
        named = schema.get("format")
        if isinstance(named, str):
            yield named
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _formats(each)


def schema_files(tool: Json, number: int) -> tuple[str, ...]:
    """Return the names of a version's schema files, by the document of `tool.json`: input, and output where it is."""
    entry = tool["versions"][str(number)]
    named = entry.get("schema", f"v{number}.json"), entry.get("outputSchema")
    return tuple(name for name in named if name is not None)


def upcast_file(upcast: Upcast) -> str:
    """Return the name of the file that holds an upcast."""
    return f"v{upcast.from_version}-v{upcast.to_version}.upcast.json"


def is_draft(definition: ToolDefinition, number: int, lock: Lock) -> bool:
    """Whether a version is not published: above the current one, and not locked."""
    return number > definition.current and number not in lock.of(definition).versions


def extended(lock: Lock, catalog: Catalog, folders: Mapping[str, Documents]) -> tuple[Lock, tuple[Addition, ...]]:
    """
    Return the lock with all that the catalog publishes now, and what was added to it.

    *folders*: the JSON files of each tool, by the tool's name. What is locked already stays as it is, whatever the
    files say, and under the name that the tool had then; drafts (versions above the current one) are left out.
    """
    growing = _Growing()
    tools = dict(lock.tools)
    for name, definition in sorted(catalog.tools.items()):
        now = {
            number: lock_of(version, folders[name], catalog.significant)
            for number, version in sorted(definition.versions.items())
        }
        if name not in tools:
            growing.add("tool", name, name)
        for each in (*definition.renamed, name):
            if each in tools:
                tools[each] = replace(tools[each], versions=_worded(each, tools[each], now, growing))
        tools[name] = _grown(tools.get(name, LockedTool()), lock.of(definition), definition, now, growing)
    return Lock(tools=tools), tuple(growing.additions)


def _worded(
    name: str, locked: LockedTool, now: Mapping[int, LockedVersion], growing: _Growing
) -> Mapping[int, LockedVersion]:
    """Return the locked versions, each with the wording that it has now."""
    versions = dict(locked.versions)
    for number in sorted(versions.keys() & now.keys()):
        if now[number].wordings[0] not in versions[number].wordings[-1:]:
            wordings = (*versions[number].wordings, *now[number].wordings)
            versions[number] = replace(versions[number], wordings=wordings)
            growing.add("wording", name, number)
    return versions


def _grown(
    locked: LockedTool,
    before: LockedTool,
    definition: ToolDefinition,
    now: Mapping[int, LockedVersion],
    growing: _Growing,
) -> LockedTool:
    """Return what is locked under a tool's name with all that no name of it has yet; *before*: what they have."""
    name = definition.name
    versions = {n: each for n, each in now.items() if n <= definition.current and n not in before.versions}
    for number in versions:
        growing.add("version", name, number)
    published, upcasts = before.versions.keys() | versions.keys(), dict(locked.upcasts)
    for upcast in definition.upcasts.values():
        file = upcast_file(upcast)
        if file not in before.upcasts and upcast.to_version in published:
            upcasts[file] = upcast.digest
            growing.add("upcast", name, file)
    new = [each for each in definition.reserved if each not in locked.reserved]
    for each in new:
        growing.add("reserved", name, each)
    return LockedTool(versions={**locked.versions, **versions}, upcasts=upcasts, reserved=(*locked.reserved, *new))


def to_wire(lock: Lock) -> JsonObject:
    """Return the lock's document."""
    tools = {name: _tool_to_wire(tool) for name, tool in sorted(lock.tools.items())}
    return {"$schema": META, "format": 1, "tools": tools}


def _tool_to_wire(tool: LockedTool) -> JsonObject:
    wire: JsonObject = {"versions": {str(n): _version_to_wire(each) for n, each in sorted(tool.versions.items())}}
    if tool.upcasts:
        wire["upcasts"] = dict(sorted(tool.upcasts.items()))
    if tool.reserved:
        wire["reserved"] = list(tool.reserved)
    return wire


def _version_to_wire(version: LockedVersion) -> JsonObject:
    output = {"output": version.output} if version.output is not None else {}
    wordings = [_wording_to_wire(each) for each in version.wordings]
    return {"shape": version.shape, "contract": version.contract, **output, "wordings": wordings}


def _wording_to_wire(wording: Wording) -> JsonObject:
    formats = {"formats": list(wording.formats)} if wording.formats else {}
    return {"description": wording.description, "files": dict(wording.files), **formats}


def from_wire(document: JsonObject) -> Lock:
    """Return the lock of a document that the meta-schema `lock` found valid."""
    return Lock(tools=dict(_tools(document["tools"])))


def _tools(document: JsonObject) -> Iterator[tuple[str, LockedTool]]:
    for name, tool in document.items():
        versions = {int(number): _version(each) for number, each in tool["versions"].items()}
        upcasts, reserved = tool.get("upcasts", {}), tuple(tool.get("reserved", ()))
        yield name, LockedTool(versions=versions, upcasts=upcasts, reserved=reserved)


def _version(document: JsonObject) -> LockedVersion:
    wordings = tuple(Wording(**{**each, "formats": tuple(each.get("formats", ()))}) for each in document["wordings"])
    return LockedVersion(**{**document, "wordings": wordings})
