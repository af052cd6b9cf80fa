"""A function's type hints describe its arguments, and its arguments arrive as the types it asked for."""

import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Optional, Required, TypeVar, Union
from uuid import UUID

import pytest
from annotated_types import Ge
from pydantic import Field
from typing_extensions import Doc, TypeAliasType

from ledger.catalog import ArgumentsUnfit, compile_schema
from ledger.catalog.hints import NO_JSON, Hint, HintReader, NoSchema, default_as_json
from tests.catalog.kinds import (
    ByHand,
    Chain,
    Checked,
    Either,
    Holder,
    Level,
    Mail,
    Node,
    Odd,
    Open,
    Options,
    Place,
    Tree,
    Undescribed,
    Unit,
    UserId,
    same_name,
)

PLACE = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "zip": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "additionalProperties": False,
    "required": ["city"],
}


def read(annotation: Any) -> tuple[Hint, dict[str, Any], HintReader]:
    """Return the hint, the whole schema with its definitions, and the reader."""
    reader = HintReader()
    hint = reader.hint(annotation)
    return hint, hint.schema | ({"$defs": reader.definitions} if reader.definitions else {}), reader


STRING, INTEGER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}


@pytest.mark.parametrize(
    ("annotation", "schema", "good", "bad"),
    [
        (str, STRING, [("a", "a")], [1, None, ["a"]]),
        (int, INTEGER, [(1, 1), (1.0, 1), (1e22, 10**22), (2**70, 2**70)], ["1", True, 1.5, 1e23]),
        (float, {"type": "number"}, [(1, 1), (1.5, 1.5)], ["1", True, None]),
        (bool, {"type": "boolean"}, [(True, True)], [1, 0, "true"]),
        (None, NULL, [(None, None)], [0]),
        (Any, {}, [(None, None), ([1], [1])], []),
        (object, {}, [("x", "x")], []),
        (list[int], {"type": "array", "items": INTEGER}, [([1, 2.0], [1, 2])], [["1"], 1, {}]),
        (list, {"type": "array", "items": {}}, [([1, "a"], [1, "a"])], ["ab"]),
        (Sequence[str], {"type": "array", "items": STRING}, [(["a"], ["a"])], ["a"]),
        (Iterable[str], {"type": "array", "items": STRING}, [(["a"], ["a"])], [None]),
        (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}, [([1, 2], {1, 2})], [["a"], 1]),
        (frozenset[str], {"type": "array", "items": STRING, "uniqueItems": True}, [(["a"], frozenset("a"))], [1]),
        (set, {"type": "array", "items": {}, "uniqueItems": True}, [([1], {1})], [[[1]]]),
        (tuple[int, ...], {"type": "array", "items": INTEGER}, [([1], (1,)), ([], ())], [["a"], "a"]),
        (tuple, {"type": "array", "items": {}}, [([1], (1,))], [1]),
        (tuple[()], {"type": "array", "items": {}}, [([], ())], [1]),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
            [([1, "a"], (1, "a"))],
            [[1], [1, "a", 2], ["a", 1], 5],
        ),
        (
            dict[str, int],
            {"type": "object", "additionalProperties": INTEGER},
            [({"a": 1.0}, {"a": 1})],
            [{"a": "b"}, []],
        ),
        (dict, {"type": "object", "additionalProperties": {}}, [({"a": None}, {"a": None})], [1]),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}, [({}, {})], [[]]),
        (Optional[int], {"anyOf": [INTEGER, NULL]}, [(1, 1), (None, None)], ["a"]),  # noqa: UP045 - the older spelling
        (int | str, {"anyOf": [INTEGER, STRING]}, [(1, 1), ("a", "a")], [None]),
        (
            Union[date, str],  # noqa: UP007 - the older spelling
            {"anyOf": [STRING | {"format": "date"}, STRING]},
            [("2026-01-02", date(2026, 1, 2)), ("x", "x")],
            [1],
        ),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, [("a", "a")], ["c", 1]),
        (
            Literal[1, "x", None, True],  # noqa: PYI061 - null among others
            {"enum": [1, "x", None, True]},
            [(1, 1), (True, True), (None, None)],
            [False, {}],
        ),
        (Literal[Unit.CELSIUS], {"type": "string", "enum": ["celsius"]}, [("celsius", Unit.CELSIUS)], ["fahrenheit"]),
        (Unit, {"type": "string", "enum": ["celsius", "fahrenheit"]}, [("celsius", Unit.CELSIUS)], ["Celsius", None]),
        (Level, {"type": "integer", "enum": [1, 2]}, [(1, Level.LOW), (2.0, Level.HIGH)], [3, True, float("nan")]),
        (
            datetime,
            STRING | {"format": "date-time"},
            [("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))],
            ["x", 1],
        ),
        (date, STRING | {"format": "date"}, [("2026-01-02", date(2026, 1, 2))], ["2026-02-31"]),
        (time, STRING | {"format": "time"}, [("03:04:05", time(3, 4, 5))], ["25:00"]),
        (
            UUID,
            STRING | {"format": "uuid"},
            [("12345678123456781234567812345678", UUID(int=0x12345678123456781234567812345678))],
            ["x"],
        ),
        (
            Decimal,
            STRING | {"pattern": r"^-?[0-9]{1,400}(\.[0-9]{1,400})?$"},
            [("19.99", Decimal("19.99"))],
            ["x", "NaN", 1.5],
        ),
        (Path, STRING, [("a/b", Path("a/b"))], [1]),
        (PurePath, STRING, [("a/b", PurePath("a/b"))], [None]),
        (UserId, INTEGER, [(1, 1)], ["a"]),
        (TypeAliasType("Ids", list[int]), {"type": "array", "items": INTEGER}, [([1], [1])], [1]),
        (Annotated[int, "how many"], INTEGER | {"description": "how many"}, [(1, 1)], ["a"]),
        (Annotated[int, Doc("how many")], INTEGER | {"description": "how many"}, [(1, 1)], ["a"]),
        (Annotated[int, ["anything"]], INTEGER, [(1, 1)], ["a"]),
        (Annotated[int, Ge(1)], INTEGER | {"minimum": 1}, [(1, 1)], [0]),
        (
            Annotated[str, Field(description="d", max_length=2)],
            STRING | {"description": "d", "maxLength": 2},
            [("a", "a")],
            ["abc"],
        ),
        (Required[int], INTEGER, [(1, 1)], ["a"]),
        (
            Place,
            PLACE,
            [({"city": "Rome"}, Place("Rome")), ({"city": "R", "zip": None, "tags": ["a"]}, Place("R", None, ["a"]))],
            [{}, {"city": 1}, {"city": "a", "zp": 1}, []],
        ),
        (
            Options,
            {
                "type": "object",
                "properties": {"deep": {"type": "boolean"}, "depth": INTEGER | {"description": "how deep"}},
                "additionalProperties": False,
                "required": ["deep"],
            },
            [({"deep": True, "depth": 2.0}, {"deep": True, "depth": 2})],
            [{}, {"deep": 1}, {"deep": True, "x": 1}],
        ),
    ],
)
def test_a_hint_is_a_schema_and_a_builder(annotation: Any, schema: Any, good: Any, bad: Any) -> None:
    """The schema describes the JSON; what fits is built, what does not is refused with its place."""
    hint, whole, _ = read(annotation)
    assert whole == schema
    compiled = compile_schema({"allOf": [whole]})
    for value, built in good:
        assert compiled.violations(value) == ()
        assert (hint.build(value, ()), type(hint.build(value, ()))) == (built, type(built))
    for value in bad:
        with pytest.raises(ArgumentsUnfit) as unfit:
            hint.build(value, ("x",))
        assert unfit.value.pointer.startswith("/x")
        assert unfit.value.code == "schema_validation"


