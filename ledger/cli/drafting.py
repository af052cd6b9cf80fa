"""The upcast file that `tool diff --suggest` guesses between two versions: printed, or written where it belongs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from json import dumps
from pathlib import Path

from ledger.catalog import ToolDefinition, folder_of
from ledger.catalog.disk import write_json
from ledger.catalog.files import Files, read_catalog
from ledger.catalog.upcast.suggest import suggest
from ledger.cli.differing import fault_told, number_of
from ledger.cli.faults import DONE, FAILED
from ledger.cli.opening import catalog_folder
from ledger.cli.shell import Shell
from ledger.cli.tools import KnownTool, known_tool
from ledger.errors import CatalogFault, NotKnown, UsageError
from ledger.strictjson import JsonObject


@dataclass(frozen=True, slots=True)
class Draft:
    """A guessed file; `document` None: nothing can be guessed. `written`: where it stands, if it was written."""

    document: JsonObject | None
    written: str | None = None


def draft(shell: Shell, name: str, old: str, new: str, *, write: bool) -> Draft:
    """
    Guess the upcast file between two versions that the catalog defines; *write* it beside their schemas.

    Raises UsageError where it would lead downwards, NotKnown, and CatalogFault where the tool is quarantined or a file
    that says something is in the way.
    """
    _upwards(name, old, new, write=write)
    ends = []
    with fault_told(shell, name):
        tool = _begun(shell, name, number_of(old), number_of(new)) or known_tool(shell, name, whoever_has_it=True)
        for text in (old, new):
            defined, _ = tool.version(number_of(text))
            if defined is None:
                hint = "A draft is made of two versions whose schemas stand in the catalog."
                raise NotKnown(f"the catalog has no version {text!r} of {tool.name}", code="unknown_tool", hint=hint)
            ends.append(defined)
    document = suggest(*ends)
    if document is None or not write or tool.defined is None:
        return Draft(document)
    file = _free(tool.defined, ends[0].version, ends[1].version)
    write_json(file, document)
    return Draft(document, str(file))


def _upwards(name: str, old: str, new: str, *, write: bool) -> None:
    start, end = number_of(old), number_of(new)
    if start is not None and end is not None and start > end:
        words = ("ledger", "tool", "diff", name, str(end), str(start), "--suggest", *(("--write",) if write else ()))
        message = f"an upcast leads to a higher version, so none leads from {start} to {end}"
        raise UsageError(message, hint=f"The other way round: `{shlex.join(words)}`.")


def _begun(shell: Shell, name: str, start: int | None, end: int | None) -> KnownTool | None:
    """Return the tool where the drafted file is there and empty: a shell makes it so (`--suggest > FILE`)."""
    root = catalog_folder(shell)
    if root is None:
        return None
    begun, files = root / folder_of(name) / f"v{start}-v{end}.upcast.json", Files(root)
    if not begun.is_file() or begun.stat().st_size:
        return None
    nothing: JsonObject = {"tool": name, "from": start, "to": end}
    defined = read_catalog(root, lambda file: nothing if file == begun else files.read(file)).tools.get(name)
    return KnownTool(name, defined, None) if defined is not None else None


def _free(defined: ToolDefinition, start: int, end: int) -> Path:
    """Return where the file between two versions belongs; raises CatalogFault where one that says something stands."""
    folder = Path(defined.path).parent
    file = folder / f"v{start}-v{end}.upcast.json"
    if file.exists() and file.stat().st_size:
        hint = "Nothing is written over it: edit it, or take it away first."
        raise CatalogFault("this file is there already", path=str(file), hint=hint)
    there = defined.upcasts.get(start)
    if there is not None and there.to_version != end:
        hint = f"A version has one: draft it to version {there.to_version}, or take this file away first."
        raise CatalogFault(f"this upcast leads on from version {start} already", path=there.path, hint=hint)
    return file


def told(shell: Shell, found: Draft) -> int:
    """Print a draft as it stands in its file; return the exit status, 1 where there is none."""
    if found.document is None:
        nothing = {"draft": None, "written": None}
        shell.out.show(nothing, ["Nothing can be guessed: the change is one of meaning, or there is none."])
        return FAILED
    if shell.json:
        shell.out.show({"draft": found.document, "written": found.written}, ())
    else:
        shell.out.verbatim(dumps(found.document, indent=2, ensure_ascii=False).splitlines())
    for note in _notes(found):
        shell.out.note(note)
    return DONE


def _notes(found: Draft) -> Iterator[str]:
    if found.written is not None:
        yield f"written  {found.written}"
    yield "A guess, and names mislead: nothing is carried until somebody writes assertedBy."
