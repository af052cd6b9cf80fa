"""`ledger tool new-version`, `ledger tool import` and `ledger tool infer`."""

import json
from pathlib import Path

import pytest

from ledger.catalog import load_catalog
from tests.audit.world import opened, reply
from tests.catalog.shelf import SCHEMA, Shelf
from tests.cli.running import data, failure, ledger


@pytest.fixture
def shelf(empty: Path) -> Shelf:
    """The catalog of the current folder, with one published tool."""
    shelf = Shelf(empty / "schemas/tools")
    shelf.tool()
    shelf.publish()
    return shelf


def listed(*tools: object) -> str:
    Path("tools.json").write_text(json.dumps({"tools": tools}))
    return "tools.json"


def test_a_new_version_and_what_follows(shelf: Shelf) -> None:
    """What was written, which version is offered, and the commands that follow, complete."""
    done = ledger("tool", "new-version", "look_at", "--catalog", "schemas/tools")
    assert done.stdout.splitlines() == [
        "written  schemas/tools/look_at/v2.json",
        "written  schemas/tools/look_at/tool.json",
        "Version 2 is a draft: version 1 stays the current one.",
        "Edit it, and then:",
        "  ledger tool check --catalog schemas/tools",
        "  ledger tool diff look_at 1 2 --catalog schemas/tools",
        "  ledger tool new-version look_at --current --catalog schemas/tools",
        "  ledger tool lock --catalog schemas/tools",
    ]
    assert failure("tool", "new-version", "look_at")[:2] == (1, "catalog_fault")
    assert data("tool", "new-version", "look_at", "--current") == {
        "tool": "look_at",
        "version": 2,
        "copiedFrom": None,
        "current": 2,
        "written": ["schemas/tools/look_at/tool.json"],
        "next": ["ledger tool check", "ledger tool diff look_at 1 2", "ledger tool lock"],
    }
    assert load_catalog(shelf.root).tools["look_at"].current == 2


def test_a_current_version_at_once(shelf: Shelf) -> None:
    """Said as such."""
    lines = ledger("tool", "new-version", "look_at", "--current").stdout.splitlines()
    assert lines[2:4] == ["Version 2 is the current one now.", "Edit it, and then:"]
    shelf.publish()
    ledger("tool", "new-version", "look_at")
    assert "What follows:" in ledger("tool", "new-version", "look_at", "--current").stdout


def test_no_such_tool(shelf: Shelf) -> None:
    """A slip gets the near names; a quarantined tool its fault."""
    assert failure("tool", "new-version", "lok_at")[:2] == (1, "unknown_tool")
    assert "Did you mean look_at?" in ledger("tool", "new-version", "lok_at").stderr
    assert "See `ledger tool list`." in ledger("tool", "new-version", "xxx").stderr
    shelf.write("a_bad_one/tool.json", "{")
    shelf.write("look_at/v1.json", "null")
    assert failure("tool", "new-version", "look_at")[1] == "catalog_fault"


def test_importing(shelf: Shelf) -> None:
    """Each tool of the list with what became of it; a dry run writes nothing; 1 where one is refused."""
    same = {"name": "look_at", "description": "Look at look_at.", "inputSchema": SCHEMA}
    new = {"type": "function", "function": {"name": "see", "description": "See.", "parameters": SCHEMA}}
    bad = {"name": "bad", "description": "Bad.", "inputSchema": None}
    dry = ledger("tool", "import", listed(same, new), "--dry-run")
    assert dry.exit_code == 0
    assert dry.stdout.splitlines() == [
        "look_at  the same as version 1",
        "see  version 1 is new",
        "1 new, 1 same.",
        "Nothing is written.",
    ]
    assert not (shelf.root / "see").exists()
    done = ledger("tool", "import", listed(same, new, bad), "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["data"] == {
        "file": "tools.json",
        "written": True,
        "tools": [
            {"tool": "look_at", "what": "same", "version": 1, "files": []},
            {
                "tool": "see",
                "what": "new",
                "version": 1,
                "files": ["schemas/tools/see/v1.json", "schemas/tools/see/tool.json"],
            },
            {
                "tool": "bad",
                "what": "refused",
                "version": None,
                "files": [],
                "message": "the schema is null, not an object",
                "pointer": "",
            },
        ],
    }
    assert "bad  refused: the schema is null" in ledger("tool", "import", "tools.json").stdout
    assert load_catalog(shelf.root).tools["see"].latest.contract.effect == "external"


def test_importing_one_tool(shelf: Shelf) -> None:
    """A file with one tool is a list of one; a bare schema has no name to be known by."""
    Path("one.json").write_text(json.dumps({"name": "see", "description": "See.", "inputSchema": SCHEMA}))
    assert [row["what"] for row in data("tool", "import", "one.json", "--trust-hints")["tools"]] == ["new"]
    Path("one.json").write_text(json.dumps(SCHEMA))
    assert failure("tool", "import", "one.json")[:2] == (1, "catalog_fault")


def test_no_name_that_was_given_up_is_written(shelf: Shelf) -> None:
    """It would be quarantined at once; who asks reads what the tool is called now."""
    shelf.edit("look_at/tool.json", reserved=["see"])
    row = data("tool", "import", listed({"name": "see", "description": "See.", "inputSchema": SCHEMA}))
    assert (row["tools"][0]["what"], row["tools"][0]["message"]) == (
        "refused",
        "the name see was given up by look_at, and is never used again",
    )
    assert "given up by look_at" in failure("tool", "infer", "see", "--write")[2]
    assert not (shelf.root / "see").exists()


@pytest.mark.parametrize("text", [None, "{", "[" * 100 + "]" * 100])
def test_no_list_of_tools(shelf: Shelf, text: str | None) -> None:
    """A file that is not there, no JSON, or too deep is told with its path."""
    if text is not None:
        Path("tools.json").write_text(text)
    status, code, message = failure("tool", "import", "tools.json")
    assert (status, code, message.split(":")[0]) == (1, "catalog_fault", "tools.json")


def test_inferring(world: Path) -> None:
    """The draft on stdout as a file holds it, what to know of it on stderr; refused calls are left out."""
    done = ledger("tool", "infer", "send_email")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"to": {"type": "string"}, "body": {"type": "string"}},
        "required": ["to"],
    }
    assert done.stderr.startswith("Drafted from 7 calls.\n")
    assert "2 were left out" in ledger("tool", "infer", "find").stderr
    assert data("tool", "infer", "find")["leftOut"] == 2
    assert failure("tool", "infer", "nobody")[:2] == (1, "unknown_tool")
    assert not (world / "schemas").exists()


def test_a_draft_is_written(world: Path) -> None:
    """With the description that was recorded and the effect that it had; never over a tool that is there."""
    done = ledger("tool", "infer", "find", "--write")
    assert "written  schemas/tools/find/tool.json" in done.stderr.splitlines()
    find = load_catalog("schemas/tools").tools["find"]
    assert (find.latest.description, find.latest.contract.effect) == ("Find.", "read")
    assert failure("tool", "infer", "find", "--write")[:2] == (1, "catalog_fault")
    Path("schemas/tools/find/tool.json").write_text("{")
    assert failure("tool", "infer", "find", "--write")[:2] == (1, "catalog_fault")


def test_a_tool_that_nobody_described(world: Path) -> None:
    """No words are made up: until a person writes them the tool is quarantined, and a check says why."""
    with opened(world) as host, host.session("other") as session:
        session.dispatch(reply(("unknown_tool", {"path": "a"})))
    assert data("tool", "infer", "unknown_tool", "--write")["calls"] == 1
    assert "a tool has a description" in ledger("tool", "check").stdout