@pytest.mark.parametrize(
    ("annotation", "because"),
    [
        (bytes, "bytes"),
        (complex, "complex"),
        (TypeVar("T"), "T"),
        (Odd, "no JSON scalar"),
        (Literal[b"a"], "no JSON scalar"),
        (dict[int, str], "dict\\[str"),
        (list[bytes], "bytes"),
        ([1], "no form"),
        (Undescribed, "pydantic cannot"),
        (types.GenericAlias(tuple, (Tree, same_name("dataclass"))), "two types named Tree"),
        (types.GenericAlias(tuple, (Node, same_name("node"))), "two types named Node"),
    ],
)
def test_a_hint_without_a_form_in_json_is_refused(annotation: Any, because: str) -> None:
    """Types that no JSON stands for are named, and so are two types of one name."""
    with pytest.raises(NoSchema, match=because):
        read(annotation)


def test_a_type_may_stand_twice() -> None:
    """One model in two places is one definition."""
    assert read(tuple[list[Node], Node])[1]["$defs"].keys() == {"Node"}


def test_a_place_inside_is_named() -> None:
    """The pointer leads to the value that does not fit, through lists, tuples, objects and unions."""
    hint = read(dict[str, list[int | Place | None]])[0]
    for value, pointer in (
        ({"a": [{"city": "x"}, {"city": 5}]}, "/p/a/1/city"),
        ({"a": [None, {"city": "x", "cty": 1}]}, "/p/a/1/cty"),
        ({"a": [{"zip": "1"}]}, "/p/a/0/city"),
        ({"a": ["x"]}, "/p/a/0"),
    ):
        with pytest.raises(ArgumentsUnfit) as unfit:
            hint.build(value, ("p",))
        assert unfit.value.pointer == pointer


