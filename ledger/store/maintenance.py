"""What a person does to a ledger as a whole: where is it, are its tables current, is everything in it sound."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ledger.errors import StoreUnavailable, UsageError
from ledger.store.chains import ChainFault, Chains, Orphans, ServerHealth
from ledger.store.schema import HEAD
from ledger.store.sqlite import door, inspect, sql
from ledger.store.sqlite.files import SYNCHRONOUS, Files
from ledger.store.sqlite.opening import check as check_tables
from ledger.store.sqlite.opening import prepare, reading
from ledger.store.urls import MEMORY, POSTGRES, mask_url, need_driver, sqlite_path

__all__ = [
    "ChainFault",
    "Chains",
    "Health",
    "Orphans",
    "ServerHealth",
    "Tables",
    "Upgraded",
    "check",
    "check_server",
    "current",
    "is_server",
    "locate",
    "place",
    "ready",
    "upgrade",
]

WAL_RESET: Final = ((3, 7, 0), (3, 51, 2))
"""SQLite releases with the WAL-reset bug (https://sqlite.org/wal.html): two connections that write or checkpoint at
once could lose a commit. The ledger's own writers queue for a lock, so only other programs can meet it."""

_OWNER_ONLY: Final = 0o077
_SECRETS: Final = ("password", "sslpassword")  # what libpq takes as a setting too


@dataclass(frozen=True, slots=True)
class Tables:
    """Which revision a database has, and which this release works on."""

    path: Path | str  # of a server its URL, without the password
    revision: str
    head: str
    state: Literal["current", "older", "newer"]


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What an upgrade did: from which revision (None: there was no ledger yet) to which."""

    path: Path | str  # as in `Tables`
    before: str | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    What a check found. `sound` is whether nothing is wrong with what is recorded.

    `notes` are for people: settings and surroundings that deserve a look, no integrity failure among them.
    """

    path: Path
    revision: str
    sqlite_version: str
    wal_reset_bug: bool
    journal_mode: str
    synchronous: str
    mode: str  # permissions, octal
    size: int  # bytes, the log included
    damage: tuple[str, ...]
    chains: Chains
    orphans: Orphans
    unguarded: tuple[str, ...]  # what is wrong with the triggers that refuse changes of events, tables and indexes
    notes: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether file, chains, triggers and projection are in order."""
        return not (self.damage or self.chains.bad or self.unguarded or self.orphans.rows or self.orphans.proposals)


def locate(url: str) -> Path:
    """Return the absolute path of a ledger's file, whether it is there or not. Raises `UsageError` for other URLs."""
    return _files(url).database


def place(url: str) -> str:
    """
    Return where a ledger is, in one form for all its URLs: a file's absolute path, a server's URL without the password.

    Two URLs that differ only in the password, shown or masked, name one place. Raises `UsageError` for other URLs.
    """
    if not is_server(url):
        return url if url.startswith(MEMORY) else str(locate(url))
    from ledger.store.postgres.door import parse

    return (
        parse(url)._replace(drivername="postgresql", password=None).difference_update_query(_SECRETS).render_as_string()
    )


def current(url: str) -> Tables:
    """Return which revision a ledger's tables have. Raises `NoDatabase`."""
    where: Path | str
    if is_server(url):
        from ledger.store.postgres import opening

        where, revision = opening.current(url)
    else:
        files = _files(url)
        where, revision = files.database, check_tables(files, "off").revision or ""
    state: Literal["current", "older", "newer"] = "current"
    if revision != HEAD:
        state = "newer" if revision > HEAD else "older"
    return Tables(where, revision, HEAD, state)


def upgrade(url: str, *, patience: float = 60.0) -> Upgraded:
    """Make a ledger, or bring its tables to this release; raises `SchemaOutdated` where they are too new for that."""
    if is_server(url):
        from ledger.store.postgres import opening

        where, before = opening.upgrade(url)
        return Upgraded(where, before, max(HEAD, before or ""))
    files = _files(url)
    before = prepare(files, create=True, migrate="auto", patience=patience)
    return Upgraded(files.database, before, max(HEAD, before or ""))


def ready(url: str) -> str:
    """
    Return the revision of a ledger that this release can work with at once: quick, for probes.

    Raises `NoDatabase`, `SchemaOutdated`, and `StoreUnavailable`, also where a server takes no writes, or this process
    may not write the file or the folder.
    """
    if is_server(url):
        from ledger.store.postgres import health

        return health.ready(url)
    files = _files(url)
    revision = check_tables(files, "check").revision or ""
    for path in (files.database.parent, files.database, files.wal, files.lock):
        if path.exists() and not door.may_write(path):
            raise StoreUnavailable(f"this process may not write {path}", hint="Look at its permissions and its owner.")
    return revision


def is_server(url: str) -> bool:
    """Return whether a URL names a server; raises `UsageError` where its driver is not installed."""
    if POSTGRES.match(url) is None:
        return False
    need_driver()
    return True


def check_server(url: str) -> ServerHealth:
    """Look at everything a server's ledger holds, change nothing; see `check`."""
    from ledger.store.postgres import health

    return health.check(url)


def check(url: str) -> Health:
    """Look at everything in a file, change nothing. Raises `NoDatabase`, `StoreUnavailable` where it cannot be read."""
    files = _files(url)
    revision = check_tables(files, "off").revision or ""
    with reading(files) as connection:
        connection.text_factory = sql.text
        connection.execute("BEGIN")
        journal_mode = inspect.pragma(connection, "journal_mode")
        damage = inspect.damage(connection)
        chains, orphans = inspect.chains(connection), inspect.orphans(connection)
        unguarded = inspect.unguarded(connection, exact=revision == HEAD)
        strangers = inspect.strangers(connection)
    modes = _modes(files)
    buggy = WAL_RESET[0] <= sqlite3.sqlite_version_info <= WAL_RESET[1]
    return Health(
        path=files.database,
        revision=revision,
        sqlite_version=sqlite3.sqlite_version,
        wal_reset_bug=buggy,
        journal_mode=journal_mode,
        synchronous=SYNCHRONOUS.lower(),
        mode=f"{modes[files.database]:04o}",
        size=sum(path.stat().st_size for path in (files.database, files.wal) if path.exists()),
        damage=damage,
        chains=chains,
        orphans=orphans,
        unguarded=unguarded,
        notes=(*_notes(journal_mode, modes, buggy=buggy), *strangers),
    )


def _modes(files: Files) -> dict[Path, int]:
    """Return the permissions of the database and of what lies beside it: a log holds events too."""
    found = {}
    for path in (files.database, files.wal, files.lock):
        with suppress(FileNotFoundError):  # a log goes with its last writer
            found[path] = stat.S_IMODE(path.stat().st_mode)
    return found


def _notes(journal_mode: str, modes: dict[Path, int], *, buggy: bool) -> Iterator[str]:
    if journal_mode != "wal":
        yield f"The journal mode is {journal_mode}, not wal; it is set again when the ledger is opened for writing."
    for path, mode in modes.items():
        if os.name == "posix" and mode & _OWNER_ONLY:
            yield f"Others may read or write {path} ({mode:04o}); `chmod 600` it."
    if buggy:
        yield (
            f"SQLite {sqlite3.sqlite_version} has the WAL-reset bug (3.7.0 to 3.51.2). This file is safe from it"
            " as long as only the ledger writes it, whose processes queue for a lock: no other program may write or"
            " checkpoint it meanwhile."
        )


def _files(url: str) -> Files:
    if url.startswith(MEMORY):
        raise UsageError("a ledger in memory has no file")
    if POSTGRES.match(url):
        raise UsageError(f"{mask_url(url)} is a server, and no file")
    return Files(sqlite_path(url))
