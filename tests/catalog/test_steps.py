"""The closed set of operations, and what undoes each."""

from ledger.catalog.steps import OPS, Op
from tests.catalog.upcast.rounds import MAKERS
from tests.catalog.upcast.scenes import upcast


def test_what_undoes_an_operation_is_undone_by_it() -> None:
    """Each operation is the inverse of its inverse."""
    each = (
        Op(op="rename", path=("a",), to=("b",)),
        Op(op="move", path=("a",), to=("o", "b")),
        Op(op="wrap_object", path=("a",), keys=("v",)),
        Op(op="unwrap_array", path=("a",)),
        Op(op="object_to_tuple", path=("a",), keys=("x", "y")),
        Op(op="cast", path=("a",), kind="string"),
        Op(op="map_values", path=("a",), values={"x": "y"}),
        Op(op="absent_to_null", path=("a",)),
        Op(op="drop_const", path=("a",), value=1),
        Op(op="rename_tool", names=("a", "b")),
        Op(op="restructure"),
        Op(op="introduce_optional", path=("a",), says="All."),
    )
    assert all(op.inverse.inverse == op for op in each)
    assert [op.inverse.op for op in each[2:5]] == ["unwrap_object", "wrap_array", "tuple_to_object"]
    assert each[0].inverse.path == ("b",)
    assert each[6].inverse.values == {"y": "x"}
    assert each[9].inverse.names == ("b", "a")


def test_a_place_is_written_as_a_pointer() -> None:
    """With `*` for each item, and names escaped."""
    assert Op(op="wrap_array", path=("a/b", "*", "~")).pointer == "/a~1b/*/~0"


def test_every_operation_has_its_round_trip() -> None:
    """No operation without schemas by chance; an upcast names the tool's new name where it has one."""
    assert set(MAKERS) == set(OPS)
    assert upcast([{"op": "rename_tool", "from": "old_t", "to": "t"}]).renames_tool == ("old_t", "t")
    assert upcast([]).renames_tool is None
