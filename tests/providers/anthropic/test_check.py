"""What Anthropic would refuse, named before it does."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.providers.check import check
from tests.providers.anthropic.making import FOUND, SEARCH, THOUGHT, USER, asked, result, said, text, use


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([USER, said(text("I look."), use("a"), use("b")), asked(result("a"), result("b"), text("And?"))], []),
        ([USER, said(use("a"), use("b")), asked(result("b"), result("a"))], []),
        ([USER, said(use("a")), said(use("b")), asked(result("a"), result("b"))], []),
        ([USER, {"role": "system", "content": "Be kind."}, said(text("Hi"))], []),
        ([USER, said(THOUGHT, use("a")), asked(result("a", [text("seen")], is_error=True))], []),
        ([USER, said(SEARCH, FOUND, text("Found."))], []),
        ([USER, said(text("I search."), SEARCH)], []),
        ([USER, said(SEARCH, use("a")), asked(result("a")), said(FOUND, text("Found."))], []),
        ([USER, said(SEARCH), said(FOUND)], [(1, "unpaired")]),
        ([USER, said(SEARCH), USER], [(1, "unpaired")]),
        ([USER, said(FOUND)], [(1, "orphan")]),
        ([USER, said(SEARCH | {"id": []}), USER], [(1, "unpaired")]),
        ([said(text("Hi"))], [(0, "message")]),
        ([{"role": "system", "content": "Be kind."}, USER], [(0, "message")]),
        ([USER, said(text("Hi")), {"role": "system", "content": "x"}], [(2, "message")]),
        ([USER, said(use("a"))], [(2, "unanswered")]),
        ([USER, said(use("a")), USER], [(2, "unanswered")]),
        ([USER, said(use("a"), use("b")), asked(result("a")), asked(result("b"))], [(2, "unanswered"), (3, "orphan")]),
        ([USER, said(use("a")), asked(text("x"), result("a"))], [(2, "order")]),
        ([USER, said(use("a")), asked(result("a"), result("a"))], [(2, "orphan")]),
        ([asked(result("a"))], [(0, "orphan")]),
        ([USER, said(use("a")), asked(result("a", 5))], [(2, "content")]),
        ([USER, said(use("a")), asked(result("a", is_error="yes"))], [(2, "content")]),
        ([USER, said(use("a"), use("a")), asked(result("a"), result("a"))], [(1, "id")]),
        ([USER, said(use("TaskOutput:79")), asked(result("TaskOutput:79"))], [(1, "id")]),
        ([USER, said(use(None))], [(1, "id")]),
        ([USER, said(use("a", name="fs.read")), asked(result("a"))], [(1, "name")]),
        ([USER, said(use("a", name=5)), asked(result("a"))], [(1, "name")]),
        ([USER, said(use("a", arguments="{}")), asked(result("a"))], [(1, "arguments")]),
        ([USER, said(text("x"), THOUGHT)], [(1, "thinking")]),
        ([USER, said({"type": "thinking", "thinking": "Hm."}, text("x"))], [(1, "thinking")]),
        ([asked()], [(0, "content")]),
        ([asked(text(" "))], [(0, "content")]),
        ([asked("Hi")], [(0, "content")]),
        ([asked(text("x"), "Hi")], [(0, "content")]),
        ([asked({"text": "x"})], [(0, "content")]),
        ([{"role": "user", "content": ""}], [(0, "content")]),
        ([{"role": "user"}], [(0, "content")]),
        ([asked(use("a"))], [(0, "content")]),
        ([USER, said(result("a"))], [(1, "content")]),
        ([{"role": "user", "content": "a\0"}], [(0, "message")]),
        ([{"role": "tool", "content": "x"}], [(0, "message")]),
        (["Hi"], [(0, "message")]),
    ],
)
def test_each_rule_is_checked(messages: list[Any], found: list[tuple[int, str]]) -> None:
    """Each way to be refused is found, at its place; a sound conversation has none."""
    problems = check("anthropic", messages)
    assert [(problem.place, problem.code) for problem in problems] == found
    assert all(problem.message for problem in problems)
