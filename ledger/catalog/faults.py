"""Every fault of a catalog's files, not only the first of each tool."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.catalog.definition import ToolDefinition, ToolVersion
from ledger.catalog.disk import Folder, Sources, meta_schema
from ledger.catalog.documents import Settings
from ledger.catalog.guard import guard_input
from ledger.catalog.lock import TOOL
from ledger.catalog.notes import Note
from ledger.catalog.vocabulary import WORDS
from ledger.errors import CatalogFault
from ledger.strictjson import Json

_NOTHING: tuple[Json, ...] = (None, {})


def fault_notes(sources: Sources) -> Iterator[Note]:
    """Yield what is wrong with the files of each tool, with file and pointer; one note a place."""
    seen: set[tuple[str, str]] = set()
    for note in _all(sources):
        if (note.path, note.pointer) not in seen:
            seen.add((note.path, note.pointer))
            yield note


def _all(sources: Sources) -> Iterator[Note]:
    bad = {fault.tool for fault in sources.catalog.faults}
    for folder in sources.folders:
        document = folder.documents.get(TOOL)
        if folder.tool in bad and document is not None:
            yield from _schemas(folder, document, sources.settings)
    for fault in sources.catalog.faults:
        yield Note(
            code="quarantined",
            tool=fault.tool,
            path=fault.path,
            pointer=fault.pointer,
            message=fault.message,
            hint=fault.hint,
        )
    for folder in sources.folders:
        if TOOL in folder.documents:
            yield from _by_meta_schema(folder)
    for definition in sources.catalog.tools.values():
        yield from _emptied(definition)


def _by_meta_schema(folder: Folder) -> Iterator[Note]:
    for violation in meta_schema("tool").violations(folder.documents[TOOL]):
        yield Note(
            code="meta_schema",
            tool=folder.tool,
            path=folder.file(TOOL),
            pointer=violation.pointer,
            message=violation.message,
        )


def _schemas(folder: Folder, document: Json, settings: Settings) -> Iterator[Note]:
    """Yield the first fault of each version's schema: a quarantine names only the first of the whole tool."""
    versions = document.get("versions") if isinstance(document, dict) else None
    for key, entry in versions.items() if isinstance(versions, dict) else ():
        name = entry.get("schema", f"v{key}.json") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in folder.documents:
            continue
        schema, path, number = folder.documents[name], folder.file(name), int(key) if key.isdecimal() else None
        if schema in _NOTHING:
            yield _nothing(folder.tool, number, path)
            continue
        try:
            guard_input(schema, limits=settings.limits, dialect=settings.dialect, path=path)
        except CatalogFault as fault:
            yield Note(
                code="quarantined",
                tool=folder.tool,
                version=number,
                path=path,
                pointer=fault.pointer,
                message=fault.fault,
                hint=fault.hint,
            )


def _emptied(definition: ToolDefinition) -> Iterator[Note]:
    """Yield the versions that say nothing, where the version before said something."""
    before: ToolVersion | None = None
    for _, version in sorted(definition.versions.items()):
        if before is not None and _says_nothing(version) and not _says_nothing(before):
            yield _nothing(version.tool, version.version, version.path)
        before = version


def _says_nothing(version: ToolVersion) -> bool:
    said = version.schema.keys() - WORDS - {"$schema", "$id", "type"}
    return all(version.schema[keyword] in ({}, []) for keyword in said)


def _nothing(tool: str, number: int | None, path: str) -> Note:
    return Note(
        code="schema_emptied",
        tool=tool,
        version=number,
        path=path,
        message="the schema says nothing, where there was one: that is a fault, not a version",
        hint='A tool without arguments says {"type": "object", "additionalProperties": false}.',
    )
