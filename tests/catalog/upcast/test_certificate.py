"""Certificates: what is carried was valid before and after, came back exactly, and says by which digests."""

from typing import Any

import pytest

from ledger.catalog.upcast.records import Carried, NotCarried
from ledger.strictjson import digest
from tests.catalog.upcast.scenes import closed_object, step, upcast

TEXT = {"type": "string"}
RENAME = [{"op": "rename", "from": "/a", "to": "/b"}]


def test_a_certificate_names_everything_that_it_rests_on() -> None:
    """Both digests, the file's digest, the grade and who validated; the record itself stays as it was."""
    record = {"a": "x"}
    found = step(RENAME, closed_object({"a": TEXT}), closed_object({"b": TEXT})).carry(record)
    assert isinstance(found, Carried)
    assert (record, found.arguments, found.grade) == ({"a": "x"}, {"b": "x"}, "iso")
    assert (found.digest_before, found.digest_after) == (digest({"a": "x"}), digest({"b": "x"}))
    assert found.upcast.digest == upcast(RENAME).digest
    assert found.validator.split()[0] in ("jsonschema", "jsonschema-rs")


def test_the_files_digest_covers_all_its_words() -> None:
    """Whoever changes an operation, a name or the one who asserts it has another digest; $schema is no word of it."""
    known = upcast(RENAME).digest
    assert upcast(RENAME, **{"$schema": "x"}).digest == known
    others = (
        upcast([{"op": "rename", "from": "/a", "to": "/c"}]),
        upcast(RENAME, assertedBy="eve@example.org"),
        upcast(RENAME, widens=["x"]),
        upcast(RENAME, keepsApproval=True),
    )
    assert len({known, *(each.digest for each in others)}) == 5


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"a": 5}, "invalid_before"),
        ({}, "invalid_before"),
        ({"a": "x", "zz": 1}, "undeclared"),
        ({"a": float("nan")}, "invalid_before"),
        ({"a": ["x"]}, "invalid_before"),
        (None, "invalid_before"),
        ([], "invalid_before"),
        ("{}", "invalid_before"),
    ],
)
def test_a_record_that_is_not_carried_says_why(record: Any, code: str) -> None:
    """Invalid under its own version, or with something that nobody declared; nothing raises."""
    old, new = ({"type": "object", "properties": {name: TEXT}, "required": [name]} for name in "ab")
    found = step(RENAME, old, new).carry(record)
    assert isinstance(found, NotCarried)
    assert (found.code, bool(found.message)) == (code, True)


@pytest.mark.parametrize("value", [10**5000, b"x", {1: 2}, {"x": (object(),)}], ids=("long", "bytes", "key", "object"))
def test_what_is_no_json_is_never_carried(value: Any) -> None:
    """Even where the schema takes anything: it has no digest."""
    found = step(RENAME, closed_object({"a": True}), closed_object({"b": True})).carry({"a": value})
    assert isinstance(found, NotCarried)
    assert found.code == "no_json"


def test_a_wrap_at_the_greatest_depth_is_not_carried() -> None:
    """What would be deeper than the gate allows is invalid afterwards."""
    value: Any = "x"
    for _ in range(63):
        value = [value]
    node = {"type": ["string", "array"]}
    wrapped = {"type": "array", "items": node, "minItems": 1, "maxItems": 1}
    the_step = step([{"op": "wrap_array", "path": "/a"}], closed_object({"a": node}), closed_object({"a": wrapped}))
    assert getattr(the_step.carry({"a": value}), "code", None) == "invalid_after"
    assert isinstance(the_step.carry({"a": value[0]}), Carried)


def test_a_record_that_does_not_come_back_is_not_carried() -> None:
    """A proof is about schemas; the record has the last word, here with a file that says more than it may."""
    the_step = step(RENAME, closed_object({"a": TEXT}), closed_object({"b": TEXT}))
    assert the_step.proof.grade == "iso"
    object.__setattr__(the_step.upcast, "ops", (the_step.upcast.ops[0], _Shrug()))
    assert getattr(the_step.carry({"a": "x"}), "code", None) == "not_round_trip"


class _Shrug:
    """An operation that undoes more than it did; the closed set has none."""

    op = "rename"
    path = ()

    @property
    def inverse(self) -> Any:
        return upcast([{"op": "add_const", "path": "/more", "value": 1}]).ops[0]
