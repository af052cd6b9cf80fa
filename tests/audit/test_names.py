"""Under which name a call stands whose tool was renamed."""

from pathlib import Path
from typing import Any

import pytest

from ledger.audit import Names
from ledger.catalog import load_catalog
from tests.catalog.shelf import SCHEMA, Shelf


@pytest.fixture
def names(tmp_path: Path) -> Names:
    """Of a tool that was `charge` in v1 and v2, `pay` in v3 and v4, and is `transfer` now; and of another one."""
    shelf = Shelf(tmp_path / "tools")
    shelf.tool("transfer", schemas=(SCHEMA,) * 6, reserved=["charge", "pay"])
    for start, old, new in ((2, "charge", "pay"), (4, "pay", "transfer")):
        step: dict[str, Any] = {"tool": "transfer", "from": start, "to": start + 1, "assertedBy": "ada"}
        step["ops"] = [{"op": "rename_tool", "from": old, "to": new}]
        shelf.write(f"transfer/v{start}-v{start + 1}.upcast.json", step)
    shelf.tool("other")
    catalog = load_catalog(shelf.root)
    assert not catalog.faults
    return Names.of(catalog)


@pytest.mark.parametrize(
    ("tool", "version", "name"),
    [
        ("charge", 2, None),
        ("charge", 3, "pay"),
        ("charge", 5, "transfer"),
        ("pay", 4, None),
        ("pay", 6, "transfer"),
        ("transfer", 6, None),
        ("charge", None, None),
        ("other", 1, None),
        ("nobody", 3, None),
    ],
)
def test_a_version_behind_a_rename_has_the_later_name(
    names: Names, tool: str, version: int | None, name: str | None
) -> None:
    """Whichever rename it came through; what stands under its own name was not carried to another."""
    assert names.carried_to(tool, version) == name


def test_a_name_is_asked_for_by_all_that_was_carried_to_it(names: Names) -> None:
    """From each earlier name, of the versions that have this one."""
    assert names.carried_as("pay") == (("charge", 3), ("charge", 4))
    assert names.carried_as("transfer") == (("charge", 5), ("charge", 6), ("pay", 5), ("pay", 6))
    assert (names.carried_as("charge"), names.carried_as("other"), names.carried_as(None)) == ((), (), ())


def test_without_a_catalog_no_name_is_known() -> None:
    """Then a call stands under the name that is recorded."""
    assert Names.of(None) == Names()
