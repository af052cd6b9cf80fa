"""Whether every value of one schema is one of another: proved, refuted by a value, or unknown."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.catalog import compile_schema
from ledger.catalog.diff import Containment, contained
from ledger.catalog.diff.containment import equal
from ledger.catalog.diff.space import read
from ledger.errors import CatalogFault

SUITE = json.loads((Path(__file__).parents[2] / "suite/differences.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", SUITE["contained"], ids=lambda case: case["fact"])
def test_a_relation_is_that_of_the_suite(case: dict[str, Any]) -> None:
    """A witness was valid under the one and is invalid under the other, by the validator's word."""
    formats = frozenset(case.get("formats", ()))
    found = contained(case["one"], case["two"], formats=formats)
    assert found.relation == case["relation"]
    assert found.holds == (case["relation"] in ("equal", "contained"))
    if found.relation == "refuted":
        assert compile_schema(case["one"], formats=formats).violations(found.witness) == ()
        assert compile_schema(case["two"], formats=formats).violations(found.witness) != ()
    if "witness" in case:
        assert json.dumps(found.witness) == json.dumps(case["witness"])


def test_what_is_equal_is_equal_both_ways() -> None:
    """Equal is symmetric, and every schema equals itself as far as it can be compared at all."""
    for case in SUITE["contained"][::2]:
        formats = frozenset(case.get("formats", ()))
        back = contained(case["two"], case["one"], formats=formats).relation
        assert (case["relation"] == "equal") == (back == "equal")
        assert contained(case["one"], case["one"], formats=formats).relation in ("equal", "unknown")


def test_equal_alone_is_the_equal_of_the_relation() -> None:
    """Whoever asks for nothing else is told the same, also where it is too intricate to know."""
    for case in SUITE["contained"]:
        formats = frozenset(case.get("formats", ()))
        one, two = (read(case[side], "2020-12") for side in ("one", "two"))
        assert equal(one, two, formats) == (case["relation"] == "equal"), case["fact"]
    intricate = {"allOf": [{"anyOf": [{"minimum": n * at} for n in range(1, 14)]} for at in (2, 3, 5)]}
    assert contained(intricate, intricate | {"minimum": 0}).relation == "unknown"
    assert not equal(read(intricate, "2020-12"), read(intricate | {"minimum": 0}, "2020-12"))


def test_a_draft_can_be_named_from_outside() -> None:
    """What a schema means that names no draft; where its keywords belong to the other one only, that one."""
    pair = {"type": "array", "items": [{"type": "string"}], "additionalItems": False}
    short = {"type": "array", "maxItems": 1, "items": {"type": "string"}}
    assert contained(pair, short, dialect="draft-07") == Containment("equal")
    assert contained(pair, short) == Containment("equal")
    assert contained({"type": "array", "prefixItems": [True]}, short, dialect="draft-07").relation == "refuted"


def test_a_schema_that_a_catalog_refuses_is_refused() -> None:
    """With the fault of the draft that was asked for."""
    with pytest.raises(CatalogFault, match="unknown keyword"):
        contained({"type": "object", "propertis": {}}, {"type": "object"})
    with pytest.raises(CatalogFault, match="not an object"):
        contained(True, {"type": "object"})
    with pytest.raises(CatalogFault, match="is not supported"):
        contained({"$schema": "http://json-schema.org/draft-04/schema#"}, {"type": "object"})
