"""What `tool check` says of a catalog's files: every fault with its place, examples, strays, proofs."""

import json
from typing import Any

import pytest

from ledger.catalog.checking import check_catalog
from ledger.catalog.disk import MAX_FILES, read_sources
from ledger.catalog.notes import FINDINGS, WARNINGS
from ledger.errors import CatalogFault
from tests.catalog.shelf import SCHEMA, Shelf

OPEN = {"type": "object"}
CLOSED = {"type": "object", "additionalProperties": False}


def test_every_fault_of_a_quarantined_tool_is_named(shelf: Shelf) -> None:
    """Loading stops at a tool's first fault; a check names those of tool.json and of each version's schema."""
    bad = {"type": "object", "properties": {"a": {"type": "strin"}}}
    shelf.tool(schemas=(bad, SCHEMA, {"type": "object", "minProperties": "1"}), owner=3, colour="red", current=2)
    assert shelf.said() == [
        ("quarantined", "look_at/tool.json", "/colour"),
        ("meta_schema", "look_at/tool.json", "/owner"),
        ("quarantined", "look_at/v1.json", "/properties/a/type"),
        ("quarantined", "look_at/v3.json", "/minProperties"),
    ]
    assert [note.version for note in shelf.report().notes] == [None, None, 1, 3]


@pytest.mark.parametrize("document", ["{", "[]", {"name": "look_at"}, {"name": "look_at", "versions": []}])
def test_a_tool_that_cannot_be_read_at_all(shelf: Shelf, document: Any) -> None:
    """It is named, and nothing breaks."""
    shelf.write("look_at/tool.json", document)
    assert {said[1] for said in shelf.said()} == {"look_at/tool.json"}
    assert shelf.report().findings


@pytest.mark.parametrize(
    "versions", [{"1": 3}, {"one": {"contract": {}, "schema": "v1.json"}}, {"1": {"contract": {}, "schema": []}}]
)
def test_versions_that_make_no_sense(shelf: Shelf, versions: Any) -> None:
    """They are found in tool.json, whatever stands beside them."""
    shelf.tool(versions=versions)
    assert [(note.tool, note.version) for note in shelf.report().findings][:1] == [("look_at", None)]


def test_a_fault_of_a_version_that_is_no_number(shelf: Shelf) -> None:
    """It belongs to the tool."""
    shelf.tool(versions={"one": {"contract": {}, "schema": "v1.json"}, "two": {"contract": {}, "schema": "v2.json"}})
    shelf.write("look_at/v1.json", "null")
    shelf.write("look_at/v2.json", {"type": "strin"})
    assert [(note.code, note.version) for note in shelf.report().findings][-2:] == [
        ("schema_emptied", None),
        ("quarantined", None),
    ]


@pytest.mark.parametrize("schema", ["null", {}])
def test_an_emptied_schema_is_a_fault(shelf: Shelf, schema: Any) -> None:
    """Empty or null where there was a schema: no version, and no other fault is told of it."""
    shelf.tool()
    shelf.publish()
    shelf.write("look_at/v1.json", schema)
    assert shelf.said() == [("schema_emptied", "look_at/v1.json", "")]
    assert [note.version for note in shelf.report().notes] == [1]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (OPEN, ["schema_emptied"]),
        ({**OPEN, "properties": {}, "required": [], "title": "Look"}, ["schema_emptied"]),
        (CLOSED, []),
        (SCHEMA, []),
    ],
)
def test_a_new_version_that_says_nothing(shelf: Shelf, schema: Any, said: list[str]) -> None:
    """A server that lost its schemas publishes open ones; a tool without arguments says that it has none."""
    shelf.tool(schemas=(SCHEMA, schema))
    shelf.publish()
    assert [code for code, _, _ in shelf.said()] == said


def test_a_tool_that_never_said_anything(shelf: Shelf) -> None:
    """Where there was no schema none was lost."""
    shelf.tool(schemas=(OPEN, OPEN))
    shelf.publish()
    assert shelf.said() == []


def test_examples_are_what_their_names_say(shelf: Shelf) -> None:
    """ok-* passes its version, bad-* does not; anything else under examples is checked by nothing, and said so."""
    shelf.tool(schemas=(SCHEMA, CLOSED))
    shelf.publish()
    for name, document in {
        "v1/ok-good.json": {"path": "a"},
        "v1/ok-wrong.json": {"path": 3},
        "v1/bad-good.json": {"path": "a"},
        "v1/bad-wrong.json": {},
        "v2/ok-good.json": {},
        "v3/ok-good.json": {},
        "v1/good.json": {},
        "v1/bad-torn.json": "{",
    }.items():
        shelf.write(f"look_at/examples/{name}", document)
    assert shelf.said() == [
        ("example_accepted", "look_at/examples/v1/bad-good.json", ""),
        ("unreadable", "look_at/examples/v1/bad-torn.json", ""),
        ("example_misplaced", "look_at/examples/v1/good.json", ""),
        ("example_refused", "look_at/examples/v1/ok-wrong.json", "/path"),
        ("example_misplaced", "look_at/examples/v3/ok-good.json", ""),
    ]
    assert shelf.report().examples == 7


