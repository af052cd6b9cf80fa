"""`ledger tool diff`: two versions of a tool, or two files."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import data, failure, ledger

OLD = {"type": "object", "properties": {"q": {"type": "string"}, "reason": {"type": "string"}}}
NEW = {"type": "object", "properties": {"q": {"type": "string"}}}
TOOL = {"name": "send", "description": "Send.", "inputSchema": OLD}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, document: Any) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return name


def version(number: int, **properties: Any) -> None:
    written(f"schemas/tools/send/v{number}.json", {"type": "object", "properties": properties})


def catalog(**settings: Any) -> None:
    """A catalog with three versions of one tool."""
    written("schemas/tools/catalog.json", settings)
    contracts = {"1": "write", "2": "write", "3": "external"}
    versions = {number: {"contract": {"effect": effect}} for number, effect in contracts.items()}
    written("schemas/tools/send/tool.json", {"name": "send", "description": "Send.", "versions": versions})
    version(1, a={"type": "integer", "x-currency": "EUR"})
    version(2, a={"type": "integer", "x-currency": "USD"})
    version(3, a={"type": "integer", "x-currency": "USD"})


def test_two_files() -> None:
    """The verdict, every finding and the counterexample; 1 where a person has to decide."""
    old, new = written("old.json", OLD), written("new.json", NEW)
    done = ledger("tool", "diff", old, new, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["data"] == {
        "verdict": "semantic",
        "findings": [
            {
                "code": "property_ignored",
                "pointer": "/properties/reason",
                "old": {"type": "string"},
                "new": None,
                "message": '"reason" still validates, and nobody reads it',
            }
        ],
        "counterexample": {
            "arguments": {"reason": ""},
            "outcome": "ignored",
            "code": "property_ignored",
            "pointer": "/reason",
            "message": '"reason" still validates, and nobody reads it',
        },
        "upcast": "none",
        "grade": None,
        "suggest": None,
    }
    assert ledger("tool", "diff", new, old).exit_code == 0
    assert data("tool", "diff", new, old)["verdict"] == "widening"


def test_a_page_for_people() -> None:
    """The verdict in words, a row for each finding, the arguments that show it."""
    lines = ledger("tool", "diff", written("old.json", OLD), written("new.json", NEW)).stdout.splitlines()
    assert lines[0].split()[0] == "semantic"
    assert lines[2].split() == ["VERDICT", "CODE", "POINTER", "OLD", "NEW", "MESSAGE"]
    assert lines[3].split()[:3] == ["semantic", "property_ignored", "/properties/reason"]
    assert "Arguments that were valid and are ignored now" in lines
    assert '  {"reason": ""}' in lines
    same = ledger("tool", "diff", "old.json", "old.json")
    assert (same.exit_code, same.stdout) == (0, "identical  Nothing is different.\n")
    words = ledger("tool", "diff", "new.json", written("words.json", {**NEW, "title": "T"})).stdout.splitlines()
    assert words[3].split()[:4] == ["annotation", "title_changed", "/title", "-"]
    assert len(words) == 4


@pytest.mark.parametrize(
    "document",
    [
        TOOL,
        [TOOL],
        {"tools": [TOOL]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}},
        {"type": "function", "function": {"name": "send", "description": "Send.", "parameters": OLD}},
        {"tools": [{"type": "function", "name": "send", "description": "Send.", "parameters": OLD, "strict": False}]},
        [{"name": "send", "description": "Send.", "input_schema": OLD}],
        {"tools": [{"functionDeclarations": [{"name": "send", "description": "Send.", "parameters": OLD}]}]},
        {"tools": [{"toolSpec": {"name": "send", "description": "Send.", "inputSchema": {"json": OLD}}}]},
        {"toolSpec": {"name": "send", "description": "Send.", "inputSchema": OLD}},
    ],
    ids=["mcp", "list", "tools", "result", "chat", "responses", "anthropic", "gemini", "bedrock", "flat"],
)
def test_every_form_of_a_tool(document: Any) -> None:
    """One tool written for six receivers is one tool."""
    assert data("tool", "diff", written("mcp.json", TOOL), written("other.json", document))["verdict"] == "identical"


def test_lists_of_tools() -> None:
    """Tools are compared by name; what is gone, what is new, and each pointer begins with the tool."""
    other = {"name": "other", "inputSchema": NEW}
    old = written("old.json", [TOOL, other])
    new = written("new.json", {"tools": [{**TOOL, "inputSchema": NEW}, {**other, "name": "third"}]})
    found = data("tool", "diff", old, new)
    assert found["verdict"] == "incompatible"
    assert [(each["code"], each["pointer"]) for each in found["findings"]] == [
        ("tool_removed", "/other"),
        ("property_ignored", "/send/properties/reason"),
        ("tool_added", "/third"),
    ]
    assert found["counterexample"]["arguments"] == {"reason": ""}
    assert data("tool", "diff", old, old) == {
        "verdict": "identical",
        "findings": [],
        "counterexample": None,
        "upcast": "none",
        "grade": None,
        "suggest": None,
    }
    bare = data("tool", "diff", written("bare.json", OLD), written("one.json", [{"name": "tool", "inputSchema": OLD}]))
    assert bare["verdict"] == "identical"


def test_two_versions_of_a_tool() -> None:
    """Versions of the catalog, contract included; significant annotations are those that it lists."""
    catalog()
    assert data("tool", "diff", "send", "1", "v2")["verdict"] == "annotation"
    assert data("tool", "diff", "send", "2", "3")["findings"][0]["code"] == "effect_changed"
    catalog(significantAnnotations=["x-currency"])
    assert data("tool", "diff", "send", "1", "2")["findings"][0]["code"] == "significant_changed"
    one, two = (f"schemas/tools/send/v{number}.json" for number in (1, 2))
    assert data("tool", "diff", one, two)["verdict"] == "semantic"


@pytest.mark.parametrize("number", ["9", "x", "", "²", "99999999999999999999"])
def test_a_version_that_is_not(number: str) -> None:
    """The versions that there are are named."""
    catalog()
    assert failure("tool", "diff", "send", "1", number) == (
        1,
        "unknown_tool",
        f"send has no version {number!r}",
    )


def test_wrong_usage() -> None:
    """Two files or a tool with two versions; nothing else."""
    assert failure("tool", "diff", "one.json")[:2] == (2, "usage")
    assert failure("tool", "diff", "a", "b", "c", "d")[:2] == (2, "usage")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ("{", "the JSON"),
        ("3", "this is no tool and no schema"),
        ("[" * 200_000, "are nested"),
        ('[{"inputSchema": {}}]', "has no name"),
        ('{"name": "a", "versions": {}}', "a tool of a catalog"),
        ('[{"name": "a", "inputSchema": {}}, {"name": "a", "inputSchema": {}}]', "is there twice"),
        ('{"name": "a", "inputSchema": {}, "annotations": 3}', "the annotations are an object"),
        ('{"name": "a", "inputSchema": {}, "contract": 3}', "a contract is an object"),
        ('{"type": "object", "properties": {"a": {"$ref": "https://x.example/y"}}}', "nothing is fetched"),
    ],
)
def test_a_file_that_is_no_tool(document: str, why: str) -> None:
    """It is refused with its name, and nothing crashes."""
    status, code, message = failure("tool", "diff", written("bad.json", document), written("new.json", NEW))
    assert (status, code) == (1, "catalog_fault")
    assert why in message


def test_a_file_that_cannot_be_read() -> None:
    """A missing file and one that is too large are named."""
    new = written("new.json", NEW)
    assert failure("tool", "diff", "missing.json", new)[2].startswith("missing.json: the file cannot be read")
    assert "16,777,216 bytes" in failure("tool", "diff", written("big.json", " " * (2**24 + 1)), new)[2]


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def renamed(**upcast: Any) -> None:
    """A catalog whose second version renamed an argument, with this upcast file."""
    written("schemas/tools/catalog.json", {})
    versions = {"1": {"contract": {"effect": "write"}}, "2": {"contract": {"effect": "write"}}}
    written("schemas/tools/send/tool.json", {"name": "send", "description": "Send.", "versions": versions})
    written("schemas/tools/send/v1.json", closed(amt={"type": "integer"}))
    written("schemas/tools/send/v2.json", closed(amount={"type": "integer"}))
    if upcast:
        written("schemas/tools/send/v1-v2.upcast.json", {"tool": "send", "from": 1, "to": 2, **upcast})


@pytest.mark.parametrize(
    ("upcast", "status", "said"),
    [
        (
            {},
            "none",
            "No file leads on from v1: a person is asked about each open call. A draft of it: ledger tool diff",
        ),
        ({"semantic": "It is net now."}, "none", "The file says that the meaning changes: It is net now."),
        ({"ops": [{"op": "rename", "from": "/amt", "to": "/amount"}]}, "unknown", "upcast unknown"),
        (
            {"assertedBy": "ada", "ops": [{"op": "rename", "from": "/amt", "to": "/amount"}]},
            "proved",
            "upcast proved (iso)",
        ),
        ({"assertedBy": "ada", "ops": [{"op": "rename", "from": "/amt", "to": "/sum"}]}, "refuted", "upcast refuted"),
    ],
)
def test_what_is_known_of_the_upcast(upcast: dict[str, Any], status: str, said: str) -> None:
    """The difference stays what it is; beside it stands whether the catalog's file carries calls over."""
    renamed(**upcast)
    done = ledger("tool", "diff", "send", "1", "v2", "--json")
    found = json.loads(done.stdout)["data"]
    assert (done.exit_code, found["upcast"], found["grade"]) == (1, status, "iso" if status == "proved" else None)
    assert found["suggest"] == (None if upcast else "ledger tool diff send 1 2 --suggest")
    shown = ledger("tool", "diff", "send", "1", "2").stdout
    assert "incompatible" in shown
    assert said in " ".join(shown.split())
    assert "upcast" not in ledger("tool", "diff", "send", "2", "1").stdout


