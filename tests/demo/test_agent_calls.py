"""What the agent's calls do on the ledger: side by side or in order, refused, failed, and told to model and program."""

from pathlib import Path
from typing import Any

import pytest

from ledger.demo.agent import WatchedTools
from ledger.demo.tools import TOOL_NAMES, Row
from ledger.events import BatchPlanned
from ledger.session.results import Results
from tests.demo.agents import Meeting, MeetingTools, asked, begun, events_of, opened, replies_of

EDIT = {"path": "pages.py", "old_text": "number * size", "new_text": "(number - 1) * size"}


def turn(folder: Path, *calls: tuple[str, Any], tools: WatchedTools | None = None) -> tuple[Results, list[Any]]:
    """Dispatch one turn of the model; return what came of it, and the plan of its batch."""
    with opened(folder, tools) as ledger, ledger.session("one") as session:
        session.tools()
        results = session.dispatch(asked(*calls))
        return results, [event.body for event in events_of(ledger, "one", "batch.planned")]


# side by side, or in order


def test_reads_of_a_turn_overlap(tmp_path: Path) -> None:
    """Three reads run at the same time (each waits for the other two), and are answered in the order asked."""
    tools = MeetingTools(begun(tmp_path), meeting=Meeting(3))
    calls = [("search_text", {"query": "page"}), ("read_file", {"path": "pages.py"}), ("list_files", {})]
    results, (plan,) = turn(tmp_path, *calls, tools=tools)
    assert [call.state for call in results.calls] == ["succeeded"] * 3
    assert tools.meeting.peak == 3
    assert isinstance(plan, BatchPlanned)
    assert (plan.mode, plan.size) == ("parallel", 3)
    assert [call.tool for call in results.calls] == ["search_text", "read_file", "list_files"]
    assert [message["tool_call_id"] for message in results.messages[1:]] == ["call_0", "call_1", "call_2"]
    assert [reply["data"] for reply in replies_of(results.messages)] == [call.result for call in results.calls]


def test_equal_reads_both_run(tmp_path: Path) -> None:
    """Two equal reads of one turn are two calls, and both run."""
    tools = MeetingTools(begun(tmp_path), meeting=Meeting(2))
    results, _ = turn(tmp_path, ("read_file", {"path": "NOTES.md"}), ("read_file", {"path": "NOTES.md"}), tools=tools)
    first, second = results.calls
    assert tools.meeting.ran == ["read_file", "read_file"]
    assert first.call_id != second.call_id
    assert first.result == second.result is not None


@pytest.mark.parametrize(
    ("place", "mode", "groups"),
    [(0, "grouped", [[0], [1, 2]]), (1, "sequential", [[0], [1], [2]]), (2, "grouped", [[0, 1], [2]])],
)
def test_a_turn_with_an_edit_keeps_its_order(tmp_path: Path, place: int, mode: str, groups: list[list[int]]) -> None:
    """An edit excludes everything: what was asked before it ends before it starts, what was asked after it sees it."""
    tools = MeetingTools(begun(tmp_path), meeting=Meeting(1))
    calls: list[tuple[str, Any]] = [("list_files", {}), ("read_file", {"path": "pages.py"})]
    calls.insert(place, ("edit_file", EDIT))
    results, (plan,) = turn(tmp_path, *calls, tools=tools)
    assert isinstance(plan, BatchPlanned)
    assert (plan.mode, list(plan.groups)) == (mode, groups)
    assert tools.meeting.beside["edit_file"] == 0
    assert tools.meeting.ran.index("edit_file") == place
    assert [call.tool for call in results.calls] == [name for name, _ in calls]
    reading = next(call for call in results.calls if call.tool == "read_file")
    assert ("(number - 1)" in reading.result["text"]) == (place < 2)


# how a call ends


def test_a_failing_test_is_a_successful_call(tmp_path: Path) -> None:
    """Tests that fail are what the tool was asked for: the call succeeded, and its exit code says 1."""
    results, _ = turn(tmp_path, ("run_test", {}))
    (call,) = results.calls
    assert (call.state, call.code, call.result["exit_code"]) == ("succeeded", None, 1)
    assert "FAILED" in call.result["output"]


def test_a_test_without_end_is_a_known_failure(tmp_path: Path) -> None:
    """A test that reached the tool's own limit was killed with its children: it failed, and nobody is asked."""
    workspace = begun(tmp_path)
    (workspace.root / "test_pages.py").write_text("while True:\n    pass\n")
    results, _ = turn(tmp_path, ("run_test", {}), tools=WatchedTools(workspace, test_limit_seconds=0.5))
    (call,) = results.calls
    assert (call.state, call.code, call.waiting) == ("failed", "timeout", False)
    assert call.call.error_class == "tool"
    assert call.answer["status"] == "failed"


class BrokenTools(WatchedTools):
    """Tools with a bug in one of the reads."""

    def read_file(self, path: str) -> Row:
        raise ZeroDivisionError(path)


