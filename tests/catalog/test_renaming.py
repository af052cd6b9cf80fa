"""A tool gets another name: what is written for it, and what stands in the way of a name."""

import shutil
from typing import Any

import pytest

from ledger.catalog.disk import read_sources
from ledger.catalog.renaming import renamed
from ledger.catalog.versions import Change
from ledger.errors import CatalogFault
from tests.catalog.shelf import SCHEMA, Shelf

OTHER: dict[str, Any] = {**SCHEMA, "properties": {"place": SCHEMA["properties"]["path"]}, "required": ["place"]}
STEP = {"tool": "look_at", "from": 1, "to": 2, "assertedBy": "ada"}


def given(shelf: Shelf, new: str, **said: str) -> Change:
    """Give the tool `look_at` another name, as far as its files go."""
    sources = read_sources(shelf.root)
    folder = next(each for each in sources.folders if each.tool == "look_at")
    return renamed(sources.catalog.tools["look_at"], folder, sources, new, **said)


def test_the_files_of_the_new_name(shelf: Shelf) -> None:
    """The next version is a copy and the current one; the step says both names, and who asserts it if anybody does."""
    shelf.tool()
    change = given(shelf, "view")
    assert (change.tool, change.base, change.number, change.current) == ("view", 1, 2, 2)
    assert list(change.files) == ["v2.json", "v1-v2.upcast.json", "tool.json"]
    tool = change.files["tool.json"]
    assert (tool["name"], tool["reserved"], tool["current"], list(tool["versions"])) == (
        "view",
        ["look_at"],
        2,
        ["1", "2"],
    )
    step = change.files["v1-v2.upcast.json"]
    assert (step["tool"], step["ops"]) == ("view", [{"op": "rename_tool", "from": "look_at", "to": "view"}])
    assert "assertedBy" not in step
    assert given(shelf, "view", asserted_by="ada").files["v1-v2.upcast.json"]["assertedBy"] == "ada"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a name", "no tool name"),
        ("look_at", "the tool has it"),
        ("Look_At", "only upper and lower case"),
        ("see", "there is a folder of see"),
        ("SEE", "there is a folder of see"),
        ("broken", "there is a folder of broken"),
        ("gone", "a tool of this name was published"),
        ("former", "see gave it up"),
        ("kept", "look_at gave it up"),
    ],
)
def test_a_name_that_anybody_had_is_refused(shelf: Shelf, name: str, why: str) -> None:
    """In the catalog, broken or not, in its lock, or given up."""
    for tool in ("gone", "see"):
        shelf.tool(tool)
    shelf.tool(reserved=["kept"])
    shelf.publish()
    for file in (shelf.root / "gone").iterdir():
        file.unlink()
    (shelf.root / "gone").rmdir()
    shelf.tool("see", reserved=["former"])
    shelf.write("broken/tool.json", "{")
    with pytest.raises(CatalogFault, match=why):
        given(shelf, name)


@pytest.mark.parametrize(
    ("more", "why", "hint"),
    [
        ({"current": 1}, "version 2 of look_at is a draft", "or take it away"),
        ({"current": 2, "stage": "removed"}, "is removed", "Begin a new tool"),
    ],
)
def test_a_tool_that_cannot_be_renamed_as_it_is(shelf: Shelf, more: dict[str, Any], why: str, hint: str) -> None:
    """A draft would lie between, and a removed tool goes nowhere."""
    shelf.tool(schemas=(SCHEMA, OTHER), **more)
    with pytest.raises(CatalogFault, match=why) as fault:
        given(shelf, "view")
    assert hint in (fault.value.hint or "")


def test_the_step_begins_at_the_newest_version(shelf: Shelf) -> None:
    """Calls of a published version above the current one would find no way on."""
    shelf.tool(schemas=(SCHEMA, OTHER))
    shelf.publish()
    shelf.edit("look_at/tool.json", current=1)
    with pytest.raises(CatalogFault, match="version 2 of look_at is not the current one") as fault:
        given(shelf, "view")
    assert fault.value.hint == 'Write "current": 2.'


def moved(shelf: Shelf, old: str, new: str) -> None:
    """Put a tool's folder under another name with what `renamed` wrote, and publish it."""
    sources = read_sources(shelf.root)
    folder = next(each for each in sources.folders if each.tool == old)
    change = renamed(sources.catalog.tools[old], folder, sources, new, asserted_by="ada")
    (shelf.root / old).rename(shelf.root / new)
    for name, document in change.files.items():
        shelf.write(f"{new}/{name}", document)
    assert shelf.report().findings == ()
    shelf.publish()


def test_what_was_published_stays_as_it_is_over_two_renames(shelf: Shelf) -> None:
    """Upcast files say the name that the tool had when they were written; each is held to the lock."""
    shelf.tool(schemas=(SCHEMA, OTHER))
    step = shelf.write("look_at/v1-v2.upcast.json", STEP | {"ops": [{"op": "rename", "from": "/path", "to": "/place"}]})
    text = step.read_text()
    shelf.publish()
    moved(shelf, "look_at", "view")
    moved(shelf, "view", "inspect")
    assert (shelf.root / "inspect/v1-v2.upcast.json").read_text() == text
    assert shelf.said() == []
    tool = read_sources(shelf.root).catalog.tools["inspect"]
    assert (tool.renamed, tool.reserved, sorted(tool.upcasts)) == (
        {"look_at": 2, "view": 3},
        ("look_at", "view"),
        [1, 2, 3],
    )
    shelf.edit("inspect/v1-v2.upcast.json", tool="inspect")
    assert {said[0] for said in shelf.said()} == {"upcast_edited"}
    shelf.edit("inspect/v1-v2.upcast.json", tool="stranger")
    assert "quarantined" in {said[0] for said in shelf.said()}


@pytest.mark.parametrize("by_hand", ["folder", "name", "reserved"])
def test_a_folder_that_was_moved_by_hand_is_told_what_it_lacks(shelf: Shelf, by_hand: str) -> None:
    """The check names the step, and the command that does all of it; of a folder that is gone only the command."""
    shelf.tool()
    shelf.publish()
    (shelf.root / "look_at").rename(shelf.root / "view")
    if by_hand == "name":
        shelf.tool("view", schemas=(SCHEMA, OTHER))
    if by_hand == "reserved":
        shelf.tool("view", schemas=(OTHER,), reserved=["look_at"])
    [hint] = [note.hint or "" for note in shelf.report().findings if note.code == "tool_missing"]
    assert '{"op": "rename_tool", "from": "look_at", "to": "view"}' in hint
    assert "`ledger tool rename look_at view`" in hint
    shutil.rmtree(shelf.root / "view")
    shelf.tool("other", schemas=(OTHER,))
    [hint] = [note.hint or "" for note in shelf.report().findings if note.code == "tool_missing"]
    assert hint.endswith("by `ledger tool rename look_at NEW`.")
