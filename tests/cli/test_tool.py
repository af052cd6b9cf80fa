"""The noun `tool`."""

import json
import shutil
from pathlib import Path

import pytest

from ledger.events import Event, ToolStageChanged, encode
from ledger.store.port import Append
from tests.audit.world import opened
from tests.cli.running import ROOT, data, failure, ledger

CATALOG = str(ROOT / "schemas" / "tools")


def stage(folder: Path, tool: str) -> None:
    """Let the ledger record that a tool is retired."""
    body = ToolStageChanged(stage="compat", replacements=({"tool": "search"},), hint="Use search.")
    event = Event(session_id="_catalog", event_id=tool, recorded_at="2026-01-01T00:00:00.000000Z", body=body, tool=tool)
    with opened(folder) as host:
        host._wiring.store.append(Append(session_id="_catalog", drafts=(encode(event),)))


def test_tools_of_the_ledger(world: Path) -> None:
    """Without a catalog the tools are those that the ledger has seen."""
    lines = ledger("tool").stdout.splitlines()
    assert lines[0].split() == ["TOOL", "V", "STAGE", "EFFECT", "KNOWN", "BY", "DESCRIPTION"]
    assert [line.split(maxsplit=5) for line in lines[1:]] == [
        ["find", "v1", "active", "read", "ledger", "Find."],
        ["send_email", "v1", "active", "external", "ledger", "Send an email."],
    ]


def test_tools_of_both(world: Path) -> None:
    """A catalog's tools stand beside the ledger's."""
    found = {row["tool"]: row["known"] for row in data("tool", "list", "--catalog", CATALOG)}
    assert found["edit_file"] == ["catalog"]
    assert found["find"] == ["ledger"]


def test_versions_that_only_the_ledger_knows(world: Path) -> None:
    """What was recorded is compared where there are no files."""
    assert data("tool", "diff", "send_email", "1", "1")["verdict"] == "identical"


def test_a_catalog_needs_no_ledger(empty: Path) -> None:
    """Tools can be looked at before there is a ledger, unless one is asked for."""
    assert data("tool", "list", "--catalog", CATALOG)[0]["tool"] == "delete_file"
    assert failure("tool", "list", "--catalog", CATALOG, "--db", "sqlite:///x.db")[:2] == (1, "no_database")
    assert failure("tool", "list")[:2] == (1, "no_database")
    assert failure("tool", "list", "--catalog", "missing")[:2] == (1, "catalog_fault")
    assert list(empty.iterdir()) == []


def test_a_quarantined_tool_is_told(empty: Path) -> None:
    """A tool with a fault is named with its file and place; the others are listed."""
    shutil.copytree(CATALOG, "schemas/tools")
    Path("schemas/tools/edit_file/v1.json").write_text('{"type": "objekt"}')
    Path("schemas/tools/read_file/tool.json").unlink()
    result = ledger("tool")
    assert result.exit_code == 0
    assert "Warning: edit_file is quarantined: schemas/tools/edit_file/v1.json#/type: " in result.stderr
    assert "Warning: read_file is quarantined: schemas/tools/read_file/tool.json: " in result.stderr
    assert "edit_file" not in result.stdout
    assert "read_lines" in result.stdout


def test_a_tool_of_the_catalog_is_shown(empty: Path) -> None:
    """What the model reads, the contract, the schema, the runbook."""
    page = ledger("tool", "show", "edit_file", "--catalog", CATALOG).stdout
    for words in (
        "edit_file v1  active",
        "use when  You have",
        "effect               write",
        '"old_text"',
        "runbook   Open",
    ):
        assert words in page
    story = data("tool", "show", "edit_file", "--catalog", CATALOG)
    assert (story["version"], story["agrees"], story["recordedAt"], story["owner"]) == (1, None, None, "demo")
    assert story["schema"]["required"] == ["path", "old_text", "new_text"]


def test_a_tool_of_the_ledger_is_shown(world: Path) -> None:
    """What was recorded when it was first seen, and its stage now."""
    stage(world, "find")
    page = ledger("tool", "show", "find").stdout
    for words in ("find v1  compat\n", "replaced by  search", "hint         Use search.", "effect               read"):
        assert words in page
    story = data("tool", "show", "find")
    assert (story["stage"], story["agrees"], story["useWhen"]) == ("compat", None, None)
    assert story["schemaDigest"] == story["recordedDigest"]


def test_a_tool_of_which_only_a_stage_is_known(world: Path) -> None:
    """Nothing is invented for it."""
    stage(world, "gone")
    page = ledger("tool", "show", "gone").stdout
    assert page.startswith("gone  compat\nIt has no description.\n")
    assert "Contract" not in page
    assert "Arguments" not in page
    row = data("tool", "list")[1]
    assert (row["tool"], row["current"], row["versions"], row["effect"]) == ("gone", None, [], None)


def test_other_versions(world: Path) -> None:
    """A version by its number; one that nobody knows is told with those there are."""
    with opened(world) as host:

        @host.tool("find", version=2, effect="read")
        def find(words: list[str]) -> list[str]:
            """Find them."""
            return words

        assert find(["x"]) == ["x"]
    assert data("tool", "show", "find")["version"] == 2
    assert data("tool", "show", "find", "--version", "1")["description"] == "Find."
    status, code, message = failure("tool", "show", "find", "--version", "3")
    assert (status, code, message) == (1, "unknown_tool", "find has no version 3")
    assert "There are: 1, 2." in ledger("tool", "show", "find", "--version", "3").stderr


def test_a_changed_version_is_seen(world: Path) -> None:
    """Where the catalog says another thing of a recorded version, that is told."""
    folder = world / "schemas" / "tools" / "find"
    folder.mkdir(parents=True)
    words = {"name": "find", "description": "Find.", "current": 1}
    (folder / "tool.json").write_text(json.dumps(words | {"versions": {"1": {"contract": {"effect": "read"}}}}))
    (folder / "v1.json").write_text('{"type": "object", "properties": {"other": {"type": "string"}}}')
    assert data("tool", "show", "find")["agrees"] is False
    assert "raise the version" in ledger("tool", "show", "find").stdout
    recorded = data("tool", "show", "send_email")["schema"]
    shutil.rmtree(folder)
    again = world / "schemas" / "tools" / "send_email"
    again.mkdir()
    words |= {"name": "send_email", "description": "Send an email."}
    (again / "tool.json").write_text(json.dumps(words | {"versions": {"1": {"contract": {"effect": "external"}}}}))
    (again / "v1.json").write_text(json.dumps(recorded))
    assert data("tool", "show", "send_email")["agrees"] is True


@pytest.mark.parametrize(("name", "hint"), [("send_mail", "Did you mean send_email?"), ("zzz", "ledger tool list")])
def test_an_unknown_tool(world: Path, name: str, hint: str) -> None:
    """The nearest names are offered."""
    assert failure("tool", "show", name)[:2] == (1, "unknown_tool")
    assert hint in ledger("tool", "show", name).stderr


def test_a_tool_that_the_catalog_replaces(empty: Path) -> None:
    """The catalog's own replacements and hint are shown."""
    shutil.copytree(CATALOG, "schemas/tools")
    path = Path("schemas/tools/read_file/tool.json")
    document = json.loads(path.read_text())
    document |= {"stage": "compat", "retirement": {"replacements": [{"tool": "read_lines"}], "hint": "Read less."}}
    path.write_text(json.dumps(document))
    story = data("tool", "show", "read_file")
    assert ([each["tool"] for each in story["replacements"]], story["hint"]) == (["read_lines"], "Read less.")