ENDS = [
    ("read_file", '{"path": "pages.py"', "rejected", "invalid_json", "decode"),
    ("search_text", {"path": "."}, "rejected", "schema_validation", "schema"),
    ("search_text", {"query": ""}, "rejected", "schema_validation", "schema"),
    ("list_files", {"max_entries": 201}, "rejected", "schema_validation", "schema"),
    ("list_files", {"max_entries": 0}, "rejected", "schema_validation", "schema"),
    ("read_lines", {"path": "pages.py", "start_line": 0}, "rejected", "schema_validation", "schema"),
    ("read_lines", {"path": "pages.py", "start_line": 6, "end_line": 2}, "rejected", "invalid_range", "business"),
    ("reed_file", {"path": "pages.py"}, "rejected", "unknown_tool", "lookup"),
    ("list_files", {"path": "../.."}, "failed", "path_outside", None),
    ("read_file", {"path": "way/secret.txt"}, "failed", "path_outside", None),
    ("edit_file", {**EDIT, "path": "way/secret.txt"}, "failed", "path_outside", None),
    ("edit_file", {**EDIT, "old_text": "i"}, "failed", "not_unique", None),
    ("read_lines", {"path": "gone.py", "start_line": 1}, "succeeded", "not_found", None),
    ("edit_file", {**EDIT, "old_text": "nowhere"}, "succeeded", "not_found", None),
    ("read_file", {"path": "pages.py"}, "failed", "tool_error", None),
]


@pytest.mark.parametrize(("tool", "arguments", "state", "code", "gate"), ENDS, ids=lambda value: str(value)[:40])
def test_each_fault_has_its_own_code(
    tmp_path: Path, tool: str, arguments: Any, state: str, code: str, gate: str | None
) -> None:
    """A program reads code, message and tool, the model a text that says the same; nothing is changed."""
    workspace = begun(tmp_path)
    (tmp_path / "secret.txt").write_text("number * size")
    (workspace.root / "way").symlink_to("..")
    kind = BrokenTools if code == "tool_error" else WatchedTools
    edits: list[str] = []
    results, _ = turn(tmp_path, (tool, arguments), tools=kind(workspace, edited=edits.append))
    (call,) = results.calls
    told = replies_of(results.messages)[0]
    assert (call.state, call.code, call.call.gate) == (state, code, gate)
    assert (told["code"], call.tool) == (code, tool)
    assert call.message
    assert told["message"].startswith(call.message)
    assert edits == []
    assert (tmp_path / "secret.txt").read_text() == "number * size"


def test_the_bug_of_a_tool_is_not_told_to_the_model(tmp_path: Path) -> None:
    """The text of an exception that no tool meant to raise stays on this side."""
    results, _ = turn(tmp_path, ("read_file", {"path": "private.py"}), tools=BrokenTools(begun(tmp_path)))
    assert "ZeroDivision" not in results.messages[1]["content"]


def test_arguments_may_be_an_object_or_a_text(tmp_path: Path) -> None:
    """A host's own call gives its arguments either way."""
    with opened(tmp_path) as ledger, ledger.session("one") as session:
        ends = [session.call("read_file", arguments) for arguments in ({"path": "NOTES.md"}, '{"path": "NOTES.md"}')]
    assert [end.state for end in ends] == ["succeeded", "succeeded"]
    assert ends[0].result == ends[1].result


# what a model is offered


def test_the_six_tools_are_offered(tmp_path: Path) -> None:
    """A model is offered exactly the six, each with its description and a closed schema."""
    with opened(tmp_path) as ledger, ledger.session("one") as session:
        offered = [tool["function"] for tool in session.tools("openai")]
    assert {each["name"] for each in offered} == set(TOOL_NAMES)
    assert all(each["description"] and each["parameters"]["additionalProperties"] is False for each in offered)


def test_what_is_handed_out_is_a_copy(tmp_path: Path) -> None:
    """A host that changes a definition that it was given changes neither the next one nor what is checked."""
    with opened(tmp_path) as ledger, ledger.session("one") as session:
        before = session.tools("openai")
        for tool in before:
            tool["function"]["parameters"]["properties"].clear()
            tool["function"]["parameters"]["required"] = ["anything"]
        after = session.tools("openai")
        assert all(tool["function"]["parameters"]["properties"] for tool in after)
        assert session.call("list_files", {}).state == "succeeded"


def test_a_ledger_can_have_its_own_workspace(tmp_path: Path) -> None:
    """Two agents in one process work in two folders, and neither sees the other's files."""
    seen = []
    for name in ("one", "two"):
        workspace = begun(tmp_path / name)
        (workspace.root / f"{name}.txt").touch()
        (tmp_path / f"{name}-ledger").mkdir()
        ledger = opened(tmp_path / f"{name}-ledger", WatchedTools(workspace))
        with ledger, ledger.session("s") as session:
            seen.append({entry["name"] for entry in session.call("list_files", {}).result["entries"]})
    assert "one.txt" in seen[0] - seen[1]
    assert "two.txt" in seen[1] - seen[0]
