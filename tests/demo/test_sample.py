"""The sample project is laid out once, and the script repairs it."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.demo.model import ScriptedModel
from ledger.demo.sample import PROJECT, PROJECT_FILES, lay_out
from ledger.demo.tools import CodingTools, range_is_ordered
from ledger.errors import UsageError


def test_the_project_is_laid_out(tmp_path: Path) -> None:
    """Every file of the project is copied into a new folder, and nothing else."""
    workspace = lay_out(tmp_path / "new/folder")
    assert workspace.root == tmp_path / "new/folder"
    assert sorted(place.name for place in workspace.root.iterdir()) == sorted(PROJECT_FILES)
    shipped = {place.name for place in PROJECT.iterdir() if place.is_file()}
    assert shipped == set(PROJECT_FILES)


def test_work_is_not_overwritten(tmp_path: Path) -> None:
    """Laying out again is refused, and what was edited stays."""
    lay_out(tmp_path)
    (tmp_path / "pages.py").write_text("edited")
    with pytest.raises(UsageError) as refused:
        lay_out(tmp_path)
    assert refused.value.code == "folder_in_use"
    assert (tmp_path / "pages.py").read_text() == "edited"


def test_the_script_repairs_the_project(tmp_path: Path) -> None:
    """
    Six decisions, seven calls: three reads at once, a range the wrong way round, the same put right, a unique edit,
    a test that passes; the tests fail before.
    """
    tools = CodingTools(lay_out(tmp_path))
    assert tools.run_test()["exit_code"] == 1
    model = ScriptedModel.load()
    messages: list[dict[str, Any]] = [{"role": "user", "content": model.task}]
    story = []
    while messages[-1].get("tool_calls") or messages[-1]["role"] != "assistant":
        message = model.chat(messages)["choices"][0]["message"]
        messages.append(message)
        story.append([told(tools, call["function"]) for call in message.get("tool_calls", [])])
    assert story == [
        ["list_files", "read_file", "search_text"],
        ["invalid_range"],
        ["read_lines"],
        ["edit_file"],
        ["run_test 0"],
        [],
    ]


def told(tools: CodingTools, function: dict[str, str]) -> str:
    """Run a call of the script; return its name with what matters of its end."""
    name, arguments = function["name"], json.loads(function["arguments"])
    invalid = range_is_ordered(arguments, None) if name == "read_lines" else None
    if invalid:
        return invalid.code
    result = getattr(tools, name)(**arguments)
    return f"{name} {result['exit_code']}" if name == "run_test" else name
