"""Guesses of an upcast file: drafts for a person, which carry nothing by themselves."""

from typing import Any

import pytest

from ledger.catalog.upcast.certificate import Step
from ledger.catalog.upcast.records import NotCarried
from ledger.catalog.upcast.suggest import suggest
from ledger.catalog.upcast_files import read_upcast
from tests.catalog.upcast.scenes import closed_object, version

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
CANONICAL = {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"}


def listed(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1, "maxItems": 1}


def steps(old: Any, new: Any, by: str | None = None) -> Step:
    draft = suggest(version(1, old), version(2, new))
    assert draft is not None
    document = draft | ({"assertedBy": by} if by else {})
    return Step(read_upcast(document, "f", "t", (1, 2)), version(1, old), version(2, new))


@pytest.mark.parametrize(
    ("old", "new", "ops"),
    [
        ({"per_page": NUMBER}, {"perPage": NUMBER}, ["rename"]),
        ({"q": TEXT}, {"query": TEXT}, ["rename"]),
        ({"to": TEXT}, {"recipients": listed(TEXT)}, ["rename", "wrap_array"]),
        ({"a": listed(TEXT)}, {"a": TEXT}, ["unwrap_array"]),
        ({"a": CANONICAL}, {"a": NUMBER}, ["cast"]),
        ({"a": NUMBER}, {"a": CANONICAL}, ["cast"]),
        ({"a": TEXT}, {"a": closed_object({"v": TEXT})}, ["wrap_object"]),
        ({"a": closed_object({"v": TEXT})}, {"a": TEXT}, ["unwrap_object"]),
        ({"a": {"enum": ["low", "high"]}}, {"a": {"enum": ["LOW", "HIGH"]}}, ["map_values"]),
        ({"a": listed(closed_object({"x_y": TEXT}))}, {"a": listed(closed_object({"xY": TEXT}))}, ["rename"]),
        ({"a": closed_object({"id": TEXT, "n": NUMBER})}, {"a": closed_object({"key": TEXT, "n": NUMBER})}, ["rename"]),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else str(each)[:50],
)
def test_a_guess_that_somebody_asserts_is_proved(old: Any, new: Any, ops: list[str]) -> None:
    """The operations are those that a person would write; without the person nothing is carried."""
    guessed = steps(closed_object(old), closed_object(new))
    assert [op.op for op in guessed.upcast.ops] == ops
    assert guessed.upcast.asserted_by is None
    assert guessed.proof.reasons[0].code == "not_asserted"
    assert steps(closed_object(old), closed_object(new), "ada@example.org").proof.grade == "iso"


def test_absence_and_null_are_guessed() -> None:
    """A nullable argument that need not be given any more, and the other way round."""
    nullable = {"type": ["string", "null"]}
    assert steps(closed_object({"a": nullable}), closed_object({"a": TEXT}, []), "ada").proof.grade == "iso"
    assert steps(closed_object({"a": TEXT}, []), closed_object({"a": nullable}), "ada").proof.grade == "iso"


def test_what_a_new_option_means_is_left_to_the_person() -> None:
    """It is introduced with nothing said of its absence, which the proof does not take."""
    proof = steps(closed_object({"a": TEXT}), closed_object({"a": TEXT, "n": NUMBER}, ["a"]), "ada").proof
    assert (proof.status, proof.reasons[0].code) == ("unknown", "absence_not_asserted")


def test_a_name_that_misleads_is_never_applied() -> None:
    """A branch became a ref, and means any reference now: the draft says rename, and no record is carried by it."""
    old = closed_object({"repo": TEXT, "branch": {**TEXT, "description": "A branch."}})
    new = closed_object({"repo": TEXT, "ref": {**TEXT, "description": "A branch, a tag or a commit."}})
    guessed = steps(old, new)
    assert [(op.op, op.pointer) for op in guessed.upcast.ops] == [("rename", "/branch")]
    assert isinstance(guessed.carry({"repo": "x", "branch": "main"}), NotCarried)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"a": TEXT}, {"a": TEXT}),
        ({"a": TEXT}, {"b": {"type": "boolean"}}),
        ({"a": True}, {"a": TEXT}),
        ({"a": TEXT, "b": TEXT}, {"x": TEXT, "y": TEXT}),
        ({"a": TEXT}, {"a": TEXT, "n": {**NUMBER, "default": 1}}),
        ({"a": {"enum": ["x"]}}, {"a": {"enum": ["y"]}}),
        ({"a": TEXT}, {"a": {"type": "boolean"}}),
        ({"a": True}, {"b": False}),
        ({"a": listed(True)}, {"a": {"type": "array", "items": TEXT}}),
        ({"a": {"enum": ["x", "X"]}}, {"a": {"enum": ["X"]}}),
        ({"a": closed_object({"x": TEXT, "y": TEXT})}, {"a": TEXT}),
        ({"a": closed_object({"x": NUMBER})}, {"a": {"type": "boolean"}}),
    ],
    ids=lambda each: str(each)[:60],
)
def test_nothing_is_guessed_where_nothing_is_alike(old: Any, new: Any) -> None:
    """No draft at all, rather than one of nothing."""
    assert suggest(version(1, closed_object(old, [])), version(2, closed_object(new, []))) is None


def test_a_guess_ends() -> None:
    """Neither depth, nor many names, nor a schema that cannot be read makes it raise or hang."""
    deep: Any = TEXT
    for _ in range(12):
        deep = closed_object({"a": deep})
    other = {**deep, "title": "x"}
    assert suggest(version(1, deep), version(2, closed_object({"a": deep}))) is None
    assert suggest(version(1, deep), version(2, other)) is None
    many = [closed_object({f"{letter}{index}": TEXT for index in range(120)}, []) for letter in "ab"]
    assert suggest(version(1, many[0]), version(2, {**many[1], "required": list(many[1]["properties"])})) is None
    assert suggest(version(1, {}), version(2, deep)) is None
