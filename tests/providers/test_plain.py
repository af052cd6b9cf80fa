"""What SDKs and hosts hand over, as plain JSON."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from ledger.providers.plain import named, plain, rest, view


class Reason(StrEnum):
    """An enumeration as SDKs use them."""

    STOP = "stop"


class Part(BaseModel):
    """A part whose signature are bytes, and which has fields that nobody set."""

    signature: bytes | None = None
    reason: Reason | None = None
    other_key: int | None = Field(default=None, alias="otherKey")


def test_an_sdks_object_is_what_the_server_sent() -> None:
    """Its API's own names, bytes and enumerations as the API writes them, and nothing that was not sent."""
    part = Part(signature=b"\xff\xfe", reason=Reason.STOP, otherKey=1)
    found = view(part)
    assert found is not None
    assert (found["reason"], found["otherKey"]) == ("stop", 1)
    assert view(Part()) == {}


def test_what_cannot_be_dumped_is_no_object() -> None:
    """An object whose dump fails in every way is read as none."""

    class Odd:
        def model_dump(self) -> None:
            raise ValueError

    assert view(Odd()) is None


def test_bytes_and_enumerations_of_dicts_are_json_too() -> None:
    """A host's own dict may hold them."""
    assert plain({"signature": b"ABC", "reason": Reason.STOP}) == {"signature": "QUJD", "reason": "stop"}
    assert type(plain(Reason.STOP)) is str


def test_the_rest_has_no_nulls() -> None:
    """What is beside the known keys is a copy without nulls."""
    inner: dict[str, Any] = {"x": None}
    found = rest({"a": 1, "b": None, "c": inner}, {"a"})
    assert found == {"c": {"x": None}}
    assert found["c"] is not inner


def test_a_value_is_named_without_its_content() -> None:
    """For messages: the class, not what is in it."""
    assert named("secret") == "str"
    assert named(Part()).endswith("test_plain.Part")
