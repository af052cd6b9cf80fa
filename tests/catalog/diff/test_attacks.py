"""Schemas made to hang or crash whoever compares them: each is refused or given up, none is guessed about."""

from typing import Any

import pytest

from ledger.catalog.diff import Subject, contained, difference
from ledger.catalog.patterns import automaton
from ledger.errors import CatalogFault
from tests.catalog.hostile import HOSTILE, TEXT, doubled, holding

PLAIN: dict[str, Any] = {"type": "object", "properties": {"a": TEXT}}


def ring(length: int) -> dict[str, Any]:
    """Objects inside objects that come back to the first one after so many levels."""
    defs = {f"d{at}": holding(c={"$ref": f"#/$defs/d{(at + 1) % length}"}) for at in range(length)}
    return {**holding(c={"$ref": "#/$defs/d0"}), "$defs": defs}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_attack_is_refused(name: str) -> None:
    """On either side, as a fault with its place; nothing is fetched, nothing recurses."""
    hostile, _, why = HOSTILE[name]
    for sides in ((PLAIN, hostile), (hostile, PLAIN)):
        with pytest.raises(CatalogFault, match=why):
            difference(Subject(schema=sides[0]), Subject(schema=sides[1]))
        with pytest.raises(CatalogFault, match=why):
            contained(*sides)


def test_a_tree_of_2_to_the_20_parts_is_no_shape() -> None:
    """Written out it would be too large for a version; its parts are compared once each."""
    tree = doubled(20, lambda ref: holding(left=ref, right=ref))
    with pytest.raises(CatalogFault, match="20,000 parts"):
        difference(Subject(schema=PLAIN), Subject(schema=tree))
    assert contained(tree, {**tree, "title": "T"}).relation == "equal"


INTRICATE: dict[str, tuple[Any, Any]] = {
    "rings of two lengths": (ring(13), ring(11)),
    "more patterns of names than are combined": (
        {"type": "object", "patternProperties": {f"^[a-z]*{at}": TEXT for at in range(6)}},
        {"type": "object", "patternProperties": {f"^[a-z]*{at}": {**TEXT, "minLength": 0} for at in range(6)}},
    ),
    "unions that multiply": (
        holding(a={"allOf": [{"anyOf": [{"minLength": at}, {"pattern": f"^{at}"}]} for at in range(9)]}),
        holding(a={"allOf": [{"anyOf": [{"minLength": at}, {"pattern": f"^{at}"}]} for at in range(8)]}),
    ),
    "alternatives by the hundred that overlap": (
        holding(a={"oneOf": [{"minLength": at} for at in range(60)]}),
        holding(a={"oneOf": [{"minLength": at} for at in range(61)]}),
    ),
    "more findings than are told": (
        holding(**{f"p{at}": TEXT for at in range(501)}),
        holding(**{f"p{at}": {"type": "string", "minLength": 1} for at in range(501)}),
    ),
}


@pytest.mark.parametrize("name", INTRICATE)
def test_what_is_too_intricate_is_left_to_a_person(name: str) -> None:
    """It is semantic, and its containment is not proved; either way there is an answer."""
    old, new = INTRICATE[name]
    assert difference(Subject(schema=old), Subject(schema=new)).verdict == "semantic"
    assert contained(old, new).relation in ("unknown", "refuted")


def test_a_pattern_that_costs_too_much_is_left_to_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of a choice that a large pattern can't be tried on ends the comparison, not the process."""
    monkeypatch.setattr(automaton, "MAX_COST", 1_000)
    old = holding(a={"enum": ["ab" * 300]})
    new = holding(a={"type": "string", "pattern": "^[ab]*a[ab]{150}$"})
    assert [finding.code for finding in difference(Subject(schema=old), Subject(schema=new)).findings] == ["not_proved"]
    assert contained(old, new).relation == "unknown"


def test_references_through_references_are_given_up() -> None:
    """A chain of two hundred names for one schema is no shape, and is not followed to its end."""
    names = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(200)}
    chain = {**holding(a={"$ref": "#/$defs/d0"}), "$defs": {**names, "d200": TEXT}}
    with pytest.raises(CatalogFault, match="100 levels"):
        difference(Subject(schema=PLAIN), Subject(schema=chain))
    assert contained(chain, PLAIN).relation == "unknown"
    assert contained(PLAIN, chain).relation == "unknown"


def test_long_choices_are_compared_by_their_keys() -> None:
    """Thousands of values cost one look each."""
    old = holding(a={"enum": [f"v{at}" for at in range(2_000)]})
    new = holding(a={"enum": [f"v{at}" for at in range(1, 2_001)]})
    found = difference(Subject(schema=old), Subject(schema=new))
    assert sorted(finding.code for finding in found.findings) == ["enum_narrowed", "enum_widened"]
    assert found.counterexample is not None
    assert found.counterexample.arguments == {"a": "v0"}
