"""Takes a list of tools (MCP, OpenAI, Anthropic, Gemini, Bedrock) into a catalog: only another shape is a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ledger.catalog.contract import Contract
from ledger.catalog.definition import ToolDefinition, ToolVersion
from ledger.catalog.diff.subject import Subject
from ledger.catalog.disk import Folder, Sources
from ledger.catalog.guard import guard, guard_input
from ledger.catalog.lock import TOOL, Lock, output_digest
from ledger.catalog.marks import refuse_marks
from ledger.catalog.names import check_name, folder_of
from ledger.catalog.shape import shape_of
from ledger.catalog.versions import draft_of, new_version, not_removed
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, canonical, digest

Taking: TypeAlias = Literal["new", "same", "reworded", "version", "draft", "refused"]
"""`version`: another shape became a new one; `draft`: it replaced the draft that was there."""

META: Final = "../../meta/tool.schema.json"
_WORDS: Final = ("title", "description", "useWhen", "notWhen", "runbook")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What becomes of one tool of the list: the files to write in its folder, or why it is refused."""

    tool: str
    what: Taking
    version: int | None = None
    files: Mapping[str, Json] = field(default_factory=dict)
    message: str = ""
    pointer: str = ""

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return folder_of(self.tool)


def taken(name: str, subject: Subject, sources: Sources, *, trust_hints: bool = False) -> Taken:
    """
    Return what becomes of a tool of a list.

    A tool that the catalog has keeps its version where the shape is the same, whatever the package that brought it
    calls itself. Its effect is `external` until its author says another; *trust_hints* takes MCP's hints for a word.
    """
    try:
        check_name(name)
        shapes = _shapes(subject, sources)
        bad = {fault.tool: fault for fault in sources.catalog.faults}
        if name in bad:
            raise CatalogFault(f"the catalog has it, with a fault: {bad[name].message}")
        sources.catalog.check_not_given_up(name, "It is called {} now.")
        if not isinstance(subject.words.get("description"), str) or not subject.words["description"].strip():
            raise CatalogFault("it has no description, and that is what a model chooses by")
        if name in sources.catalog.tools:
            not_removed(sources.catalog.tools[name])
            return _again(sources.catalog.tools[name], subject, shapes, sources)
        return Taken(tool=name, what="new", version=1, files=_first(name, subject, _contract(subject, trust_hints)))
    except CatalogFault as fault:
        return Taken(tool=name, what="refused", message=fault.fault, pointer=fault.pointer)


def _shapes(subject: Subject, sources: Sources) -> tuple[str, str | None]:
    """Return the digests of both shapes; raises CatalogFault where a catalog refuses a schema."""
    settings = sources.settings
    guarded = guard_input(subject.schema, limits=settings.limits, dialect=settings.dialect)
    shape = digest(shape_of(guarded.nodes, guarded.dialect, settings.significant))
    if subject.output_schema is None:
        return shape, None
    output = guard(subject.output_schema, limits=settings.limits, dialect=settings.dialect)
    refuse_marks(output.nodes)
    return shape, digest(shape_of(output.nodes, output.dialect, settings.significant))


def _first(name: str, subject: Subject, contract: JsonObject) -> dict[str, Json]:
    entry: JsonObject = {"contract": contract}
    document = {"$schema": META, "name": name, **_words(subject), "current": 1, "versions": {"1": entry}}
    return _files(document, 1, subject)


def _contract(subject: Subject, trust_hints: bool) -> JsonObject:  # noqa: FBT001 - private, one caller
    if subject.contract is not None:
        default = Contract().to_wire()
        wire = subject.contract.to_wire()
        return {word: value for word, value in wire.items() if word == "effect" or value != default.get(word)}
    if trust_hints and subject.hints.get("readOnlyHint") is True:
        return {"effect": "read"}
    return {"effect": "write" if trust_hints and subject.hints.get("openWorldHint") is False else "external"}


def _words(subject: Subject) -> dict[str, str]:
    titled = {"title": subject.words.get("annotations/title"), **subject.words}
    found = {word: titled.get(word) for word in _WORDS}
    return {word: text for word, text in found.items() if isinstance(text, str) and text.strip()}


def _files(document: JsonObject, number: int, subject: Subject) -> dict[str, Json]:
    """Return the files of one version: its schemas, and `tool.json` with its entry naming them."""
    entry = dict(document["versions"][str(number)])
    source, output = entry.get("schema", f"v{number}.json"), entry.pop("outputSchema", f"v{number}.output.json")
    files = {source: subject.schema}
    if subject.output_schema is not None:
        files[output] = subject.output_schema
        entry["outputSchema"] = output
    return {**files, TOOL: {**document, "versions": {**document["versions"], str(number): entry}}}


def _again(definition: ToolDefinition, subject: Subject, shapes: tuple[str, str | None], sources: Sources) -> Taken:
    folder = next(each for each in sources.folders if each.tool == definition.name)
    lock = sources.lock or Lock()
    name, draft = definition.name, draft_of(definition, lock)
    for number in sorted(definition.versions, key=lambda number: (number != definition.current, -number)):
        version = definition.versions[number]
        if (version.shape_digest, output_digest(version, sources.settings.significant)) == shapes:
            files = _changed(_reworded(folder.documents[TOOL], version, subject), folder)
            return Taken(tool=name, what="reworded" if files else "same", version=number, files=files)
    document = folder.documents[TOOL]
    if draft is None:
        change = new_version(definition, folder, lock)
        document, draft = change.files[TOOL], change.number
    what: Taking = "draft" if draft in definition.versions else "version"
    entry = document["versions"][str(draft)]
    words = {word: text for word, text in _words(subject).items() if text != (entry.get(word) or document.get(word))}
    entry = {**entry, **words}
    document = {**document, "versions": {**document["versions"], str(draft): entry}}
    return Taken(tool=name, what=what, version=draft, files=_changed(_files(document, draft, subject), folder))


def _reworded(document: JsonObject, version: ToolVersion, subject: Subject) -> dict[str, Json]:
    """Return the files of a version of the same shape, with the new words: at the tool where it has one version."""
    before = {"title": version.title, "description": version.description}
    before |= {"useWhen": version.use_when, "notWhen": version.not_when, "runbook": version.runbook}
    words = {word: text for word, text in _words(subject).items() if text != before[word]}
    entry = document["versions"][str(version.version)]
    if len(document["versions"]) == 1 and not entry.keys() & words.keys():
        return _files({**document, **words}, version.version, subject)
    versions = {**document["versions"], str(version.version): {**entry, **words}}
    return _files({**document, "versions": versions}, version.version, subject)


def _changed(files: Mapping[str, Json], folder: Folder) -> dict[str, Json]:
    return {
        name: document
        for name, document in files.items()
        if name not in folder.documents or canonical(folder.documents[name]) != canonical(document)
    }
