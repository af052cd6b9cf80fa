"""`ledger tool check` and `ledger tool lock`."""

import json
from pathlib import Path

import pytest

from tests.catalog.shelf import SCHEMA, Shelf
from tests.cli.running import data, failure, ledger


@pytest.fixture
def shelf(empty: Path) -> Shelf:
    """The catalog of the current folder, with one tool."""
    shelf = Shelf(empty / "schemas/tools")
    shelf.tool()
    return shelf


def test_a_good_catalog(shelf: Shelf) -> None:
    """Counts, and nothing else; 0."""
    shelf.publish()
    done = ledger("tool", "check")
    assert (done.exit_code, done.stdout) == (0, "1 tool, 1 version, 0 examples: 0 findings, 0 warnings.\n")
    assert data("tool", "check", "--strict") == {
        "tools": 1,
        "versions": 1,
        "examples": 0,
        "findings": [],
        "warnings": [],
    }


def test_findings_and_warnings(shelf: Shelf) -> None:
    """Each with its tool, place and hint; warnings alone leave 0, unless they count."""
    assert ledger("tool", "check").exit_code == 0
    assert ledger("tool", "check", "--strict").exit_code == 1
    shelf.publish()
    shelf.write("look_at/v1.json", {**SCHEMA, "required": []})
    shelf.write("other/tool.json", "{}")
    done = ledger("tool", "check")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "finding  look_at v1  the schema of a published version was edited (version_edited)"
    assert lines[1].strip() == "schemas/tools/look_at/v1.json"
    assert lines[2].strip().endswith("`ledger tool new-version look_at`.")
    assert lines[-1] == "2 tools, 1 version, 0 examples: 3 findings, 0 warnings."
    assert ledger("tool", "check", "--json").exit_code == 1
    named = ledger("tool", "check", "--catalog", "schemas/tools").stdout
    assert "`ledger tool new-version look_at --catalog schemas/tools`" in named


def test_there_is_nothing_to_check(empty: Path) -> None:
    """A folder that is not there is an error, not an empty catalog."""
    assert failure("tool", "check")[:2] == (1, "catalog_fault")


def test_locking(shelf: Shelf, empty: Path) -> None:
    """What would be added, what was added, and that nothing is left; the file is whole and has no companion."""
    lock = empty / "schemas/tools/catalog.lock.json"
    dry = ledger("tool", "lock", "--dry-run")
    assert dry.stdout.splitlines()[:2] == ["+ look_at  a new tool", "+ look_at  version 1"]
    assert "Nothing is written" in dry.stdout
    assert not lock.exists()
    done = data("tool", "lock")
    assert done == {
        "path": "schemas/tools/catalog.lock.json",
        "written": True,
        "added": [
            {"what": "tool", "tool": "look_at", "name": "look_at"},
            {"what": "version", "tool": "look_at", "name": "1"},
        ],
        "findings": [],
        "incomplete": [],
    }
    assert list(json.loads(lock.read_text())["tools"]["look_at"]["versions"]) == ["1"]
    shelf.tool("other", reserved=["another"])
    assert "+ other  the reserved name another" in ledger("tool", "lock").stdout
    assert ledger("tool", "lock").stdout == "schemas/tools/catalog.lock.json has everything.\n"
    assert sorted(file.name for file in lock.parent.iterdir()) == ["catalog.lock.json", "look_at", "other"]


def test_an_empty_catalog_is_locked(empty: Path) -> None:
    """The first lock is written even where there is no tool yet."""
    (empty / "schemas/tools").mkdir(parents=True)
    assert "Written to" in ledger("tool", "lock").stdout
    assert not data("tool", "lock")["written"]


def test_nothing_is_published_while_something_is_wrong(shelf: Shelf) -> None:
    """An edited version stops the whole lock: 1, the findings, and the file as it was."""
    shelf.publish()
    before = (shelf.root / "catalog.lock.json").read_bytes()
    shelf.write("look_at/v1.json", {**SCHEMA, "required": []})
    shelf.tool("other")
    done = ledger("tool", "lock")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == "Nothing is published while something is wrong."
    assert [each["code"] for each in data("tool", "lock")["findings"]] == ["version_edited"]
    assert (shelf.root / "catalog.lock.json").read_bytes() == before


def test_what_only_a_person_can_add_is_added_before_it_is_locked(shelf: Shelf) -> None:
    """An unsigned step stops the whole lock, with what to write into it; a check warns of it; signed it is locked."""
    shelf.tool(schemas=(SCHEMA, SCHEMA))
    step = {"tool": "look_at", "from": 1, "to": 2, "ops": []}
    file = shelf.write("look_at/v1-v2.upcast.json", step)
    assert ledger("tool", "check").exit_code == 0
    for options in (("--dry-run",), ()):
        done = ledger("tool", "lock", *options)
        assert done.exit_code == 1
        assert 'write into the file: "assertedBy": ' in done.stdout
        assert done.stdout.splitlines()[-1].startswith("Nothing is published: what is missing above")
    refused = data("tool", "lock")
    assert (refused["written"], refused["findings"]) == (False, [])
    assert [(each["code"], each["path"]) for each in refused["incomplete"]] == [
        ("upcast_unproved", "schemas/tools/look_at/v1-v2.upcast.json")
    ]
    assert not (shelf.root / "catalog.lock.json").exists()
    file.write_text(json.dumps(step | {"assertedBy": "ada"}), encoding="utf-8")
    assert data("tool", "lock")["written"]
    assert ledger("tool", "check", "--strict").exit_code == 0
