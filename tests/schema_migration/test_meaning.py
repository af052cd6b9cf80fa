"""What the files between the versions of two calls say of a change of meaning."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.calls import Call
from ledger.catalog import ToolDefinition, load_catalog
from ledger.schema_migration.meaning import Meaning, meaning_between
from tests.recovery.deploys import ASKS, Deploy

WHY = str(ASKS["semantic"])
EURO = {"amount": 5, "currency": "EUR"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("meaning")


def charge(folder: Path, **files: Any) -> ToolDefinition:
    """The tool in three versions, with these files between them."""
    Deploy(folder).write(3)
    for name, text in files.items():
        (folder / f"catalog/charge/{name.replace('_', '-')}.upcast.json").write_text(json.dumps(text))
    return load_catalog(folder / "catalog").tools["charge"]


def of(version: int, arguments: Any, **fields: Any) -> Call:
    return Call(schema_version=version, arguments=arguments, **fields)


@pytest.mark.parametrize(
    ("older", "newer", "same"),
    [
        (of(1, {"amt": 5}), of(3, EURO), ("/amount",)),
        (of(2, {"amount": 5}), of(3, EURO), ("/amount",)),
        (of(2, {"amount": 6}), of(3, EURO), ()),
        (of(2, {}), of(3, EURO), ()),
        (of(2, None), of(3, EURO), ()),
        (of(1, {"amt": 5}, redacted=True), of(3, EURO), ()),
    ],
)
def test_the_change_of_meaning_and_what_stayed_the_same(folder: Path, older: Call, newer: Call, same: Any) -> None:
    """Whichever of the two is asked about; of what was masked nobody says that it is the same."""
    tool = charge(folder)
    assert meaning_between(tool, older, newer) == meaning_between(tool, newer, older) == Meaning((WHY,), same)


def test_nothing_is_said_where_no_file_or_no_change_of_meaning_lies_between(folder: Path) -> None:
    """A change of form is none; versions that no file leads to are not compared."""
    tool = charge(folder)
    assert meaning_between(tool, of(1, {"amt": 5}), of(2, {"amount": 5})) is None
    assert meaning_between(tool, of(3, EURO), of(3, EURO)) is None
    assert meaning_between(tool, of(3, EURO), of(4, EURO)) is None


def test_two_changes_of_meaning_are_both_told(folder: Path) -> None:
    """What the second carries says nothing of what the first one left."""
    tool = charge(folder, v1_v2={"tool": "charge", "from": 1, "to": 2, "semantic": "Cents now."})
    found = meaning_between(tool, of(1, {"amount": 5}), of(3, EURO))
    assert found == Meaning(("Cents now.", WHY))
    assert str(found) == f'the meaning changed between the versions: "Cents now." "{WHY}"'


def test_a_change_of_form_behind_one_of_meaning_leaves_nothing_the_same(folder: Path) -> None:
    """What was carried stands elsewhere then, or another value in its place."""
    meant = {"tool": "charge", "from": 1, "to": 2, "semantic": "Cents now.", "carry": ["/amount"]}
    moved = {"tool": "charge", "from": 2, "to": 3, "ops": [{"op": "rename", "from": "/amount", "to": "/cents"}]}
    tool = charge(folder, v1_v2=meant, v2_v3=moved)
    assert meaning_between(tool, of(1, {"amount": 5}), of(2, {"amount": 5})) == Meaning(("Cents now.",), ("/amount",))
    assert meaning_between(tool, of(1, {"amount": 5}), of(3, {"amount": 5})) == Meaning(("Cents now.",))
