"""What a `tool.json` becomes in each stage, and which replacements can be none."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import Replacement, load_catalog
from ledger.catalog.diff import read_subjects
from ledger.catalog.disk import read_sources
from ledger.catalog.lists import taken
from ledger.catalog.lock import Lock
from ledger.catalog.retire import Retirement, retired, skipped
from ledger.catalog.versions import new_version
from ledger.errors import CatalogFault, RetirementRefused
from tests.catalog.shelf import SCHEMA, Shelf

GREP = Replacement(tool="grep", when="the text is known", example={"path": "a"})


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A catalog with a tool to retire and two to replace it."""
    shelf = Shelf(tmp_path)
    for name in ("search_code", "grep", "glob"):
        shelf.tool(name)
    return shelf


def change(shelf: Shelf, asked: Retirement, tool: str = "search_code", *, write: bool = False) -> dict[str, Any]:
    """Return the tool's file as it would be."""
    catalog = load_catalog(shelf.root)
    document = json.loads((shelf.root / tool / "tool.json").read_text(encoding="utf-8"))
    found = retired(catalog.tools[tool], document, catalog, asked)
    if write:
        shelf.write(f"{tool}/tool.json", found)
    return dict(found)


def refused(shelf: Shelf, asked: Retirement, tool: str = "search_code") -> tuple[str, str, str | None]:
    with pytest.raises(RetirementRefused) as caught:
        change(shelf, asked, tool)
    return caught.value.code, caught.value.message, caught.value.hint


def test_only_stage_and_retirement_change(shelf: Shelf) -> None:
    """All other keys stay as they are, in their order; the new ones stand where files have them by custom."""
    before = json.loads((shelf.root / "search_code/tool.json").read_text(encoding="utf-8"))
    after = change(shelf, Retirement(stage="hidden", replacements=(GREP,), hint="Use grep.", retention_days=90))
    assert list(after) == ["$schema", "name", "description", "stage", "retirement", "versions"]
    assert after["retirement"] == {
        "replacements": [{"tool": "grep", "when": "the text is known", "example": {"path": "a"}}],
        "hint": "Use grep.",
        "retentionDays": 90,
    }
    assert {key: value for key, value in after.items() if key not in ("stage", "retirement")} == before


def test_what_is_not_said_stays(shelf: Shelf) -> None:
    """The next stage keeps replacements, hint and retention; each can be changed alone, and the list dropped."""
    first = change(shelf, Retirement(stage="hidden", replacements=(GREP,), hint="Use grep."), write=True)
    second = change(shelf, Retirement(stage="compat", retention_days=3))
    assert second == {**first, "stage": "compat", "retirement": {**first["retirement"], "retentionDays": 3}}
    assert change(shelf, Retirement(stage="hidden", replacements=()))["retirement"] == {"hint": "Use grep."}
    assert change(shelf, Retirement(stage="hidden", hint="Use it."))["retirement"]["hint"] == "Use it."


def test_nothing_said_of_retirement_adds_nothing(shelf: Shelf) -> None:
    """A stage alone is enough: there may be nothing instead."""
    assert "retirement" not in change(shelf, Retirement(stage="removed"))


def test_the_stage_is_the_current_versions_too(shelf: Shelf) -> None:
    """A stage at the current version would win over the tool's: it goes, and one of another version stays."""
    contract = {"effect": "read"}
    versions = {"1": {"contract": contract, "stage": "hidden"}, "2": {"contract": contract, "stage": "active"}}
    shelf.tool("search_code", (SCHEMA, SCHEMA), versions=versions, stage="active")
    found = change(shelf, Retirement(stage="compat"), write=True)
    assert found["versions"] == {"1": versions["1"], "2": {"contract": contract}}
    assert load_catalog(shelf.root).tools["search_code"].stage == "compat"


