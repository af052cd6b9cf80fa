"""The six tools of a small coding agent, as plain methods of one workspace."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ledger.answers import (
    CantTell,
    DidNotHappen,
    Happened,
    Invalid,
    NotFound,
    Reconciled,
    Rejected,
    ToolAnswer,
)
from ledger.demo.edits import replaced_once, state_of
from ledger.demo.files import as_text, lines_of, read_text_bytes, refusal, replace_file
from ledger.demo.process import run_bounded
from ledger.demo.search import Search
from ledger.demo.workspace import Workspace, shown

Row: TypeAlias = dict[str, Any]

TOOL_NAMES = ("read_file", "list_files", "search_text", "read_lines", "edit_file", "run_test")
MAX_ENTRIES = 200
MAX_LINES = 2_000


@dataclass(frozen=True, slots=True)
class CodingTools:
    """
    What the agent may do in its workspace; the methods' names are the tools' names.

    Each returns a JSON object. Each raises NotFound where nothing is at the path, and Rejected `path_outside` for one
    that leads out of the workspace, before anything is touched. `run_test` runs code of the workspace with the rights
    of this process: a process group is no sandbox. POSIX only.
    """

    workspace: Workspace
    test_limit_seconds: float = 60.0

    def read_file(self, path: str) -> Row:
        """Return a text file whole. Raises Rejected `not_a_file`, `too_large`, `not_text`, `unreadable`."""
        place = self.workspace.resolve(path)
        content = read_text_bytes(place, path)
        text, lossy = as_text(content)
        return {
            "path": self.workspace.name_of(place),
            "text": text,
            "lossy": lossy,
            "line_count": len(lines_of(text)),
            "size_bytes": len(content),
        }

    def list_files(self, path: str = ".", max_entries: int = 100) -> Row:
        """
        Return what one folder holds, by name, at most `max_entries` (1-200), and how many there are.

        Raises Rejected `not_a_folder`, `unreadable`. A name that is no valid text is shown escaped, and marked.
        """
        place = self.workspace.resolve(path)
        counter = itertools.count()
        try:
            with os.scandir(place) as entries:
                first = heapq.nsmallest(max_entries, zip(entries, counter, strict=False), key=lambda pair: pair[0].name)
        except NotADirectoryError as error:
            if not os.path.lexists(place):
                raise refusal(error, path) from error
            raise Rejected("not_a_folder", f"{path!r} is a file; read_file and read_lines read it.") from error
        except OSError as error:
            raise refusal(error, path) from error
        total = next(counter)
        return {
            "path": self.workspace.name_of(place),
            "entries": [_entry(entry) for entry, _ in first],
            "total": total,
            "truncated": total > len(first),
        }

    def search_text(self, query: str, path: str = ".") -> Row:
        """Return each line that holds `query` (exact, case counts), in one file or below a folder."""
        place = self.workspace.resolve(path)
        search = Search(self.workspace, query)
        search.run(place, path)
        return {
            "path": self.workspace.name_of(place),
            "matches": search.matches,
            "files_searched": search.files_searched,
            "files_skipped": search.files_skipped,
            "truncated": search.truncated,
        }

    def read_lines(self, path: str, start_line: int, end_line: int | None = None) -> Row:
        """
        Return lines `start_line` to `end_line`, counted from 1, both included; without an end, to the file's last line.

        At most 2,000 at a time. Raises NotFound if the file has no line `start_line`.
        """
        place = self.workspace.resolve(path)
        text, lossy = as_text(read_text_bytes(place, path))
        lines = lines_of(text)
        if start_line > len(lines):
            raise NotFound(f"{path!r} has {len(lines)} lines; there is no line {start_line}.")
        wanted = lines[start_line - 1 : end_line]
        return {
            "path": self.workspace.name_of(place),
            "start_line": start_line,
            "end_line": start_line + len(wanted[:MAX_LINES]) - 1,
            "lines": wanted[:MAX_LINES],
            "lossy": lossy,
            "line_count": len(lines),
            "truncated": len(wanted) > MAX_LINES,
        }

    def edit_file(self, path: str, old_text: str, new_text: str) -> Row:
        """
        Replace `old_text`, which must stand in the file exactly once, in one atomic step.

        Raises NotFound (no such file, or no such text), Rejected `not_unique`, `already_applied`, `too_large`,
        `unwritable` and what `read_file` raises: in all of them the file is as it was.
        """
        place = self.workspace.resolve(path)
        after = replaced_once(read_text_bytes(place, path), old_text, new_text)
        replace_file(place, path, after)
        return {"path": self.workspace.name_of(place), **_fingerprint(after)}

    def edit_file_happened(self, arguments: Mapping[str, Any], context: object) -> Reconciled:  # noqa: ARG002 - the shape of a reconcile function
        """Look whether the file holds the new text or still the old one: the `reconcile` of `edit_file`."""
        path = arguments["path"]
        try:
            place = self.workspace.resolve(path)
            content = read_text_bytes(place, path)
        except ToolAnswer as answer:
            return CantTell({"path": path, "file": answer.message})
        state = state_of(content, arguments["old_text"], arguments["new_text"])
        result = {"path": self.workspace.name_of(place), **_fingerprint(content)}
        evidence = {**result, "text": state}
        if state == "replaced":
            return Happened(result, evidence)
        return DidNotHappen(evidence) if state == "untouched" else CantTell(evidence)

    def run_test(self, path: str = ".") -> Row:
        """
        Run the unit tests of one file or of a folder; tests that fail are a result with another exit code than 0.

        Raises Rejected `not_a_test` for a file that is no Python, and Failed `timeout` when the limit was reached and
        the whole process group was killed.
        """
        place = self.workspace.resolve(path)
        finished = run_bounded(
            _test_command(self.workspace.root, place, path),
            folder=self.workspace.root,
            environment=_TEST_ENVIRONMENT,
            limit_seconds=self.test_limit_seconds,
        )
        return {
            "path": self.workspace.name_of(place),
            "exit_code": finished.exit_code,
            "output": finished.output,
            "output_bytes": finished.output_bytes,
            "truncated": finished.truncated,
            "left_running": finished.left_running,
        }


def range_is_ordered(arguments: Mapping[str, Any], context: object) -> Invalid | None:  # noqa: ARG001 - the shape of a check
    """Refuse `read_lines` whose end is before its start: each field is legal alone. The business check of that tool."""
    start, end = arguments["start_line"], arguments.get("end_line")
    if end is None or end >= start:
        return None
    return Invalid(
        "invalid_range",
        f"end_line {end} is before start_line {start}; lines count from 1 and both ends are included.",
        "/end_line",
    )


# Code written by a model gets no secrets of the host's environment. No caches: an edit within the same second that
# keeps the file's size would be tested against the old bytecode.
_TEST_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
}


def _test_command(root: Path, place: Path, path: str) -> list[str]:
    if not os.path.lexists(place):
        raise NotFound(f"There is nothing at {path!r} in the workspace.")
    # "./" keeps a name that begins with a dash from being read as an option.
    name = f"./{place.relative_to(root).as_posix()}"
    unittest = [sys.executable, "-m", "unittest"]
    if os.path.isdir(place):  # noqa: PTH112 - Path.is_dir raises where the parent is unreadable
        return [*unittest, "discover", "-s", name]
    if place.suffix != ".py":
        raise Rejected("not_a_test", f"{path!r} is no Python file.")
    return [*unittest, name]


def _entry(entry: os.DirEntry[str]) -> Row:
    if entry.is_symlink():
        kind = "link"
    elif entry.is_dir(follow_symlinks=False):
        kind = "folder"
    else:
        kind = "file" if entry.is_file(follow_symlinks=False) else "other"
    name = shown(entry.name)
    return {"name": name, "kind": kind} if name == entry.name else {"name": name, "kind": kind, "escaped": True}


def _fingerprint(content: bytes) -> Row:
    return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
