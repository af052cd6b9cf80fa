"""Checks the examples of a catalog: `ok-*.json` must pass their version's schema, `bad-*.json` must not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ledger.catalog.compile import CompiledSchema, compile_guarded
from ledger.catalog.definition import ToolDefinition
from ledger.catalog.disk import EXAMPLES, Folder, Sources
from ledger.catalog.guarding import guarded_of
from ledger.catalog.notes import Note

PLACE: Final = re.compile(EXAMPLES + r"/v([1-9][0-9]{0,5})/(ok|bad)-[^/]+\.json")


def example_notes(sources: Sources) -> Iterator[Note]:
    """Yield the examples that are not what their names say, and those that nothing checks."""
    for folder in sources.folders:
        definition = sources.catalog.tools.get(folder.tool)
        if definition is not None:
            yield from _folder(folder, definition)


def count_examples(sources: Sources) -> int:
    """Return how many examples there are."""
    return sum(name.startswith(EXAMPLES) for folder in sources.folders for name in folder.documents)


def _folder(folder: Folder, definition: ToolDefinition) -> Iterator[Note]:
    schemas: dict[int, CompiledSchema] = {}
    for name in sorted(folder.documents):
        if not name.startswith(EXAMPLES):
            continue
        found = PLACE.fullmatch(name)
        number = int(found[1]) if found else 0
        if found is None or number not in definition.versions:
            yield _misplaced(folder, name, definition)
            continue
        if number not in schemas:
            version = definition.versions[number]
            schemas[number] = compile_guarded(guarded_of(version), version.formats)
        yield from _example(folder, name, number, schemas[number], good=found[2] == "ok")


def _example(folder: Folder, name: str, number: int, schema: CompiledSchema, *, good: bool) -> Iterator[Note]:
    violations = schema.violations(folder.documents[name])
    if good and violations:
        first = violations[0]
        yield Note(
            code="example_refused",
            tool=folder.tool,
            version=number,
            path=folder.file(name),
            pointer=first.pointer,
            message=f"the schema refuses this example: {first.message}",
        )
    elif not good and not violations:
        yield Note(
            code="example_accepted",
            tool=folder.tool,
            version=number,
            path=folder.file(name),
            message="the schema accepts this example, which is to be refused",
        )


def _misplaced(folder: Folder, name: str, definition: ToolDefinition) -> Note:
    return Note(
        code="example_misplaced",
        tool=definition.name,
        path=folder.file(name),
        message="nothing checks this example",
        hint=f"Put it at {EXAMPLES}/vN/ok-….json or bad-….json, where N is a version of the tool.",
    )
