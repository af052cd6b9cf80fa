"""A catalog folder is read strictly: one bad tool is quarantined with file and pointer, nothing outside is touched."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ledger.catalog import Registry, ToolDefinition, default_catalog_root, describe, files, load_catalog
from ledger.errors import CatalogFault

ROOT = Path(__file__).parents[2]
OBJECT = {"type": "object", "additionalProperties": False}
DRAFT_04 = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}}
TOOL = {"name": "look", "description": "Look.", "versions": {"1": {"contract": {"effect": "read"}}}}
META = {
    name: jsonschema.Draft202012Validator(
        json.loads((ROOT / f"schemas/meta/{name}.schema.json").read_text(encoding="utf-8"))
    )
    for name in ("tool", "catalog")
}

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a tool's folder: its tool.json changed by keywords, and its schema files."""

    def writer(folder: str = "look", schema: Any = OBJECT, **changes: Any) -> Path:
        home = tmp_path / folder
        home.mkdir(exist_ok=True)
        tool = {**TOOL, "name": folder.replace("~", "/"), **changes}
        (home / "tool.json").write_text(json.dumps({key: each for key, each in tool.items() if each is not None}))
        (home / "v1.json").write_text(json.dumps(schema))
        return home

    return writer


def only_fault(root: Path) -> tuple[str, str, str]:
    """Return tool, file name and pointer of the one fault, after checking that nothing else works or is wrong."""
    catalog = load_catalog(root)
    assert not catalog.tools
    (fault,) = catalog.faults
    return fault.tool, Path(fault.path).name, fault.pointer


def test_a_bad_tool_is_quarantined_and_the_others_work(tmp_path: Path, write: Write) -> None:
    """Of three tools the one with draft-04's exclusiveMinimum is named with file and pointer; two work."""
    write("one")
    write("read_pdf", DRAFT_04)
    write("two")
    catalog = load_catalog(tmp_path)
    assert list(catalog.tools) == ["one", "two"]
    (fault,) = catalog.faults
    assert (fault.tool, fault.path) == ("read_pdf", str(tmp_path / "read_pdf/v1.json"))
    assert fault.pointer == "/properties/n/exclusiveMinimum"
    assert "draft-04" in str(fault.hint)


def test_everything_a_tool_says_is_read(tmp_path: Path, write: Write) -> None:
    """Words, versions, contracts, stages, retirement and reserved names stand in the definition."""
    home = write(
        "gh~create",
        **{"$schema": "../../meta/tool.schema.json"},
        title="Create",
        useWhen="Now.",
        notWhen="Later.",
        owner="me",
        runbook="Look at {id}.",
        current=2,
        stage="hidden",
        versions={
            "1": {"contract": {}, "stage": "removed", "description": "Old."},
            "2": {"contract": {"effect": "write"}, "schema": "second.json", "outputSchema": "out.json"},
        },
        retirement={
            "replacements": [{"tool": "make", "when": "always", "example": {"id": 1}}, {"tool": "other"}],
            "hint": "Use make.",
            "retentionDays": 30,
        },
        reserved=["gh/make"],
    )
    (home / "second.json").write_text(json.dumps({**OBJECT, "title": "second"}))
    (home / "out.json").write_text(json.dumps({"type": "string"}))
    catalog = load_catalog(str(tmp_path))
    assert catalog.faults == ()
    tool = catalog.tools["gh/create"]
    first, second = tool.versions[1], tool.latest
    assert (tool.current, tool.stage, tool.owner, tool.hint, tool.retention_days) == (
        2,
        "hidden",
        "me",
        "Use make.",
        30,
    )
    assert [(each.tool, each.when, each.example) for each in tool.replacements] == [
        ("make", "always", {"id": 1}),
        ("other", None, None),
    ]
    assert tool.reserved == ("gh/make",)
    assert (first.stage, first.description, first.contract.effect, first.output_schema) == (
        "removed",
        "Old.",
        "external",
        None,
    )
    assert (second.stage, second.description, second.contract.effect) == ("hidden", "Look.", "write")
    assert (second.schema["title"], second.output_schema, second.runbook) == (
        "second",
        {"type": "string"},
        "Look at {id}.",
    )
    assert first.shape_digest == second.shape_digest
    assert first.description_digest != second.description_digest
    assert describe(second) == "Look.\n\nUse when: Now.\n\nDo not use when: Later."
    assert Path(second.path).name == "second.json"
    with pytest.raises(TypeError):
        catalog.tools["x"] = tool  # type: ignore[index]  # that it cannot be written is the point


