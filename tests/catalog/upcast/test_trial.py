"""Arguments that show what an upcast loses."""

from typing import Any

import pytest

from ledger.catalog import compile_schema
from ledger.catalog.upcast.reading import Closed
from ledger.catalog.upcast.trial import Loss, Trial, samples
from tests.catalog.upcast.scenes import closed_object, upcast, version

TEXT = {"type": "string"}


def trial(ops: list[dict[str, Any]], old: Any, new: Any) -> Trial:
    return Trial(upcast(ops).ops, Closed(version(1, old)), Closed(version(2, new)))


def test_a_loss_is_shown_with_what_became_of_it() -> None:
    """No image, an image that is invalid, and one that does not come back as it was."""
    old = closed_object({"a": TEXT, "b": TEXT}, [])
    collision = trial([{"op": "rename", "from": "/a", "to": "/b"}], old, closed_object({"b": TEXT}, [])).loss()
    assert collision == Loss({"a": "example", "b": "example"})
    invalid = trial([], closed_object({"a": TEXT}), closed_object({"a": {**TEXT, "maxLength": 3}})).loss()
    assert invalid == Loss({"a": "example"}, {"a": "example"})
    merged = trial(
        [{"op": "null_to_absent", "path": "/a"}],
        closed_object({"a": {"type": ["null", "string"]}}),
        closed_object({"a": TEXT}),
    ).loss()
    assert merged == Loss({"a": None}, {})


def test_what_is_invalid_itself_shows_nothing() -> None:
    """Given arguments are looked at first, if the old form takes them."""
    mine = trial([], closed_object({"a": TEXT}), closed_object({"a": {**TEXT, "minLength": 1}}))
    assert mine.loss([{"a": 5}, {"a": ""}]) == Loss({"a": ""}, {"a": ""})
    assert (mine.is_old({"a": 5}), mine.is_old({"a": "x"})) == (False, True)
    assert trial([], closed_object({"a": TEXT}), closed_object({"a": TEXT})).loss() is None


def test_a_record_that_has_no_canonical_form_is_a_loss() -> None:
    """An integer longer than the ledger writes comes back as nothing."""
    anything = closed_object({"a": True})
    assert trial([], anything, anything).loss([{"a": 10**5000}]) == Loss({"a": 10**5000}, {"a": 10**5000})


@pytest.mark.parametrize(
    "node",
    [
        True,
        {"const": [1]},
        {"enum": ["a", None]},
        {"type": "boolean"},
        {"type": "null"},
        {"type": "integer", "minimum": 7},
        {"type": ["number", "string"]},
        {"type": "string", "pattern": "^[a-c]{3}$"},
        {"type": "string", "minLength": 9},
        {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}]},
        {"anyOf": [{"type": "null"}, {"type": "integer"}]},
        {"oneOf": [True, {"type": "integer"}]},
        {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
    ],
)
def test_samples_fit_their_schema(node: Any) -> None:
    """For each kind of schema at least one sample is valid."""
    schema = closed_object({"a": node})
    validator = compile_schema(schema)
    assert any(not validator.violations(each) for each in samples(schema))


def test_samples_end() -> None:
    """Neither depth nor an intricate pattern keeps them from ending."""
    node: Any = {"type": "string", "pattern": "^(a{300}b{300}c{300}){4}$"}
    for _ in range(12):
        node = closed_object({"a": node})
    assert len(list(samples(node))) == 12
    assert {each["a"] for each in samples(closed_object({"a": {"type": "string", "pattern": "a^b"}}))} == {""}
