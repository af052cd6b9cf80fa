"""What is compared: a tool as a document describes it (MCP, OpenAI, Anthropic, a bare schema), or as a catalog does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ledger.catalog.contract import Contract
from ledger.catalog.definition import ToolVersion
from ledger.catalog.guard import Guarded
from ledger.catalog.words import shown
from ledger.errors import CatalogFault
from ledger.strictjson import Json, JsonObject, to_pointer

MAX_TOOLS: Final = 10_000

HINTS: Final = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""MCP's hints with what each means where it is absent (MCP 2025-06-18, ToolAnnotations)."""
_SCHEMA: Final = ("inputSchema", "input_schema", "parameters", "parametersJsonSchema")
_OUTPUT: Final = ("outputSchema", "output_schema")
_LISTS: Final = ("tools", "functionDeclarations", "function_declarations")
_STRUCTURE: Final = {*_SCHEMA, *_OUTPUT, "name", "type", "contract", "annotations", "strict", "function"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    One side of a comparison.

    `schema`: None where the document has none. `words`: everything for people and models beside it, by its wire name.
    `contract`: None where nobody promised anything. `hints`: those of MCP that are there. `guarded`: the schema as
    `space.read` gave it, where somebody has read it already.
    """

    schema: Json
    name: str | None = None
    output_schema: Json = None
    words: Mapping[str, Json] = field(default_factory=dict)
    contract: Contract | None = None
    hints: Mapping[str, Json] = field(default_factory=dict)
    guarded: Guarded | None = field(default=None, repr=False, compare=False)

    def hint(self, name: str) -> Json:
        """Return what an MCP hint says; an absent one has its default."""
        return self.hints.get(name, HINTS[name])


def of_version(version: ToolVersion) -> Subject:
    """Return a catalog's version as a subject."""
    words = {
        "title": version.title,
        "description": version.description,
        "useWhen": version.use_when,
        "notWhen": version.not_when,
        "runbook": version.runbook,
    }
    return Subject(
        name=version.tool,
        schema=version.schema,
        output_schema=version.output_schema,
        words={word: text for word, text in words.items() if text is not None},
        contract=version.contract,
    )


def read_subjects(document: Json, path: str = "") -> Mapping[str | None, Subject]:
    """
    Return the tools that *document* describes by their names; a bare schema or a single tool stands under None.

    Raises CatalogFault where it is nothing of the kind, or names a tool twice.
    """
    entries = _entries(document)
    if entries is None:
        return {None: _subject(document, path, ())}
    found: dict[str | None, Subject] = {}
    for steps, entry in entries:
        subject = _subject(entry, path, steps)
        if subject.name is None or subject.name in found:
            what = "is there twice" if subject.name else "has no name"
            raise CatalogFault(f"a tool of the list {what}", path=path, pointer=to_pointer(steps))
        found[subject.name] = subject
        if len(found) > MAX_TOOLS:
            raise CatalogFault(f"more than {MAX_TOOLS:,} tools", path=path)
    return found


def _entries(document: Json) -> Iterator[tuple[tuple[str | int, ...], Json]] | None:
    """Return the tools of a list with their places, or None for a single one."""
    if isinstance(document, dict) and isinstance(document.get("result"), dict) and "tools" in document["result"]:
        return _listed(document["result"]["tools"], ("result", "tools"))
    for key in _LISTS:
        if isinstance(document, dict) and isinstance(document.get(key), list):
            return _listed(document[key], (key,))
    return _listed(document, ()) if isinstance(document, list) else None


def _listed(entries: Json, place: tuple[str, ...]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        inner = _entries(entry) if isinstance(entry, dict) and not _schema_key(entry) else None
        if inner is None:
            yield (*place, index), entry
        else:
            yield from (((*place, index, *steps), each) for steps, each in inner)


def _schema_key(entry: JsonObject) -> str | None:
    return next((key for key in _SCHEMA if key in entry), None)


def _subject(document: Json, path: str, steps: tuple[str | int, ...]) -> Subject:
    if not isinstance(document, dict):
        message = f"this is no tool and no schema: {shown(document)}"
        raise CatalogFault(message, path=path, pointer=to_pointer(steps), hint="Give a JSON Schema or a list of tools.")
    if isinstance(document.get("versions"), dict) and "name" in document:
        hint = f"Compare its versions: ledger tool diff {document['name']} 1 2"
        raise CatalogFault("this is a tool of a catalog", path=path, pointer=to_pointer(steps), hint=hint)
    if isinstance(document.get("function"), dict):  # OpenAI, Chat Completions
        return _subject(document["function"], path, (*steps, "function"))
    if isinstance(document.get("toolSpec"), dict):  # Bedrock
        spec = document["toolSpec"]
        schema = spec.get("inputSchema")
        inner = schema["json"] if isinstance(schema, dict) and "json" in schema else schema
        return _subject({**spec, "inputSchema": inner}, path, (*steps, "toolSpec"))
    key = _schema_key(document)
    named = isinstance(document.get("name"), str)
    if key is None and not (named and "properties" not in document and "$ref" not in document):
        return Subject(schema=document)
    return _tool(document, key, path, steps)


def _tool(document: JsonObject, key: str | None, path: str, steps: tuple[str | int, ...]) -> Subject:
    hints = document.get("annotations") or {}
    if not isinstance(hints, dict):
        raise CatalogFault("the annotations are an object", path=path, pointer=to_pointer([*steps, "annotations"]))
    words = {word: value for word, value in document.items() if word not in _STRUCTURE}
    words |= {f"annotations/{word}": value for word, value in hints.items() if word not in HINTS}
    contract = document.get("contract")
    place = to_pointer([*steps, "contract"])
    name = document.get("name")
    return Subject(
        name=name if isinstance(name, str) else None,
        schema=document.get(key) if key else None,
        output_schema=next((document[each] for each in _OUTPUT if document.get(each) is not None), None),
        words=words,
        contract=None if contract is None else Contract.from_wire(contract, path=path, pointer=place),
        hints={hint: hints[hint] for hint in HINTS if hint in hints},
    )
