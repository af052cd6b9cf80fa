"""What Gemini would refuse, named before it does."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.providers.check import check
from tests.providers.gemini.making import USER, asked, call, response, said, text

TWIN = call("f", given_id="a")
ANSWER = response("f", given_id="a")


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([USER, said(text("I look."), call("f"), call("g")), asked(response("f"), response("g"), text("And?"))], []),
        ([USER, said(call("f", given_id="a")), asked(response("f", given_id="a"))], []),
        ([USER, said(call("f")), said(call("g")), asked(response("f"), response("g"))], []),
        ([USER, said(call("a.b:c-d"), call("_x")), asked(response("a.b:c-d"), response("_x"))], []),
        ([USER, said({"functionCall": {"name": "f"}}), asked(response("f"))], []),
        ([said(text("Hi"))], [(0, "message")]),
        ([USER, said(call("f"))], [(2, "unanswered")]),
        ([USER, said(call("f")), USER], [(2, "unanswered")]),
        ([USER, said(call("f"), call("g")), asked(response("f"))], [(2, "unanswered")]),
        ([USER, said(call("f"), call("g")), asked(response("g"), response("f"))], [(2, "order"), (2, "order")]),
        ([USER, said(call("f")), asked(response("f"), response("f"))], [(2, "orphan")]),
        ([asked(response("f"))], [(0, "orphan")]),
        ([USER, said(call("f", given_id="a")), asked(response("f", given_id="b"))], [(2, "id")]),
        ([USER, said(call("f", given_id="a")), asked(response("f"))], [(2, "id")]),
        ([USER, said(TWIN, TWIN), asked(ANSWER, ANSWER)], [(1, "id")]),
        ([USER, said(call("f", given_id="")), asked(response("f", given_id=""))], [(1, "id")]),
        ([USER, said(call("f", given_id=5)), asked(response("f", given_id=5))], [(1, "id")]),
        ([USER, said(call("7zip")), asked(response("7zip"))], [(1, "name")]),
        ([USER, said(call(5)), asked(response(5))], [(1, "name")]),
        ([USER, said(call("f", "{}")), asked(response("f"))], [(1, "arguments")]),
        ([USER, said(call("f")), asked(response("f", "seen"))], [(2, "content")]),
        ([asked(call("f"))], [(0, "content"), (1, "unanswered")]),
        ([USER, said(response("f"))], [(1, "content")]),
        ([asked(text(""))], [(0, "content")]),
        ([asked({})], [(0, "content")]),
        ([asked("Hi")], [(0, "content")]),
        ([asked()], [(0, "message")]),
        ([{"role": "user"}], [(0, "message")]),
        ([{"role": "system", "parts": [{"text": "x"}]}], [(0, "message")]),
        ([asked(text("a\0"))], [(0, "message")]),
        (["Hi"], [(0, "message")]),
    ],
)
def test_each_rule_is_checked(messages: list[Any], found: list[tuple[int, str]]) -> None:
    """Each way to be refused is found, at its place; a sound conversation has none."""
    problems = check("gemini", messages)
    assert [(problem.place, problem.code) for problem in problems] == found
    assert all(problem.message for problem in problems)
