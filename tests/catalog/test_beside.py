"""What stands beside a reference in draft-07 is ignored, and a check says so."""

from typing import Any

import pytest

from ledger.catalog.disk import read_sources
from ledger.catalog.shape import shape_digest
from tests.catalog.shelf import Shelf

DRAFT = "http://json-schema.org/draft-07/schema#"


def paying(**beside: Any) -> dict[str, Any]:
    """A schema of a payment whose currency is behind a reference, with words beside it."""
    return {
        "type": "object",
        "properties": {"currency": {"$ref": "#/definitions/currency", **beside}},
        "additionalProperties": False,
        "definitions": {"currency": {"type": "string", "description": "ISO code."}},
    }


def found(shelf: Shelf) -> list[tuple[str, str, str]]:
    return [
        (note.code, note.pointer, note.message.rpartition(": ")[2])
        for note in shelf.report().notes
        if note.code.startswith("beside_ref")
    ]


def test_a_default_or_a_mark_beside_a_reference_is_refused(shelf: Shelf) -> None:
    """No shape holds them, so their edit would be no other version; words for people may stand there."""
    said = {"default": "EUR", "x-sensitive": True, "x-unit": "ISO", "writeOnly": True, "properties": {}}
    shelf.tool(schemas=({"$schema": DRAFT} | paying(**said, description="Which one.", title="Currency"),))
    words = '"default", "properties", "writeOnly", "x-sensitive", "x-unit"'
    assert found(shelf) == [("beside_ref", "/properties/currency", words)]


@pytest.mark.parametrize(("dialect", "findings"), [("draft-07", 1), ("2020-12", 0)])
def test_the_catalogs_dialect_and_annotations_count(shelf: Shelf, dialect: str, findings: int) -> None:
    """A schema that names no dialect has the catalog's; 2020-12 reads what stands beside a reference."""
    named = {"draft-07": DRAFT, "2020-12": "https://json-schema.org/draft/2020-12/schema"}[dialect]
    shelf.write("catalog.json", {"dialect": named, "significantAnnotations": ["x-scale"]})
    shelf.tool(schemas=(paying(**{"x-scale": 100, "x-note": "by hand"}),))
    assert found(shelf) == [("beside_ref", "/properties/currency", '"x-scale"')] * findings


def test_a_published_version_is_warned_of(shelf: Shelf) -> None:
    """It stays as it was published; what it has to say goes into a new version."""
    shelf.tool(schemas=({"$schema": DRAFT} | paying(default="EUR"),))
    shelf.publish()
    assert [code for code, *_ in found(shelf)] == ["beside_ref_locked"]
    assert not shelf.report().findings


def test_the_words_are_no_part_of_the_shape(shelf: Shelf) -> None:
    """Which is why they are refused: digests of what is recorded stay as they are."""
    shelf.tool(schemas=({"$schema": DRAFT} | paying(default="EUR"),))
    [definition] = read_sources(shelf.root).catalog.tools.values()
    assert definition.latest.shape_digest == shape_digest({"$schema": DRAFT} | paying())
