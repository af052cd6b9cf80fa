"""Checks a whole catalog: files, examples, upcasts, what was published, and how well a model can read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ledger.catalog.advice import advice_of
from ledger.catalog.beside import beside_notes
from ledger.catalog.definition import ToolDefinition
from ledger.catalog.disk import EXAMPLES, Folder, Sources
from ledger.catalog.faults import fault_notes
from ledger.catalog.filling import default_notes
from ledger.catalog.lock import TOOL, Lock, is_draft, schema_files, upcast_file
from ledger.catalog.notes import Note
from ledger.catalog.published import published_notes
from ledger.catalog.retire import retirement_notes
from ledger.catalog.samples import count_examples, example_notes
from ledger.catalog.unproved import unproved_notes
from ledger.strictjson import JsonObject

_TAKE_AWAY: Final = (
    "If no command is at work here, take it away; what a rename left goes when that rename is run again."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was looked at, and what was noticed: findings before warnings, then by file."""

    tools: int
    versions: int
    examples: int
    notes: tuple[Note, ...]

    @property
    def findings(self) -> tuple[Note, ...]:
        """What must be put right."""
        return tuple(note for note in self.notes if note.is_finding)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """What a person weighs."""
        return tuple(note for note in self.notes if not note.is_finding)

    @property
    def incomplete(self) -> tuple[Note, ...]:
        """What a person has still to say in files that the next lock takes in: behind it they are never edited."""
        return tuple(note for note in self.notes if note.before_lock)

    def to_wire(self) -> JsonObject:
        """Return it as the command line prints it."""
        return {
            "tools": self.tools,
            "versions": self.versions,
            "examples": self.examples,
            "findings": [note.to_wire() for note in self.findings],
            "warnings": [note.to_wire() for note in self.warnings],
        }


def check_catalog(sources: Sources) -> Report:
    """Return what is wrong with a catalog, and what could be better. Reads no file but the shipped meta-schemas."""
    notes = sorted(_notes(sources), key=lambda note: (not note.is_finding, note.path, note.pointer, note.code))
    tools = sources.catalog.tools.values()
    return Report(
        tools=len(sources.folders),
        versions=sum(len(definition.versions) for definition in tools),
        examples=count_examples(sources),
        notes=tuple(notes),
    )


def _notes(sources: Sources) -> Iterator[Note]:
    lock = sources.lock or Lock()
    yield from fault_notes(sources)
    yield from published_notes(sources)
    yield from example_notes(sources)
    yield from unproved_notes(sources)
    yield from beside_notes(sources)
    yield from retirement_notes(sources.catalog)
    for folder in sources.folders:
        yield from _files(folder, sources.catalog.tools.get(folder.tool))
    for path in sources.left:
        message = "a command that was cut short left this here, and nobody reads it"
        yield Note(code="left_over", path=path, message=message, hint=_TAKE_AWAY)
    offered = [
        version
        for definition in sources.catalog.tools.values()
        for number, version in definition.versions.items()
        if number == definition.current or is_draft(definition, number, lock)
    ]
    yield from default_notes(offered)
    yield from advice_of(offered, sources.catalog.significant)


def _files(folder: Folder, definition: ToolDefinition | None) -> Iterator[Note]:
    """Yield files that cannot be read, files that nothing names, and a tool.json that editors cannot complete."""
    for name, why in folder.unreadable.items():
        if name.startswith(EXAMPLES):
            yield Note(code="unreadable", tool=folder.tool, path=folder.file(name), message=why.fault, hint=why.hint)
    if definition is None:
        return
    document = folder.documents[TOOL]
    named = {name for number in definition.versions for name in schema_files(document, number)}
    named |= {TOOL, *map(upcast_file, definition.upcasts.values())}
    for name in (*folder.documents, *folder.unreadable):
        if "/" not in name and name not in named:
            yield Note(
                code="stray_file",
                tool=folder.tool,
                path=folder.file(name),
                message="no version of tool.json names this file",
                hint=f"A version is its entry in tool.json: `ledger tool new-version {folder.tool}` writes both.",
            )
    if "$schema" not in document:
        yield Note(
            code="meta_schema_unnamed",
            tool=folder.tool,
            path=folder.file(TOOL),
            message="the file names no meta-schema, so editors cannot complete it",
            hint='Write "$schema": "../../meta/tool.schema.json".',
        )
