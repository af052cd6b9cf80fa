"""Reads the JSON documents of a catalog (`tool.json`, `catalog.json`) into definitions; an unknown key is a fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, get_args

from ledger.catalog.contract import Contract, camel
from ledger.catalog.definition import Replacement, ToolDefinition, ToolVersion
from ledger.catalog.formats import FORMATS
from ledger.catalog.guard import CAPS, LIMITS, Guarded, SchemaLimits, guard, guard_input
from ledger.catalog.marks import refuse_marks
from ledger.catalog.names import check_name
from ledger.catalog.resources import check_reach
from ledger.catalog.shape import shape_of, words_digest
from ledger.catalog.vocabulary import DIALECTS, Dialect
from ledger.catalog.words import listed, meant, shown
from ledger.errors import CatalogFault
from ledger.events.words import Stage
from ledger.strictjson import Json, JsonObject, digest, to_pointer

STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
MAX_TEXT: Final = 20_000
MAX_ENTRIES: Final = 1_000

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,5}")
_FILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,120}\.json")

_WORDS: Final = {"title", "description", "useWhen", "notWhen", "runbook"}
_TOOL: Final = _WORDS | {"$schema", "name", "owner", "current", "stage", "versions", "retirement", "reserved"}
_VERSION: Final = _WORDS | {"contract", "schema", "outputSchema", "stage"}
_RETIREMENT: Final = {"replacements", "hint", "retentionDays"}
_REPLACEMENT: Final = {"tool", "when", "example"}
_CATALOG: Final = {"$schema", "dialect", "significantAnnotations", "formats", "limits"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `catalog.json` says for all tools."""

    dialect: Dialect = "2020-12"
    significant: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    limits: SchemaLimits = LIMITS


@dataclass(frozen=True, slots=True)
class Place:
    """One object of a document, with where it stands; its readers raise CatalogFault naming file and pointer."""

    document: Mapping[str, Json]
    path: str
    pointer: str

    def fault(self, key: str, message: str, hint: str | None = None) -> CatalogFault:
        """Return the fault of this key, or of the object itself."""
        return CatalogFault(message, path=self.path, pointer=self.pointer + to_pointer([key] if key else []), hint=hint)

    def known(self, keys: set[str]) -> None:
        """Refuse any other key."""
        for key in self.document:
            if key not in keys:
                raise self.fault(
                    key, f"unknown key {shown(key)}{meant(key, keys)}", f"Known are {listed(sorted(keys), 20)}."
                )

    def text(self, key: str) -> str | None:
        """Return a text, or None."""
        value = self.document.get(key)
        if value is None or (isinstance(value, str) and value.strip() and len(value) <= MAX_TEXT):
            return value
        raise self.fault(key, f"{shown(key)} is a text of 1 to {MAX_TEXT:,} characters, not {shown(value)}")

    def number(self, key: str) -> int | None:
        """Return a whole number above 0, or None."""
        value = self.document.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**6):
            return value
        raise self.fault(key, f"{shown(key)} is a whole number above 0, not {shown(value)}")

    def stage(self, default: Stage) -> Stage:
        """Return the stage."""
        value = self.document.get("stage", default)
        for stage in STAGES:
            if value == stage:
                return stage
        raise self.fault("stage", f'"stage" is one of {listed(STAGES)}, not {shown(value)}')

    def inner(self, key: str) -> Place:
        """Return the object under this key; an empty one if it is absent."""
        value = self.document.get(key, {})
        if isinstance(value, dict):
            return Place(value, self.path, self.pointer + to_pointer([key]))
        raise self.fault(key, f"{shown(key)} is an object, not {shown(value)}")

    def entries(self, key: str) -> list[Json]:
        """Return the list under this key; an empty one if it is absent."""
        value = self.document.get(key, [])
        if isinstance(value, list) and len(value) <= MAX_ENTRIES:
            return value
        raise self.fault(key, f"{shown(key)} is a list of at most {MAX_ENTRIES:,} entries, not {shown(value)}")

    def texts(self, key: str, allowed: Callable[[Any], bool] = lambda _: True) -> tuple[str, ...]:
        """Return the list of texts under this key, each of them allowed."""
        values = self.entries(key)
        for index, value in enumerate(values):
            if not isinstance(value, str) or not allowed(value):
                raise self.fault(f"{key}", f"{shown(value)} cannot stand in {shown(key)} (entry {index})")
        return tuple(values)


def read_settings(document: Json, path: str) -> Settings:
    """Read `catalog.json`; raises CatalogFault."""
    place = _place(document, path)
    place.known(_CATALOG)
    named = place.text("dialect")
    dialect = DIALECTS.get(named.removesuffix("#")) if named else "2020-12"
    if dialect is None:
        raise place.fault("dialect", f"the dialect {shown(named)} is not supported", f"Known are {listed(DIALECTS)}.")
    return Settings(
        dialect=dialect,
        significant=frozenset(place.texts("significantAnnotations")),
        formats=frozenset(place.texts("formats", lambda name: name in FORMATS)),
        limits=_limits(place.inner("limits")),
    )


def _limits(place: Place) -> SchemaLimits:
    names = {camel(field.name): field.name for field in fields(SchemaLimits)}
    place.known(set(names))
    values = {}
    for key, value in place.document.items():
        cap = getattr(CAPS, names[key])
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= cap:
            raise place.fault(key, f"{shown(key)} is a whole number from 1 to {cap:,}, not {shown(value)}")
        values[names[key]] = value
    return SchemaLimits(**values)


