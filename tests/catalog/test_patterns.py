"""Patterns mean what ECMA-262 says, everywhere the same, and never cost more than linear time."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.catalog.patterns import Automaton, PatternRefused, PatternTooCostly, automaton, compile_pattern
from ledger.catalog.patterns.charset import ANY, CATEGORIES, DIGIT, WORD, CharSet, single

SUITE = json.loads((Path(__file__).parents[1] / "suite/patterns.json").read_text(encoding="utf-8"))
REFUSED = [case["pattern"] for case in SUITE["refused"]]


@pytest.mark.parametrize("case", SUITE["matches"], ids=lambda case: case["fact"])
def test_a_pattern_matches_what_ecma_says(case: dict[str, Any]) -> None:
    """Each text of the suite is matched, or not, as ECMA-262 in Unicode mode says."""
    matcher = compile_pattern(case["pattern"])
    assert [text for text in case["yes"] if not matcher.search(text)] == []
    assert [text for text in case["no"] if matcher.search(text)] == []


@pytest.mark.parametrize("case", SUITE["refused"], ids=lambda case: case["pattern"][:40])
def test_a_pattern_outside_the_subset_is_refused_with_a_hint(case: dict[str, Any]) -> None:
    """What is not portable, or makes other engines explode, is refused, with what to write instead."""
    with pytest.raises(PatternRefused) as refused:
        compile_pattern(case["pattern"])
    assert case["because"] in refused.value.message
    assert refused.value.hint.endswith(".")


ATOMS = st.sampled_from(
    ["a", "b", "[ab]", "[^a]", ".", r"\d", r"\w", r"\W", "a{2}", "b{1,3}", "a*", "[ab]+", "b?", "^", "$", r"\b"]
)
SIMPLE = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        inner.map(lambda one: f"(?:{one})?"),
        inner.map(lambda one: f"(?:{one})*"),
    ),
    max_leaves=8,
)


@given(SIMPLE, st.text(alphabet="ab1- é", max_size=12))
def test_an_accepted_pattern_means_what_the_stock_engine_says(pattern: str, text: str) -> None:
    """Where Python's own engine means the same, both agree on every text."""
    try:
        matcher = compile_pattern(pattern)
    except PatternRefused:
        assert re.search(r"[*+]", pattern)
        return
    stock = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    assert matcher.search(text) == bool(stock.search(text))


class Counting(str):
    """A text that counts how often one of its characters is looked at."""

    __slots__ = ()
    looked = 0

    def __iter__(self) -> Any:
        for char in str.__iter__(self):
            Counting.looked += 1
            yield char


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^[^\s@]+@[^\s@]+\.[^\s@]+$", "a@" + "b." * 20_000 + " "),
        (r"\s+$", " " * 40_000 + "x"),
        (r".*.*.*=.*", "x" * 40_000),
        (r"^[a-z]+(-[a-z]+)*$", "a-" * 20_000),
        (r"(x|y)*z", "xy" * 20_000),
    ],
)
def test_an_accepted_pattern_looks_at_each_character_once(pattern: str, text: str) -> None:
    """Time is linear by construction: one look at each character, and few different steps to build."""
    matcher = Automaton(compile_pattern(pattern)._program)
    Counting.looked = 0
    assert not matcher.search(Counting(text))
    assert Counting.looked <= len(text)
    assert matcher._edges <= 20


def test_a_search_ends_where_an_anchored_pattern_cannot_match_any_more() -> None:
    """The rest of a text is not looked at once the beginning decides."""
    Counting.looked = 0
    assert not compile_pattern("^a").search(Counting("b" * 1_000))
    assert Counting.looked == 1


def test_remembered_steps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are forgotten when there are too many, and the answers stay the same."""
    monkeypatch.setattr(automaton, "MAX_EDGES", 5)
    matcher = Automaton(compile_pattern(r"^[^x]*x$")._program)
    assert matcher.search("abcdefghijklmnop" * 3 + "x")
    assert not matcher.search("abcdefghijklmnop" * 3)
    assert matcher._edges <= 5


def test_a_search_that_would_take_seconds_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large counted repeat in a long, varied text costs more than a gate may spend: an error, not a hang."""
    monkeypatch.setattr(automaton, "MAX_COST", 10_000)
    with pytest.raises(PatternTooCostly):
        compile_pattern(r"a[\s\S]{0,2000}b").search("ac" * 5_000)


@given(st.sets(st.sampled_from(sorted(CATEGORIES)), max_size=3), st.text(max_size=3), st.booleans(), st.characters())
def test_a_set_and_its_inverse_part_all_characters(names: set[str], chars: str, negated: bool, char: str) -> None:
    """Every character is in a set or in its inverse, never in both; sets that share one overlap."""
    chosen = CharSet((), frozenset(names))
    for each in chars:
        chosen |= single(each)
    chosen = chosen.inverse() if negated else chosen
    assert (char in chosen) != (char in chosen.inverse())
    if char in chosen:
        assert chosen.overlaps(single(char))
        assert single(char).overlaps(chosen)
        assert chosen.overlaps(ANY)


def test_sets_that_share_nothing_do_not_overlap() -> None:
    """Disjoint ranges, categories and small sets are known to be disjoint."""
    letters = CharSet((), frozenset({"Lu", "Ll"}))
    assert not DIGIT.overlaps(WORD.inverse())
    assert not DIGIT.overlaps(letters)
    assert not letters.overlaps(CharSet((), frozenset({"Nd"})))
    assert letters.overlaps(CharSet(((0, 0x3000),), frozenset({"Nd"})))
    assert {unicodedata.category(chr(point)) for point in range(0x30000)} <= CATEGORIES
