"""What a provider would refuse, named before it does."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.providers.check import check, check_openai
from ledger.providers.problems import LONGEST
from tests.providers.test_openai_host import asking, call, result

USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([USER, asking(call("a"), call("b")), result("a"), result("b"), USER], []),
        ([{"role": "assistant", "content": None, "refusal": "No."}], []),
        ([asking(call("a"))], [(1, "unanswered")]),
        ([asking(call("a")), USER], [(1, "unanswered")]),
        ([asking(call("a"), call("b")), result("b"), result("a")], [(1, "order")]),
        ([result("a")], [(0, "orphan")]),
        ([asking(call("a")), result("a"), result("a")], [(2, "orphan")]),
        ([asking(call("a"), call("a")), result("a"), result("a")], [(0, "id")]),
        ([asking(call("x" * 41)), result("x" * 41)], [(0, "id")]),
        ([asking(call(None))], [(0, "id")]),
        ([asking(call("a", name="rm -rf")), result("a")], [(0, "name")]),
        ([asking(call("a", name="")), result("a")], [(0, "name")]),
        ([asking(call("a", {"n": 1})), result("a")], [(0, "arguments")]),
        ([asking(call("a", "[1]")), result("a")], [(0, "arguments")]),
        ([asking(call("a", '{"a":1,"a":2}')), result("a")], [(0, "arguments")]),
        ([asking(call("a") | {"type": "custom"}), result("a")], [(0, "tool_calls")]),
        ([asking("a")], [(0, "tool_calls")]),
        ([asking({"id": "a"})], [(0, "tool_calls")]),
        ([{"role": "assistant", "content": "x", "tool_calls": []}], [(0, "tool_calls")]),
        ([{"role": "assistant", "content": None}], [(0, "content")]),
        ([{"role": "user"}], [(0, "content")]),
        ([asking(call("a")), result("a", None)], [(1, "content")]),
        ([{"role": "user", "content": "a\0"}], [(0, "message")]),
        ([{"role": "user", "content": "a" * (LONGEST + 1)}], [(0, "message")]),
        ([{"role": "user", "content": "a" * LONGEST}, {}], [(1, "message")]),
        ([{"role": "user", "content": [{"a\0": 1}]}], [(0, "message")]),
        ([{"role": "user", "content": "\udce9"}], [(0, "message")]),
        ([{"role": "user", "content": float("nan")}], [(0, "message")]),
        ([{"role": "model", "content": "x"}], [(0, "message")]),
        (["Hi"], [(0, "message")]),
    ],
)
def test_each_rule_is_checked(messages: list[Any], found: list[tuple[int, str]]) -> None:
    """Each way to be refused is found, at its place; a sound conversation has none."""
    problems = check_openai(messages)
    assert [(problem.place, problem.code) for problem in problems] == found
    assert all(problem.message for problem in problems)


@pytest.mark.parametrize(("given_id", "found"), [("a1B2c3D4e", []), ("a1B2c3D4", ["id"]), ("a1B2c3D4-", ["id"])])
def test_mistral_wants_nine_letters_and_digits(given_id: str, found: list[str]) -> None:
    """The rules are those of OpenAI but for the ids."""
    problems = check("mistral", [USER, asking(call(given_id)), result(given_id)])
    assert [problem.code for problem in problems] == found
