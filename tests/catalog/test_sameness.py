"""Which arguments ask the same of a tool: what its function gets decides, not how it is spelled."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

from ledger.catalog import build_tool
from ledger.catalog.equality import whole
from ledger.catalog.sameness import ask_the_same, written_out


class Speed(Enum):
    """How fast."""

    SLOW = "slow"
    FAST = "fast"


@dataclass(eq=False)
class Payee:
    """Without an equality of its own."""

    name: str
    share: Decimal = Decimal(1)
    marks: list[str] = field(default_factory=list)


class Note(BaseModel):
    """The host's own code."""

    amount: Decimal
    urgent: bool = False


def pay(
    *,
    cents: int = 5,
    fee: float | None = None,
    amount: Decimal = Decimal(1),
    on: datetime | None = None,
    to: set[str] | None = None,
    payee: Payee | None = None,
    by: dict[str, Any] | None = None,
    speed: Speed = Speed.SLOW,
    order: tuple[str, ...] = (),
) -> None:
    """Pay."""


def note(about: Note, text: str = "") -> None:
    """Note."""


PAY, NOTE = build_tool(pay, effect="external"), build_tool(note, effect="external")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"cents": 100}, {"cents": 100.0}, True),
        ({"cents": 5}, {}, True),
        ({"cents": 6}, {}, False),
        ({"fee": None}, {}, True),
        ({"fee": 0}, {}, False),
        ({"amount": "19.90"}, {"amount": "19.9"}, True),
        ({"amount": "19.90"}, {"amount": "19.91"}, False),
        ({"amount": "1.00"}, {}, True),
        ({"on": "2026-11-30T12:00:00Z"}, {"on": "2026-11-30T12:00:00+00:00"}, True),
        ({"on": "2026-11-30T12:00:00Z"}, {"on": "2026-11-30T12:00:01Z"}, False),
        ({"to": ["a", "b"]}, {"to": ["b", "a"]}, True),
        ({"to": ["a", "b"]}, {"to": ["b"]}, False),
        ({"order": ["a", "b"]}, {"order": ["b", "a"]}, False),
        ({"order": ["a"]}, {"order": ["a", "b"]}, False),
        ({"order": []}, {}, True),
        ({"payee": {"name": "a"}}, {"payee": {"name": "a", "share": "1.0", "marks": []}}, True),
        ({"payee": {"name": "a"}}, {"payee": {"name": "b"}}, False),
        ({"payee": {"name": "a"}}, {}, False),
        ({"by": {"a": 1}}, {"by": {"a": 1.0}}, True),
        ({"by": {"a": 1}, "amount": "1"}, {"by": {"a": True}}, False),
        ({"by": {"a": 1}}, {"by": {"b": 1}}, False),
        ({"speed": "slow", "amount": "1.0"}, {}, True),
        ({"speed": "fast"}, {}, False),
        ({"cents": 5, "unknown": 1}, {"unknown": 2}, False),
        ({"cents": "5"}, {}, False),
        (None, {}, False),
        (None, None, True),
    ],
    ids=str,
)
def test_what_the_function_gets_decides(one: Any, other: Any, same: bool) -> None:
    """Also where its classes have no equality; what does not bind is compared as JSON."""
    assert (ask_the_same(PAY.version, PAY, one, other), ask_the_same(PAY.version, PAY, other, one)) == (same, same)


def test_where_the_hosts_code_would_run_the_schema_decides() -> None:
    """Nothing of it is called: its defaults and whole numbers count, the texts of its classes do not."""
    one = {"about": {"amount": 1}}
    assert ask_the_same(NOTE.version, NOTE, one, {"about": {"amount": 1.0, "urgent": False}, "text": ""})
    assert not ask_the_same(NOTE.version, NOTE, one, {"about": {"amount": 2}})
    assert ask_the_same(NOTE.version, None, one, {"about": {"amount": 1.0}})
    assert not ask_the_same(None, None, one, {"about": {"amount": 1.0}, "text": ""})


def test_an_odd_equality_of_the_host_makes_nothing_equal() -> None:
    """What raises while two values are compared says nothing, and stops nothing."""

    def odd(amount: Decimal) -> None:
        """Odd."""

    tool = build_tool(odd, effect="external")
    assert not ask_the_same(tool.version, tool, {"amount": "sNaN"}, {"amount": "1"})


def test_defaults_without_an_end_are_left_out() -> None:
    """Nothing is compared that could not run."""
    schema = {
        "type": "object",
        "properties": {"in": {"$ref": "#/$defs/in", "default": {}}},
        "$defs": {"in": {"type": "object", "properties": {"in": {"$ref": "#/$defs/in", "default": {}}}}},
    }

    def act(**arguments: Any) -> None:
        """Act."""

    tool = build_tool(act, effect="external", schema=schema)
    assert written_out(tool.version, {}) == {}


def test_whole_numbers_have_one_spelling() -> None:
    """As far as a double tells them apart."""
    assert repr(whole({"a": [1.0, 1.5, True], "b": 2.0**60})) == repr({"a": [1, 1.5, True], "b": 2.0**60})
