"""A list of tools is taken in: the same shape stays the version it was, another one is a draft of the next."""

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from ledger.catalog import Catalog, Contract, ToolDefinition
from ledger.catalog.diff import read_subjects
from ledger.catalog.disk import Folder, Sources, read_sources
from ledger.catalog.documents import Settings, version_of
from ledger.catalog.guard import guard_input
from ledger.catalog.lists import Taken, taken
from ledger.catalog.lock import Lock
from ledger.cli.growing import write_files
from tests.catalog.shelf import SCHEMA, Shelf

TOOL = {"name": "look_at", "description": "Look.", "inputSchema": SCHEMA}
OTHER = {**SCHEMA, "required": []}
REWORDED = {**SCHEMA, "description": "Which place."}
OUT = {"type": "object", "properties": {"found": {"type": "boolean"}}}


def take(shelf: Shelf, tool: Any, **options: Any) -> Taken:
    """Take one tool in, and write its files."""
    [(name, subject)] = read_subjects([tool]).items()
    found = taken(str(name), subject, read_sources(shelf.root), **options)
    if found.what != "refused":
        write_files(shelf.root / found.folder, found.files)
    return found


def tool_json(shelf: Shelf) -> Any:
    return json.loads((shelf.root / "look_at/tool.json").read_text(encoding="utf-8"))


def test_a_new_tool(shelf: Shelf) -> None:
    """Its schemas as they came, its words, and `external`, since nobody whom one can trust said less."""
    hinted = {"title": "Look", "readOnlyHint": True}
    found = take(shelf, {**TOOL, "outputSchema": OUT, "annotations": hinted})
    assert (found.what, found.version, list(found.files)) == ("new", 1, ["v1.json", "v1.output.json", "tool.json"])
    assert tool_json(shelf) == {
        "$schema": "../../meta/tool.schema.json",
        "name": "look_at",
        "title": "Look",
        "description": "Look.",
        "current": 1,
        "versions": {"1": {"contract": {"effect": "external"}, "outputSchema": "v1.output.json"}},
    }
    shelf.publish()
    assert shelf.report().findings == ()
    assert take(shelf, {**TOOL, "outputSchema": OUT, "annotations": hinted}).what == "same"


@pytest.mark.parametrize(
    ("changes", "contract"),
    [
        ({"annotations": {"readOnlyHint": True}}, {"effect": "read"}),
        ({"annotations": {"openWorldHint": False}}, {"effect": "write"}),
        ({"annotations": {"readOnlyHint": "yes"}}, {"effect": "external"}),
        ({}, {"effect": "external"}),
        ({"contract": {"effect": "write", "timeoutSeconds": 3}}, {"effect": "write", "timeoutSeconds": 3}),
    ],
)
def test_trusted_hints(shelf: Shelf, changes: Any, contract: Any) -> None:
    """On request MCP's hints are taken for the author's word; a contract that stands there is taken always."""
    take(shelf, {**TOOL, **changes}, trust_hints=True)
    assert tool_json(shelf)["versions"]["1"]["contract"] == contract


def test_another_wording_is_no_version(shelf: Shelf) -> None:
    """Words of the schema and of the tool change in place; the version stays the one it was."""
    take(shelf, TOOL)
    shelf.publish()
    assert take(shelf, {**TOOL, "inputSchema": REWORDED}).files == {"v1.json": REWORDED}
    assert list(take(shelf, {**TOOL, "description": "See.", "inputSchema": REWORDED}).files) == ["tool.json"]
    assert tool_json(shelf)["description"] == "See."
    assert shelf.said() == [("description_changed", "look_at/tool.json", "")]


def test_words_of_one_version_among_several(shelf: Shelf) -> None:
    """What one version is called does not change what the others are called."""
    shelf.tool(schemas=(OTHER, SCHEMA), description="Look.")
    assert take(shelf, {**TOOL, "description": "See."}).version == 2
    definition = read_sources(shelf.root).catalog.tools["look_at"]
    assert [version.description for version in definition.versions.values()] == ["Look.", "See."]


