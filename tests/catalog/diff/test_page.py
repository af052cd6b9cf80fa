"""The documented table of rules is the code's."""

from pathlib import Path

import pytest

from ledger.catalog.diff.page import page, table
from ledger.catalog.diff.rules import RULES
from tests.quality.tree import text


def test_the_page_is_up_to_date() -> None:
    """docs/diff.md holds the table as the code makes it; `make docs` writes it."""
    shown = text(Path("docs/diff.md"))
    assert page(shown) == shown


def test_every_code_has_a_row() -> None:
    """Code, verdict and meaning stand in the table."""
    rows = table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == list(RULES)
    assert all(row.count(" | ") == 2 for row in rows)


def test_a_page_without_a_place_is_an_error() -> None:
    """The marks have to be there once."""
    with pytest.raises(ValueError, match="once"):
        page("# nothing")