FAULTY: list[tuple[dict[str, Any], str, str]] = [
    ({"versons": {}}, "/versons", 'did you mean "versions"?'),
    ({"name": None}, "/name", "tool name"),
    ({"name": "../x"}, "/name", "tool name"),
    ({"name": "other"}, "/name", "the folder of this tool is other"),
    ({"description": None}, "/description", "a model chooses by"),
    ({"description": " "}, "/description", "a text of 1 to"),
    ({"title": 5}, "/title", "a text of 1 to"),
    ({"owner": "x" * 20_001}, "/owner", "a text of 1 to"),
    ({"current": 2}, "/current", "no version 2"),
    ({"current": 0}, "/current", "whole number"),
    ({"current": True}, "/current", "whole number"),
    ({"current": "1"}, "/current", "whole number"),
    ({"stage": "retired"}, "/stage", "one of"),
    ({"versions": None}, "/versions", "1 to 1,000 versions"),
    ({"versions": []}, "/versions", "is an object"),
    ({"versions": {"v1": {}}}, "/versions/v1", "is no version"),
    ({"versions": {"01": {}}}, "/versions/01", "is no version"),
    ({"versions": {"1": []}}, "/versions/1", "is an object"),
    ({"versions": {"1": {}}}, "/versions/1/contract", "has a contract"),
    ({"versions": {"1": {"contract": {"effect": "rm"}}}}, "/versions/1/contract/effect", "one of"),
    ({"versions": {"1": {"contract": {}, "efect": 1}}}, "/versions/1/efect", "unknown key"),
    ({"versions": {"1": {"contract": {}, "stage": 1}}}, "/versions/1/stage", "one of"),
    ({"versions": {"1": {"contract": {}, "schema": "../v1.json"}}}, "/versions/1/schema", "plain name"),
    ({"versions": {"1": {"contract": {}, "schema": "/etc/x.json"}}}, "/versions/1/schema", "plain name"),
    ({"versions": {"1": {"contract": {}, "schema": "a\0.json"}}}, "/versions/1/schema", "plain name"),
    ({"versions": {"1": {"contract": {}, "schema": None}}}, "/versions/1/schema", "plain name"),
    ({"versions": {"1": {"contract": {}, "outputSchema": "a/b.json"}}}, "/versions/1/outputSchema", "plain name"),
    ({"retirement": []}, "/retirement", "is an object"),
    ({"retirement": {"hnt": "x"}}, "/retirement/hnt", "unknown key"),
    ({"retirement": {"retentionDays": -1}}, "/retirement/retentionDays", "whole number"),
    ({"retirement": {"replacements": {}}}, "/retirement/replacements", "is a list"),
    ({"retirement": {"replacements": ["x"]}}, "/retirement/replacements/0", "is an object"),
    ({"retirement": {"replacements": [{"tool": "../x"}]}}, "/retirement/replacements/0/tool", "tool name"),
    ({"retirement": {"replacements": [{"tool": "x", "wen": ""}]}}, "/retirement/replacements/0/wen", "unknown key"),
    ({"retirement": {"replacements": [{"tool": "x", "when": ""}]}}, "/retirement/replacements/0/when", "a text"),
    ({"reserved": "x"}, "/reserved", "is a list"),
    ({"reserved": ["../x"]}, "/reserved", "tool name"),
    ({"reserved": [5]}, "/reserved", "cannot stand"),
    ({"reserved": ["look"]}, "/reserved", "cannot stand"),
]
BY_HAND = {"/description", "/current", "/name", "/reserved"}
"""Places where the reader knows more than a meta-schema can say: other files, other keys."""


