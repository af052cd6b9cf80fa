"""A tool's name is ASCII, bounded, and stands for one folder inside the catalog."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.catalog import check_name, folder_of, is_name
from ledger.errors import CatalogFault


@pytest.mark.parametrize(
    "name", ["a", "send_email", "github/create_issue", "fs.read-file", "A" * 128, "a/../b", "a..b"]
)
def test_a_name_is_letters_digits_and_four_signs(name: str) -> None:
    """Names of MCP servers and namespaced names are fine."""
    assert check_name(name) == name
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    ["", "1a", "_a", "/a", "../a", ".", "a b", "a\n", "a\0", "a" * 129, "Ａ", "сmd", "a~b", "a\\b", "a:b", None, 5],
)
def test_anything_else_is_refused(name: Any) -> None:
    """Paths, look-alikes, control characters, what is too long: never a name."""
    assert not is_name(name)
    with pytest.raises(CatalogFault, match="tool name") as fault:
        check_name(name, path="tool.json", pointer="/name")
    assert fault.value.pointer == "/name"


@given(
    st.from_regex(r"[a-zA-Z][a-zA-Z0-9_./-]{0,20}", fullmatch=True),
    st.from_regex(r"[a-zA-Z][a-zA-Z0-9_./-]{0,20}", fullmatch=True),
)
def test_each_name_has_its_own_folder_inside_the_root(one: str, two: str) -> None:
    """A folder is one path segment, never `.` or `..`, and no two names share one."""
    folder = folder_of(one)
    assert "/" not in folder
    assert "\\" not in folder
    assert folder not in (".", "..")
    assert (folder == folder_of(two)) == (one == two)