def test_files_that_nothing_names(shelf: Shelf) -> None:
    """A schema without its entry in tool.json, and a tool.json without its meta-schema, are warned of."""
    unnamed: dict[str, Any] = {"$schema": None}
    shelf.tool(**unnamed)
    shelf.publish()
    shelf.write("look_at/v2.json", SCHEMA)
    shelf.write("look_at/notes.json", "no JSON")
    shelf.write("look_at/README.md", "Not looked at.")
    assert shelf.said() == [
        ("stray_file", "look_at/notes.json", ""),
        ("meta_schema_unnamed", "look_at/tool.json", ""),
        ("stray_file", "look_at/v2.json", ""),
    ]


def test_upcasts_are_proved(shelf: Shelf) -> None:
    """One that the schemas contradict is a finding, one that nobody answers for a warning, a proved one nothing."""
    new = {**SCHEMA, "required": ["place"], "properties": {"place": SCHEMA["properties"]["path"]}}
    shelf.tool(schemas=(SCHEMA, new))
    upcast = {"tool": "look_at", "from": 1, "to": 2, "ops": [{"op": "rename", "from": "/path", "to": "/place"}]}
    name = "look_at/v1-v2.upcast.json"
    for changes, code in (
        ({"assertedBy": "ada"}, None),
        ({}, "upcast_unproved"),
        ({"assertedBy": "ada", "ops": []}, "upcast_refuted"),
        ({"semantic": "It is another place.", "ops": []}, None),
    ):
        shelf.write(name, {**upcast, **changes})
        found = [note.code for note in shelf.report().notes if note.code.startswith("upcast")]
        assert found == ([code] if code else [])


def test_what_an_upcast_lacks_is_told_to_be_copied(shelf: Shelf) -> None:
    """A wider or a narrower new form that the file does not list: the hint has the member to write."""
    path = SCHEMA["properties"]["path"]
    for bounds, key in (({"maxLength": 9}, "widens"), ({"maxLength": 5}, "narrows")):
        old, new = ({**SCHEMA, "properties": {"path": {**path, **each}}} for each in ({"maxLength": 7}, bounds))
        shelf.tool(schemas=(old, new))
        upcast = {"tool": "look_at", "from": 1, "to": 2, "ops": [], "assertedBy": "ada"}
        shelf.write("look_at/v1-v2.upcast.json", upcast)
        [note] = [note for note in shelf.report().notes if note.code.startswith("upcast")]
        said, _, member = (note.hint or "").partition("write into the file: ")
        assert said.startswith("Nothing is carried by it.")
        assert f'"{key}": ["/properties/path/maxLength: ' in member
        shelf.write("look_at/v1-v2.upcast.json", upcast | json.loads(f"{{{member.removesuffix('.')}}}"))
        assert not any(note.code.startswith("upcast") for note in shelf.report().notes)


OPTION = {**SCHEMA, "properties": {**SCHEMA["properties"], "deep": {"type": "boolean", "description": "Whether."}}}
ADDED = {"op": "introduce_optional", "path": "/deep", "absentMeans": None}
WIDER = {**SCHEMA, "properties": {"path": {**SCHEMA["properties"]["path"], "maxLength": 9}}}
ANY = {**SCHEMA, "anyOf": [{"minProperties": 1}]}
PLACE = {**ANY, "properties": {"place": SCHEMA["properties"]["path"]}, "required": ["place"]}
MOVED = {"op": "rename", "from": "/path", "to": "/place"}
BOUND = {**SCHEMA, "properties": {"path": {**SCHEMA["properties"]["path"], "maxLength": 7}}}