def test_a_tool_wants_two_of_its_versions() -> None:
    """One version is none, and no missing file: what there is is said."""
    renamed()
    assert failure("tool", "diff", "send", "1") == (2, "usage", "Give two versions of send; there are: 1, 2.")
    assert failure("tool", "diff", "send")[2] == "Give two versions of send; there are: 1, 2."
    usage = "Give a tool and two of its versions, or two files."
    assert [failure("tool", "diff", *words)[2] for words in ((), ("nope", "1"), ("schemas",))] == [usage] * 3


def test_files_that_are_called_like_versions_are_files() -> None:
    """What is there is compared, whatever its name."""
    catalog()
    assert data("tool", "diff", written("1", OLD), written("2", OLD))["verdict"] == "identical"
    assert failure("tool", "diff", "1", "3")[2].startswith("3: the file cannot be read")


def test_a_guess_is_printed_and_not_applied() -> None:
    """--suggest prints a file that wants a person; written down as it is, nothing is carried by it."""
    renamed()
    done = ledger("tool", "diff", "send", "1", "2", "--suggest")
    assert done.exit_code == 0
    assert "assertedBy" in done.stderr
    draft = json.loads(done.stdout)
    assert draft["ops"] == [{"op": "rename", "from": "/amt", "to": "/amount"}]
    assert "assertedBy" not in draft
    assert data("tool", "diff", "send", "1", "2", "--suggest")["draft"] == draft
    written("schemas/tools/send/v1-v2.upcast.json", draft)
    assert json.loads(ledger("tool", "diff", "send", "1", "2", "--json").stdout)["data"]["upcast"] == "unknown"


