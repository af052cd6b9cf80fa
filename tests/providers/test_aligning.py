"""Which message of a transcript is which recorded turn."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.providers.aligning import UNCLEAR, Recorded, Wanted, align


def turn(tools: str, ids: str = "", answer: str = "ok", *, by_model: bool = True) -> Recorded:
    """Return a turn of calls, each named by a letter and answered alike; redacted where the letter is a big one."""
    names = tuple(tools.lower())
    own = tuple(ids.split()) if ids else ("",) * len(names)
    digests = None if tools.isupper() else ("{}",) * len(names)
    return Recorded(names, digests, own, frozenset({own}), lambda: frozenset({(answer,) * len(names)}), by_model)


def message(tools: str, ids: str = "", *answers: str | None, claims: bool = True) -> Wanted:
    """Return a message that asks for calls."""
    given = tuple(ids.split()) if ids else ("",) * len(tools)
    return Wanted(tuple(tools), ("{}",) * len(tools), given, answers or (None,) * len(tools), claims)


ONCE, TWICE = [turn("f", "", "r0")], [turn("f", "", "r0"), turn("f", "", "r1")]
ALIKE = [turn("f"), turn("f")]
CASES: dict[str, tuple[list[Recorded], list[Wanted], list[int | None]]] = {
    "the one turn there is": (ONCE, [message("f")], [0]),
    "the last of several, all there": (TWICE, [message("f", "", "r0"), message("f")], [0, 1]),
    "one more than there are": (ONCE, [message("f", "", "r0"), message("f")], [0, None]),
    "one more, the first dropped": (TWICE, [message("f", "", "r1"), message("f")], [1, None]),
    "one more among three": (TWICE, [message("f", "", "r0"), message("f"), message("f", "", "r1")], [0, None, 1]),
    "one of two is it": (TWICE, [message("f", "", "r0"), message("f"), message("f")], [0, UNCLEAR, UNCLEAR]),
    "equal in all": (ALIKE, [message("f", "", "ok"), message("f")], [UNCLEAR, UNCLEAR]),
    "equal in all, and both answered": (ALIKE, [message("f", "", "ok"), message("f", "", "ok")], [0, 1]),
    "equal, in words of the host": (ALIKE, [message("f", "", "?"), message("f", "", "!"), message("f")], [0, 1, None]),
    "more answers than turns": (ONCE, [message("f", "", "?"), message("f", "", "!")], [0, None]),
    "dropped before a summary": ([turn("g"), turn("f")], [message("f")], [UNCLEAR]),
    "an older one is still there": ([turn("g"), turn("f")], [message("g", "", "ok"), message("f")], [0, 1]),
    "no results are kept": ([turn("g"), turn("f")], [message("g"), message("f")], [0, 1]),
    "a call of the host's own": ([turn("g", by_model=False), turn("f")], [message("f")], [1]),
    "only calls of the host's own": ([turn("f", by_model=False)], [message("f")], [UNCLEAR]),
    "ids": ([turn("f", "a"), turn("f", "b")], [message("f", "b")], [1]),
    "ids in another order": ([turn("f", "a"), turn("f", "b")], [message("f", "b"), message("f", "a")], [1, 0]),
    "ids in another order, one without between": (
        [turn("f", "a"), turn("g", "b"), turn("h")],
        [message("g", "b"), message("h"), message("f", "a")],
        [1, 2, 0],
    ),
    "ids in another order, one more behind": (
        [turn("f", "a"), turn("g", "b"), turn("h")],
        [message("g", "b"), message("f", "a"), message("h", "", "ok"), message("h")],
        [1, 0, 2, None],
    ),
    "another id beside the known one": ([turn("f", "a")], [message("f", "a", "ok"), message("f", "z")], [0, None]),
    "another id": ([turn("f", "a")], [message("f", "z")], [UNCLEAR]),
    "another id behind": ([turn("f", "a"), turn("g", "b")], [message("g", "b"), message("f", "z")], [1, None]),
    "other ids, the same answer": (
        [turn("f", "a", "r0"), turn("f", "b", "r1")],
        [message("f", "y", "r0"), message("f", "z")],
        [0, UNCLEAR],
    ),
    "ids that repeat": (
        [turn("f", "a", "r0"), turn("f", "a", "r1")],
        [message("f", "a", "r0"), message("f", "a")],
        [0, 1],
    ),
    "ids that repeat, the first dropped": (
        [turn("f", "a"), turn("g", "a")],
        [message("f", "a"), message("g", "a", "ok")],
        [UNCLEAR, 1],
    ),
    "an id twice in the transcript": ([turn("f", "a")], [message("f", "a", "ok"), message("f", "a")], [0, None]),
    "an id on one side": ([turn("f")], [message("f", "z")], [0]),
    "an id of some calls": ([turn("ff", "a b")], [Wanted(("f", "f"), ("{}", "{}"), ("a", ""), (None, None))], [0]),
    "an answer to some calls": (
        [turn("fg", "", "r0"), turn("fg", "", "r1"), turn("h")],
        [message("fg", "", None, "r1")],
        [1],
    ),
    "an answer to some, in words of the host": ([turn("fg")], [message("fg", "", "?", None)], [0]),
    "redacted arguments": ([turn("F", "a"), turn("f", "b")], [message("f", "a"), message("f", "b")], [0, 1]),
    "redacted arguments without ids": ([turn("F"), turn("f")], [message("f", "", "?"), message("f", "", "?")], [0, 1]),
    "an answer that says it is none": (ONCE, [message("f", "", "none", claims=False), message("f")], [None, 0]),
    "another tool": (ONCE, [message("g", "", "r0"), message("g")], [None, None]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_message_is_the_turn_that_nothing_else_can_be(case: str) -> None:
    """By its ids, by what answers it, and by what stands beside it; `UNCLEAR` where something else fits as well."""
    turns, messages, wanted = CASES[case]
    assert align(turns, messages) == wanted


@st.composite
def transcripts(draw: st.DrawFn) -> tuple[list[Recorded], list[Wanted], list[int | None], bool]:
    """
    Draw a session's turns, what a host kept of them, and which turn each of its messages is in truth.

    It dropped old messages, lost results or has them in words of its own, and died before it handed some replies over;
    those stay in its transcript. Calls are equal more often than not; either all have ids or none.
    """
    named = draw(st.booleans())
    turns: list[Recorded] = []
    messages: list[Wanted] = []
    truth: list[int | None] = []
    for number in range(draw(st.integers(1, 6))):
        tool, answer = draw(st.sampled_from("ffg")), draw(st.sampled_from(["ok", "ok", f"result {number}"]))
        for lost in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            messages.append(message(draw(st.sampled_from("ffg")), f"lost-{number}-{lost}" if named else ""))
            truth.append(None)
        turns.append(turn(tool, f"id-{number}" if named else "", answer))
        kept = draw(st.sampled_from([answer, answer, answer, "cleared", None]))
        messages.append(message(tool, turns[-1].own[0], kept))
        truth.append(number)
    if draw(st.booleans()):
        messages.append(message(draw(st.sampled_from("ffg")), "last" if named else ""))
        truth.append(None)
    cut = draw(st.integers(0, len(messages) - 1))
    return turns, messages[cut:], truth[cut:], named


@given(transcripts())
def test_no_message_is_told_the_end_of_another(drawn: tuple[Any, ...]) -> None:
    """A turn is named only where it is the one, "not recorded" only where none is; ids leave no doubt."""
    turns, messages, truth, named = drawn
    if not named and not any(each.answered for each in messages):
        return  # a host that keeps no results: that nothing was dropped is all there is to go by
    for found, true in zip(align(turns, messages), truth, strict=True):
        assert found in (true, UNCLEAR)
        assert not named or true is None or found == true
