"""The catalog says of the examples' tools what a model and a reviewer need; its examples are what their names say."""

import json
from pathlib import Path

import pytest

from ledger.catalog import ToolVersion, compile_schema, default_catalog_root, load_catalog
from ledger.demo.tools import TOOL_NAMES

ROOT = Path(__file__).parents[2] / "schemas/tools"
CATALOG = load_catalog(default_catalog_root())
NAMES = sorted(CATALOG.tools.keys() - set(TOOL_NAMES))  # those of the demo have tests of their own
FILES = sorted(file for name in NAMES for file in ROOT.glob(f"{name}/examples/v*/*.json"))
READS = {"get_weather", "glob", "grep", "read_document", "search_code", "search_documents"}


def version_of(name: str) -> ToolVersion:
    return CATALOG.tools[name].latest


def test_the_catalog_is_whole() -> None:
    """No tool is quarantined."""
    assert CATALOG.faults == ()
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_closed_described_and_bounded(name: str) -> None:
    """No unknown field gets through; each field is described, and a text or a number has a bound."""
    schema = version_of(name).schema
    assert schema["additionalProperties"] is False
    for field in schema["properties"].values():
        assert field["description"].endswith(".")
        assert field.keys() & {"enum", "maxItems", "maxLength", "maximum"}


@pytest.mark.parametrize("name", NAMES)
def test_the_contract(name: str) -> None:
    """Each tool says what it touches, how long it may take, when to use it and when not, and what a reviewer does."""
    version = version_of(name)
    contract = version.contract
    assert contract.resource_keys
    assert contract.timeout_seconds
    assert (contract.effect == "read") is (name in READS)
    assert contract.recovery == "review"
    assert version.runbook
    assert version.use_when
    assert version.not_when


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parts[-4]}-{file.parts[-2]}-{file.stem}")
def test_an_example_is_what_its_name_says(file: Path) -> None:
    """An `ok` example passes the schema gate, a `bad` one is stopped there."""
    version = CATALOG.tools[file.parts[-4]].versions[int(file.parts[-2].removeprefix("v"))]
    violations = compile_schema(version.schema).violations(json.loads(file.read_text()))
    assert (violations == ()) == file.name.startswith("ok-")


def test_every_tool_has_examples_of_both_kinds() -> None:
    """For each tool there are right and wrong arguments."""
    kinds = {(file.parts[-4], file.name.split("-")[0]) for file in FILES}
    assert kinds == {(name, kind) for name in NAMES for kind in ("ok", "bad")}
