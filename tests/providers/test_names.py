"""Names and ids in a provider's alphabet."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.providers import original_name, wire_name
from ledger.providers.names import IdRule, Ids

RULE = IdRule(re.compile(r"[a-zA-Z0-9_.:-]{1,40}"), "call_")
NAMES = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_./-]{0,127}", fullmatch=True)


@given(st.text(max_size=150) | NAMES)
def test_every_name_fits_the_alphabet(name: str) -> None:
    """Whatever name a model used or a catalog holds, the provider takes it."""
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire_name(name))


@given(st.sets(NAMES, max_size=30))
def test_names_are_found_again(names: set[str]) -> None:
    """Different tools get different names, and each leads back to its tool."""
    assert len({wire_name(name) for name in names}) == len(names)
    assert all(original_name(wire_name(name), names) == name for name in names)


@pytest.mark.parametrize(("name", "wire"), [("send_email", "send_email"), ("a" * 64, "a" * 64)])
def test_a_name_that_fits_stays(name: str, wire: str) -> None:
    """Only names that do not fit are changed."""
    assert wire_name(name) == wire


def test_similar_names_stay_apart() -> None:
    """Names that differ only in what the alphabet lacks are told apart by their marks."""
    assert wire_name("fs.read") == "fs_read_4074bc02"
    assert wire_name("fs/read") not in {"fs_read", wire_name("fs.read")}


def test_a_name_nobody_knows_stays_as_the_model_wrote_it() -> None:
    """What stands for no known tool is recorded under the model's own word."""
    assert original_name("rm -rf", ["fs.read"]) == "rm -rf"


def test_the_first_call_with_an_id_keeps_it() -> None:
    """A repeated, missing, empty, long or odd id is replaced by one from the callId."""
    ids = Ids(RULE)
    given_out = [ids.give(each, f"0190-{n}") for n, each in enumerate(["a:0", "a:0", None, "", "x" * 41, "a b"])]
    assert given_out == ["a:0", "call_01901", "call_01902", "call_01903", "call_01904", "call_01905"]


def test_a_call_id_of_any_kind_gives_an_id() -> None:
    """The ids of the ledger fit as they are; other texts go in by their hash."""
    assert RULE.derived("01900000-0000-7000-8000-000000000001") == "call_01900000000070008000000000000001"
    assert RULE.legal(RULE.derived("message 1, call \ud800"))
