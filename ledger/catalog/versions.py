"""A new version of a tool: the files that a person goes on from, and which version is the current one."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import takewhile

from ledger.catalog.definition import ToolDefinition
from ledger.catalog.disk import Folder
from ledger.catalog.lock import TOOL, Lock, is_draft, schema_files
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    What is to be written of one tool: each JSON file by its name, `tool.json` last.

    `base` is the version that `number` was copied from (the same: nothing was copied), `current` the current one then.
    """

    tool: str
    number: int
    base: int
    current: int
    files: Mapping[str, Json] = field(default_factory=dict)


def draft_of(definition: ToolDefinition, lock: Lock) -> int | None:
    """Return the highest version where it is a draft: above the current one, and not published."""
    highest = max(definition.versions)
    return highest if is_draft(definition, highest, lock) else None


def not_removed(definition: ToolDefinition) -> None:
    """Raise CatalogFault for a removed tool: its name stands for what was recorded, and is never used again."""
    if definition.stage == "removed":
        message = f"{definition.name} is removed, and the name of a removed tool is never used again"
        raise CatalogFault(message, path=definition.path, pointer="/stage", hint="Begin a new tool, with another name.")


def new_version(definition: ToolDefinition, folder: Folder, lock: Lock, *, current: bool = False) -> Change:
    """
    Return a new version that is a copy of the current one: schema, output schema, contract, words.

    The current version stays what it is, unless *current*; where there is a draft already, *current* makes that the
    current version instead. Raises CatalogFault where a draft or a file is in the way.
    """
    not_removed(definition)
    draft = draft_of(definition, lock)
    if draft is not None and current:
        return made_current(definition, folder, draft)
    if draft is not None:
        raise CatalogFault(
            f"version {draft} of {definition.name} is a draft already",
            path=definition.path,
            pointer=f"/versions/{draft}",
            hint=f"Edit it, then make it current: `ledger tool new-version {definition.name} --current`.",
        )
    base, number = definition.current, max(definition.versions) + 1
    source, *outputs = schema_files(folder.documents[TOOL], base)
    files = {f"v{number}.json": folder.documents[source]}
    files |= {f"v{number}.output.json": folder.documents[output] for output in outputs}
    _nothing_lost(folder, files)
    entry = deepcopy(folder.documents[TOOL]["versions"][str(base)])
    entry.pop("schema", None)
    if outputs:
        entry["outputSchema"] = f"v{number}.output.json"
    now = number if current else base
    files[TOOL] = with_version(folder.documents[TOOL], number, entry, now)
    return Change(tool=definition.name, number=number, base=base, current=now, files=files)


def made_current(definition: ToolDefinition, folder: Folder, number: int) -> Change:
    """Return what makes a version the current one."""
    files = {TOOL: {**folder.documents[TOOL], "current": number}}
    return Change(tool=definition.name, number=number, base=number, current=number, files=files)


def with_version(document: JsonObject, number: int, entry: Json, current: int) -> JsonObject:
    """Return a `tool.json` with one more version; `current` is written out, since by default it is the highest."""
    versions = {**document["versions"], str(number): entry}
    if "current" in document:
        return {**document, "current": current, "versions": versions}
    head = takewhile(lambda pair: pair[0] != "versions", document.items())
    return {**dict(head), "current": current, **document, "versions": versions}


def _nothing_lost(folder: Folder, files: Mapping[str, Json]) -> None:
    for name, document in files.items():
        there = folder.documents.get(name)
        if name in folder.unreadable or (name in folder.documents and canonical(there) != canonical(document)):
            hint = "It belongs to no version: give it its entry in tool.json, or move it away."
            raise CatalogFault("this file would be overwritten", path=folder.file(name), hint=hint)