def test_a_draft_may_be_sent_into_the_file_that_it_drafts() -> None:
    """A shell makes the file before the command runs: empty, it is not a fault of the tool."""
    renamed()
    document = data("tool", "diff", "send", "1", "2", "--suggest")["draft"]
    written("schemas/tools/send/v1-v2.upcast.json", "")
    done = ledger("tool", "diff", "send", "1", "2", "--suggest")
    assert (done.exit_code, json.loads(done.stdout)) == (0, document)


FILE = "schemas/tools/send/v1-v2.upcast.json"


@pytest.mark.parametrize("begun", [False, True])
def test_a_draft_is_written_where_it_belongs(begun: bool) -> None:
    """Beside the schemas, whole; a file that a shell left empty says nothing, and is no file in the way."""
    renamed()
    document = data("tool", "diff", "send", "1", "2", "--suggest")
    assert (document["written"], Path(FILE).exists()) == (None, False)
    if begun:
        written(FILE, "")
    done = ledger("tool", "diff", "send", "1", "v2", "--suggest", "--write")
    assert (done.exit_code, json.loads(done.stdout)) == (0, document["draft"])
    assert done.stderr.splitlines()[0] == f"written  {FILE}"
    assert json.loads(Path(FILE).read_text(encoding="utf-8")) == document["draft"]
    assert not [each.name for each in Path(FILE).parent.iterdir() if each.name.startswith(".")]


