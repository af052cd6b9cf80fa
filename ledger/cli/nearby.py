"""Which ledgers lie nearby when the one asked for does not exist."""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from ledger.store.urls import POSTGRES

_ENDINGS: Final = (".db", ".sqlite", ".sqlite3", ".ledger")
_PAGE: Final = 512
"""The smallest page of SQLite: the size of every database is a multiple of it."""
_LOOKED_AT: Final = 5_000
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Nearby:
    """A file that may be a ledger; `size` in bytes, `modified` in seconds since 1970."""

    path: Path
    size: int
    modified: float

    @property
    def url(self) -> str:
        """Return what to give to `--db`."""
        path = self.path.as_posix()
        return path if "?" in path else f"sqlite:///{path}"  # behind a scheme it would begin options


def nearby(folder: Path) -> tuple[Nearby, ...]:
    """
    Return the files in `folder` that look like SQLite ledgers, the newest first.

    Only names and sizes are looked at. Opening a database file beside SQLite and closing it again drops SQLite's own
    POSIX locks on it (https://www.sqlite.org/howtocorrupt.html, 2.2), so that is never done.
    """
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _LOOKED_AT):
                if entry.name.endswith(_ENDINGS):
                    found += _candidate(Path(entry.path))
    except OSError:  # no such folder, or not ours to read: then nothing lies there
        return ()
    return tuple(sorted(found, key=lambda file: (-file.modified, file.path)))


def nearby_hint(url: str) -> str | None:
    """
    Return what to do about a missing ledger: name those in its folder and here, or how to make one.

    None for a server: whoever asks for one wants no file of this folder, and the error itself says what to do there.
    """
    if POSTGRES.match(url):
        return None
    folders = {Path(), Path(url.partition(":///")[2]).parent} if url.startswith("sqlite") else {Path()}
    found = [file for folder in sorted(folders) for file in nearby(folder)]
    if not found:
        return "Make one with `ledger init`, or name it with --db URL or LEDGER_DB."
    named = ", ".join(shlex.join(["--db", file.url]) for file in found[:_SHOWN])
    return f"Lying nearby: {named}" + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")


def _candidate(path: Path) -> list[Nearby]:
    try:
        seen = path.stat()
    except OSError:  # a link to nowhere, or gone since
        return []
    if not stat.S_ISREG(seen.st_mode) or not seen.st_size or seen.st_size % _PAGE:
        return []
    return [Nearby(path, seen.st_size, seen.st_mtime)]
