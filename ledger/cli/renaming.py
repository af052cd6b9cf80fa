"""Gives a tool another name, for `tool rename`: its folder, its next version, and the step that says so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from filecmp import cmp
from pathlib import Path
from shutil import copytree, rmtree
from typing import Final

from ledger.audit import recorded_tools
from ledger.audit.holding import open_calls
from ledger.catalog.definition import ToolDefinition
from ledger.catalog.disk import Sources, left_in, read_sources
from ledger.catalog.lock import TOOL
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
from ledger.session.lease import is_running
from ledger.strictjson import Json

_RENAMED: Final = frozenset({"name", "current", "reserved", "versions"})
"""What a rename writes anew in `tool.json`."""


def renaming(shell: Shell, old: str, new: str, *, asserted_by: str | None, write: bool) -> Row:
    """
    Give a tool its new name; with *write* its folder is moved and the files are written, whole or not at all.

    A run that was cut short is finished by the next one: what it left of the old folder goes.
    Raises `NotKnown`, and `CatalogFault` where the name is taken or was anybody's, in the catalog, its lock or the
    ledger, and where the tool cannot be renamed as it stands.
    """
    sources = read_sources(shell.catalog)
    heir = sources.catalog.tools.get(new)
    left = _left(sources, old, heir) if heir is not None and old in heir.renamed else []
    if heir is not None and left:
        return _finished(shell, sources, old, heir, left, write=write)
    definition = defined(sources, old)
    folder = next(each for each in sources.folders if each.tool == old)
    change = renamed(definition, folder, sources, new, asserted_by=asserted_by)
    calls = _open_calls(shell, (old, *definition.renamed), definition.path, fresh=new)
    place = Path(sources.root) / folder_of(new)
    begun = _begun(place)
    if write:
        _taken_away(begun, definition.path)
        _moved(Path(folder.path), place, change.files)
    return {
        **_told(shell, sources, old, new, change.base),
        "assertedBy": asserted_by,
        "files": [str(place / name) for name in change.files],
        "openCalls": calls,
        "takenAway": [folder.path, *map(str, begun)],
        "finished": False,
        "written": write,
    }


def _told(shell: Shell, sources: Sources, old: str, new: str, base: int) -> Row:
    """Return what is told of a rename however far it got; *base*: the last version of the old name."""
    place, number = Path(sources.root) / folder_of(new), base + 1
    return {
        "tool": new,
        "from": old,
        "fromVersion": base,
        "version": number,
        "folder": str(place),
        "upcast": str(place / f"v{base}-v{number}.upcast.json"),
        "replaces": list(_named_by(sources, old)),
        "next": [
            copyable(shell, "tool", "check"),
            copyable(shell, "tool", "diff", new, str(base), str(number)),
            copyable(shell, "tool", "lock"),
            copyable(shell, "migrate-schemas"),
        ],
    }


def _left(sources: Sources, old: str, heir: ToolDefinition) -> list[Path]:
    """
    Return what a rename that was cut short left of the old name.

    Raises CatalogFault where the old folder holds anything that the new one does not: that is not the rename's to take.
    """
    root = Path(sources.root)
    place, new = root / folder_of(old), root / folder_of(heir.name)
    for name in _lacks(place, new, sources):
        message, hint = f"{place / name} is not in {new} as it is", "Take it there or away, and run the command again."
        raise CatalogFault(message, path=str(place), hint=hint)
    aside = [each.path for each in left_in(root) if (each.name, each.kind) == (place.name, "old")]
    return [*([place] if place.exists() else []), *aside, *_begun(root / folder_of(heir.name))]


def _begun(new: Path) -> list[Path]:
    """
    Return the copies of the old folder in which a rename to this one was cut short.

    One whose process is still there may be at work. Where it runs on another host it finds its copy gone, and leaves
    the old folder as it is.
    """
    found = [each for each in left_in(new.parent) if (each.name, each.kind) == (new.name, "new")]
    return [each.path for each in found if each.process == os.getpid() or is_running(each.process) is False]


def _lacks(old: Path, new: Path, sources: Sources) -> Iterator[str]:
    """Yield the files of the old folder, by their path below it, that the new one does not hold as they are."""
    documents = {Path(folder.path): folder.documents.get(TOOL) for folder in sources.folders}
    for each in sorted(old.rglob("*")):
        name = each.relative_to(old)
        if name == Path(TOOL):
            if not _went_along(documents[old], documents[new]):
                yield TOOL
        elif not each.is_dir() and not ((new / name).is_file() and cmp(each, new / name, shallow=False)):
            yield str(name)


def _went_along(before: Json, after: Json) -> bool:
    """Whether a tool's document says under the new name all that it said under the old one."""
    if not isinstance(before, dict) or not isinstance(after, dict) or not isinstance(before.get("versions"), dict):
        return False
    words = all(after.get(word) == value for word, value in before.items() if word not in _RENAMED)
    return words and before["versions"].items() <= after["versions"].items()