@pytest.mark.parametrize("kind", [Tree, Chain, Node])
def test_a_type_may_contain_itself(kind: Any) -> None:
    """A tree's schema refers to itself, and its values are built to any depth."""
    hint, schema, _ = read(kind)
    values: dict[Any, Any] = {
        Tree: (
            {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]},
            {"value": 1, "children": [{"vlue": 2}]},
        ),
        Chain: ({"next": {"next": {}}}, {"next": {"nxt": {}}}),
        Node: ({"value": 1, "next": {"value": 2, "next": None}}, {"value": 1, "next": {"vlue": 2}}),
    }
    good, bad = values[kind]
    compiled = compile_schema(schema)
    assert compiled.violations(good) == ()
    assert len(compiled.violations(bad)) == (2 if kind is not Chain else 1)
    if kind is Tree:
        assert asdict(hint.build(good, ()))["children"][0]["children"][0]["value"] == 3
    else:
        assert hint.build(good, ())
    with pytest.raises(ArgumentsUnfit):
        hint.build(bad, ())


def test_code_of_the_host_is_announced() -> None:
    """Models, `__post_init__` and constructors by hand run the host's code; plain types do not."""
    assert [read(kind)[2].runs_user_code for kind in (Place, Options, Unit, Tree)] == [False] * 4
    assert [read(kind)[2].runs_user_code for kind in (Checked, ByHand, Mail, list[Mail])] == [True] * 4


def test_a_constructor_that_refuses_is_a_fault_of_the_arguments() -> None:
    """What `__post_init__` raises is told by its class, not by its text."""
    hint = read(Checked)[0]
    assert hint.build({"n": 1}, ()) == Checked(1)
    with pytest.raises(ArgumentsUnfit, match=r"/: Checked refuses these values \(ValueError\)"):
        hint.build({"n": -1}, ())
    assert read(ByHand)[0].build({"n": 1}, ()).n == 1


def test_a_pydantic_model_is_closed_and_validated() -> None:
    """Its schema refuses unknown fields unless it allows extras; its validators' words name the field."""
    hint, schema, _ = read(Mail)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["to"]["minItems"] == 1
    assert read(Open)[1]["additionalProperties"] is True
    assert hint.build({"to": ["a"]}, ()) == Mail(to=["a"])
    for value, pointer in (
        ({"to": ["a"], "subject": "x" * 11}, "/m/subject"),
        ({"to": ["a", 5]}, "/m/to/1"),
        ({"to": []}, "/m/to"),
        ({}, "/m/to"),
        ({"to": {"0": 1}}, "/m/to"),
        ([], "/m"),
    ):
        with pytest.raises(ArgumentsUnfit) as unfit:
            hint.build(value, ("m",))
        assert unfit.value.pointer == pointer
    with pytest.raises(ArgumentsUnfit, match="too long a subject"):
        hint.build({"to": ["a"], "subject": "x" * 11}, ())


def test_names_that_pydantic_puts_between_are_no_places() -> None:
    """In a union pydantic names the alternative it tried; the pointer names only what stands in the arguments."""
    hint = read(Either)[0]
    assert hint.build({"it": []}, ()) == Either(it=[])
    for value, pointer in (({"it": "x"}, "/it"), ({"it": [[]]}, "/it/0"), ({"it": [7, "x"]}, "/it/1")):
        with pytest.raises(ArgumentsUnfit) as unfit:
            hint.build(value, ())
        assert unfit.value.pointer == pointer


def test_pydantic_decimals_lose_only_their_own_pattern() -> None:
    """Pydantic's pattern for decimals has a look-ahead, which is not portable; pydantic itself still checks."""
    hint, schema, _ = read(Annotated[Decimal, Field(description="price")])
    assert "pattern" not in str(schema)
    assert compile_schema(schema).violations("1.5") == ()
    assert hint.build("1.5", ()) == Decimal("1.5")
    with pytest.raises(ArgumentsUnfit):
        hint.build("x", ())


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (None, None),
        (Unit.CELSIUS, "celsius"),
        (1.5, 1.5),
        (float("nan"), NO_JSON),
        (date(2026, 1, 2), "2026-01-02"),
        (Decimal("1.5"), "1.5"),
        ((1, Unit.CELSIUS), [1, "celsius"]),
        ([object()], NO_JSON),
        ({"a": {1}}, {"a": [1]}),
        ({"a": object()}, NO_JSON),
        (Place("x"), {"city": "x", "zip": None, "tags": [], "computed": "x"}),
        (Mail(to=["a"]), {"to": ["a"], "subject": "none"}),
        (Place, NO_JSON),
        (object(), NO_JSON),
    ],
)
def test_a_default_is_shown_as_the_model_would_send_it(value: Any, sent: Any) -> None:
    """Enums by value, dates as texts, objects by fields; what has no form in JSON is not shown."""
    assert default_as_json(value) is sent or default_as_json(value) == sent


def test_a_field_whose_default_has_no_form_is_just_optional() -> None:
    """Neither a factory nor an object of the host is written into the schema."""
    assert read(Holder)[1] == {"type": "object", "properties": {"thing": {}, "odd": {}}, "additionalProperties": False}
