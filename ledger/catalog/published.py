"""Compares a catalog with its lock: what was published stays as it was, and stays there."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Final

from ledger.catalog.definition import ToolDefinition, ToolVersion
from ledger.catalog.disk import LOCK, Folder, Sources
from ledger.catalog.lock import TOOL, Lock, LockedTool, LockedVersion, Wording, lock_of, upcast_file
from ledger.catalog.notes import Note
from ledger.catalog.renaming import heir_of
from ledger.catalog.words import listed
from ledger.strictjson import Json, digest, to_pointer

_BACK: Final = "Take it from version control"
_SIGNED_LATE: Final = (
    f"Unsigned it carried nothing, so no call names it: take its entry out of {LOCK} by hand, in a change that somebody"
    " else reads, and `ledger tool lock` takes it in as it is."
)


def published_notes(sources: Sources) -> Iterator[Note]:
    """Yield what was edited, lost or used again since it was published, and what is not published yet."""
    lock = sources.lock or Lock()
    folders = {folder.tool: folder for folder in sources.folders}
    bad = {fault.tool for fault in sources.catalog.faults}
    kept = {name for tool in bad for name in _kept(lock, folders[tool])}
    heirs = {old: each for each in sources.catalog.tools.values() for old in each.renamed}
    for name, locked in lock.tools.items():
        definition = sources.catalog.tools.get(name) or heirs.get(name)
        if definition is not None:  # a tool that got another name keeps its versions
            yield from _tool(locked, definition, folders[definition.name], sources)
        elif name not in bad and name not in kept:
            yield Note(
                code="tool_missing",
                tool=name,
                path=sources.lock_path,
                pointer=to_pointer(["tools", name]),
                message="this tool was published, and its folder is gone",
                hint=_gone(name, sources),
            )
    yield from _names(lock, sources)
    yield from _unlocked(sources)


def _kept(lock: Lock, folder: Folder) -> Iterator[str]:
    """Yield the names that a quarantined tool gave up, as far as its file or the lock says it: it is bad, not gone."""
    yield from lock.tools[folder.tool].reserved if folder.tool in lock.tools else ()
    document = folder.documents.get(TOOL)
    reserved = document.get("reserved") if isinstance(document, dict) else None
    yield from (name for name in reserved if isinstance(name, str)) if isinstance(reserved, list) else ()


def _gone(name: str, sources: Sources) -> str:
    """Return what to do about a published tool without a folder; it may stand under another name already."""
    heir = heir_of(name, sources)
    if heir is None:
        other = f"another name is given by `ledger tool rename {name} NEW`"
        return f"{_BACK}; a tool is retired by its stage, never by deleting it, and {other}."
    step = dumps({"op": "rename_tool", "from": name, "to": heir})
    by_hand = f"write {step} into the upcast file that leads to its next version"
    undone = f"give it back its folder and its name and run `ledger tool rename {name} {heir}`"
    return f"If it is called {heir} now, no step says so: {by_hand}, or {undone}. Else: {_BACK.lower()}."


def _tool(locked: LockedTool, definition: ToolDefinition, folder: Folder, sources: Sources) -> Iterator[Note]:
    for number, published in locked.versions.items():
        version = definition.versions.get(number)
        if version is None:
            yield Note(
                code="version_missing",
                tool=definition.name,
                version=number,
                path=definition.path,
                pointer="/versions",
                message=f"version {number} was published, and is gone",
                hint=f"{_BACK}: recorded calls need it.",
            )
        else:
            now = lock_of(version, folder.documents, sources.catalog.significant)
            yield from _version(published, now, version, definition.path)
    yield from _upcasts(locked, definition, folder)
    for name in sorted({*locked.reserved} - {*definition.reserved}):
        yield Note(
            code="name_released",
            tool=definition.name,
            path=definition.path,
            pointer="/reserved",
            message=f"the name {listed([name])} was reserved, and is no more",
            hint="Names are never used again: put it back.",
        )


def _version(published: LockedVersion, now: LockedVersion, version: ToolVersion, tool: str) -> Iterator[Note]:
    name, number = version.tool, version.version
    anew = f"{_BACK}, and change a new version: `ledger tool new-version {name}`."
    wording, before = now.wordings[0], published.wordings[-1]
    same_files = wording.files == before.files
    edited = now.shape != published.shape or now.output != published.output
    if now.shape != published.shape:
        message = "the schema of a published version was edited"
        if same_files:
            message = "the file is as it was published, but catalog.json now reads another schema from it"
        yield Note(code="version_edited", tool=name, version=number, path=version.path, message=message, hint=anew)
    if now.output != published.output:
        message = "the output schema of a published version was edited"
        yield Note(code="output_edited", tool=name, version=number, path=tool, message=message, hint=anew)
    if now.contract != published.contract:
        yield Note(
            code="contract_edited",
            tool=name,
            version=number,
            path=tool,
            pointer=to_pointer(["versions", str(number), "contract"]),
            message="the contract of a published version was edited",
            hint=anew,
        )
    yield from _wording(wording, before, version, tool, edited=edited)


def _wording(now: Wording, before: Wording, version: ToolVersion, tool: str, *, edited: bool) -> Iterator[Note]:
    name, number, hint = version.tool, version.version, "`ledger tool lock` takes it in."
    if now.formats != before.formats:
        more = ", ".join(sorted({*now.formats} ^ {*before.formats}))
        message = (
            f"catalog.json checks other formats ({more}): recorded arguments may be refused, or pass, that were not"
        )
        yield Note(code="formats_changed", tool=name, version=number, path=version.path, message=message, hint=hint)
    if now.description != before.description:
        message = "what models read was reworded since it was published"
        hint = "`ledger tool lock` publishes the new wording; audit compares the two."
        yield Note(code="description_changed", tool=name, version=number, path=tool, message=message, hint=hint)
    elif now.files != before.files and not edited:
        message = "comments or other words of the schema's file changed since it was published"
        yield Note(code="words_changed", tool=name, version=number, path=version.path, message=message, hint=hint)


def _upcasts(locked: LockedTool, definition: ToolDefinition, folder: Folder) -> Iterator[Note]:
    here = {upcast_file(upcast): upcast.digest for upcast in definition.upcasts.values()}
    for file, published in locked.upcasts.items():
        name, path = definition.name, folder.file(file)
        if file not in here:
            message, hint = "this upcast was published, and is gone", f"{_BACK}: it names what carried recorded calls."
            yield Note(code="upcast_missing", tool=name, path=path, message=message, hint=hint)
        elif here[file] != published:
            message, hint = "a published upcast was edited", f"{_BACK}: events name it by its digest."
            if _unsigned(folder.documents.get(file)) == published:
                message, hint = "this upcast was signed after it was locked", _SIGNED_LATE
            yield Note(code="upcast_edited", tool=name, path=path, message=message, hint=hint)


def _unsigned(document: Json) -> str:
    """Return the digest of an upcast's file before somebody signed it."""
    said = document if isinstance(document, dict) else {}
    return digest({key: value for key, value in said.items() if key not in ("$schema", "assertedBy")})


