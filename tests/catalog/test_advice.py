"""Warnings about what models read: each rule on the smallest field that shows it, and on real tools."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import Contract, ToolVersion
from ledger.catalog.advice import advice_of
from ledger.catalog.documents import version_of
from ledger.catalog.guard import guard_input
from ledger.errors import CatalogFault

CASES = json.loads((Path(__file__).parents[1] / "suite/tool_advice.json").read_text(encoding="utf-8"))


def version(tool: str, schema: Any, description: str = "Look.") -> ToolVersion:
    words = {"description": description}
    return version_of(guard_input(schema), words=words, tool=tool, version=1, contract=Contract())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["fact"])
def test_a_field(case: dict[str, Any]) -> None:
    """Each field of the suite is warned of, or not, as its case says."""
    schema = {"type": "object", "properties": case["properties"], "$defs": case.get("defs", {})}
    notes = advice_of([version("look_at", schema)], case.get("significant", ()))
    assert [[note.code, note.pointer] for note in notes] == case["says"]


@pytest.mark.parametrize(
    ("names", "warned"),
    [
        (["read_file", "get_file"], ["get_file"]),
        (["getFile", "fetch-files"], ["fetch-files"]),
        (["search_users", "find_user", "user_lookup"], ["find_user", "user_lookup"]),
        (["read_file", "write_file"], []),
        (["read_file", "read_lines"], []),
        (["list_files", "search_files"], []),
        (["gh/get_me", "gh/get_you"], []),
    ],
)
def test_look_alikes(names: list[str], warned: list[str]) -> None:
    """Two tools whose names mean the same are told; the later one is named."""
    schema = {"type": "object"}
    notes = advice_of([version(name, schema, f"{name}.") for name in names])
    assert [note.tool for note in notes if note.code == "near_duplicate"] == warned


def test_one_description_for_two_tools() -> None:
    """Spaces and case make no difference."""
    notes = list(advice_of([version("a", {"type": "object"}, "Do it."), version("b", {"type": "object"}, "do  it.")]))
    assert [(note.tool, note.code, "of a" in note.message) for note in notes] == [("b", "near_duplicate", True)]


@pytest.mark.parametrize("name", ["run", "process", "gh/execute", "_value_"[1:-1], "Input"])
def test_a_tool_with_a_vague_name(name: str) -> None:
    """A tool whose name says nothing is told."""
    assert [note.code for note in advice_of([version(name, {"type": "object"})])] == ["vague_name"]


def test_real_tools(corpus: Path) -> None:
    """Of real tools some are warned of and most of their numbers are not: a rule that shouts at all says nothing."""
    with gzip.open(corpus / "mcp_tools.jsonl.gz", "rt", encoding="utf-8") as file:
        tools = [json.loads(line) for line in file]
    read = []
    for number, tool in enumerate(tools):
        try:
            read.append(version(f"t{number}", tool["inputSchema"], tool.get("description") or "None."))
        except CatalogFault:
            continue
    notes = list(advice_of(read))
    numbers = [note for note in notes if note.code == "number_without_unit"]
    assert len(read) > 250
    assert 0 < len(numbers) < len(read) / 4
    assert {note.code for note in notes} >= {"undescribed", "vague_name", "long_enum"}
