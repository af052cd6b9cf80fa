"""The shape of a schema is its identity: what changes the meaning changes it, words do not."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.catalog.shape import MAX_NESTING, description_digest, shape, shape_digest
from ledger.errors import CatalogFault

SUITE = json.loads((Path(__file__).parents[1] / "suite/shapes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", SUITE["same"], ids=lambda case: case["fact"])
def test_two_spellings_have_one_shape(case: dict[str, Any]) -> None:
    """Both schemas of the pair are one version."""
    assert shape(case["one"]) == shape(case["two"])
    assert shape_digest(case["one"]) == shape_digest(case["two"])


@pytest.mark.parametrize("case", SUITE["differ"], ids=lambda case: case["fact"])
def test_two_meanings_have_two_shapes(case: dict[str, Any]) -> None:
    """The schemas of the pair are two versions."""
    assert shape_digest(case["one"]) != shape_digest(case["two"])


def test_a_catalog_lists_more_significant_annotations() -> None:
    """An annotation that the catalog lists changes the shape, another one does not."""
    one, two = {"type": "object", "x-currency": "EUR"}, {"type": "object", "x-currency": "USD"}
    assert shape_digest(one) == shape_digest(two)
    listed = frozenset({"x-currency"})
    assert shape_digest(one, significant=listed) != shape_digest(two, significant=listed)


def test_a_root_that_refers_to_itself_keeps_its_reference() -> None:
    """A schema that contains itself is not written out for ever."""
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}, "text": {"type": "string"}}}
    written = shape(schema)
    assert written["$defs"]["r0"]["properties"]["child"] == {"$ref": "#/$defs/r0"}
    assert shape({"$ref": "#/$defs/any", "$defs": {"any": True}}) == {"allOf": [True]}


@pytest.mark.parametrize("levels", [14, 120])
def test_a_shape_that_would_explode_is_refused(levels: int) -> None:
    """References written out may not be more than some thousand parts, nor nested too deep."""
    wide = 3 if levels < MAX_NESTING else 1
    defs: dict[str, Any] = {
        f"d{n}": {"properties": {f"p{each}": {"$ref": f"#/$defs/d{n + 1}"} for each in range(wide)}}
        for n in range(levels)
    }
    schema = {"type": "object", "$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {}}}
    with pytest.raises(CatalogFault, match="written out"):
        shape(schema)


NAMES = st.sampled_from(["a", "b", "title", "$ref", "a/b", "~"])
SCHEMAS = st.recursive(
    st.sampled_from(
        [{}, True, {"type": "string"}, {"enum": [1, "x", None]}, {"type": ["null", "integer"], "minimum": 0}]
    ),
    lambda inner: st.one_of(
        st.dictionaries(NAMES, inner, max_size=3).map(lambda fields: {"type": "object", "properties": fields}),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options}),
        inner.map(lambda item: {"type": "array", "items": item}),
    ),
    max_leaves=8,
)


@given(SCHEMAS.filter(lambda schema: isinstance(schema, dict) and schema))
def test_a_shape_is_its_own_shape(schema: Any) -> None:
    """Taking the shape twice changes nothing, and words that are added change nothing."""
    once = shape(schema)
    if once:
        assert shape(once) == once
    assert shape({**schema, "title": "x", "description": "y"}) == once


def test_every_word_that_the_model_reads_is_in_the_description_digest() -> None:
    """Another description of the tool or of a field is another wording; a word for people only is not."""
    schema = {"type": "object", "properties": {"a": {"description": "the city"}}}
    words = {"title": None, "description": "d", "useWhen": None, "notWhen": None}
    first = description_digest(words, schema)
    assert first == description_digest(dict(words), {**schema, "$comment": "x", "required": ["a"]})
    others = [
        description_digest({**words, "notWhen": "n"}, schema),
        description_digest(words, {"type": "object", "properties": {"a": {"description": "the town"}}}),
        description_digest(
            words, {"type": "object", "properties": {"a": {"description": "the city", "examples": ["x"]}}}
        ),
        description_digest(words, {"type": "object", "properties": {"a": True, "b": {"description": "the city"}}}),
    ]
    assert len({first, *others}) == 5
