"""Checks a catalog and publishes it, for `tool check` and `tool lock`."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.catalog.checking import Report, check_catalog
from ledger.catalog.disk import Sources, read_sources, write_lock
from ledger.catalog.lock import Addition, Lock, extended
from ledger.catalog.notes import Note
from ledger.cli.commands import pasteable
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line
from ledger.counting import counted

_SAID = {
    "tool": "a new tool",
    "version": "version {}",
    "wording": "another wording of version {}",
    "upcast": "{}",
    "reserved": "the reserved name {}",
}


def checked(shell: Shell) -> tuple[Sources, Report]:
    """Return the catalog and what is to be said of it. Raises CatalogFault where there is none."""
    sources = read_sources(shell.catalog)
    return sources, check_catalog(sources)


def report_lines(shell: Shell, report: Report) -> Iterator[Line]:
    """Yield the notes, the worst last so that a terminal ends with them, and the count."""
    for note in sorted(report.notes, key=lambda note: note.is_finding):
        yield from _note(shell, note)
    found, warned = len(report.findings), len(report.warnings)
    tools, versions = counted(report.tools, "tool"), counted(report.versions, "version")
    said = f"{counted(found, 'finding')}, {counted(warned, 'warning')}."
    yield (f"{tools}, {versions}, {counted(report.examples, 'example')}: ", Ink(said, "bad" if found else "good"))


def _note(shell: Shell, note: Note) -> Iterator[Line]:
    who = note.tool if note.version is None else f"{note.tool} v{note.version}"
    yield (
        Ink("finding  " if note.is_finding else "warning  ", "bad" if note.is_finding else "warn"),
        Ink(who, "strong"),
        f"  {note.message}",
        Ink(f" ({note.code})", "dim"),
    )
    yield ("         ", f"{note.path}#{note.pointer}" if note.pointer else note.path)
    if note.hint:
        yield ("         ", Ink(pasteable(shell, note.hint), "dim"))


def locked(sources: Sources, report: Report, *, write: bool) -> Row:
    """Publish what the catalog says, if nothing is wrong or incomplete; the lock's entries are only added to."""
    before = sources.lock or Lock()
    documents = {folder.tool: folder.documents for folder in sources.folders}
    lock, additions = extended(before, sources.catalog, documents)
    done = write and not report.findings and not report.incomplete and lock != sources.lock
    if done:
        write_lock(sources.root, lock)
    return {
        "path": sources.lock_path,
        "written": done,
        "added": [_addition(each) for each in additions],
        "findings": [note.to_wire() for note in report.findings],
        "incomplete": [note.to_wire() for note in report.incomplete],
    }


def _addition(addition: Addition) -> Row:
    return {"what": addition.what, "tool": addition.tool, "name": addition.name}


def lock_lines(shell: Shell, data: Row, report: Report) -> Iterator[Line]:
    """Yield what was published, or what stands in the way."""
    for note in (*report.incomplete, *report.findings):
        yield from _note(shell, note)
    if report.findings:
        yield Ink("Nothing is published while something is wrong.", "bad")
        return
    if report.incomplete:
        yield Ink("Nothing is published: what is missing above is never added to a file that is locked.", "bad")
        return
    for each in data["added"]:
        yield (Ink("+ ", "good"), Ink(each["tool"], "strong"), f"  {_SAID[each['what']].format(each['name'])}")
    if data["written"]:
        yield f"Written to {data['path']}. What it holds is never edited again; keep it in version control."
    elif data["added"]:
        yield f"Nothing is written: this is what `ledger tool lock` would add to {data['path']}."
    else:
        yield f"{data['path']} has everything."
