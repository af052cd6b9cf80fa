"""Hints never build less or something else than what was sent: unions, drift of schemas, merged entries, spellings."""

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, RootModel, WrapValidator, field_validator

from ledger.catalog.build import build_tool
from ledger.catalog.compile import compile_schema
from ledger.catalog.hints import ArgumentsUnfit, HintReader, default_as_json
from ledger.catalog.output import output_schema


class Refund(BaseModel):
    order: str


class PartialRefund(BaseModel):
    order: str
    amount_cents: int


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    order: str


class Nothing(BaseModel):
    pass


class Whole(BaseModel):
    n: int


class Text(BaseModel):
    n: str


class Flag(BaseModel):
    n: bool


class Moment(BaseModel):
    n: datetime


class Memo(BaseModel):
    memo: str | None = None


class Card(BaseModel):
    kind: Literal["card"]
    number: str


class Cash(BaseModel):
    kind: Literal["cash"]


class Tree(BaseModel):
    name: str
    below: "list[Tree]" = []


@dataclass
class Holder:
    what: Refund | PartialRefund


class Plain(TypedDict):
    order: str


SENT = {"order": "1042", "amount_cents": 500}
PART = PartialRefund(order="1042", amount_cents=500)
FIRST = Field(union_mode="left_to_right")


def build(annotation: Any, value: Any) -> Any:
    return HintReader().hint(annotation).build(value, ())


@pytest.mark.parametrize(
    ("annotation", "value", "built"),
    [
        (Refund | PartialRefund, SENT, PART),
        (Refund | PartialRefund, {"order": "1"}, Refund(order="1")),
        (list[Refund | PartialRefund], [SENT], [PART]),
        (Holder, {"what": SENT}, Holder(PART)),
        (Refund | None | dict[str, Any], SENT, SENT),
        (Memo | dict[str, int], {"cents": 5}, {"cents": 5}),
        (Plain | PartialRefund, SENT, PART),
        (Open | PartialRefund, SENT, Open(order="1042", amount_cents=500)),  # type: ignore[call-arg]  # an extra field
        (Whole | Text, {"n": "007"}, Text(n="007")),
        (Flag | Whole, {"n": 1}, Whole(n=1)),
        (Moment | Whole, {"n": 5}, Whole(n=5)),
        (Annotated[int, Field(ge=0)] | str, "007", "007"),
        (Annotated[bool, Field()] | int, 1, 1),
        (Annotated[set[int], Field()] | list[int], [1, 1], [1, 1]),
        (set[int] | list[int], [1, 1], [1, 1]),
        (Decimal | str, "1_000", "1_000"),
        (Decimal | str, "٣", "٣"),
        (date | str, "20260131", "20260131"),
        (datetime | str, "20260131", "20260131"),
        (time | str, "12", "12"),
        (Annotated[Card | Cash, Field(discriminator="kind")], {"kind": "cash"}, Cash(kind="cash")),
        (Annotated[Any, Field()], {"a": [1]}, {"a": [1]}),
        (Tree, {"name": "a", "below": [{"name": "b"}]}, Tree(name="a", below=[Tree(name="b")])),
    ],
)
def test_a_union_builds_the_option_that_keeps_all(annotation: Any, value: Any, built: Any) -> None:
    """The first option whose closed schema the value fits is built, and no value becomes one of another type."""
    made = build(annotation, value)
    assert (made, type(made)) == (built, type(built))


def test_a_value_that_no_option_takes_is_refused() -> None:
    """It is named with its place; nothing runs without it."""
    with pytest.raises(ArgumentsUnfit, match='/note: unknown field "note"'):
        build(Refund | PartialRefund, SENT | {"note": "x"})
    with pytest.raises(ArgumentsUnfit, match="/below/0/nme: unknown field"):
        build(Tree, {"name": "a", "below": [{"name": "b", "nme": "c"}]})


def test_an_answer_of_a_union_keeps_all_its_fields() -> None:
    """Structured answers are built by the same rule."""
    assert output_schema(Refund | PartialRefund).build(SENT) == PART


