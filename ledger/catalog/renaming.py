"""A tool under another name: the version and the step that say so, and what stands in the way of the name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ledger.catalog.definition import ToolDefinition
from ledger.catalog.disk import Folder, Sources
from ledger.catalog.lock import TOOL, Lock
from ledger.catalog.names import check_name
from ledger.catalog.versions import Change, draft_of, new_version
from ledger.errors import CatalogFault
from ledger.strictjson import JsonObject

_META: Final = "../../meta/upcast.schema.json"
_NEVER: Final = "Take a name that no tool ever had: recorded calls are told by it."


def renamed(
    definition: ToolDefinition, folder: Folder, sources: Sources, new: str, *, asserted_by: str | None = None
) -> Change:
    """
    Return what makes a tool go on as *new*: its next version, a copy of the newest one, and the step to it.

    The files belong into the folder of the new name, beside all that the old one holds: published versions and steps
    stay as they are. Nothing is carried by the step until somebody asserts it. Raises CatalogFault where the name is
    none or was somebody's, where the tool is removed, and where a newer version than the current one is in the way.
    """
    check_name(new)
    for why in _taken(new, definition, sources):
        raise CatalogFault(f"{new} cannot be the name: {why}", path=definition.path, pointer="/name", hint=_NEVER)
    lock = sources.lock or Lock()
    _newest(definition, lock)
    change = new_version(definition, folder, lock, current=True)
    document: JsonObject = {**change.files[TOOL], "name": new}
    document["reserved"] = [*definition.reserved, definition.name]
    step = _step(definition.name, new, change, asserted_by)
    upcast = f"v{change.base}-v{change.number}.upcast.json"
    files = {name: each for name, each in change.files.items() if name != TOOL}
    return replace(change, tool=new, files={**files, upcast: step, TOOL: document})


def heir_of(name: str, sources: Sources) -> str | None:
    """
    Return the folder that looks like a published tool under another name, where no step says so.

    Its `tool.json` still has the old name or keeps it from use, or it was never published and has a version of the same
    shape.
    """
    lock = sources.lock or Lock()
    unpublished = [each for each in sources.folders if each.tool not in lock.tools]
    for folder in unpublished:
        document = folder.documents.get(TOOL)
        said = document if isinstance(document, dict) else {}
        kept = said.get("reserved")
        if said.get("name") == name or (isinstance(kept, list) and name in kept):
            return folder.tool
    shapes = {(number, each.shape) for number, each in lock.tools[name].versions.items()}
    for folder in unpublished:
        definition = sources.catalog.tools.get(folder.tool)
        versions = definition.versions if definition is not None else {}
        if any((number, each.shape_digest) in shapes for number, each in versions.items()):
            return folder.tool
    return None


def _step(old: str, new: str, change: Change, asserted_by: str | None) -> JsonObject:
    step: JsonObject = {"$schema": _META, "tool": new, "from": change.base, "to": change.number}
    if asserted_by is not None:
        step["assertedBy"] = asserted_by
    return {**step, "ops": [{"op": "rename_tool", "from": old, "to": new}]}


def _taken(new: str, definition: ToolDefinition, sources: Sources) -> Iterator[str]:
    """Yield why a name is not free: names that one file system cannot tell apart are one."""
    if new.casefold() == definition.name.casefold():
        yield "the tool has it" if new == definition.name else "only upper and lower case tell it from the old one"
    for folder in sources.folders:
        if folder.tool.casefold() == new.casefold():
            yield f"there is a folder of {folder.tool}"
    tools = (sources.lock or Lock()).tools
    published = {owner: each.reserved for owner, each in tools.items()}
    defined = {each.name: each.reserved for each in sources.catalog.tools.values()}
    for owner, names in (*published.items(), *defined.items()):
        if new == owner:
            yield "a tool of this name was published"
        if new in names:
            yield f"{owner} gave it up"


def _newest(definition: ToolDefinition, lock: Lock) -> None:
    """Raise CatalogFault where the current version is not the highest: the step has to begin at the last one."""
    highest, name = max(definition.versions), definition.name
    if highest == definition.current:
        return
    message, hint = f"version {highest} of {name} is not the current one", f'Write "current": {highest}.'
    if draft_of(definition, lock) is not None:
        message = f"version {highest} of {name} is a draft"
        hint = f"Make it current (`ledger tool new-version {name} --current`), or take it away."
    message += ", and a tool gets another name with the version after its newest"
    raise CatalogFault(message, path=definition.path, pointer="/current", hint=hint)
