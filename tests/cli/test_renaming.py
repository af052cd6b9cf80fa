"""`ledger tool rename`, and how a renamed tool and its recorded calls are told afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ledger import Allow, Ask, Ledger
from ledger.catalog import load_catalog
from tests.catalog.shelf import SCHEMA, Shelf
from tests.cli.running import data, failure, ledger

WHO = "who says that every argument means what it meant"
NEW = {**SCHEMA, "properties": {"place": SCHEMA["properties"]["path"]}, "required": ["place"]}


def opened(name: str) -> Ledger:
    """The program of one release."""
    found = Ledger.open("sqlite:///ledger.db", catalog="schemas/tools")

    def look_at(path: str) -> str:
        """Look at it."""
        return path

    def view(place: str) -> str:
        """Look at it."""
        return place

    found.tool(name)(look_at if name == "look_at" else view)
    found.authorize(lambda call, principal: Ask() if call.arguments.get("path") == "far" else Allow())
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one published tool and a call of it that ended, one that waits, and one that is proposed."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shelf = Shelf(folder / "schemas/tools")
        shelf.tool(versions={"1": {"contract": {"effect": "write"}}})
        shelf.publish()
        with opened("look_at") as old:
            old.session("ended").call("look_at", {"path": "near"})
            old.session("waits").call("look_at", {"path": "far"})
            old.session("proposed").propose("look_at", {"path": "near"})
    return folder


@pytest.fixture
def shelf(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A copy of it, as the current folder."""
    shutil.copytree(made, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return Shelf(tmp_path / "copy/schemas/tools")


def renamed(shelf: Shelf) -> None:
    """Rename the tool with an argument of it, publish that, and carry what is open."""
    data("tool", "rename", "look_at", "view", "--asserted-by", "ada")
    shelf.write("view/v2.json", NEW)
    step = json.loads((shelf.root / "view/v1-v2.upcast.json").read_text())
    shelf.edit("view/v1-v2.upcast.json", ops=[*step["ops"], {"op": "rename", "from": "/path", "to": "/place"}])
    assert ledger("tool", "lock").exit_code == 0
    assert data("migrate-schemas", "--apply")["carried"] == 1


def test_a_rename_and_what_follows(shelf: Shelf) -> None:
    """What was moved and written, what is left to a person, and the commands that follow; the check finds nothing."""
    (shelf.root / "look_at/README.md").write_text("Kept.")
    shelf.tool("other", stage="hidden", retirement={"replacements": [{"tool": "look_at"}]})
    done = ledger("tool", "rename", "look_at", "view")
    assert done.stdout.splitlines() == [
        "look_at is view from version 2 on.",
        "moved    schemas/tools/view",
        "written  schemas/tools/view/v2.json",
        "written  schemas/tools/view/v1-v2.upcast.json",
        "written  schemas/tools/view/tool.json",
        "schemas/tools/other/tool.json names look_at as a replacement: write view there.",
        "2 calls of it not ended yet: `ledger migrate-schemas` says what that step carries.",
        "Left to you, before it is locked: in the program the tool's name, view;",
        f'  "assertedBy" in schemas/tools/view/v1-v2.upcast.json, the name of {WHO};',
        "  what else changes of its form, in v2.json and in the upcast's ops. Then:",
        "  ledger tool check",
        "  ledger tool diff view 1 2",
        "  ledger tool lock",
        "  ledger migrate-schemas",
    ]
    assert sorted(each.name for each in shelf.root.iterdir()) == ["catalog.lock.json", "other", "view"]
    assert (shelf.root / "view/README.md").read_text() == "Kept."
    tool = load_catalog(shelf.root).tools["view"]
    assert (tool.current, tool.reserved, tool.renamed) == (2, ("look_at",), {"look_at": 1})
    assert [note.code for note in shelf.report().findings] == ["replacement_unfit"]


def test_a_rehearsal_writes_nothing(shelf: Shelf) -> None:
    """It says the same; without a ledger nothing is known of open calls, and one that was named must be there."""
    found = data("tool", "rename", "look_at", "view", "--dry-run", "--asserted-by", "ada")
    assert (found["tool"], found["from"], found["fromVersion"], found["version"]) == ("view", "look_at", 1, 2)
    assert (found["written"], found["openCalls"], found["assertedBy"]) == (False, 2, "ada")
    assert found["upcast"] in found["files"]
    assert [each.name for each in shelf.root.iterdir() if each.is_dir()] == ["look_at"]
    Path("ledger.db").unlink()
    lines = ledger("tool", "rename", "look_at", "view", "--dry-run", "--asserted-by", "ada").stdout.splitlines()
    assert lines[:3] == [
        "look_at would be view from version 2 on.",
        "Nothing is written.",
        "No ledger was looked at: open calls are not known here.",
    ]
    assert not any("assertedBy" in line for line in lines)
    assert failure("tool", "rename", "look_at", "view", "--db", "sqlite:///no.db")[1] == "no_database"


def test_a_second_rename_is_refused(shelf: Shelf) -> None:
    """With the name that the tool has now, and so is everything else that is said of the old one."""
    ledger("tool", "rename", "look_at", "view")
    for words in (
        ("rename", "look_at", "view"),
        ("new-version", "look_at"),
        ("retire", "look_at", "--stage", "hidden"),
    ):
        result = ledger("tool", *words)
        assert (result.exit_code, "look_at was given up by view" in result.stderr) == (1, True)
        assert "It is called view now." in result.stderr
    assert failure("tool", "rename", "lok", "view")[:2] == (1, "unknown_tool")


def test_a_name_that_the_ledger_recorded_is_refused(shelf: Shelf) -> None:
    """A tool that its function alone described had it: its calls are not this tool's."""
    with Ledger.open("sqlite:///ledger.db") as found:

        @found.tool("view", effect="read")
        def view() -> None:
            """Look."""

        found.session("s").call("view", {})
    assert failure("tool", "rename", "look_at", "view")[2].endswith("the ledger has recorded another tool as view")
    assert (shelf.root / "look_at/tool.json").exists()


def test_a_folder_that_cannot_be_copied_stays_as_it_was(shelf: Shelf) -> None:
    """Half a rename is none: nothing of the new name is left."""
    os.mkfifo(shelf.root / "look_at/pipe")
    before = sorted(shelf.root.rglob("*"))
    status, code, message = failure("tool", "rename", "look_at", "view")
    assert (status, code, "cannot be moved to schemas/tools/view" in message) == (1, "catalog_fault", True)
    assert sorted(shelf.root.rglob("*")) == before


CUT = [("look_at", ".look_at.7.old"), ("look_at",), (".look_at.7.old",)]
"""What a process that died between the steps of a rename may leave of the old folder."""


@pytest.mark.parametrize("left", CUT)
def test_a_rename_that_was_cut_short_is_finished(shelf: Shelf, left: tuple[str, ...]) -> None:
    """The new folder is whole; the check names the command, and that takes away what is left, once."""
    (shelf.root / "look_at/README.md").write_text("Kept.")
    shutil.copytree(shelf.root / "look_at", shelf.root.parent / "kept")
    ledger("tool", "rename", "look_at", "view", "--asserted-by", "ada")
    for name in left:
        shutil.copytree(shelf.root.parent / "kept", shelf.root / name)
    if "look_at" in left:
        [found] = shelf.report().findings
        assert found.tool == "look_at"
        assert "`ledger tool rename look_at view` finishes it" in (found.hint or "")
    before = sorted(shelf.root.rglob("*"))
    rehearsed = data("tool", "rename", "look_at", "view", "--dry-run")
    assert (rehearsed["takenAway"], rehearsed["finished"]) == ([f"schemas/tools/{name}" for name in left], True)
    assert sorted(shelf.root.rglob("*")) == before
    lines = ledger("tool", "rename", "look_at", "view").stdout.splitlines()
    assert lines[:2] == ["look_at is view from version 2 on.", "That rename was cut short, and is finished now."]
    assert lines[2 : 2 + len(left)] == [f"removed  schemas/tools/{name}" for name in left]
    assert not any("assertedBy" in line for line in lines)
    assert sorted(each.name for each in shelf.root.iterdir()) == ["catalog.lock.json", "view"]
    assert shelf.report().findings == ()
    assert failure("tool", "rename", "look_at", "view")[1] == "catalog_fault"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v1.json", "{}"),
        ("more.txt", "New."),
        ("tool.json", "[]"),
        ("tool.json", "{}"),
        ("tool.json", '{"name": "look_at", "description": "Another.", "versions": {}}'),
        ("tool.json", '{"name": "look_at", "versions": {"1": {}}}'),
    ],
)
def test_what_is_not_in_the_new_folder_is_not_taken_away(shelf: Shelf, name: str, text: str) -> None:
    """A folder of the old name that says anything else was somebody's work."""
    shutil.copytree(shelf.root / "look_at", shelf.root.parent / "kept")
    ledger("tool", "rename", "look_at", "view")
    shutil.copytree(shelf.root.parent / "kept", shelf.root / "look_at")
    shelf.write(f"look_at/{name}", text)
    status, code, message = failure("tool", "rename", "look_at", "view")
    assert (status, code) == (1, "catalog_fault")
    assert f"schemas/tools/look_at/{name} is not in schemas/tools/view as it is" in message
    assert (shelf.root / "look_at" / name).read_text() == text


