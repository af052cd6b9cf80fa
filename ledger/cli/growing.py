"""Writes new versions and tools into a catalog, for `tool new-version` and `tool import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from ledger.catalog.definition import ToolDefinition
from ledger.catalog.diff import read_subjects
from ledger.catalog.disk import Sources, read_document, read_sources, write_json
from ledger.catalog.lists import taken
from ledger.catalog.lock import Lock
from ledger.catalog.versions import new_version
from ledger.cli.commands import copyable
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line, Tone
from ledger.errors import CatalogFault, NotKnown
from ledger.strictjson import Json

_TONES: Final[Mapping[str, Tone]] = {"new": "good", "version": "good", "draft": "warn", "refused": "bad"}
_SAID: Final = {
    "new": "version 1 is new",
    "same": "the same as version {}",
    "reworded": "version {} was reworded",
    "version": "another shape: version {} is a draft of it",
    "draft": "another shape: the draft version {} has it now",
}


def changed(shell: Shell, name: str, *, current: bool) -> Row:
    """Write a new version of a tool. Raises NotKnown, and CatalogFault where something is in the way."""
    sources = read_sources(shell.catalog)
    definition = defined(sources, name)
    folder = next(each for each in sources.folders if each.tool == name)
    change = new_version(definition, folder, sources.lock or Lock(), current=current)
    write_files(Path(folder.path), change.files)
    return {
        "tool": name,
        "version": change.number,
        "copiedFrom": change.base if change.base != change.number else None,
        "current": change.current,
        "written": [folder.file(file) for file in change.files],
        "next": _steps(shell, name, definition.current, change.number, is_current=change.current == change.number),
    }


def defined(sources: Sources, name: str) -> ToolDefinition:
    """
    Return how a catalog defines a tool.

    Raises CatalogFault for a quarantined one and for a name that another tool gave up, NotKnown for a slip.
    """
    for fault in sources.catalog.faults:
        if fault.tool == name:
            raise CatalogFault(fault.message, path=fault.path, pointer=fault.pointer, hint=fault.hint)
    sources.catalog.check_not_given_up(name, "It is called {} now.")
    definition = sources.catalog.tools.get(name)
    if definition is None:
        near = get_close_matches(name, list(sources.catalog.tools), n=3)
        hint = f"Did you mean {' or '.join(near)}?" if near else "See `ledger tool list`."
        raise NotKnown(f"there is no tool {name!r} in the catalog", code="unknown_tool", hint=hint)
    return definition


def _steps(shell: Shell, name: str, old: int, new: int, *, is_current: bool) -> list[str]:
    """Return the commands that follow, in their order."""
    return [
        copyable(shell, "tool", "check"),
        copyable(shell, "tool", "diff", name, str(old), str(new)),
        *([] if is_current else [copyable(shell, "tool", "new-version", name, "--current")]),
        copyable(shell, "tool", "lock"),
    ]


def change_lines(data: Row) -> Iterator[Line]:
    """Yield what was written, and what follows."""
    for path in data["written"]:
        yield (Ink("written  ", "good"), path)
    if data["current"] == data["version"]:
        yield f"Version {data['version']} is the current one now."
    else:
        yield f"Version {data['version']} is a draft: version {data['current']} stays the current one."
    yield "Edit it, and then:" if data["copiedFrom"] is not None else "What follows:"
    for command in data["next"]:
        yield ("  ", Ink(command, "strong", whole=True))


def write_files(folder: Path, files: Mapping[str, Json]) -> None:
    """Write a tool's files, `tool.json` last: until then nothing names the others."""
    for name in sorted(files, key=lambda name: name == "tool.json"):
        write_json(folder / name, files[name])


def imported(shell: Shell, file: str, *, trust_hints: bool, write: bool) -> Row:
    """Take a file's tools into the catalog. Raises CatalogFault for a file that is no list of tools."""
    sources = read_sources(shell.catalog)
    subjects = read_subjects(read_document(file), file)
    rows = []
    for name, subject in subjects.items():
        if name is None and subject.name is None:
            raise CatalogFault("this is one schema, and no tool with a name", path=file, hint="Give a list of tools.")
        found = taken(name or str(subject.name), subject, sources, trust_hints=trust_hints)
        files = [str(Path(sources.root) / found.folder / each) for each in found.files]
        if write and found.files:
            write_files(Path(sources.root) / found.folder, found.files)
        refused = {"message": found.message, "pointer": found.pointer} if found.what == "refused" else {}
        rows.append({"tool": found.tool, "what": found.what, "version": found.version, "files": files, **refused})
    return {"file": file, "written": write, "tools": rows}


def import_lines(data: Row) -> Iterator[Line]:
    """Yield a line for each tool, and the counts."""
    for row in data["tools"]:
        said = _SAID[row["what"]].format(row["version"]) if row["what"] in _SAID else f"refused: {row['message']}"
        yield (Ink(row["tool"], "strong"), "  ", Ink(said, _TONES.get(row["what"])))
    counts = Counter(row["what"] for row in data["tools"])
    yield ", ".join(f"{number} {what}" for what, number in sorted(counts.items())) + "."
    if not data["written"]:
        yield "Nothing is written."