def test_a_field_that_only_the_written_schema_knows_is_refused() -> None:
    """A model would drop it without a word; a model that says extra="allow" gets it."""
    known = {"order": {"type": "string"}, "amount_cents": {"type": "integer"}}
    closed = {"type": "object", "properties": known, "additionalProperties": False}
    schema = {"type": "object", "properties": {"what": closed}, "required": ["what"], "additionalProperties": False}

    def refund(what: Refund) -> None: ...

    def give_back(what: Open) -> None: ...

    with pytest.raises(ArgumentsUnfit, match='/what/amount_cents: unknown field "amount_cents"'):
        build_tool(refund, effect="write", schema=schema).bind({"what": SENT})
    assert build_tool(give_back, effect="write", schema=schema).bind({"what": SENT})["what"].amount_cents == 500


def test_a_refusal_does_not_show_the_value() -> None:
    """Nobody looked whether it may be shown."""
    for annotation, value in (
        (Whole, {"n": "hunter2"}),
        (Card, {"kind": "hunter2", "number": ""}),
        (Moment, {"n": "0"}),
    ):
        with pytest.raises(ArgumentsUnfit, match=r"^/(n|kind): [^0]*(integer|card|spelled)") as unfit:
            build(annotation, value)
        assert "hunter2" not in str(unfit.value)


class First(BaseModel):
    it: Annotated[int | Refund | Nothing | PartialRefund | list[Refund] | str | dict[str, int], FIRST]


class Aliased(BaseModel):
    order: str = Field(validation_alias=AliasChoices("id", AliasPath("ids", 0)))
    other: Annotated[Open | int, FIRST] = 0
    late: RootModel[Annotated[int | str, FIRST]] | None = None


@pytest.mark.parametrize(
    ("value", "pointer"),
    [("007", "/it"), (SENT, "/it/amount_cents"), ({"cents": 5}, "/it/cents"), ([SENT], "/it/0/amount_cents")],
)
def test_a_union_in_which_the_first_option_wins_may_not_lose(value: Any, pointer: str) -> None:
    """Pydantic's left_to_right takes what it can bring the value into, although another option keeps all of it."""
    with pytest.raises(ArgumentsUnfit) as unfit:
        build(First, {"it": value})
    assert unfit.value.pointer == pointer


def test_a_union_in_which_the_first_option_wins_and_keeps_all() -> None:
    """What nothing is lost of is built, by aliases too."""
    assert build(First, {"it": {"order": "1"}}).it == Refund(order="1")
    assert build(First, {"it": 5}).it == 5
    assert build(Aliased, {"id": "1", "other": SENT}).other.amount_cents == 500
    assert build(Aliased, {"id": "1", "other": 7, "late": 7}).late.root == 7
    with pytest.raises(ArgumentsUnfit, match="/late: would be taken as a number"):
        build(Aliased, {"id": "1", "late": "7"})


class Numbers(BaseModel):
    by_number: dict[int, int] = {}
    by_price: dict[Decimal, list[float]] = {}
    prices: set[Decimal] = set()
    mixed: frozenset[int | bool] = frozenset()
    pair: tuple[float, ...] = ()
    names: set[str] = set()
    rows: dict = Field(default_factory=dict)  # type: ignore[type-arg]  # as somebody may write it


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"by_number": {"1": 2, "01": 3}}, "/by_number"),
        ({"by_price": {"1.0": [], "1.00": []}}, "/by_price"),
        ({"prices": ["1.0", "1.00"]}, "/prices"),
        ({"mixed": [1, True]}, "/mixed"),
        ({"pair": [1, 2**53 + 1]}, "/pair/1"),
    ],
)
def test_entries_that_python_holds_for_equal_are_not_merged(value: Any, pointer: str) -> None:
    """The model sent two, so one would be lost; and a float would change the last digit of a long integer."""
    with pytest.raises(ArgumentsUnfit) as unfit:
        build(Numbers, value)
    assert unfit.value.pointer == pointer


def test_entries_that_differ_are_all_kept() -> None:
    """Nothing is refused that arrives."""
    sent = {"by_number": {"1": 2}, "prices": ["1.0", "1.5"], "mixed": [0, True], "names": ["a"], "rows": {"a": 1}}
    built = build(Numbers, sent | {"pair": [1, 2**53]})
    assert (built.by_number, built.prices, built.pair) == ({1: 2}, {Decimal("1.0"), Decimal("1.5")}, (1.0, 2.0**53))
    for items in ([1, True], [0, 0]):
        with pytest.raises(ArgumentsUnfit, match="/: has entries that are one and the same"):
            build(set[int | bool], items)


