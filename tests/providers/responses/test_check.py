"""What the Responses API would refuse, named before it does."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import UsageError
from ledger.providers.check import check
from tests.providers.responses.making import REASONING, SEARCH, SHELL, SHOWN, USER, call, output, said


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([USER, said("I look."), call("a"), call("b"), output("a"), output("b"), said("Done.")], []),
        ([USER, REASONING, call("a"), output("a"), REASONING, REASONING, said("Done.")], []),
        ([USER, SEARCH, {"type": "item_reference", "id": "x"}], []),
        ([USER, SHELL, SHOWN], []),
        ([call("a"), output("a", [{"type": "input_text", "text": "x"}])], []),
        ([USER, call("a")], [(2, "unanswered")]),
        ([SHELL], [(1, "unanswered")]),
        ([{"type": "custom_tool_call", "name": "sh", "input": "ls"}], [(1, "unanswered")]),
        ([call("a"), call("b"), output("b"), output("a")], [(2, "order")]),
        ([output("a")], [(0, "orphan")]),
        ([SHOWN], [(0, "orphan")]),
        ([call("a"), output("a"), output("a")], [(2, "orphan")]),
        ([call("a"), output("a"), call("a"), output("a")], [(2, "id")]),
        ([call("x" * 65), output("x" * 65)], [(0, "id")]),
        ([call("search:0"), output("search:0")], [(0, "id")]),
        ([call(None)], [(0, "id")]),
        ([call("a", name="rm -rf"), output("a")], [(0, "name")]),
        ([call("a", name=5), output("a")], [(0, "name")]),
        ([call("a", {"n": 1}), output("a")], [(0, "arguments")]),
        ([call("a", "[1]"), output("a")], [(0, "arguments")]),
        ([call("a", '{"a":'), output("a")], [(0, "arguments")]),
        ([call("a"), output("a", {"n": 1})], [(1, "content")]),
        ([USER, REASONING], [(2, "reasoning")]),
        ([REASONING, USER], [(1, "reasoning")]),
        ([call("a"), REASONING, output("a")], [(2, "reasoning")]),
        ([{"role": "user"}], [(0, "content")]),
        ([{"role": "tool", "content": "x"}], [(0, "message")]),
        ([{"type": 5}], [(0, "message")]),
        ([{"role": "user", "content": "a\0"}], [(0, "message")]),
        (["Hi"], [(0, "message")]),
    ],
)
def test_each_rule_is_checked(messages: list[Any], found: list[tuple[int, str]]) -> None:
    """Each way to be refused is found, at its place; a sound conversation has none."""
    problems = check("responses", messages)
    assert [(problem.place, problem.code) for problem in problems] == found
    assert all(problem.message for problem in problems)


def test_the_body_of_a_request_is_checked_too() -> None:
    """The list is found under the key of its format; without one, or for an unknown format, that is said."""
    assert check("responses", {"input": [USER, call("a")]})[0].code == "unanswered"
    assert check("openai", {"messages": [USER]}) == []
    assert check("gemini", {"contents": [], "tools": []}) == []
    assert [problem.message for problem in check("anthropic", {"system": "x"})] == [
        "the body holds no list of messages"
    ]
    with pytest.raises(UsageError, match="no check for the format 'cohere'"):
        check("cohere", [])