def test_a_removed_tool_does_not_come_back(shelf: Shelf) -> None:
    """Its name stands for what was recorded; only what is said of its replacements may change. Others may go back."""
    shelf.edit("search_code/tool.json", stage="removed")
    code, message, hint = refused(shelf, Retirement(stage="hidden"))
    assert (code, message.split(",")[0], hint) == (
        "tool_removed",
        "search_code is removed",
        "Give the new tool another name.",
    )
    assert change(shelf, Retirement(stage="removed", replacements=(GREP,)))["stage"] == "removed"
    shelf.edit("search_code/tool.json", stage="compat")
    assert change(shelf, Retirement(stage="hidden"))["stage"] == "hidden"


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        (Replacement(tool="search_code"), "search_code cannot replace itself"),
        (Replacement(tool="rg"), 'the replacement "rg" is no tool of the catalog'),
        (Replacement(tool="glob"), "the replacement glob is itself hidden"),
        (
            Replacement(tool="grep", example={"path": 1}),
            "the example for grep is no call of it at /path: ",
        ),
        (Replacement(tool="grep", example=[]), "the example for grep is no call of it: "),
    ],
)
def test_a_replacement_that_is_none(shelf: Shelf, replacement: Replacement, message: str) -> None:
    """It is another tool of the catalog, active, and its example is a call of it."""
    shelf.edit("glob/tool.json", stage="hidden")
    code, told, _ = refused(shelf, Retirement(stage="hidden", replacements=(replacement,)))
    assert (code, told[: len(message)]) == ("bad_replacement", message)


def test_many_tools_that_become_one_are_told_apart(shelf: Shelf) -> None:
    """Two tools with one replacement: each says by an example which call of it it was, and no two say the same."""
    for name in ("make", "drop"):
        shelf.tool(name)
    make = Replacement(tool="grep", example={"path": "make"})
    change(shelf, Retirement(stage="hidden", replacements=(make,)), "make", write=True)
    code, told, hint = refused(shelf, Retirement(stage="hidden", replacements=(Replacement(tool="grep"),)), "drop")
    assert (code, told) == ("bad_replacement", "grep stands for make too, and nothing says what tells them apart")
    assert hint == "Say with an example which call of grep it is: --example 'grep={...}'."
    _, told, _ = refused(shelf, Retirement(stage="hidden", replacements=(make,)), "drop")
    assert told == "make has the same example for grep: nothing tells them apart"
    drop = Replacement(tool="grep", example={"path": "drop"})
    found = change(shelf, Retirement(stage="hidden", replacements=(drop,)), "drop")
    assert found["retirement"]["replacements"] == [{"tool": "grep", "example": {"path": "drop"}}]


def test_a_replacement_is_not_retired_under_its_tool(shelf: Shelf) -> None:
    """A model that is sent on is not sent on again: the earlier tool names another replacement first."""
    change(shelf, Retirement(stage="compat", replacements=(GREP,)), write=True)
    code, message, hint = refused(shelf, Retirement(stage="hidden"), "grep")
    assert (code, message) == ("bad_replacement", "grep is what search_code was replaced with")
    assert hint is not None
    assert hint.endswith("`ledger tool retire search_code --stage compat --use NEW`.")


@pytest.mark.parametrize(
    ("old", "new", "left_out"),
    [
        ("active", "hidden", ()),
        ("active", "compat", ("hidden",)),
        ("active", "removed", ("hidden", "compat")),
        ("compat", "removed", ()),
        ("compat", "hidden", ()),
        ("hidden", "hidden", ()),
    ],
)
def test_which_stages_are_skipped(old: Any, new: Any, left_out: tuple[str, ...]) -> None:
    """Those between the two; none on the way back."""
    assert skipped(old, new) == left_out


def test_a_check_finds_what_was_written_by_hand(shelf: Shelf) -> None:
    """Of retired tools only: a replacement that is gone, or whose example is no call of it, with its place."""
    shelf.publish()
    entries = [{"tool": "grep"}, {"tool": "rg"}, {"tool": "glob", "example": {}}]
    shelf.edit("search_code/tool.json", retirement={"replacements": entries})
    assert shelf.said() == []
    shelf.edit("search_code/tool.json", stage="compat")
    place = "search_code/tool.json"
    assert shelf.said() == [
        ("replacement_unfit", place, "/retirement/replacements/1"),
        ("replacement_unfit", place, "/retirement/replacements/2"),
    ]


def test_the_name_of_a_removed_tool_is_not_used_again(shelf: Shelf) -> None:
    """Neither a new version nor a list of tools brings it back: its versions are those that were recorded."""
    shelf.edit("search_code/tool.json", stage="removed")
    sources = read_sources(shelf.root)
    [folder] = [each for each in sources.folders if each.tool == "search_code"]
    with pytest.raises(CatalogFault, match="the name of a removed tool is never used again"):
        new_version(sources.catalog.tools["search_code"], folder, Lock())
    [subject] = read_subjects(
        {"name": "search_code", "description": "Search.", "inputSchema": SCHEMA}, "t.json"
    ).values()
    found = taken("search_code", subject, sources, trust_hints=False)
    assert (found.what, found.files, found.pointer) == ("refused", {}, "/stage")