def _place(document: Json, path: str) -> Place:
    if isinstance(document, dict):
        return Place(document, path, "")
    raise CatalogFault(f"the file holds an object, not {shown(document)}", path=path)


def read_tool(document: Json, path: str, read: Callable[[str], tuple[Json, str]], settings: Settings) -> ToolDefinition:
    """
    Read a `tool.json`; raises CatalogFault at the first fault in it or in one of its schemas.

    *read* gives the document of a schema's file (by its plain name) and the file's path.
    """
    place = _place(document, path)
    place.known(_TOOL)
    name = check_name(document.get("name"), path=path, pointer="/name")
    numbers = _version_numbers(place.inner("versions"))
    current = place.number("current") or max(numbers)
    if current not in numbers:
        raise place.fault("current", f"there is no version {current}", f"There are {listed(numbers)}.")
    retirement = place.inner("retirement")
    retirement.known(_RETIREMENT)
    versions = {number: _version(place, name, number, read, settings) for number in numbers}
    return ToolDefinition(
        name=name,
        current=current,
        versions=versions,
        stage=versions[current].stage,
        replacements=tuple(_replacement(retirement, index) for index in range(len(retirement.entries("replacements")))),
        hint=retirement.text("hint"),
        owner=place.text("owner"),
        retention_days=retirement.number("retentionDays"),
        reserved=place.texts("reserved", lambda other: check_name(other, path=path, pointer="/reserved") != name),
        path=path,
    )


def _version_numbers(place: Place) -> list[int]:
    if not place.document or len(place.document) > MAX_ENTRIES:
        raise place.fault("", "a tool has 1 to 1,000 versions", 'Write {"1": {"contract": {"effect": "read"}}}.')
    for key in place.document:
        if not _NUMBER.fullmatch(key):
            raise place.fault(key, f"{shown(key)} is no version", "Versions are whole numbers from 1.")
    return sorted(map(int, place.document))


def _version(
    tool: Place, name: str, number: int, read: Callable[[str], tuple[Json, str]], settings: Settings
) -> ToolVersion:
    place = tool.inner("versions").inner(str(number))
    place.known(_VERSION)
    if "contract" not in place.document:
        raise place.fault("contract", "a version has a contract", 'Write {"effect": "read"}, "write" or "external".')
    contract = Contract.from_wire(place.document["contract"], path=place.path, pointer=f"{place.pointer}/contract")
    words = {word: place.text(word) or tool.text(word) for word in _WORDS}
    if not words["description"]:
        raise tool.fault("description", "a tool has a description: it is what a model chooses by")
    document, file = read(_file(place, "schema", f"v{number}.json"))
    guarded = guard_input(document, limits=settings.limits, dialect=settings.dialect, path=file)
    check_reach(contract.resource_keys, guarded, path=place.path, pointer=f"{place.pointer}/contract/resourceKeys")
    output = _output(place, read, settings)
    return version_of(
        guarded,
        output_schema=output,
        significant=settings.significant,
        words=words,
        tool=name,
        version=number,
        contract=contract,
        stage=place.stage(tool.stage("active")),
        formats=settings.formats,
        path=file,
    )


def version_of(
    guarded: Guarded,
    *,
    words: Mapping[str, str | None],
    significant: frozenset[str] = frozenset(),
    **fields: Any,
) -> ToolVersion:
    """Return the version of a schema that passed the guard; *words* by their wire names (title, description …)."""
    read = {word: words.get(word) for word in ("title", "description", "useWhen", "notWhen")}
    return ToolVersion(
        schema=guarded.schema,
        title=read["title"],
        description=read["description"] or "",
        use_when=read["useWhen"],
        not_when=read["notWhen"],
        runbook=words.get("runbook"),
        shape_digest=digest(shape_of(guarded.nodes, guarded.dialect, significant)),
        description_digest=words_digest(read, guarded.nodes),
        guarded=guarded,
        **fields,
    )


def _file(place: Place, key: str, default: str) -> str:
    name = place.document.get(key, default)
    if isinstance(name, str) and _FILE.fullmatch(name):
        return name
    raise place.fault(key, f"{shown(name)} is no plain name of a file beside tool.json", f'Write "{default}".')


def _output(place: Place, read: Callable[[str], tuple[Json, str]], settings: Settings) -> JsonObject | None:
    if "outputSchema" not in place.document:
        return None
    document, file = read(_file(place, "outputSchema", "v1.output.json"))
    guarded = guard(document, limits=settings.limits, dialect=settings.dialect, path=file)
    refuse_marks(guarded.nodes, file)
    return guarded.schema


def _replacement(retirement: Place, index: int) -> Replacement:
    entry = retirement.document["replacements"][index]
    pointer = f"{retirement.pointer}/replacements/{index}"
    if not isinstance(entry, dict):
        message = f"a replacement is an object, not {shown(entry)}"
        raise CatalogFault(message, path=retirement.path, pointer=pointer, hint='Write {"tool": "…", "when": "…"}.')
    place = Place(entry, retirement.path, pointer)
    place.known(_REPLACEMENT)
    tool = check_name(entry.get("tool"), path=place.path, pointer=f"{pointer}/tool")
    return Replacement(tool=tool, when=place.text("when"), example=entry.get("example"))