def replaced(_value: Any, _handler: Any) -> Any:
    return object()


class Ours(BaseModel):
    sizes: list[float] = []
    tags: set[str] = set()
    odd: Annotated[dict[str, float], WrapValidator(replaced)] = {}

    @field_validator("sizes", "tags")
    @classmethod
    def some(cls, value: Any) -> Any:
        return type(value)(list(value)[:1])


def test_what_the_hosts_validators_leave_out_is_left_out() -> None:
    """They are the program's own decision."""
    built = build(Ours, {"sizes": [1.5, 2.5], "tags": ["a", "b"], "odd": {"a": 1}})
    assert (built.sizes, len(built.tags), type(built.odd)) == ([1.5], 1, object)


class Spelled(BaseModel):
    amount: Decimal = Decimal(0)
    when: datetime | None = None
    day: date | None = None
    at: time | None = None


@pytest.mark.parametrize("field", ["amount", "when", "day", "at"])
def test_a_spelling_that_only_pydantic_reads_is_refused(field: str) -> None:
    """Separators and digits of other scripts are no plain number, and a number is no date (seconds since 1970)."""
    good = {"amount": "-10.50", "when": "2026-11-30T10:00:00Z", "day": "2026-11-30", "at": "10:00"}
    for bad in ("1_000", "٣", " 12 ", "20261130", "1700000000")[: 3 if field == "amount" else 5]:
        with pytest.raises(ArgumentsUnfit, match=f"^/{field}"):
            build(Spelled, {field: bad})
    assert build(Spelled, {field: good[field]})


class Bounded(BaseModel):
    it: list[Annotated[int, Field(ge=0)]] | dict[str, Annotated[int, Field(ge=0)]]


def test_what_only_pydantic_refuses_has_its_place() -> None:
    """Bounds are its own; the names that it puts between are no steps."""
    for value, pointer in (([1, -1], "/it/1"), ({"a": -1}, "/it/a")):
        with pytest.raises(ArgumentsUnfit, match=f"^{pointer}: Input should be greater"):
            build(Bounded, {"it": value})


def test_a_pattern_of_the_author_is_pydantics_to_check() -> None:
    """One that the portable engine does not take refuses no call under a written schema."""

    class Coded(BaseModel):
        code: str = Field(pattern=r"^\p{Lu}+$")

    with pytest.raises(ArgumentsUnfit, match="/code"):
        build(Coded, {"code": "ab"})
    assert build(Coded, {"code": "AB"}).code == "AB"


SETS = """
from dataclasses import dataclass, field
from pydantic import BaseModel
from ledger.catalog.hints import HintReader, default_as_json
from ledger.strictjson import canonical
class M(BaseModel):
    tags: set[str] = {"alpha", "beta", "gamma", "delta"}
    deep: list[dict[str, frozenset[str]]] = [{"a": frozenset({"x", "y", "z", "w"})}]
@dataclass
class D:
    tags: frozenset[str] = frozenset({"alpha", "beta", "gamma", "delta"})
class N(BaseModel):
    m: M = M()
    d: D = D()
read = [HintReader(), HintReader()]
print(canonical([read[0].hint(N).schema, read[1].hint(D).schema, read[0].definitions]), default_as_json(N()))
"""


def test_a_set_as_a_default_makes_one_schema() -> None:
    """Python's order of texts in a set is another one in each process; a schema is the same in all."""
    told = {
        subprocess.run(
            [sys.executable, "-c", SETS],
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert b'["alpha","beta","delta","gamma"]' in next(iter(told))


def test_numbers_of_a_set_stand_by_size() -> None:
    """As Python itself shows small ones: so nothing recorded gets another schema."""
    assert default_as_json({10, 2, 1}) == [1, 2, 10]
    assert default_as_json(({"b", "a"}, [3, 2])) == [["a", "b"], [3, 2]]
    assert compile_schema({"allOf": [HintReader().hint(Numbers).schema]}).violations({}) == ()