def _names(lock: Lock, sources: Sources) -> Iterator[Note]:
    """Yield the tools whose name another one gave up, and names that one file system cannot tell apart."""
    reserved = {name: owner for owner, tool in lock.tools.items() for name in tool.reserved}
    folded: dict[str, str] = {}
    for name, definition in sorted(sources.catalog.tools.items()):
        if name in reserved:
            message = f"{reserved[name]} gave this name up: names are never used again"
            yield Note(code="name_reused", tool=name, path=definition.path, pointer="/name", message=message)
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            message = f"only upper and lower case tell it from {other}: some file systems and models cannot"
            yield Note(code="name_collision", tool=name, path=definition.path, pointer="/name", message=message)


def _unlocked(sources: Sources) -> Iterator[Note]:
    hint = "`ledger tool lock` publishes it."
    if sources.lock is None:
        message = f"nothing is published: there is no {LOCK}"
        yield Note(code="not_locked", path=sources.lock_path, message=message, hint=hint)
        return
    for definition in sources.catalog.tools.values():
        locked = sources.lock.of(definition)
        yield from _unlocked_upcasts(locked, definition, hint)
        for number in definition.versions:
            if number <= definition.current and number not in locked.versions:
                message = f"this version is offered, and {LOCK} does not have it"
                yield Note(
                    code="not_locked",
                    tool=definition.name,
                    version=number,
                    path=definition.path,
                    message=message,
                    hint=hint,
                )


def _unlocked_upcasts(locked: LockedTool, definition: ToolDefinition, hint: str) -> Iterator[Note]:
    """Yield the upcasts to published versions that are not published: they may carry calls, and be edited."""
    for upcast in definition.upcasts.values():
        if upcast.to_version in locked.versions and upcast_file(upcast) not in locked.upcasts:
            yield Note(
                code="not_locked",
                tool=definition.name,
                version=upcast.to_version,
                path=upcast.path,
                message=f"{LOCK} does not have this upcast, so nothing keeps it as it is",
                hint=hint,
            )
