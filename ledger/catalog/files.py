"""Reads a catalog folder; the only module of the catalog that touches files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from types import MappingProxyType
from typing import Final, TypeAlias

from ledger.catalog.definition import Catalog, Fault, ToolDefinition
from ledger.catalog.documents import Settings, read_settings, read_tool
from ledger.catalog.names import SLASH, folder_of
from ledger.catalog.steps import Upcast
from ledger.catalog.upcast_files import NAME, read_upcast
from ledger.errors import CatalogFault, JsonRejected
from ledger.strictjson import Json, Limits, decode, digest, to_a_person

MAX_FILE: Final = 2**20
MAX_TOOLS: Final = 10_000
SETTINGS: Final = "catalog.json"
TOOL: Final = "tool.json"
META: Final = "meta"

_LIMITS: Final = Limits(max_bytes=MAX_FILE)

Read: TypeAlias = Callable[[Path], Json]
"""Returns what a JSON file of a catalog holds; raises CatalogFault."""


def load_catalog(root: str | Path) -> Catalog:
    """
    Read every tool under *root*, one folder each; raises CatalogFault only where the folder or `catalog.json` is bad.

    A tool with a fault is quarantined in `faults`, with file and pointer; the others work. Nothing outside *root* is
    read: no symbolic link, no `..`, no special file.
    """
    return read_catalog(Path(root), Files(root).read)


def read_catalog(root: Path, read: Read) -> Catalog:
    """Do the same with somebody's reader of the files below *root*."""
    if not root.is_dir():
        hint = "Give the folder that holds one folder for each tool, or make one with `ledger init`."
        raise CatalogFault("there is no such catalog folder", path=str(root), hint=hint)
    settings = read_catalog_settings(root, read)
    tools: dict[str, ToolDefinition] = {}
    faults: list[Fault] = []
    for folder in _folders(root):
        try:
            definition = _tool(folder, read, settings)
            tools[definition.name] = definition
        except CatalogFault as fault:
            faults.append(_quarantined(folder, fault))
    _quarantine_reserved(tools, faults)
    return Catalog(
        tools=MappingProxyType(tools),
        faults=tuple(sorted(faults, key=lambda fault: (fault.tool, fault.path))),
        digest=digest({name: _said(tools[name]) for name in tools}),
        significant=settings.significant,
        formats=settings.formats,
        root=str(root),
    )


def read_catalog_settings(root: Path, read: Read) -> Settings:
    """Read `catalog.json`; what it says where there is none. Raises CatalogFault."""
    file = root / SETTINGS
    return read_settings(read(file), str(file)) if file.exists() else Settings()


def default_catalog_root() -> Path:
    """Return the packaged catalog: in the wheel inside the package, in a checkout beside it."""
    package = Path(__file__).resolve().parent.parent
    packaged = package / "_schemas" / "tools"
    return packaged if packaged.is_dir() else package.parent / "schemas" / "tools"


def meta_texts() -> dict[str, str]:
    """Return the shipped meta-schemas by their files' names; beside a catalog, editors complete its files by them."""
    folder = default_catalog_root().parent / META
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.schema.json"))}


def _folders(root: Path) -> Iterator[Path]:
    entries = sorted(entry for entry in root.iterdir() if entry.is_dir() and not entry.name.startswith((".", "__")))
    if len(entries) > MAX_TOOLS:
        raise CatalogFault(f"{len(entries):,} folders; {MAX_TOOLS:,} tools are allowed", path=str(root))
    yield from entries


def _tool(folder: Path, read: Read, settings: Settings) -> ToolDefinition:
    def read_here(name: str) -> tuple[Json, str]:
        file = folder / name
        return read(file), str(file)

    document, path = read_here(TOOL)
    definition = read_tool(document, path, read_here, settings)
    definition = replace(definition, upcasts=_upcasts(folder, definition, read_here))
    _check_names(definition)
    if folder.name != folder_of(definition.name):
        raise CatalogFault(
            f"the folder of this tool is {folder_of(definition.name)}, not {folder.name}", path=path, pointer="/name"
        )
    return definition


def _upcasts(folder: Path, definition: ToolDefinition, read: Callable[[str], tuple[Json, str]]) -> Mapping[int, Upcast]:
    """Read the steps between the tool's versions; raises CatalogFault for a bad file, and where two begin at one."""
    found: dict[int, Upcast] = {}
    for file in sorted(folder.glob("*.upcast.json")):
        named = NAME.fullmatch(file.name)
        if named is None:
            raise CatalogFault("an upcast's file is named like v1-v2.upcast.json", path=str(file))
        start, end = int(named[1]), int(named[2])
        for version in (start, end):
            if version not in definition.versions:
                raise CatalogFault(f"the tool has no version {version}", path=str(file))
        if start in found:
            raise CatalogFault(f"two upcasts begin at version {start}", path=str(file), hint="Keep the nearer one.")
        found[start] = read_upcast(*read(file.name), definition.name, (start, end), earlier=definition.reserved)
    return MappingProxyType(found)


