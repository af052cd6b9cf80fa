"""Reads a catalog folder file by file, as it stands, for those who check and publish it; and writes its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from json import dumps
from pathlib import Path
from typing import Final

from ledger.catalog.compile import CompiledSchema, compile_guarded
from ledger.catalog.definition import Catalog
from ledger.catalog.documents import Settings
from ledger.catalog.files import META, Files, Read, default_catalog_root, read_catalog, read_catalog_settings
from ledger.catalog.guard import guard
from ledger.catalog.lock import Lock, from_wire, to_wire
from ledger.catalog.names import SLASH
from ledger.errors import CatalogFault, JsonRejected
from ledger.strictjson import Json, Limits, decode, to_a_person

LOCK: Final = "catalog.lock.json"
EXAMPLES: Final = "examples"
MAX_DOCUMENT: Final = 16 * 2**20
MAX_NESTED: Final = 80
"""A schema may be nested 64 deep, and stands a few levels deep in its list."""
_LEFT: Final = re.compile(r"\.(.+)\.([0-9]{1,20})\.(new|old)")
"""How what is only there while a command writes is called: what it is for, the process, what becomes of it."""
MAX_FILES: Final = 5_000
"""Files of one tool; what is beyond is not read, and said to be unreadable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """
    One tool's folder: its JSON files by their path below it (`v1.json`, `examples/v1/ok-some.json`).

    `unreadable`: why a file is no strict JSON, or none that may be read.
    """

    name: str
    path: str
    documents: Mapping[str, Json]
    unreadable: Mapping[str, CatalogFault]

    @property
    def tool(self) -> str:
        """The name of the tool that belongs here."""
        return self.name.replace(SLASH, "/")

    def file(self, name: str) -> str:
        """Return the path of a file of this folder, for messages."""
        return str(Path(self.path) / name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """
    A whole catalog as its files say it: what was read from them, each tool's folder, and what was published.

    `left`: the paths of what commands that were cut short left, hidden and read by nobody.
    """

    root: str
    catalog: Catalog
    settings: Settings
    folders: tuple[Folder, ...]
    lock: Lock | None
    left: tuple[str, ...] = ()

    @property
    def lock_path(self) -> str:
        """The path of the lock, whether there is one or not."""
        return str(Path(self.root) / LOCK)


@dataclass(frozen=True, slots=True)
class Left:
    """What is there only while a process writes: the file or folder `name` in the making (new), or as it was (old)."""

    path: Path
    name: str
    process: int
    kind: str


def left_in(folder: str | Path) -> Iterator[Left]:
    """Yield what processes that write in a folder have there for a while, or left there when they were killed."""
    for each in sorted(Path(folder).iterdir()):
        found = _LEFT.fullmatch(each.name)
        if found is not None:
            yield Left(each, found[1], int(found[2]), found[3])


def read_sources(root: str | Path) -> Sources:
    """Read a catalog with its lock; raises CatalogFault where the folder, `catalog.json` or the lock is bad."""
    place, read = Path(root), cache(Files(root).read)  # what defines a tool is a file of its folder too
    catalog = read_catalog(place, read)
    folders = _folders(place, read)
    places = (str(place), *(folder.path for folder in folders))
    return Sources(
        root=str(root),
        catalog=catalog,
        settings=read_catalog_settings(place, read),
        folders=folders,
        lock=read_lock(root),
        left=tuple(str(each.path) for folder in places for each in left_in(folder)),
    )


def read_lock(root: str | Path) -> Lock | None:
    """Return what was published, None where there is no lock; raises CatalogFault where it is none that we wrote."""
    file = Path(root) / LOCK
    if not file.exists():
        return None
    document = Files(root).read(file)
    for violation in meta_schema("lock").violations(document):
        hint = "Take it from version control; `ledger tool lock` writes it, nobody else does."
        raise CatalogFault(violation.message, path=str(file), pointer=violation.pointer, hint=hint)
    return from_wire(document)


def write_lock(root: str | Path, lock: Lock) -> None:
    """Write the lock, whole or not at all."""
    write_json(Path(root) / LOCK, to_wire(lock))


def _folders(root: Path, read: Read) -> tuple[Folder, ...]:
    entries = (entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith((".", "__")))
    return tuple(_folder(entry, read) for entry in sorted(entries))


def read_document(file: str | Path) -> Json:
    """Return what a JSON file from anywhere holds, a list of tools say; raises CatalogFault."""
    try:
        with Path(file).open("rb") as stream:
            data = stream.read(MAX_DOCUMENT + 1)
        return decode(data, Limits(max_bytes=MAX_DOCUMENT, max_depth=MAX_NESTED))
    except OSError as error:
        raise CatalogFault(f"the file cannot be read ({error.strerror})", path=str(file)) from None
    except JsonRejected as rejected:
        message, hint = to_a_person(rejected)
        raise CatalogFault(message, path=str(file), hint=hint) from None


@cache
def meta_schema(name: str) -> CompiledSchema:
    """Return a shipped meta-schema (`tool`, `catalog`, `lock`) compiled."""
    folder = default_catalog_root().parent / META
    return compile_guarded(guard(Files(folder).read(folder / f"{name}.schema.json")))


def write_json(file: str | Path, document: Json) -> None:
    """Write a JSON file as people read it, whole or not at all: a reader never sees half of it."""
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        with new.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(dumps(document, indent=2, ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def _folder(folder: Path, read: Read) -> Folder:
    documents: dict[str, Json] = {}
    unreadable: dict[str, CatalogFault] = {}
    for number, (name, file) in enumerate(_files(folder)):
        try:
            if number >= MAX_FILES:
                raise CatalogFault(f"a tool has more than {MAX_FILES:,} files")
            documents[name] = read(file)
        except CatalogFault as fault:
            unreadable[name] = fault
    return Folder(name=folder.name, path=str(folder), documents=documents, unreadable=unreadable)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the JSON files of a tool, by their path below its folder: those beside tool.json, and its examples."""
    yield from ((file.name, file) for file in sorted(folder.glob("*.json")))
    for file in sorted(folder.glob(f"{EXAMPLES}/*/*.json")):
        yield f"{EXAMPLES}/{file.parent.name}/{file.name}", file
