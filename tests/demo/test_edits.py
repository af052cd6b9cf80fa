"""An edit is done once, and the file tells whether it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.answers import Rejected, ToolAnswer
from ledger.demo.edits import replaced_once, state_of
from ledger.demo.files import MAX_FILE_BYTES

CASES = json.loads((Path(__file__).parents[1] / "suite/demo_edits.json").read_text(encoding="utf-8"))
# Few characters, so that texts meet, overlap and end lines in every way.
TEXT = st.text(alphabet="ab\r\n", max_size=8)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["fact"])
def test_an_edit(case: dict[str, Any]) -> None:
    """Each case's edit gives the content or the code that it names, and the file tells before from after."""
    before = case["content"].encode()
    if "code" in case:
        with pytest.raises(ToolAnswer) as refused:
            replaced_once(before, case["old"], case["new"])
        assert refused.value.code == case["code"]
        return
    after = replaced_once(before, case["old"], case["new"])
    assert after == case["after"].encode()
    assert state_of(before, case["old"], case["new"]) == "untouched"
    assert state_of(after, case["old"], case["new"]) == case.get("state", "replaced")


@given(content=TEXT, old=TEXT, new=TEXT)
def test_the_file_never_lies_about_an_edit(content: str, old: str, new: str) -> None:
    """Whatever the texts: an edit that was not done never looks done, and one that was done never looks undone."""
    before = content.encode()
    try:
        after = replaced_once(before, old, new)
    except ToolAnswer:
        return
    assert state_of(before, old, new) == "untouched"
    assert state_of(after, old, new) != "untouched"


def test_bytes_around_an_edit_are_kept() -> None:
    """What is no UTF-8 in the rest of the file stays byte for byte."""
    assert replaced_once(b"caf\xe9 = 1\n", "= 1", "= 2") == b"caf\xe9 = 2\n"


def test_a_file_that_would_be_too_large_is_refused() -> None:
    """An edit may grow a file to the bound, not beyond."""
    content = b"x" * (MAX_FILE_BYTES - 2) + b"y"
    assert len(replaced_once(content, "y", "zz")) == MAX_FILE_BYTES
    with pytest.raises(Rejected) as refused:
        replaced_once(content, "y", "zzz")
    assert refused.value.code == "too_large"


def test_a_foreign_content_is_unclear() -> None:
    """A file that holds neither text says nothing about the edit."""
    assert state_of(b"something else", "old", "new") == "unclear"
