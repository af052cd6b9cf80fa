"""A scripted model in two wire forms, from Python or a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.demo.model import SCRIPT
from ledger.providers.formats import get_format
from ledger.testing import ScriptedModel
from ledger.testing.model import ScriptFault

THINKS: dict[str, Any] = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"n": 1}},
    ],
}
ASKS: dict[str, Any] = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"n": 1}'}}],
}
USER = {"role": "user", "content": "Look."}


@pytest.mark.parametrize("form", ["openai", "anthropic"])
@pytest.mark.parametrize(
    "decision",
    [[("look", {"n": 1})], THINKS, ASKS, [("look", '{"n": 1}')]],
    ids=["python", "anthropic", "openai", "text"],
)
def test_a_decision_is_read_in_both_forms(form: Any, decision: Any) -> None:
    """However it was given, the provider's own parser finds the same call in it, and then the answer."""
    model = ScriptedModel.of(decision, "Done.")
    first = model.chat([USER], format=form)
    asked = get_format(form).parse(first)
    (call,) = asked.calls
    given = call.arguments if call.raw is None else json.loads(call.raw)
    assert (call.name, given, asked.kind) == ("look", {"n": 1}, "tool_calls")
    assert call.provider_call_id
    answer = get_format(form).parse(model.chat([USER, {"role": "assistant"}, USER], format=form))
    assert (answer.kind, answer.text, answer.model) == ("text", "Done.", "scripted")


def test_a_message_goes_out_as_it_was_given() -> None:
    """In its own form word for word, and as a copy."""
    model = ScriptedModel.of(THINKS, ASKS)
    model.chat([], format="anthropic")["content"].clear()
    assert model.chat([], format="anthropic")["content"] == THINKS["content"]
    assert model.chat([THINKS])["choices"][0]["message"] == ASKS


def test_broken_arguments_stay_broken() -> None:
    """What is no JSON reaches the decode gate in either form; no arguments are an empty object."""
    model = ScriptedModel.of([("look", '{"n": '), ("look", "")])
    blocks = model.chat([], format="anthropic")["content"]
    assert [block["input"] for block in blocks] == ['{"n": ', {}]
    assert [call.raw for call in get_format("openai").parse(model.chat([])).calls] == ['{"n": ', ""]


def test_a_file_holds_the_same(tmp_path: Path) -> None:
    """The script of the demo, a list of messages of either form, or an object with a name and a task."""
    file = tmp_path / "script.json"
    file.write_text(json.dumps([THINKS, "Done.", [["look", {"n": 2}]]]))
    assert ScriptedModel.load(file) == ScriptedModel.of(THINKS, "Done.", [("look", {"n": 2})])
    file.write_text(json.dumps({"model": "m", "task": "t", "decisions": ["Done."]}))
    assert ScriptedModel.load(file) == ScriptedModel.of("Done.", name="m", task="t")
    assert ScriptedModel.load(SCRIPT).name == "scripted-coder"


@pytest.mark.parametrize("decisions", [(), (3,), ([],), ([("look",)],), ([(1, {})],), ({"role": "user"},)], ids=str)
def test_what_is_no_decision_is_refused(decisions: tuple[Any, ...]) -> None:
    """At once, with its place."""
    with pytest.raises(ScriptFault, match="/decisions"):
        ScriptedModel.of(*decisions)


def test_a_file_that_is_no_script_is_refused(tmp_path: Path) -> None:
    """It says which file."""
    file = tmp_path / "script.json"
    file.write_text("3")
    with pytest.raises(ScriptFault, match=r"script\.json"):
        ScriptedModel.load(file)
