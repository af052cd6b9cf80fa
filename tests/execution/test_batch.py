"""Which calls run at the same time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.execution.batch import Member, conflict, groups, planned

KEYS = st.none() | st.frozensets(st.sampled_from("abc"), max_size=2)


def member(index: int, keys: str | None, *, writes: bool = False) -> Member:
    """A call that touches these one-letter keys."""
    return Member(index, writes, None if keys is None else frozenset(keys))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (member(0, "a"), member(1, "a"), False),
        (member(0, None), member(1, None), False),
        (member(0, "a", writes=True), member(1, "a"), True),
        (member(0, "a", writes=True), member(1, "b"), False),
        (member(0, "a", writes=True), member(1, "b", writes=True), False),
        (member(0, None, writes=True), member(1, "b"), True),
        (member(0, "a", writes=True), member(1, None), True),
        (member(0, "", writes=True), member(1, "b"), True),
        (member(0, "a", writes=True), member(1, ""), False),
    ],
)
def test_what_conflicts(one: Member, other: Member, *, expected: bool) -> None:
    """Reads run together; a side effect beside another call only with known, disjoint keys."""
    assert conflict(one, other) is expected
    assert conflict(other, one) is expected


@given(st.lists(st.tuples(st.booleans(), KEYS), max_size=8), st.integers(1, 4))
def test_no_group_holds_a_conflict_and_the_order_is_kept(
    calls: list[tuple[bool, frozenset[str] | None]], workers: int
) -> None:
    """Every call is in one group, groups are in order, no group is too large or holds two that conflict."""
    members = [Member(n, writes, keys) for n, (writes, keys) in enumerate(calls)]
    found = groups(members, workers=workers)
    assert [index for group in found for index in group] == list(range(len(members)))
    for group in found:
        assert 1 <= len(group) <= workers
        for place, index in enumerate(group):
            assert not any(conflict(members[index], members[other]) for other in group[:place])


@pytest.mark.parametrize(
    ("members", "mode", "expected"),
    [
        ([member(0, "a"), member(1, "a"), member(2, "a")], "parallel", ([0, 1, 2],)),
        ([member(0, "a"), member(1, "a", writes=True), member(2, "a")], "sequential", ([0], [1], [2])),
        ([member(0, "a"), member(1, "b"), member(2, "a", writes=True)], "grouped", ([0, 1], [2])),
    ],
)
def test_the_plan_as_it_is_recorded(members: list[Member], mode: str, expected: tuple[list[int], ...]) -> None:
    """`batch.planned` names mode, groups by index, and the keys (null: unknown)."""
    plan = planned(members, workers=8)
    assert (plan.mode, plan.groups, plan.size) == (mode, expected, 3)
    assert planned([member(0, None), member(1, "ba")], workers=8).resource_keys == (None, ["a", "b"])
