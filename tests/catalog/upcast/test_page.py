"""The documented operations, keys and codes are those of the code."""

import re
from pathlib import Path

import pytest

from ledger.catalog.steps import OPS, Op
from ledger.catalog.upcast.codes import PROOFS, RECORDS
from ledger.catalog.upcast.page import page, tables
from ledger.catalog.upcast_files import _KNOWN, _READERS
from tests.quality.tree import ROOT, text

PAGE = text(Path("docs/upcasts.md"))
RAISED = re.compile(r'(?:Stop|Unprovable|_because)\(\s*(?:"(?:unknown|refuted|none)", )?"([a-z_]+)"|code="([a-z_]+)"')


def test_the_page_is_up_to_date() -> None:
    """docs/upcasts.md holds the tables as the code makes them; `make docs` writes them."""
    assert page(PAGE) == PAGE
    assert tables().count("| `") == len(PROOFS) + len(RECORDS)


def test_a_page_without_a_place_is_an_error() -> None:
    """The marks have to be there once."""
    with pytest.raises(ValueError, match="once"):
        page("# nothing")


def test_every_code_that_is_given_has_a_meaning() -> None:
    """Each code that stands in the engine is documented, and each documented one stands there."""
    engine = [path for path in (ROOT / "ledger/catalog/upcast").glob("*.py") if path.name != "codes.py"]
    given = {code for path in engine for pair in RAISED.findall(text(path)) for code in pair if code} - {"refuted"}
    assert given == PROOFS.keys() | RECORDS.keys() - {"undeclared", "invalid_before"}


def test_every_operation_has_its_row() -> None:
    """With its keys and with what undoes it."""
    rows = {cells[0].split("`")[1]: cells for cells in map(_cells, PAGE.splitlines()) if cells and cells[0][1:-1]}
    for op in OPS:
        name, inverse = rows[op][:2]
        assert name.split() == [f"`{each}`" for each in (op, *_READERS[op][0])]
        undone = Op(op=op, path=("a",), to=("b",)).inverse.op
        assert inverse.split()[0] in (f"`{undone}`", "itself")
        assert (inverse.split()[0] == "itself") == (op in ("introduce_optional", "restructure"))


def _cells(line: str) -> list[str]:
    return re.split(r" \| ", line.strip("| ")) if line.startswith("| `") else []


def test_every_key_of_a_file_is_explained() -> None:
    """Beside $schema, which is an editor's."""
    named = set(re.findall(r"`([A-Za-z]+)`", PAGE.split("## The file")[1].split("## Operations")[0]))
    assert _KNOWN - {"$schema"} <= named