def _check_names(definition: ToolDefinition) -> None:
    """The steps that rename a tool lead, one after the other, to the name that it has; each name given up is kept."""
    names: dict[int, str] = {}  # what the tool was called at a version that a step begins at
    for start, upcast in sorted(definition.upcasts.items(), reverse=True):
        places = [index for index, op in enumerate(upcast.ops) if op.op == "rename_tool"]
        if len(places) > 1:
            raise CatalogFault("a step renames a tool once", path=upcast.path, pointer=f"/ops/{places[1]}")
        later = [number for number in names if number >= upcast.to_version]
        name = names[start] = names[min(later)] if later else definition.name
        if upcast.renames_tool is None:
            continue
        old, new = upcast.renames_tool
        pointer = f"/ops/{places[0]}"
        if new != name:
            message = f'the step leads to the name "{new}", and from version {upcast.to_version} on it is "{name}"'
            raise CatalogFault(message, path=upcast.path, pointer=f"{pointer}/to", hint=f'Write "{name}".')
        if old == definition.name:
            message = f'the name "{old}" is given up here, and the tool has it again: names are never used again'
            hint = "Take a name that no tool ever had."
            raise CatalogFault(message, path=upcast.path, pointer=f"{pointer}/from", hint=hint)
        if old not in definition.reserved:
            message = f'the name "{old}" is given up here, and tool.json does not keep it from being used again'
            hint = f'Add "{old}" to "reserved" in tool.json: recorded calls have it.'
            raise CatalogFault(message, path=upcast.path, pointer=f"{pointer}/from", hint=hint)
        names[start] = old


class Files:
    """Reads the JSON files below one folder; nothing outside of it. Where its folders really are is asked once."""

    def __init__(self, root: str | Path) -> None:
        self._inside = Path(root).resolve()
        self._folders: dict[Path, Path] = {}

    def read(self, file: Path) -> Json:
        """Return what a file holds; raises CatalogFault if it is missing, elsewhere, too large or not strict JSON."""
        path = str(file)
        try:
            real, mode = self._found(file)
            if not S_ISREG(mode):
                raise CatalogFault("this is no regular file", path=path)
            with real.open("rb") as stream:
                data = stream.read(MAX_FILE + 1)
            return decode(data, _LIMITS)
        except JsonRejected as rejected:
            message, hint = to_a_person(rejected)
            raise CatalogFault(message, path=path, hint=hint) from None
        except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
            raise CatalogFault(f"the file cannot be read ({type(error).__name__})", path=path) from None

    def _found(self, file: Path) -> tuple[Path, int]:
        """Return where a file really is, and its mode. Raises OSError, RuntimeError, and CatalogFault for elsewhere."""
        mode = file.lstat().st_mode
        if S_ISLNK(mode):
            real = self._checked(file.resolve(strict=True), file)
            return real, real.stat().st_mode
        folder = self._folders.get(file.parent)
        if folder is None:
            folder = self._folders[file.parent] = self._checked(file.parent.resolve(strict=True), file)
        return folder / file.name, mode

    def _checked(self, real: Path, file: Path) -> Path:
        if real.is_relative_to(self._inside):
            return real
        message = "the file lies outside the catalog (a symbolic link)"
        raise CatalogFault(message, path=str(file), hint="Copy it here.")


def _quarantined(folder: Path, fault: CatalogFault) -> Fault:
    name = folder.name.replace(SLASH, "/")
    return Fault(tool=name, path=fault.path, pointer=fault.pointer, message=fault.fault, hint=fault.hint)


def _quarantine_reserved(tools: dict[str, ToolDefinition], faults: list[Fault]) -> None:
    """
    Names are never used again: a tool whose name another one reserves is quarantined.

    So are two that say that they had the same name before: nobody knows whose its calls are.
    """
    reserved = {name: definition for definition in tools.values() for name in definition.reserved}
    for name in sorted(reserved.keys() & tools.keys()):
        message = f"this name is reserved by {reserved[name].name}: names are never used again"
        heir = reserved[name]
        hint = f"Take another name; or this folder away, if its tool is {heir.name} now."
        if name in heir.renamed:
            command = f"`ledger tool rename {name} {heir.name}`"
            hint = f"If a rename was cut short, {command} finishes it. Else take another name."
        faults.append(Fault(tool=name, path=tools.pop(name).path, pointer="/name", message=message, hint=hint))
    heirs = [(old, definition) for definition in tools.values() for old in definition.renamed]
    for old, definition in heirs:
        others = [other.name for name, other in heirs if name == old and other is not definition]
        if others and definition.name in tools:
            message = f"it was {old} before, and so was {others[0]}: nobody knows whose the calls of {old} are"
            path = definition.upcasts[definition.renamed[old]].path
            faults.append(Fault(tool=tools.pop(definition.name).name, path=path, pointer="/ops", message=message))


def _said(definition: ToolDefinition) -> Json:
    """Return what makes one definition differ from another, for the catalog's digest."""
    return {
        "current": definition.current,
        "stage": definition.stage,
        "hint": definition.hint,
        "replacements": [[each.tool, each.when, each.example] for each in definition.replacements],
        "upcasts": {str(start): each.digest for start, each in definition.upcasts.items()},
        "versions": {
            str(number): [each.shape_digest, each.description_digest, each.contract.digest, each.stage]
            for number, each in definition.versions.items()
        },
    }
