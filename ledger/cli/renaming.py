"""Gives a tool another name, for `tool rename`: its folder, its next version, and the step that says so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copytree, rmtree

from ledger.audit import recorded_tools
from ledger.audit.holding import open_calls
from ledger.catalog.disk import Sources, read_sources
from ledger.catalog.names import folder_of
from ledger.catalog.renaming import renamed
from ledger.cli.commands import copyable
from ledger.cli.growing import defined, write_files
from ledger.cli.opening import reading
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line
from ledger.counting import counted
from ledger.errors import CatalogFault, NoDatabase
from ledger.strictjson import Json


def renaming(shell: Shell, old: str, new: str, *, asserted_by: str | None, write: bool) -> Row:
    """
    Give a tool its new name; with *write* its folder is moved and the files are written, whole or not at all.

    Raises `NotKnown`, and `CatalogFault` where the name is taken or was anybody's, in the catalog, its lock or the
    ledger, and where the tool cannot be renamed as it stands.
    """
    sources = read_sources(shell.catalog)
    definition = defined(sources, old)
    folder = next(each for each in sources.folders if each.tool == old)
    change = renamed(definition, folder, sources, new, asserted_by=asserted_by)
    names = (old, *definition.renamed)
    calls = _open_calls(shell, names, new, definition.path)
    place = Path(sources.root) / folder_of(new)
    if write:
        _moved(Path(folder.path), place, change.files)
    return {
        "tool": new,
        "from": old,
        "fromVersion": change.base,
        "version": change.number,
        "assertedBy": asserted_by,
        "folder": str(place),
        "files": [str(place / name) for name in change.files],
        "upcast": str(place / f"v{change.base}-v{change.number}.upcast.json"),
        "replaces": list(_named_by(sources, old)),
        "openCalls": calls,
        "written": write,
        "next": [
            copyable(shell, "tool", "check"),
            copyable(shell, "tool", "diff", new, str(change.base), str(change.number)),
            copyable(shell, "tool", "lock"),
            copyable(shell, "migrate-schemas"),
        ],
    }


def _open_calls(shell: Shell, names: tuple[str, ...], new: str, path: str) -> int | None:
    """Return how many calls of the tool have not ended; None: no ledger was looked at. Raises CatalogFault."""
    try:
        with reading(shell) as reader:
            if new in recorded_tools(reader):
                message, hint = f"the ledger has recorded another tool as {new}", "Take a name that no tool ever had."
                raise CatalogFault(message, path=path, pointer="/name", hint=hint)
            return sum(len(list(open_calls(reader, each))) for each in names)
    except NoDatabase:
        if "db" in shell.given:
            raise
        return None


def _named_by(sources: Sources, old: str) -> Iterator[str]:
    """Yield the files of the tools that name this one as their replacement."""
    for each in sources.catalog.tools.values():
        if any(replacement.tool == old for replacement in each.replacements):
            yield each.path


def _moved(old: Path, new: Path, files: Mapping[str, Json]) -> None:
    """
    Make the new folder, whole or not at all, of the old one and the files; then take the old one away.

    Raises CatalogFault where that cannot be done.
    """
    work = new.with_name(f".{new.name}.{os.getpid()}.new")
    try:
        copytree(old, work, symlinks=True)
        write_files(work, files)
        work.rename(new)
        rmtree(old)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CatalogFault(f"the folder cannot be moved to {new} ({why})", path=str(old)) from error
    finally:
        rmtree(work, ignore_errors=True)


def rename_lines(data: Row) -> Iterator[Line]:
    """Yield what was done, what is left to a person, and what follows."""
    new, number = data["tool"], data["version"]
    done = "is" if data["written"] else "would be"
    yield (Ink(data["from"], "strong"), f" {done} ", Ink(new, "strong"), f" from version {number} on.")
    if data["written"]:
        yield (Ink("moved    ", "good"), data["folder"])
        for path in data["files"]:
            yield (Ink("written  ", "good"), path)
    else:
        yield "Nothing is written."
    for path in data["replaces"]:
        yield Ink(f"{path} names {data['from']} as a replacement: write {new} there.", "warn")
    if data["openCalls"]:
        left = counted(data["openCalls"], "call")
        yield f"{left} of it not ended yet: `ledger migrate-schemas` says what that step carries."
    if data["openCalls"] is None:
        yield Ink("No ledger was looked at: open calls are not known here.", "warn")
    yield f"Left to you, before it is locked: in the program the function's name, {new};"
    if data["assertedBy"] is None:
        yield f'  "assertedBy" in {data["upcast"]}, the name of who says that every argument means what it meant;'
    yield f"  what else changes of its form, in v{number}.json and in the upcast's ops. Then:"
    for command in data["next"]:
        yield ("  ", Ink(command, "strong", whole=True))