def test_another_shape_is_a_draft(shelf: Shelf) -> None:
    """The current version stays; a later list replaces the draft, or finds it as it is."""
    take(shelf, TOOL)
    shelf.publish()
    found = take(shelf, {**TOOL, "description": "See.", "inputSchema": OTHER, "outputSchema": OUT})
    assert (found.what, found.version) == ("version", 2)
    definition = read_sources(shelf.root).catalog.tools["look_at"]
    assert (definition.current, definition.versions[2].output_schema) == (1, OUT)
    assert [version.description for version in definition.versions.values()] == ["Look.", "See."]
    assert take(shelf, {**TOOL, "description": "See.", "inputSchema": OTHER, "outputSchema": OUT}).what == "same"
    closed = {"type": "object", "additionalProperties": False}
    found = take(shelf, {**TOOL, "inputSchema": closed})
    assert (found.what, found.version, found.files["v2.json"]) == ("draft", 2, closed)
    assert read_sources(shelf.root).catalog.tools["look_at"].versions[2].output_schema is None
    shelf.publish()
    assert shelf.report().findings == ()


def test_an_older_shape_is_known(shelf: Shelf) -> None:
    """A server that went a step back brings no new version."""
    shelf.tool(schemas=(SCHEMA, OTHER), description="Look.")
    assert (take(shelf, TOOL).what, take(shelf, TOOL).version) == ("same", 1)


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ({**TOOL, "name": "look at"}, "no tool name"),
        ({**TOOL, "inputSchema": {}}, "the schema is empty"),
        ({**TOOL, "inputSchema": None}, "the schema is null"),
        ({**TOOL, "inputSchema": {"type": "string"}}, "arguments are an object"),
        ({**TOOL, "outputSchema": {"type": "strin"}}, "`type` is one of"),
        ({**TOOL, "description": " "}, "no description"),
        ({**TOOL, "name": "broken"}, "with a fault"),
    ],
)
def test_what_is_refused(shelf: Shelf, tool: Any, message: str) -> None:
    """A tool that a catalog would quarantine is not taken in, and nothing of it is written."""
    shelf.write("broken/tool.json", "{")
    found = take(shelf, tool)
    assert (found.what, found.files) == ("refused", {})
    assert message in found.message
    assert [entry.name for entry in shelf.root.iterdir() if entry.is_dir()] == ["broken"]


def in_memory(tool: Mapping[str, Any]) -> Sources:
    """A published catalog with one tool, without files."""
    guarded = guard_input(tool["inputSchema"])
    words = {"description": tool.get("description")}
    version = version_of(guarded, words=words, tool="t", version=1, contract=Contract())
    definition = ToolDefinition(name="t", current=1, versions={1: version})
    document: dict[str, Any] = {"name": "t", **words, "current": 1, "versions": {"1": {"contract": {}}}}
    files = {"tool.json": document, "v1.json": tool["inputSchema"]}
    return Sources(
        root="",
        catalog=Catalog(tools=MappingProxyType({"t": definition}), digest=""),
        settings=Settings(),
        folders=(Folder(name="t", path="", documents=files, unreadable={}),),
        lock=Lock(),
    )


def test_most_real_changes_make_no_version(corpus: Path) -> None:
    """Of 236 real changes of one server's tools 170 keep the shape: words, hints and spelling make no version."""
    with gzip.open(corpus / "schema_transitions.jsonl.gz", "rt", encoding="utf-8") as file:
        changes = [json.loads(line) for line in file]
    counted: Counter[tuple[str, str]] = Counter()
    for change in changes:
        if change["old"]["inputSchema"] is None:  # one was lost for a release, and came back
            counted[change["class"], "emptied"] += 1
            continue
        [subject] = read_subjects({**change["new"], "name": "t"}).values()
        counted[change["class"], taken("t", subject, in_memory(change["old"])).what] += 1
    kept = Counter[str]()
    for (label, what), number in counted.items():
        kept[label] += number if what in ("same", "reworded") else 0
    assert kept == {"identical": 70, "metadata_only": 77, "description_only": 22, "schema": 0, "schema_other": 1}
    assert (counted["schema", "version"], counted["schema_other", "emptied"]) == (65, 1)
    assert kept.total() / len(changes) > 0.7