def test_a_draft_is_written_over_nothing() -> None:
    """Neither over what somebody wrote, nor beside another step from there; nothing guessed is nothing written."""
    renamed(assertedBy="ada", ops=[{"op": "rename", "from": "/amt", "to": "/amount"}])
    before = Path(FILE).read_bytes()
    asked = ("tool", "diff", "send", "1", "2", "--suggest", "--write")
    assert failure(*asked) == (1, "catalog_fault", f"{FILE}: this file is there already")
    assert Path(FILE).read_bytes() == before
    versions = {str(number): {"contract": {"effect": "write"}} for number in (1, 2, 3)}
    written("schemas/tools/send/tool.json", {"name": "send", "description": "Send.", "versions": versions})
    written("schemas/tools/send/v3.json", closed(amount={"type": "integer"}))
    further = written("schemas/tools/send/v1-v3.upcast.json", {"tool": "send", "from": 1, "to": 3, "assertedBy": "ada"})
    Path(FILE).unlink()
    assert failure(*asked) == (1, "catalog_fault", f"{further}: this upcast leads on from version 1 already")
    nothing = data("tool", "diff", "send", "2", "3", "--suggest", "--write")
    assert nothing == {"draft": None, "written": None}
    assert sorted(each.name for each in Path(FILE).parent.glob("*.upcast.json")) == ["v1-v3.upcast.json"]
    assert failure("tool", "diff", "send", "1", "2", "--write") == (
        2,
        "usage",
        "--write writes what --suggest drafts: give both.",
    )


def test_a_draft_leads_upwards() -> None:
    """An upcast leads to a higher version: the other way round is named, also where a shell made the file."""
    renamed()
    written("schemas/tools/send/v2-v1.upcast.json", "")
    done = ledger("tool", "diff", "send", "2", "v1", "--suggest", "--write", "--catalog", "schemas/tools")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[:2] == [
        "Error: an upcast leads to a higher version, so none leads from 2 to 1 (usage)",
        "The other way round: `ledger tool diff send 1 2 --suggest --write --catalog schemas/tools`.",
    ]


def test_a_quarantined_tool_is_told_with_its_fault() -> None:
    """What hinders is the file, not that the tool or its version does not exist; an unknown tool stays one."""
    renamed()
    file = written("schemas/tools/send/v1-v2.upcast.json", '{"tool": ')
    for options in ((), ("--suggest",)):
        status, code, message = failure("tool", "diff", "send", "1", "2", *options)
        assert (status, code, message.partition(":")[0]) == (1, "catalog_fault", file)
        assert failure("tool", "diff", "sent", "1", "2", *options)[1] == "unknown_tool"
    written(file, "")
    assert failure("tool", "diff", "send", "1", "2")[1] == "catalog_fault"
    written("schemas/tools/send/v2.json", "{")
    assert failure("tool", "diff", "send", "1", "2", "--suggest")[2].startswith("schemas/tools/send/v2.json")


def test_a_tool_without_a_catalog_has_no_draft() -> None:
    """Neither a folder nor a ledger is there: that is what is said."""
    assert failure("tool", "diff", "send", "1", "2", "--suggest")[1] == "no_database"


def test_nothing_is_guessed_of_nothing() -> None:
    """1 where two versions are alike; versions that the catalog does not hold, and files, have no draft."""
    catalog()
    same = ledger("tool", "diff", "send", "2", "3", "--suggest")
    assert (same.exit_code, "Nothing can be guessed" in same.stdout) == (1, True)
    assert failure("tool", "diff", "send", "1", "9", "--suggest")[:2] == (1, "unknown_tool")
    assert ledger("tool", "diff", "old.json", "new.json", "--suggest").exit_code == 2
