"""The codes of a check are what its page says."""

import re
from pathlib import Path

from ledger.catalog.notes import FINDINGS, WARNINGS, Note

PAGE = Path(__file__).parents[2] / "docs/catalog.md"


def test_every_code_is_explained() -> None:
    """The page has two tables, the findings and the warnings, with each code once."""
    said = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert said == [*sorted(FINDINGS, key=said.index), *sorted(WARNINGS, key=said.index)]


def test_a_code_has_one_level() -> None:
    """A finding is to be put right, a warning is weighed."""
    assert Note(code="quarantined", message="").to_wire()["level"] == "finding"
    assert Note(code="long_enum", message="").to_wire()["level"] == "warning"
