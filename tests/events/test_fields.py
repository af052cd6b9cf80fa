"""Python names to wire names and back."""

import json
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from ledger.events import CallFailed, CallSucceeded, CallValidated, SessionResumed
from ledger.events.fields import WireError, camel, fields_of, from_wire, plan_of, to_wire


@dataclass(frozen=True, kw_only=True)
class Odd:
    """Every kind of field there is."""

    word: Literal["one", "two"]
    flag: bool = False
    count: int = 1
    seconds: float | None = None
    names: tuple[str, ...] = ()
    things: tuple[Any, ...] | None = None
    extra: dict[str, Any] | None = None
    anything: Any = None


@pytest.mark.parametrize(
    ("name", "key"), [("tool", "tool"), ("schema_version", "schemaVersion"), ("on_behalf_of", "onBehalfOf")]
)
def test_names_are_camel_case_on_the_wire(name: str, key: str) -> None:
    """A Python name with underscores is a camelCase key on the wire."""
    assert camel(name) == key


def test_what_equals_the_default_is_left_out() -> None:
    """A body that holds nothing but its class defaults and what is required has only the latter on the wire."""
    assert to_wire(Odd(word="one")) == {"word": "one"}
    assert to_wire(Odd(word="one", count=2, names=("a",))) == {"word": "one", "count": 2, "names": ("a",)}


def test_left_out_is_decided_by_value_not_by_identity() -> None:
    """A default that came by another way, such as a text just read, is left out as well: one body, one form."""
    read = json.loads('"ok"')
    assert read is not CallSucceeded().status
    assert to_wire(CallSucceeded(status=read)) == {}


def test_an_equal_value_of_another_type_is_not_taken_for_the_default() -> None:
    """True equals 1 in Python, but they differ on the wire; what could not be read again is not written."""
    with pytest.raises(WireError, match="count has the type bool"):
        to_wire(Odd(word="one", count=True))
    assert to_wire(Odd(word="one", anything=False)) == {"word": "one", "anything": False}


def test_a_class_with_one_field_is_written() -> None:
    """A body with a single field keeps it."""
    assert to_wire(SessionResumed(decisions=({"callId": "c"},))) == {"decisions": ({"callId": "c"},)}


def test_absent_keys_read_as_defaults_and_unknown_ones_are_passed_over() -> None:
    """A row without newer optional keys reads with the class defaults; a key of a later release changes nothing."""
    assert from_wire(Odd, {"word": "two", "laterKey": [1]}) == Odd(word="two")


def test_arrays_become_tuples() -> None:
    """A frozen body never holds the list that was read."""
    assert from_wire(Odd, {"word": "one", "names": ["a"], "things": [1]}) == Odd(word="one", names=("a",), things=(1,))


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        ({}, "word is missing"),
        ({"word": "three"}, "word has the unknown value 'three'"),
        ({"word": None}, "word has the type NoneType"),
        ({"word": "one", "flag": 1}, "flag has the type int"),
        ({"word": "one", "count": True}, "count has the type bool"),
        ({"word": "one", "count": 1.0}, "count has the type float"),
        ({"word": "one", "seconds": True}, "seconds has the type bool"),
        ({"word": "one", "names": "ab"}, "names has the type str"),
        ({"word": "one", "names": ["a", 1]}, "names has an item of another type"),
        ({"word": "one", "extra": []}, "extra has the type list"),
    ],
)
def test_a_misfit_is_named(wire: dict[str, Any], said: str) -> None:
    """A missing key or a value of another type is named by its wire key."""
    with pytest.raises(WireError) as caught:
        from_wire(Odd, wire)
    assert str(caught.value) == said


def test_null_reads_as_none_where_it_may_stand() -> None:
    """Null stands for no value only in fields that may have none."""
    assert from_wire(Odd, {"word": "one", "seconds": None, "anything": None, "things": None}) == Odd(word="one")


def test_an_integer_may_stand_for_a_float() -> None:
    """A number field takes 3 as it takes 3.0, and keeps which of both it was."""
    assert repr(from_wire(Odd, {"word": "one", "seconds": 3}).seconds) == "3"


def test_required_fields_are_known() -> None:
    """A field without a default is required, in the table of the fields as in the plan."""
    needed = {field.key for field in fields_of(CallFailed) if field.required}
    assert needed == plan_of(CallFailed).required == {"code", "errorClass", "message"}


def test_a_plan_is_made_once() -> None:
    """The plan of a class is worked out once: sessions have thousands of events."""
    assert plan_of(CallValidated) is plan_of(CallValidated)
