"""What a schema becomes: exactly the images of its values, or no answer."""

from typing import Any

import pytest

from ledger.catalog.upcast.image import Image
from ledger.catalog.upcast.nodes import became
from ledger.catalog.upcast.reading import closed
from ledger.catalog.upcast.stops import Unprovable
from tests.catalog.upcast.scenes import closed_object, upcast

TEXT = {"type": "string"}


def imaged(ops: list[dict[str, Any]], schema: Any) -> Image:
    image = Image(closed(schema), "2020-12")
    for op in upcast(ops).ops:
        image.apply(op)
    return image


def test_a_schema_is_changed_on_a_copy() -> None:
    """The old schema stays as it was, and so does what no operation touches."""
    schema = closed_object({"a": TEXT, "o": closed_object({"x": TEXT})})
    image = Image(schema, "2020-12")
    for op in upcast([{"op": "rename", "from": "/o/x", "to": "/o/y"}, {"op": "wrap_array", "path": "/a"}]).ops:
        image.apply(op)
    assert schema == closed_object({"a": TEXT, "o": closed_object({"x": TEXT})})
    wrapped = {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 1}
    assert image.schema == closed_object({"a": wrapped, "o": closed_object({"y": TEXT})})
    assert (image.exact, image.partial) == (True, [])


def test_what_is_carried_in_part_is_remembered() -> None:
    """The places of operations that leave some values behind, in their order; and that it is not exact."""
    schema = closed_object({"a": TEXT, "n": {"type": "integer", "minimum": 1}})
    image = imaged(
        [{"op": "cast", "path": "/a", "to": "integer"}, {"op": "cast", "path": "/n", "to": "string"}], schema
    )
    assert (image.exact, image.partial) == (False, ["/a"])


def test_definitions_stay_at_the_root() -> None:
    """Wrapping or unwrapping the whole arguments moves no definition that references name."""
    node = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}
    schema = {**closed_object({"t": {"$ref": "#/$defs/n"}}), "$defs": {"n": node}}
    wrapped = imaged([{"op": "wrap_object", "path": "", "key": "in"}], schema)
    assert wrapped.schema["$defs"] == {"n": node}
    assert "$defs" not in wrapped.schema["properties"]["in"]
    unwrapped = imaged(
        [{"op": "wrap_object", "path": "", "key": "in"}, {"op": "unwrap_object", "path": "", "key": "in"}], schema
    )
    assert unwrapped.schema == closed(schema)


def test_required_and_dependent_names_follow_a_rename() -> None:
    """On both sides of what depends on what; names that are taken by `dependentRequired` alone stop it."""
    schema = {**closed_object({"a": TEXT, "c": TEXT}, []), "dependentRequired": {"a": ["c"], "c": ["a"]}}
    found = imaged([{"op": "rename", "from": "/a", "to": "/b"}], schema).schema
    assert found["dependentRequired"] == {"b": ["c"], "c": ["b"]}
    assert "required" not in found
    with pytest.raises(Unprovable, match="asked for"):
        imaged([{"op": "rename", "from": "/a", "to": "/b"}], {**schema, "dependentRequired": {"a": ["b"]}})


@pytest.mark.parametrize(
    "entry",
    [
        {"op": "null_to_absent", "path": "/a"},
        {"op": "absent_to_null", "path": "/b"},
        {"op": "add_const", "path": "/c", "value": 1},
        {"op": "drop_const", "path": "/k", "value": 1},
    ],
)
def test_counts_of_properties_stop_what_changes_them(entry: dict[str, Any]) -> None:
    """A property that comes or goes changes what `minProperties` and `dependentRequired` count."""
    fields = {"a": {"type": ["string", "null"]}, "b": TEXT, "k": {"const": 1}}
    schema = closed_object(fields, ["a", "k"])
    imaged([entry], schema)
    for more in ({"maxProperties": 3}, {"minProperties": 1}, {"dependentRequired": {"b": ["a"]}}):
        with pytest.raises(Unprovable) as stopped:
            imaged([entry], {**schema, **more})
        assert stopped.value.code == "keyword_above"


def test_an_operation_at_a_value_is_found_by_its_name() -> None:
    """The one at the root of a node works on what it is given."""
    [op] = upcast([{"op": "wrap_array", "path": "/a"}]).ops
    assert became(op, {**TEXT, "default": "x"}, "2020-12").schema["default"] == ["x"]