def _finished(
    shell: Shell, sources: Sources, old: str, heir: ToolDefinition, left: Sequence[Path], *, write: bool
) -> Row:
    """Finish a rename that was cut short: its new folder is whole, so what is left of the old one goes."""
    base = heir.renamed[old]
    calls = _open_calls(shell, (heir.name, *heir.renamed), heir.path)
    if write:
        _taken_away(left, heir.path)
    return {
        **_told(shell, sources, old, heir.name, base),
        "assertedBy": heir.upcasts[base].asserted_by,
        "files": [],
        "openCalls": calls,
        "takenAway": list(map(str, left)),
        "finished": True,
        "written": write,
    }


def _taken_away(left: Sequence[Path], path: str) -> None:
    try:
        for each in left:
            rmtree(each)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CatalogFault(f"{error.filename} cannot be taken away ({why})", path=path) from error


def _open_calls(shell: Shell, names: tuple[str, ...], path: str, *, fresh: str | None = None) -> int | None:
    """
    Return how many calls of the tool have not ended; None: no ledger was looked at.

    Raises CatalogFault where the ledger has recorded a tool of the name that is to be *fresh*.
    """
    try:
        with reading(shell) as reader:
            if fresh is not None and fresh in recorded_tools(reader):
                message, hint = f"the ledger has recorded another tool as {fresh}", "Take a name that no tool ever had."
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
    Make the new folder, whole or not at all, of the old one and the files; then take the old one away, at once too.

    Raises CatalogFault where that cannot be done. What a process that dies leaves of the old one, `_left` finds.
    """
    work, aside = (new.with_name(f".{new.name}.{os.getpid()}.new"), old.with_name(f".{old.name}.{os.getpid()}.old"))
    try:
        copytree(old, work, symlinks=True)
        write_files(work, files)
        work.rename(new)
        old.rename(aside)
        rmtree(aside)
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
    if data["written"] and data["finished"]:
        yield "That rename was cut short, and is finished now."
        for path in data["takenAway"]:
            yield (Ink("removed  ", "good"), path)
    elif data["written"]:
        yield (Ink("moved    ", "good"), data["folder"])
        for path in data["files"]:
            yield (Ink("written  ", "good"), path)
        for path in data["takenAway"][1:]:
            yield (Ink("removed  ", "good"), path)
    else:
        yield "Nothing is written."
    for path in data["replaces"]:
        yield Ink(f"{path} names {data['from']} as a replacement: write {new} there.", "warn")
    if data["openCalls"]:
        left = counted(data["openCalls"], "call")
        yield f"{left} of it not ended yet: `ledger migrate-schemas` says what that step carries."
    if data["openCalls"] is None:
        yield Ink("No ledger was looked at: open calls are not known here.", "warn")
    yield f"Left to you, before it is locked: in the program the tool's name, {new};"
    if data["assertedBy"] is None:
        yield f'  "assertedBy" in {data["upcast"]}, the name of who says that every argument means what it meant;'
    yield f"  what else changes of its form, in v{number}.json and in the upcast's ops. Then:"
    for command in data["next"]:
        yield ("  ", Ink(command, "strong", whole=True))
