"""What was published stays as it was: every edit of it is found, with file and place."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog.disk import read_lock
from tests.catalog.shelf import SCHEMA, Shelf

OTHER = {**SCHEMA, "required": []}
OUT = {"type": "object", "properties": {"found": {"type": "boolean", "description": "Whether."}}}
UPCAST = {"tool": "look_at", "from": 1, "to": 2, "semantic": "Another thing is meant."}


def test_what_is_published_and_untouched_is_fine(shelf: Shelf) -> None:
    """Behind the lock there is nothing to say, and a second lock adds nothing."""
    shelf.tool()
    assert [(each.what, each.name) for each in shelf.publish()] == [("tool", "look_at"), ("version", "1")]
    assert shelf.said() == []
    assert shelf.publish() == ()


def test_what_is_not_published_is_told(shelf: Shelf) -> None:
    """Each version up to the current one is named until it is locked, a draft is not; without a lock once for all."""
    shelf.tool(schemas=(SCHEMA, OTHER, SCHEMA), current=2)
    notes = shelf.report().warnings
    assert [(note.code, note.version) for note in notes] == [("not_locked", 1), ("not_locked", 2)]
    (shelf.root / "catalog.lock.json").unlink()
    assert shelf.said() == [("not_locked", "catalog.lock.json", "")]
    shelf.publish()
    assert shelf.said() == []
    lock = read_lock(shelf.root)
    assert lock is not None
    assert list(lock.tools["look_at"].versions) == [1, 2]


def test_an_upcast_that_came_later_is_told(shelf: Shelf) -> None:
    """Beside a version that is published it may carry calls, so it is published too before it is edited."""
    shelf.tool(schemas=(SCHEMA, OTHER))
    shelf.publish()
    shelf.write("look_at/v1-v2.upcast.json", UPCAST)
    assert shelf.said() == [("not_locked", "look_at/v1-v2.upcast.json", "")]
    shelf.publish()
    assert shelf.said() == []


def test_an_upcast_to_a_draft_is_not_told(shelf: Shelf) -> None:
    """It belongs to what is being written, and is published with its version."""
    shelf.tool(schemas=(SCHEMA, OTHER), current=1)
    shelf.publish()
    shelf.write("look_at/v1-v2.upcast.json", UPCAST)
    assert shelf.said() == []


def test_an_edited_version_is_found(shelf: Shelf) -> None:
    """Another shape under a published number is a finding, and the lock keeps the old one."""
    shelf.tool()
    shelf.publish()
    before = read_lock(shelf.root)
    shelf.write("look_at/v1.json", OTHER)
    assert shelf.said() == [("version_edited", "look_at/v1.json", "")]
    shelf.publish()
    after = read_lock(shelf.root)
    assert before is not None
    assert after is not None
    assert after.tools["look_at"].versions[1].shape == before.tools["look_at"].versions[1].shape
    assert shelf.said() == [("version_edited", "look_at/v1.json", "")]


def test_settings_that_read_another_schema_are_found(shelf: Shelf) -> None:
    """A significant annotation that is listed later changes published versions without touching their files."""
    schema = {**SCHEMA, "properties": {"path": {"type": "string", "description": "It.", "x-zone": "utc"}}}
    shelf.tool(schemas=(schema,))
    shelf.publish()
    shelf.write("catalog.json", {"significantAnnotations": ["x-zone"]})
    [note] = shelf.report().findings
    assert (note.code, "catalog.json" in note.message) == ("version_edited", True)


def test_formats_that_begin_to_assert_are_told(shelf: Shelf) -> None:
    """A format of a published schema that the catalog opts in to later is a warning until it is locked."""
    dated = {"type": "array", "items": [{"type": "string", "format": "date", "description": "When."}]}
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"format": dated}}
    shelf.tool(schemas=(schema,))
    shelf.publish()
    shelf.write("catalog.json", {"formats": ["date", "time"]})
    assert [said for said in shelf.said() if said[0] != "undescribed"] == [("formats_changed", "look_at/v1.json", "")]
    assert [(each.what, each.name) for each in shelf.publish()] == [("wording", "1")]
    assert [said[0] for said in shelf.said()] == ["undescribed"]


def test_an_edited_output_schema_is_found(shelf: Shelf) -> None:
    """The output schema belongs to the version."""
    versions = {"1": {"contract": {"effect": "read"}, "outputSchema": "v1.output.json"}}
    shelf.write("look_at/v1.output.json", OUT)
    shelf.tool(versions=versions)
    shelf.publish()
    assert shelf.said() == []
    shelf.write("look_at/v1.output.json", {**OUT, "required": ["found"]})
    assert shelf.said() == [("output_edited", "look_at/tool.json", "")]


def test_an_edited_contract_is_found_and_its_dates_are_not(shelf: Shelf) -> None:
    """What a contract promises is locked; when it was deprecated, and by what replaced, is said later."""
    shelf.tool()
    shelf.publish()
    dated = {"effect": "read", "deprecatedAt": "2026-01-01", "replacement": "see"}
    shelf.edit("look_at/tool.json", versions={"1": {"contract": dated}})
    assert shelf.said() == []
    shelf.edit("look_at/tool.json", versions={"1": {"contract": {**dated, "timeoutSeconds": 3}}})
    assert shelf.said() == [("contract_edited", "look_at/tool.json", "/versions/1/contract")]


@pytest.mark.parametrize(
    ("file", "changes", "code"),
    [
        ("look_at/tool.json", {"description": "See."}, "description_changed"),
        ("look_at/tool.json", {"useWhen": "Always."}, "description_changed"),
        ("look_at/v1.json", {"title": "Look"}, "description_changed"),
        ("look_at/v1.json", {"$comment": "Nobody reads it."}, "words_changed"),
    ],
)
def test_another_wording_is_a_warning_until_it_is_locked(
    shelf: Shelf, file: str, changes: dict[str, Any], code: str
) -> None:
    """Words make no version; each published wording stays in the lock, the newest last."""
    shelf.tool()
    shelf.publish()
    shelf.edit(file, **changes)
    assert [said[0] for said in shelf.said()] == [code]
    assert [(each.what, each.name) for each in shelf.publish()] == [("wording", "1")]
    assert shelf.said() == []
    lock = read_lock(shelf.root)
    assert lock is not None
    assert len(lock.tools["look_at"].versions[1].wordings) == 2


def test_a_wording_that_comes_back_is_listed_again(shelf: Shelf) -> None:
    """The last one listed is the one that models read now."""
    shelf.tool()
    shelf.publish()
    for words, number in (("See.", 2), ("Look at look_at.", 3)):
        shelf.edit("look_at/tool.json", description=words)
        shelf.publish()
        lock = read_lock(shelf.root)
        assert lock is not None
        assert len(lock.tools["look_at"].versions[1].wordings) == number
        assert shelf.said() == []


def test_the_layout_of_a_file_is_no_wording(shelf: Shelf) -> None:
    """Files are compared by their JSON values: line ends and indents may change."""
    shelf.tool()
    shelf.publish()
    shelf.write("look_at/v1.json", json.dumps(SCHEMA, indent=4).replace("\n", "\r\n"))
    assert shelf.said() == []


def test_what_is_gone_is_found(shelf: Shelf) -> None:
    """A version or a whole tool that was published stays on disk."""
    shelf.tool(schemas=(SCHEMA, OTHER))
    shelf.tool("other")
    shelf.publish()
    shelf.edit("look_at/tool.json", versions={"2": {"contract": {"effect": "read"}}})
    for file in (shelf.root / "other").iterdir():
        file.unlink()
    (shelf.root / "other").rmdir()
    assert shelf.said() == [
        ("tool_missing", "catalog.lock.json", "/tools/other"),
        ("version_missing", "look_at/tool.json", "/versions"),
        ("stray_file", "look_at/v1.json", ""),
    ]


def test_a_quarantined_tool_is_not_missing(shelf: Shelf) -> None:
    """It is there, only bad: that is said once."""
    shelf.tool()
    shelf.publish()
    shelf.write("look_at/tool.json", "{")
    assert [said[0] for said in shelf.said()] == ["quarantined"]


def test_reserved_names_stay_reserved(shelf: Shelf) -> None:
    """A name that was given up once is not given back, and nobody takes it."""
    shelf.tool(reserved=["see"])
    assert [(each.what, each.name) for each in shelf.publish()][-1] == ("reserved", "see")
    shelf.tool()
    shelf.tool("see")
    assert [said for said in shelf.said() if said[0].startswith("name")] == [
        ("name_released", "look_at/tool.json", "/reserved"),
        ("name_reused", "see/tool.json", "/name"),
    ]


def test_names_that_differ_only_in_case_collide(shelf: Shelf) -> None:
    """They are one folder on some file systems, and one name to a model."""
    shelf.tool("look_at")
    shelf.tool("Look_at", description="See.")
    shelf.publish()
    assert ("name_collision", "look_at/tool.json", "/name") in shelf.said()


def test_a_published_upcast_stays(shelf: Shelf, tmp_path: Path) -> None:
    """It is locked with the version that it leads to; edited or gone afterwards it is a finding."""
    name = "look_at/v1-v2.upcast.json"
    shelf.tool(schemas=(SCHEMA, OTHER), current=1)
    shelf.write(name, UPCAST)
    shelf.publish()
    lock = read_lock(shelf.root)
    assert lock is not None
    assert lock.tools["look_at"].upcasts == {}
    shelf.edit("look_at/tool.json", current=2)
    assert ("upcast", "v1-v2.upcast.json") in [(each.what, each.name) for each in shelf.publish()]
    assert shelf.said() == []
    shelf.edit(name, semantic="Something else.")
    assert shelf.said() == [("upcast_edited", name, "")]
    (tmp_path / name).unlink()
    assert shelf.said() == [("upcast_missing", name, "")]


def test_an_upcast_that_was_locked_unsigned_may_be_signed_by_hand(shelf: Shelf) -> None:
    """The signature alone is told as such, with the way out; with anything else it is an edit as any other."""
    name = "look_at/v1-v2.upcast.json"
    shelf.tool(schemas=(SCHEMA, SCHEMA))
    shelf.write(name, {"tool": "look_at", "from": 1, "to": 2, "ops": []})
    shelf.publish()
    shelf.edit(name, assertedBy="ada")
    [note] = shelf.report().findings
    assert (note.code, note.message) == ("upcast_edited", "this upcast was signed after it was locked")
    assert "by hand" in (note.hint or "")
    shelf.edit(name, ops=[{"op": "restructure"}])
    [note] = shelf.report().findings
    assert (note.code, note.message) == ("upcast_edited", "a published upcast was edited")
    shelf.edit(name, ops=[])
    lock = json.loads((shelf.root / "catalog.lock.json").read_text())
    del lock["tools"]["look_at"]["upcasts"]
    shelf.write("catalog.lock.json", lock)
    assert [(each.what, each.name) for each in shelf.publish()] == [("upcast", "v1-v2.upcast.json")]
    assert shelf.said() == []
    shelf.edit(name, assertedBy="bob")
    assert [note.message for note in shelf.report().findings] == ["a published upcast was edited"]


@pytest.mark.parametrize(
    ("locked", "file", "text"), [(False, "v2.json", "{"), (True, "v2.json", "{"), (True, "tool.json", "{")]
)
def test_a_renamed_tool_with_a_fault_is_not_missing(shelf: Shelf, locked: bool, file: str, text: str) -> None:
    """Its old name was given up, as its file or the lock says: what is bad is not gone."""
    shelf.tool("look_at")
    shelf.publish()
    (shelf.root / "look_at").rename(shelf.root / "view")
    shelf.tool("view", schemas=(SCHEMA, SCHEMA), reserved=["look_at"], description="Look at look_at.")
    names = {"op": "rename_tool", "from": "look_at", "to": "view"}
    shelf.write("view/v1-v2.upcast.json", {"tool": "view", "from": 1, "to": 2, "assertedBy": "ada", "ops": [names]})
    if locked:
        shelf.publish()
    shelf.write(f"view/{file}", text)
    assert [note.code for note in shelf.report().findings] == ["quarantined"]
    shelf.edit(
        "catalog.lock.json",
        tools={"gone": json.loads((shelf.root / "catalog.lock.json").read_text())["tools"]["look_at"]},
    )
    assert [note.code for note in shelf.report().findings if note.tool == "gone"] == ["tool_missing"]


def test_a_tool_that_got_another_name_keeps_what_was_published(shelf: Shelf) -> None:
    """Its folder moves, its versions stay: nothing is missing, and what is edited on the way is found."""
    shelf.tool("look_at")
    shelf.publish()
    (shelf.root / "look_at").rename(shelf.root / "view")
    shelf.tool("view", schemas=(SCHEMA, SCHEMA), reserved=["look_at"], description="Look at look_at.")
    assert ("tool_missing", "catalog.lock.json", "/tools/look_at") in shelf.said()
    [gone] = [note for note in shelf.report().findings if note.code == "tool_missing"]
    assert '{"op": "rename_tool", "from": "look_at", "to": "view"}' in (gone.hint or "")
    names = {"op": "rename_tool", "from": "look_at", "to": "view"}
    step = {"tool": "view", "from": 1, "to": 2, "assertedBy": "ada", "ops": [names]}
    shelf.write("view/v1-v2.upcast.json", step)
    assert shelf.report().findings == ()
    shelf.publish()
    assert shelf.said() == []
    shelf.write("view/v1.json", OTHER)
    assert {code for code, _, _ in shelf.said()} >= {"version_edited"}


def test_versions_are_published_under_the_name_that_they_had(shelf: Shelf) -> None:
    """What the old name has in the lock is published, upcasts too; another wording is taken in there, once."""
    shelf.tool("look_at", schemas=(SCHEMA, SCHEMA))
    shelf.write("look_at/v1-v2.upcast.json", {"tool": "look_at", "from": 1, "to": 2, "assertedBy": "ada", "ops": []})
    shelf.publish()
    (shelf.root / "look_at").rename(shelf.root / "view")
    shelf.tool("view", schemas=(SCHEMA, SCHEMA, SCHEMA), reserved=["look_at"], description="Look at look_at.")
    names = {"op": "rename_tool", "from": "look_at", "to": "view"}
    step = {"tool": "view", "from": 2, "to": 3, "assertedBy": "ada", "ops": [names]}
    shelf.write("view/v2-v3.upcast.json", step)
    unlocked = [(note.version, note.code) for note in shelf.report().notes if note.code == "not_locked"]
    assert unlocked == [(3, "not_locked")]
    assert [(each.what, each.name) for each in shelf.publish()] == [
        ("tool", "view"),
        ("version", "3"),
        ("upcast", "v2-v3.upcast.json"),
        ("reserved", "look_at"),
    ]
    lock = read_lock(shelf.root)
    assert lock is not None
    assert {name: list(tool.versions) for name, tool in lock.tools.items()} == {"look_at": [1, 2], "view": [3]}
    shelf.edit("view/tool.json", description="Look again.")
    assert {code for code, _, _ in shelf.said()} == {"description_changed"}
    assert [(each.tool, each.what, each.name) for each in shelf.publish()] == [
        ("look_at", "wording", "1"),
        ("look_at", "wording", "2"),
        ("view", "wording", "3"),
    ]
    assert (shelf.said(), shelf.publish()) == ([], ())
