"""The scripted model follows its script, wherever the conversation stands."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.demo.model import SCRIPT, ScriptedModel, ScriptFault

FAULTS = json.loads((Path(__file__).parents[1] / "suite/demo_scripts.json").read_text())
CALL = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{"}}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ENDS = {"role": "assistant", "content": "Done.", "tool_calls": None}


def script(folder: Path, *decisions: object) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps({"model": "m", "task": "t", "decisions": decisions}))
    return path


def test_decisions_are_given_by_the_conversation(tmp_path: Path) -> None:
    """The count of the assistant's messages says which decision is next, so a new process goes on where one died."""
    path = script(tmp_path, ASKS, ENDS)
    first = ScriptedModel.load(path).chat([{"role": "user", "content": "t"}])
    assert first["choices"] == [{"index": 0, "message": ASKS, "finish_reason": "tool_calls"}]
    so_far: list[dict[str, Any]] = [{"role": "user", "content": "t"}, ASKS, {"role": "tool", "content": "x"}]
    second = ScriptedModel.load(path).chat(so_far)
    assert second["choices"] == [{"index": 0, "message": ENDS, "finish_reason": "stop"}]
    assert (first["id"], second["id"]) == ("chatcmpl-scripted-1", "chatcmpl-scripted-2")
    assert (second["object"], second["model"]) == ("chat.completion", "m")


def test_tokens_are_counted(tmp_path: Path) -> None:
    """Messages and tools count as asked, the decision as answered; the same question costs the same."""
    model = ScriptedModel.load(script(tmp_path, ENDS))
    few, more = model.chat([])["usage"], model.chat([], [{"name": "x" * 400}])["usage"]
    assert more["prompt_tokens"] - few["prompt_tokens"] > 100
    assert few["total_tokens"] == few["prompt_tokens"] + few["completion_tokens"] > 0


def test_a_decision_is_a_copy(tmp_path: Path) -> None:
    """Whoever changes what the model said does not change the script."""
    model = ScriptedModel.load(script(tmp_path, ASKS))
    model.chat([])["choices"][0]["message"]["tool_calls"].clear()
    assert model.chat([])["choices"][0]["message"] == ASKS


def test_a_script_that_ends_says_so(tmp_path: Path) -> None:
    """A conversation longer than the script is a clear error, not another repetition."""
    with pytest.raises(ScriptFault, match="1 decision,") as fault:
        ScriptedModel.load(script(tmp_path, ENDS)).chat([ENDS])
    assert fault.value.code == "script_fault"
    assert fault.value.hint


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case["fact"])
def test_a_wrong_script_is_refused_with_the_place(tmp_path: Path, case: dict[str, Any]) -> None:
    """A script that cannot be followed names the file, the place in it and the script that ships."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps(case["script"]))
    with pytest.raises(ScriptFault) as fault:
        ScriptedModel.load(path)
    assert fault.value.message.startswith(f"{path}#{case['pointer']}: ")
    assert str(SCRIPT) in str(fault.value)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000], ids=["cut", "no-utf8", "deep"])
def test_what_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is not JSON is a script fault that names it."""
    path = tmp_path / "script.json"
    path.write_bytes(content)
    with pytest.raises(ScriptFault, match="not JSON") as fault:
        ScriptedModel.load(path)
    assert str(path) in fault.value.message


def test_a_missing_script_is_refused(tmp_path: Path) -> None:
    """A script that is not there is a script fault that names it."""
    with pytest.raises(ScriptFault, match=r"missing\.json"):
        ScriptedModel.load(tmp_path / "missing.json")
