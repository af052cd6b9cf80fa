"""A copy of a ledger while it is written: one snapshot, by SQLite's own backup, checked, then given its name."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ledger.errors import StoreUnavailable, UsageError
from ledger.store.maintenance import Health, check
from ledger.store.sqlite import door
from ledger.store.sqlite.faults import translated
from ledger.store.sqlite.files import Files
from ledger.store.sqlite.opening import reading, refuse_missing_folder
from ledger.store.urls import MEMORY, mask_url, sqlite_path

__all__ = ["Backup", "backup"]

_PAGES: Final = 2048
"""Pages of one step; between two steps Ctrl-C is heard."""


@dataclass(frozen=True, slots=True)
class Backup:
    """What was copied to where, and what the check of the copy found."""

    source: Path
    path: Path
    health: Health


def backup(url: str, target: str | Path) -> Backup:
    """
    Copy a ledger into a new file, whose mode is 0600; writers go on meanwhile.

    The file is never copied as bytes: its log would be missing, and closing it would drop SQLite's locks in this
    process (https://sqlite.org/howtocorrupt.html, 1.2 and 2.2). The copy gets its name when it is whole and on the
    disk; until then, and where anything fails, there is no such file. A damaged ledger is copied as it is; look at
    `Backup.health`. Raises `UsageError` where the target is there already, `NoDatabase`, `StoreUnavailable`, also where
    its folder is missing.
    """
    if "://" in url and (url.startswith(MEMORY) or not url.startswith("sqlite:")):
        hint = "PostgreSQL has pg_dump and pg_basebackup; a ledger in memory is gone with its process."
        raise UsageError(f"{mask_url(url)} is no file that can be copied", hint=hint)
    source, path = Files(sqlite_path(url)), Path(os.path.abspath(target))  # noqa: PTH100 - a link keeps its name
    refuse_missing_folder(path, "the copy")
    _refuse_taken(path)
    copy = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with reading(source) as connection:
            os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            health = _published(connection, copy, path)
    except FileExistsError as error:
        hint = "A backup that was killed left it there: remove it, and begin again."
        raise StoreUnavailable(f"{copy} is in the way", hint=hint) from error
    except OSError as error:
        why = error.strerror or error  # without the name of the half-made copy
        raise StoreUnavailable(f"cannot copy the ledger to {path}: {why}", hint="Name another place.") from error
    door.settle(path.parent)
    return Backup(source.database, path, replace(health, path=path))


def _published(connection: sqlite3.Connection, copy: Path, path: Path) -> Health:
    """Fill the copy, check it, give it its name; where that fails nothing is left of it."""
    try:
        _copied(connection, copy)
        health = check(str(copy))
        try:
            os.link(copy, path)  # unlike a renaming it never overwrites
        except FileExistsError as error:
            raise _taken(path) from error
    except sqlite3.Error as error:
        raise translated(error, path, doing="copy the ledger to") from error
    finally:
        copy.unlink(missing_ok=True)
    return health


def _copied(connection: sqlite3.Connection, copy: Path) -> None:
    """Copy one snapshot: without BEGIN each step would see another one, and the copy begin anew with every commit."""
    connection.execute("BEGIN")
    connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    with closing(Files(copy).connect("rw")) as target:
        connection.backup(target, pages=_PAGES)


def _refuse_taken(path: Path) -> None:
    """A log or a lock that lies there belongs to a ledger too: SQLite would take it for the copy's."""
    for taken in (path, Files(path).wal, Files(path).lock):
        if taken.exists() or taken.is_symlink():
            raise _taken(taken)


def _taken(path: Path) -> UsageError:
    return UsageError(f"{path} is there already; a backup overwrites nothing", hint="Name a new file.")