@pytest.mark.parametrize(("changes", "pointer", "because"), FAULTY)
def test_a_faulty_tool_json_is_named_by_pointer(
    tmp_path: Path, write: Write, changes: dict[str, Any], pointer: str, because: str
) -> None:
    """Each wrong key or value quarantines the tool, named by file and pointer; the meta-schema refuses it too."""
    home = write(**changes)
    assert only_fault(tmp_path) == ("look", "tool.json", pointer)
    fault = load_catalog(tmp_path).faults[0]
    assert because in f"{fault.message} {fault.hint}"
    document = json.loads((home / "tool.json").read_text())
    assert pointer in BY_HAND or not META["tool"].is_valid(document)


def test_the_meta_schemas_accept_what_the_reader_accepts() -> None:
    """Every file of the packaged catalog is valid under the meta-schema it names, and has no fault."""
    catalog = load_catalog(default_catalog_root())
    assert catalog.faults == ()
    assert catalog.tools
    for tool in catalog.tools.values():
        document = json.loads(Path(tool.path).read_text(encoding="utf-8"))
        assert list(META["tool"].iter_errors(document)) == []
        assert (Path(tool.path).parent / document["$schema"]).resolve() == ROOT / "schemas/meta/tool.schema.json"
    settings = default_catalog_root() / "catalog.json"
    assert list(META["catalog"].iter_errors(json.loads(settings.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ('{"type": "object", "type": "object"}', "type"),
        ('{"type": "object"', "line 1, column"),
        ("", "line 1"),
        ("null", "not an object"),
        ("{}", "empty"),
        ("[]", "not an object"),
        ('{"type": "string"}', "must say so"),
        ('{"type": "object", "maximum": NaN}', "NaN"),
        ("\ufeff{}", "byte order mark"),
        ('{"a": "' + "x" * 2**20 + '"}', "bytes"),
        ("[" * 100 + "]" * 100, "nested"),
    ],
)
def test_a_schema_file_is_strict_json(tmp_path: Path, write: Write, text: str, because: str) -> None:
    """Repeated keys, NaN, what is cut off, empty, too large or too deep: quarantined with its file."""
    (write() / "v1.json").write_text(text, encoding="utf-8")
    assert only_fault(tmp_path)[:2] == ("look", "v1.json")
    [fault] = load_catalog(tmp_path).faults
    assert because in fault.message
    assert fault.hint
    assert "Send" not in f"{fault.message} {fault.hint}"


def test_a_tool_json_must_be_an_object_that_exists(tmp_path: Path, write: Write) -> None:
    """A folder without tool.json, or with another value in it, is quarantined under its own name."""
    home = write("gh~x")
    (home / "tool.json").write_text("[]")
    assert only_fault(tmp_path) == ("gh/x", "tool.json", "")
    (home / "tool.json").unlink()
    assert only_fault(tmp_path) == ("gh/x", "tool.json", "")


@pytest.mark.parametrize("name", ["tool.json", "v1.json"])
def test_a_link_out_of_the_catalog_is_not_followed(tmp_path: Path, write: Write, name: str) -> None:
    """A symbolic link to a file outside quarantines the tool; one inside is fine."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    home = write()
    outside.mkdir()
    (home / name).rename(outside / name)
    root.mkdir()
    home = home.rename(root / "look")
    (home / name).symlink_to(outside / name)
    assert only_fault(root) == ("look", name, "")
    (home / name).unlink()
    (outside / name).rename(home / "real.json")
    (home / name).symlink_to("real.json")
    assert list(load_catalog(root).tools) == ["look"]


def test_a_whole_folder_linked_from_outside_is_not_read(tmp_path: Path, write: Write) -> None:
    """The tool of a linked folder lies outside as well."""
    write()
    root = tmp_path / "root"
    root.mkdir()
    (root / "look").symlink_to(tmp_path / "look")
    assert only_fault(root) == ("look", "tool.json", "")


def test_special_files_and_circles_of_links_are_no_schemas(tmp_path: Path, write: Write) -> None:
    """A pipe would block for ever, a circle never ends: both are refused unopened."""
    home = write()
    (home / "v1.json").unlink()
    os.mkfifo(home / "v1.json")
    assert only_fault(tmp_path) == ("look", "v1.json", "")
    (home / "v1.json").unlink()
    (home / "v1.json").symlink_to("v1.json")
    assert only_fault(tmp_path) == ("look", "v1.json", "")


def test_other_entries_are_passed_over(tmp_path: Path, write: Write) -> None:
    """Plain files, hidden folders and caches beside the tools are not tools."""
    write()
    (tmp_path / "README.md").write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / "__pycache__").mkdir()
    assert list(load_catalog(tmp_path).tools) == ["look"]
    assert load_catalog(tmp_path).faults == ()


def test_a_missing_catalog_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not there is no empty catalog; nor is one with more folders than any catalog has."""
    with pytest.raises(CatalogFault, match="no such catalog"):
        load_catalog(tmp_path / "gone")
    monkeypatch.setattr(files, "MAX_TOOLS", 1)
    for name in "ab":
        (tmp_path / name).mkdir()
    with pytest.raises(CatalogFault, match="2 folders"):
        load_catalog(tmp_path)


def test_a_reserved_name_is_never_used_again(tmp_path: Path, write: Write) -> None:
    """A tool that takes a name another one reserves is quarantined."""
    write("grep", reserved=["search_code"])
    write("search_code")
    catalog = load_catalog(tmp_path)
    assert list(catalog.tools) == ["grep"]
    assert "reserved by grep" in catalog.faults[0].message


SETTINGS: list[tuple[Any, str, str]] = [
    ([], "", "an object"),
    ({"dialct": ""}, "/dialct", 'did you mean "dialect"?'),
    ({"dialect": "http://json-schema.org/draft-04/schema#"}, "/dialect", "not supported"),
    ({"significantAnnotations": "x-unit"}, "/significantAnnotations", "is a list"),
    ({"formats": ["hostname"]}, "/formats", "cannot stand"),
    ({"limits": []}, "/limits", "is an object"),
    ({"limits": {"maxdepth": 1}}, "/limits/maxdepth", "unknown key"),
    ({"limits": {"maxDepth": 65}}, "/limits/maxDepth", "from 1 to 64"),
    ({"limits": {"maxItems": 0}}, "/limits/maxItems", "from 1 to"),
    ({"limits": {"maxItems": True}}, "/limits/maxItems", "from 1 to"),
    ({"limits": {"maxItems": "9"}}, "/limits/maxItems", "from 1 to"),
]


@pytest.mark.parametrize(("document", "pointer", "because"), SETTINGS)
def test_faulty_settings_are_no_quarantine(tmp_path: Path, document: Any, pointer: str, because: str) -> None:
    """What catalog.json gets wrong is wrong for every tool: an error, and the meta-schema refuses it too."""
    (tmp_path / "catalog.json").write_text(json.dumps(document))
    with pytest.raises(CatalogFault, match=because) as fault:
        load_catalog(tmp_path)
    assert fault.value.pointer == pointer
    assert not META["catalog"].is_valid(document)


def test_settings_hold_for_all_tools(tmp_path: Path, write: Write) -> None:
    """Dialect, significant annotations, formats and limits of catalog.json are what its schemas are read with."""
    write("one", {"type": "object", "x-currency": "EUR"})
    write("two", {"type": "object", "x-currency": "USD"})
    write("old", {"type": "object", "dependencies": {"a": ["b"]}})
    plain = load_catalog(tmp_path)
    assert [fault.tool for fault in plain.faults] == ["old"]
    shapes = {name: plain.tools[name].latest.shape_digest for name in ("one", "two")}
    assert shapes["one"] == shapes["two"]
    settings = {
        "$schema": "../meta/catalog.schema.json",
        "dialect": "http://json-schema.org/draft-07/schema#",
        "significantAnnotations": ["x-currency"],
        "formats": ["date"],
        "limits": {"maxDepth": 3},
    }
    (tmp_path / "catalog.json").write_text(json.dumps(settings))
    catalog = load_catalog(tmp_path)
    assert [fault.tool for fault in catalog.faults] == []
    assert catalog.tools["one"].latest.shape_digest != catalog.tools["two"].latest.shape_digest
    assert "draft-07" in catalog.tools["old"].latest.schema["$schema"]
    assert catalog.formats == catalog.tools["one"].latest.formats == {"date"}
    assert META["catalog"].is_valid(settings)
    (tmp_path / "catalog.json").write_text(json.dumps({"limits": {"maxDepth": 1}}))
    assert [fault.tool for fault in load_catalog(tmp_path).faults] == ["old"]


def test_the_digest_covers_what_the_tools_say(tmp_path: Path, write: Write) -> None:
    """Schema, words, contract, stage and retirement change the catalog's digest; where it lies does not."""
    write()
    first = load_catalog(tmp_path).digest
    assert load_catalog(tmp_path / "look" / "..").digest == first
    seen = {first}
    for changes in (
        {"description": "Another."},
        {"stage": "compat"},
        {"versions": {"1": {"contract": {"effect": "write"}}}},
        {"retirement": {"hint": "x"}},
        {"retirement": {"replacements": [{"tool": "x"}]}},
        {"schema": {"type": "object"}},
    ):
        write(**changes)
        seen.add(load_catalog(tmp_path).digest)
    assert len(seen) == 7


def test_the_packaged_catalog_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside the wheel it stands in the package, in a checkout beside it."""
    assert default_catalog_root() == ROOT / "schemas/tools"
    module = tmp_path / "ledger/catalog/files.py"
    (tmp_path / "ledger/_schemas/tools").mkdir(parents=True)
    monkeypatch.setattr(files, "__file__", str(module))
    assert default_catalog_root() == tmp_path / "ledger/_schemas/tools"


def test_a_tool_without_words_about_its_use_is_described_by_what_it_does(tmp_path: Path, write: Write) -> None:
    """What the model reads is the description alone where nothing says when to use it."""
    write()
    definition: ToolDefinition = load_catalog(tmp_path).tools["look"]
    assert describe(definition.latest) == "Look."


@pytest.mark.parametrize(
    ("names", "because"),
    [
        (["v1.upcast.json"], "named like v1-v2.upcast.json"),
        (["v1-v9.upcast.json"], "the tool has no version 9"),
        (["v1-v2.upcast.json", "v1-v3.upcast.json"], "two upcasts begin at version 1"),
    ],
    ids=["a wrong name", "a version that is not there", "two from one version"],
)
def test_an_upcast_without_its_place_is_a_fault_of_its_tool(
    tmp_path: Path, write: Write, names: list[str], because: str
) -> None:
    """It is named with its file; nothing is carried by a step that nobody can tell from another."""
    contract = {"contract": {"effect": "read"}}
    write("look", versions={"1": contract, "2": contract, "3": contract})
    for number in (1, 2, 3):
        schema = {"type": "object", "properties": {f"p{number}": {"type": "string"}}}
        (tmp_path / "look" / f"v{number}.json").write_text(json.dumps(schema))
    for name in names:
        step = {"tool": "look", "from": 1, "to": int(name[4]) if name[4].isdigit() else 2, "assertedBy": "a", "ops": []}
        (tmp_path / "look" / name).write_text(json.dumps(step))
    [fault] = load_catalog(tmp_path).faults
    assert because in fault.message
    assert fault.path.endswith(names[-1])


def renaming(old: str, new: str, **more: Any) -> Any:
    return {"op": "rename_tool", "from": old, "to": new} | more


@pytest.mark.parametrize(
    ("reserved", "ops", "pointer", "because"),
    [
        (["see"], {1: [renaming("see", "gaze")]}, "/ops/0/to", 'on it is "look"'),
        ([], {1: [renaming("see", "look")]}, "/ops/0/from", "does not keep it"),
        (["see"], {1: [renaming("see", "look"), renaming("see", "look")]}, "/ops/1", "once"),
        (["see", "spy"], {1: [renaming("spy", "look")], 2: [renaming("see", "look")]}, "/ops/0/to", 'on it is "see"'),
        (["see", "spy"], {1: [renaming("spy", "see")], 2: [renaming("see", "look")]}, None, ""),
        (["see"], {1: [], 2: [renaming("see", "look")]}, None, ""),
        (["see"], {1: [renaming("look", "see")], 2: [renaming("see", "look")]}, "/ops/0/from", "the tool has it again"),
        (["see"], {(1, 3): [renaming("see", "look")], 2: [renaming("see", "look")]}, None, ""),
    ],
    ids=["another name", "not kept", "twice", "no chain", "a chain", "one of two steps", "back", "two ways"],
)
def test_the_names_of_a_tool_lead_to_the_one_that_it_has(
    tmp_path: Path, write: Write, reserved: list[str], ops: dict[Any, Any], pointer: str | None, because: str
) -> None:
    """Each step that renames it goes on where the one before ended, and the name given up is kept from use."""
    contract = {"contract": {"effect": "read"}}
    write("look", versions={"1": contract, "2": contract, "3": contract}, reserved=reserved)
    for number in (2, 3):
        (tmp_path / f"look/v{number}.json").write_text((tmp_path / "look/v1.json").read_text())
    for place, steps in ops.items():
        start, end = place if isinstance(place, tuple) else (place, place + 1)
        step = {"tool": "look", "from": start, "to": end, "assertedBy": "a", "ops": steps}
        (tmp_path / f"look/v{start}-v{end}.upcast.json").write_text(json.dumps(step))
    catalog = load_catalog(tmp_path)
    assert [fault.pointer for fault in catalog.faults] == ([] if pointer is None else [pointer])
    if pointer is not None:
        assert because in catalog.faults[0].message
        return
    registry = Registry(catalog)
    assert {name: registry.home(name) for name in (*reserved, "look", "other")} == {
        **dict.fromkeys(reserved, "look"),
        "look": "look",
        "other": "other",
    }
    assert sorted(registry.given_up) == sorted(reserved)
    assert sorted(registry.all_names("look")) == sorted(["look", *reserved])
    assert registry.all_names("other") == ("other",)
    assert {name: form.version for name in reserved if (form := registry.form(name))} == catalog.tools["look"].renamed
    assert registry.form("other") is None
    with pytest.raises(CatalogFault, match="never used again"):
        catalog.named(reserved[0])


def test_two_tools_cannot_have_had_one_name(tmp_path: Path, write: Write) -> None:
    """Nobody knows whose the calls of that name are: neither is used until one file says something else."""
    versions = {key: {"contract": {"effect": "read"}} for key in "12"}
    for name in ("gaze", "look"):
        write(name, versions=versions, reserved=["see", "spy"])
        (tmp_path / f"{name}/v2.json").write_text((tmp_path / f"{name}/v1.json").read_text())
        step = {"tool": name, "from": 1, "to": 2, "assertedBy": "a", "ops": [renaming("see", name)]}
        (tmp_path / f"{name}/v1-v2.upcast.json").write_text(json.dumps(step))
    catalog = load_catalog(tmp_path)
    assert (list(catalog.tools), [fault.tool for fault in catalog.faults]) == ([], ["gaze", "look"])
    assert [fault.message.split(":")[0] for fault in catalog.faults] == [
        "it was see before, and so was look",
        "it was see before, and so was gaze",
    ]
