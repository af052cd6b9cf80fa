"""The catalog says of the six tools what their functions do."""

import inspect
import json
from pathlib import Path

import pytest

from ledger.catalog.compile import compile_schema
from ledger.catalog.definition import ToolVersion
from ledger.catalog.files import load_catalog
from ledger.catalog.fit import check_contract, check_fit
from ledger.catalog.function import read_function
from ledger.demo.model import ScriptedModel
from ledger.demo.tools import MAX_ENTRIES, TOOL_NAMES, CodingTools
from ledger.demo.workspace import Workspace

ROOT = Path(__file__).parents[2] / "schemas/tools"
EXAMPLES = sorted(file for name in TOOL_NAMES for file in ROOT.glob(f"{name}/examples/v1/*.json"))
WRITES = {"edit_file", "run_test"}
BOUNDS = {"string": "maxLength", "integer": "maximum"}


def version_of(name: str) -> ToolVersion:
    catalog = load_catalog(ROOT)
    assert catalog.faults == ()
    return catalog.tools[name].latest


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_the_function_fits_its_schema(name: str, root: Path) -> None:
    """Every call that the schema allows can be given to the function, and function and contract agree."""
    tools = CodingTools(Workspace(root))
    function = read_function(getattr(tools, name))
    version = version_of(name)
    check_fit(version, function)
    check_contract(version, function, tools.edit_file_happened if name == "edit_file" else None)


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_schema_and_function_have_the_same_defaults(name: str) -> None:
    """What the schema says about a field left out is what the function does."""
    parameters = inspect.signature(getattr(CodingTools, name)).parameters
    fields = version_of(name).schema["properties"]
    assert list(fields) == list(parameters)[1:]
    for field, schema in fields.items():
        default = parameters[field].default
        assert schema.get("default") == (None if default is inspect.Parameter.empty else default)


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_the_schema_is_closed_described_and_bounded(name: str) -> None:
    """No unknown field gets through, and every field is described and has a bound."""
    schema = version_of(name).schema
    assert schema["additionalProperties"] is False
    for field in schema["properties"].values():
        assert field["description"].endswith(".")
        assert BOUNDS[field["type"]] in field


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_the_contract(name: str) -> None:
    """All six share the workspace; edit and test write, the others read; two apply their defaults."""
    version = version_of(name)
    contract = version.contract
    assert contract.resource_keys == ("workspace",)
    assert contract.effect == ("write" if name in WRITES else "read")
    assert contract.apply_defaults is (name in {"list_files", "search_text"})
    assert contract.recovery == "review"
    assert version.runbook
    assert version.use_when
    assert version.not_when


def test_the_test_ends_before_its_deadline(root: Path) -> None:
    """The tool's own limit comes first: it kills the test and reports a known end."""
    deadline = version_of("run_test").contract.timeout_seconds
    assert deadline is not None
    assert deadline > CodingTools(Workspace(root)).test_limit_seconds


def test_the_tool_and_the_schema_agree_on_the_most_entries() -> None:
    """As many entries as the schema allows are what the tool calls its maximum."""
    assert version_of("list_files").schema["properties"]["max_entries"]["maximum"] == MAX_ENTRIES


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: f"{file.parts[-4]}-{file.stem}")
def test_an_example_is_what_its_name_says(file: Path) -> None:
    """An `ok` example passes the schema gate, a `bad` one is stopped there."""
    violations = compile_schema(version_of(file.parts[-4]).schema).violations(json.loads(file.read_text()))
    assert (violations == ()) == file.name.startswith("ok-")


def test_every_tool_has_examples_of_both_kinds() -> None:
    """For each tool there are right and wrong arguments."""
    kinds = {(file.parts[-4], file.name.split("-")[0]) for file in EXAMPLES}
    assert kinds == {(name, kind) for name in TOOL_NAMES for kind in ("ok", "bad")}


def test_the_script_keeps_to_the_schemas() -> None:
    """Every call of the script passes the schema gate: the one wrong range is the business gate's to find."""
    for decision in ScriptedModel.load().decisions:
        for call in decision.get("tool_calls", []):
            arguments = json.loads(call["function"]["arguments"])
            assert compile_schema(version_of(call["function"]["name"]).schema).violations(arguments) == ()