def test_what_cannot_be_taken_away_is_told(shelf: Shelf) -> None:
    """The rename is as far as it was."""
    ledger("tool", "rename", "look_at", "view")
    shelf.write(".look_at.7.old", "a file")
    assert "cannot be taken away" in failure("tool", "rename", "look_at", "view")[2]


def test_an_unsigned_rename_is_locked_once_it_is_signed(shelf: Shelf) -> None:
    """The lock says what to write; the signature goes into the file, and the step carries from then on."""
    ledger("tool", "rename", "look_at", "view")
    refused = ledger("tool", "lock")
    assert (refused.exit_code, '"assertedBy": ' in refused.stdout) == (1, True)
    shelf.edit("view/v1-v2.upcast.json", assertedBy="ada")
    assert ledger("tool", "lock").exit_code == 0
    assert shelf.report().findings == ()
    assert data("tool", "diff", "view", "1", "2")["upcast"] == "proved"


def ended() -> int:
    """The number of a process that was there and is not any more."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


@pytest.mark.parametrize("cut", [True, False])
def test_what_a_killed_rename_began_is_taken_away(shelf: Shelf, cut: bool) -> None:
    """By the next one, of a process that is gone or whose number is this one's; a tool's of a like name stays."""
    gone, here, other, like = (
        f".{name}.new" for name in (f"view.{ended()}", f"view.{os.getpid()}", "view.1", "view.x.7")
    )
    if cut:
        ledger("tool", "rename", "look_at", "view", "--asserted-by", "ada")
    for name in (gone, here, other, like):
        shelf.write(f"{name}/v1.json", '{"type": ')
    rehearsed = data("tool", "rename", "look_at", "view", "--dry-run")
    taken = sorted(f"schemas/tools/{name}" for name in (gone, here))
    assert sorted(each for each in rehearsed["takenAway"] if each != "schemas/tools/look_at") == taken
    assert (shelf.root / gone).exists()
    lines = ledger("tool", "rename", "look_at", "view", "--asserted-by", "ada").stdout.splitlines()
    assert sorted(line.split()[1] for line in lines if line.startswith("removed  ")) == taken
    assert sorted(each.name for each in shelf.root.iterdir()) == [other, like, "catalog.lock.json", "view"]
    assert {note.code for note in shelf.report().notes if note.path.endswith(".new")} == {"left_over"}


def test_a_name_that_is_only_kept_from_use_is_no_rename(shelf: Shelf) -> None:
    """Nobody can finish what no step says."""
    shelf.tool("view", reserved=["look_at"])
    [hint] = [
        found.hint for found in shelf.report().findings if found.tool == "look_at" and found.code == "quarantined"
    ]
    assert hint == "Take another name; or this folder away, if its tool is view now."


def test_how_a_renamed_tool_is_told(shelf: Shelf) -> None:
    """Lists and pages of the old name say the new one; the stage that was recorded stays in JSON."""
    renamed(shelf)
    rows = {row["tool"]: row for row in data("tool", "list")}
    assert {name: (row["stage"], row["renamedTo"]) for name, row in rows.items()} == {
        "look_at": ("active", "view"),
        "view": ("active", None),
    }
    assert "look_at  v1  renamed to view" in ledger("tool", "list").stdout
    assert "look_at v1  renamed to view" in ledger("tool", "show", "look_at").stdout.splitlines()
    assert data("tool", "show", "look_at")["renamedTo"] == "view"
    Path("ledger.db").unlink()
    result = ledger("tool", "show", "look_at")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (1, "Error: look_at was renamed to view (unknown_tool)")
    assert "`ledger tool show view`" in result.stderr


def test_what_waits_is_told_with_both_names(shelf: Shelf) -> None:
    """The one that it was recorded as and the tool's; a catalog that cannot be read keeps nobody from the list."""
    renamed(shelf)
    result = ledger("review", "list")
    assert (result.exit_code, "look_at (now view)" in result.stdout) == (3, True)
    [row] = json.loads(ledger("review", "list", "--json").stdout)["data"]
    assert (row["tool"], row["renamedTo"]) == ("look_at", "view")
    assert data("review", "show", row["callId"])["renamedTo"] == "view"
    assert "look_at v1 (now view), write; session waits" in ledger("review", "show", row["callId"]).stdout
    assert "look_at (now view)  v1 to v2" in ledger("migrate-schemas").stdout
    shelf.write("catalog.json", "{")
    [row] = json.loads(ledger("review", "list", "--json").stdout)["data"]
    assert (row["tool"], row["renamedTo"]) == ("look_at", None)