@pytest.mark.parametrize(
    ("schemas", "step", "locked"),
    [
        ((SCHEMA, SCHEMA), {}, "It was locked unsigned."),
        ((SCHEMA, OPTION), {"assertedBy": "ada", "ops": [ADDED]}, "It was locked like this, and stays so."),
        ((SCHEMA, OPTION), {"assertedBy": "ada"}, "It was locked like this, and stays so."),
        ((BOUND, WIDER), {"assertedBy": "ada"}, "It was locked like this, and stays so."),
        ((ANY, PLACE), {"assertedBy": "ada", "ops": [MOVED]}, None),
    ],
    ids=["unsigned", "absence", "option", "widens", "unknown"],
)
def test_an_upcast_is_complete_before_it_is_locked(
    shelf: Shelf, schemas: tuple[Any, ...], step: dict[str, Any], locked: str | None
) -> None:
    """What only a person can add holds the lock up where the lock would take the file in; one of a draft does not."""
    name = "look_at/v1-v2.upcast.json"
    shelf.write(name, {"tool": "look_at", "from": 1, "to": 2, "ops": [], **step})
    for current in (1, 2):
        shelf.tool(schemas=schemas, current=current)
        [note] = [note for note in shelf.report().notes if note.code.startswith("upcast")]
        assert (note.code, note.before_lock) == ("upcast_unproved", locked is not None and current == 2)
        assert ("write into the file:" in (note.hint or "")) == (locked is not None)
        assert shelf.report().incomplete == ((note,) if note.before_lock else ())
    shelf.publish()
    [note] = [note for note in shelf.report().notes if note.code.startswith("upcast")]
    assert (locked or "a person is asked for each call.") in (note.hint or "")
    assert not note.before_lock
    (shelf.root / name).rename(shelf.root / "kept")
    shelf.edit("catalog.lock.json", tools={})
    shelf.publish()
    (shelf.root / "kept").rename(shelf.root / name)
    assert bool(shelf.report().incomplete) == (locked is not None)  # beside a version that is published already


def test_what_a_killed_command_left_is_told(shelf: Shelf) -> None:
    """Half a file or folder, at the root and in a tool's folder; what only looks like it is not."""
    shelf.tool()
    shelf.publish()
    for name in (".view.7.new/v1.json", ".look_at.7.old/v1.json", "look_at/.v1.json.7.new", ".catalog.lock.json.7.new"):
        shelf.write(name, "{")
    for name in (".git/HEAD", ".view.new", ".view.x.new", "look_at/.v1.json.swp"):
        shelf.write(name, "{")
    assert shelf.said() == [
        ("left_over", ".catalog.lock.json.7.new", ""),
        ("left_over", ".look_at.7.old", ""),
        ("left_over", ".view.7.new", ""),
        ("left_over", "look_at/.v1.json.7.new", ""),
    ]


def test_a_folder_with_too_many_files(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not read is said."""
    assert MAX_FILES == 5_000
    monkeypatch.setattr("ledger.catalog.disk.MAX_FILES", 3)
    shelf.tool()
    shelf.publish()
    for number in range(3):
        shelf.write(f"look_at/examples/v1/ok-{number}.json", {"path": "a"})
    assert [said[0] for said in shelf.said()] == ["unreadable", "unreadable"]


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("{", ""),
        ("null", ""),
        ('{"format": 2, "tools": {}}', "/format"),
        ('{"format": 1, "tools": {"a": {"versions": {"0": {}}}}}', "/tools/a/versions/0"),
        ('{"format": 1, "tools": {"a": {"versions": {"1": {"shape": "x", "contract": "", "wordings": []}}}}}', None),
    ],
)
def test_a_lock_that_is_none_of_ours_is_refused(shelf: Shelf, text: str, pointer: str | None) -> None:
    """The place of the first fault is named; nothing is read as if it were no lock."""
    shelf.tool()
    shelf.write("catalog.lock.json", text)
    with pytest.raises(CatalogFault) as caught:
        read_sources(shelf.root)
    assert caught.value.path.endswith("catalog.lock.json")
    assert pointer is None or caught.value.pointer == pointer


def test_settings_are_followed(shelf: Shelf) -> None:
    """Limits and dialect of catalog.json hold for the schemas of a quarantined tool too."""
    shelf.write("catalog.json", {"limits": {"maxSubschemas": 1}})
    shelf.tool(schemas=(OPEN, SCHEMA))
    shelf.tool("two", schemas=(OPEN,))
    assert [said[:2] for said in shelf.said() if said[0] == "quarantined"] == [("quarantined", "look_at/v2.json")]


def test_what_is_said_has_a_level_and_one_meaning(shelf: Shelf) -> None:
    """A code is a finding or a warning; the report's JSON has both lists, in the order of files."""
    assert not {*FINDINGS} & {*WARNINGS}
    shelf.tool(schemas=({"type": "object", "properties": {"input": {"type": "string"}}},))
    wire = check_catalog(read_sources(shelf.root)).to_wire()
    assert (wire["tools"], wire["versions"], wire["examples"], wire["findings"]) == (1, 1, 0, [])
    assert [each["code"] for each in wire["warnings"]] == ["not_locked", "undescribed", "vague_name"]
    assert wire["warnings"][1] == {
        "level": "warning",
        "code": "undescribed",
        "tool": "look_at",
        "version": 1,
        "path": str(shelf.root / "look_at/v1.json"),
        "pointer": "/properties/input",
        "message": "nothing explains this field",
        "hint": "Write a `description`.",
    }
