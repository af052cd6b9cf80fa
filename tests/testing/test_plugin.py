"""The fixtures as a user's test sees them, in a pytest of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ledger.testing
from ledger.testing.empty import open_fresh

pytest_plugins = ["pytester"]

USER = """
import json
from pathlib import Path

import pytest


def refunding(ledger, done):
    @ledger.tool
    def refund(order: int) -> str:
        "Refund an order."
        done.append(order)
        return "refunded"

    return ledger


def test_a_ledger(tool_ledger, tmp_path):
    assert refunding(tool_ledger, []).session("s").call("refund", {"order": 17}).result == "refunded"
    assert (tmp_path / "ledger.db").exists()


def test_a_crash(tool_ledger, crash):
    done = []
    with crash.after("call.started"):
        refunding(tool_ledger, done).session("s").call("refund", {"order": 17})
    again = refunding(crash.reopen(), done)
    again.session("s").messages()
    assert [row["state"] for row in again.calls()] == ["needs-review"]
    assert done == []


def test_a_model(scripted_model):
    model = scripted_model([("refund", {"order": 17})], "Done.", name="m")
    assert model.chat([], format="anthropic")["content"][0]["name"] == "refund"
    assert scripted_model(Path("script.json")).chat([])["choices"][0]["message"]["content"] == "Hello."


def test_no_second_effect(assert_no_second_effect):
    def program(ledger, effects):
        @ledger.tool
        def refund(order: int) -> str:
            "Refund an order."
            effects.add(order)
            return "refunded"

        session = ledger.session("s")
        session.messages()
        if not session.history.calls:
            session.call("refund", {"order": 17})

    assert len(assert_no_second_effect(program)) == 6
"""


@pytest.fixture
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Load before `pytester` what it would forget at its end: a C extension must not be loaded twice."""
    known = [getattr(ledger.testing, name) for name in dir(ledger.testing)]
    with open_fresh(tmp_path_factory.mktemp("loaded")) as opened:
        opened.tool("nothing")(lambda: None)
        assert opened.session("s").call("nothing").state == "succeeded"
    return known


def test_a_users_tests_find_the_fixtures(loaded: list[Any], pytester: pytest.Pytester) -> None:
    """A fresh ledger, a crash and the next process, a model, effects: each in a test of a user's."""
    Path("script.json").write_text(json.dumps(["Hello."]))
    pytester.makepyfile(USER)
    result = pytester.runpytest_inprocess("-p", "ledger.testing.plugin", "-p", "no:cacheprovider", "-W", "error")
    result.assert_outcomes(passed=4)
    assert loaded == [getattr(ledger.testing, name) for name in dir(ledger.testing)]
