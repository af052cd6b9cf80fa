"""Looking for a text in the files below a folder, within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ledger.answers import ToolAnswer
from ledger.demo.files import as_text, lines_of, read_text_bytes, refusal
from ledger.demo.workspace import Workspace

MAX_MATCHES = 200
MAX_FILES = 5_000
MAX_TOTAL_BYTES = 64 * 2**20
MAX_LINE_CHARS = 400
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".venv", "__pycache__", "node_modules"})
"""What tools keep for themselves: nobody who searches a project means these."""


@dataclass(slots=True)
class Search:
    """One search: what it found, and what it had to leave out."""

    workspace: Workspace
    query: str
    matches: list[dict[str, Any]] = field(default_factory=list)
    files_searched: int = 0
    files_skipped: int = 0
    truncated: bool = False
    _bytes: int = 0

    def run(self, place: Path, path: str) -> None:
        """
        Search a folder (links are not followed; unreadable, binary and too large files are counted) or one file.

        Raises NotFound or Rejected like `read_text_bytes` if `place` itself cannot be read.
        """
        if not os.path.isdir(place):  # noqa: PTH112 - Path.is_dir raises where the parent is unreadable
            self._look_into(place, read_text_bytes(place, path))
            return
        for seen, file in enumerate(self._files_below(place, path)):
            if self.truncated or seen == MAX_FILES or self._bytes > MAX_TOTAL_BYTES:
                self.truncated = True
                return
            try:
                content = read_text_bytes(file, file.name)
            except ToolAnswer:
                self.files_skipped += 1
            else:
                self._look_into(file, content)

    def _files_below(self, folder: Path, path: str) -> Iterator[Path]:
        """Yield a folder's own files by name, then those of its folders; not by recursion, since trees can be deep."""
        waiting = [folder]
        while waiting:
            current = waiting.pop()
            try:
                with os.scandir(current) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                if current == folder:
                    raise refusal(error, path) from error
                self.files_skipped += 1
                continue
            folders = [entry for entry in found if entry.is_dir(follow_symlinks=False)]
            yield from (Path(entry) for entry in found if not entry.is_dir(follow_symlinks=False))
            waiting += [Path(entry) for entry in reversed(folders) if entry.name not in SKIPPED_FOLDERS]

    def _look_into(self, place: Path, content: bytes) -> None:
        self.files_searched += 1
        self._bytes += len(content)
        found = (
            {"file": self.workspace.name_of(place), "line": number, "text": line[:MAX_LINE_CHARS]}
            for number, line in enumerate(lines_of(as_text(content)[0]), start=1)
            if self.query in line
        )
        room = MAX_MATCHES - len(self.matches)
        self.matches += islice(found, room)
        self.truncated = next(found, None) is not None