def test_a_carried_call_counts_where_it_was_recorded(shelf: Shelf) -> None:
    """No version is counted that never was; CARRIED says how many of them went on, whatever is asked for."""
    renamed(shelf)
    with opened("view") as new:
        new.session("new").call("view", {"place": "near"})
    rows = data("audit", "versions")
    keys = ("tool", "schemaVersion", "calls", "carried", "succeeded")
    assert [tuple(row[key] for key in keys) for row in rows] == [("look_at", 1, 3, 1, 1), ("view", 2, 1, 0, 1)]
    assert all(row["publishedAt"] for row in rows)
    assert data("audit", "versions", "--schema-version", "2") == rows[1:]
    assert data("audit", "versions", "--schema-version", "1") == rows[:1]
    [row] = data("audit", "versions", "--session", "proposed", "--tool", "look_at")
    assert (row["calls"], row["carried"]) == (1, 1)
    assert "CARRIED" in ledger("audit", "versions").stdout
    assert data("tool", "rename", "view", "inspect", "--asserted-by", "ada")["openCalls"] == 2  # under the first name
    assert data("migrate-schemas", "--apply")["carried"] == 0  # the lock does not have the step yet
    assert ledger("tool", "lock").exit_code == 0
    assert data("migrate-schemas", "--apply")["carried"] == 1
    assert data("audit", "versions", "--tool", "look_at") == rows[:1]


def test_versions_of_the_old_name_are_compared_under_the_new_one(shelf: Shelf) -> None:
    """They are the tool's; how it is called now is said beside."""
    renamed(shelf)
    result = ledger("tool", "diff", "look_at", "1", "2")
    assert (result.exit_code, "upcast proved (iso)" in result.stdout) == (1, True)
    assert "look_at was renamed to view: its versions are compared." in result.stderr
    assert data("tool", "diff", "look_at", "1", "2") == data("tool", "diff", "view", "1", "2")
    said = "look_at was renamed to view. Give two versions of view; there are: 1, 2."
    assert failure("tool", "diff", "look_at", "1")[::2] == (2, said)


def test_versions_only_go_forward(shelf: Shelf) -> None:
    """Nothing carries a call back, and no draft of a file would: none is offered."""
    renamed(shelf)
    told = " ".join(ledger("migrate-schemas", "--tool", "view", "--to", "1").stdout.split())
    assert "versions only go forward: nothing carries a call of v2 back to v1" in told
    assert "--suggest" not in told
