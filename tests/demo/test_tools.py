"""The six tools, on real files and real processes."""

import hashlib
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from ledger.answers import CantTell, DidNotHappen, Failed, Happened, NotFound, Rejected, ToolAnswer
from ledger.demo.tools import MAX_ENTRIES, MAX_LINES, TOOL_NAMES, CodingTools, range_is_ordered
from ledger.demo.workspace import Workspace

Unprivileged = Callable[[], AbstractContextManager[None]]

REQUIRED: dict[str, dict[str, Any]] = {
    "read_file": {},
    "list_files": {},
    "search_text": {"query": "x"},
    "read_lines": {"start_line": 1},
    "edit_file": {"old_text": "secret", "new_text": "pwned"},
    "run_test": {},
}


def code_of(call: Callable[[], object]) -> str:
    """Return the code with which a call is refused."""
    with pytest.raises(ToolAnswer) as refused:
        call()
    return refused.value.code


@pytest.mark.parametrize("name", TOOL_NAMES)
@pytest.mark.parametrize("path", ["../secret.txt", "link", "folder/secret.txt", "/etc/passwd", "a\0b"])
def test_no_tool_leaves_the_workspace(tools: CodingTools, root: Path, name: str, path: str) -> None:
    """Every tool refuses a path that leads outside, whether written so or through a link, and touches nothing there."""
    (root / "link").symlink_to("../secret.txt")
    (root / "folder").symlink_to("..")
    call = getattr(tools, name)
    assert code_of(lambda: call(path=path, **REQUIRED[name])) == "path_outside"
    assert (root.parent / "secret.txt").read_text() == "secret\n"


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_nothing_there_is_not_found(tools: CodingTools, root: Path, name: str) -> None:
    """Every tool answers a path where nothing is with NotFound: a missing file is an answer."""
    (root / "file").touch()
    call = getattr(tools, name)
    for path in ("missing", "missing/below", "file/below"):
        with pytest.raises(NotFound) as missing:
            call(path=path, **REQUIRED[name])
        assert missing.value.code == "not_found"


# read_file


def test_a_file_is_read_whole(tools: CodingTools, root: Path) -> None:
    """The text comes with the file's own line ends, its size in bytes, and its count of lines."""
    (root / "a.txt").write_bytes("ä\r\nb".encode())
    assert tools.read_file("./a.txt") == {
        "path": "a.txt",
        "text": "ä\r\nb",
        "lossy": False,
        "line_count": 2,
        "size_bytes": 5,
    }


def test_an_empty_file_is_read(tools: CodingTools, root: Path) -> None:
    """An empty file has no line."""
    (root / "a.txt").touch()
    assert tools.read_file("a.txt") == {"path": "a.txt", "text": "", "lossy": False, "line_count": 0, "size_bytes": 0}


def test_a_file_of_another_encoding_is_marked(tools: CodingTools, root: Path) -> None:
    """Content that is not UTF-8 is shown as well as it can be, and marked."""
    (root / "a.txt").write_bytes(b"caf\xe9")
    read = tools.read_file("a.txt")
    assert (read["text"], read["lossy"]) == ("caf\ufffd", True)


# list_files


def test_a_folder_is_listed_by_name(tools: CodingTools, root: Path) -> None:
    """Entries come sorted, with their kind; links are not followed."""
    (root / "b").mkdir()
    (root / "c.py").touch()
    (root / "a").symlink_to("/etc")
    os.mkfifo(root / "d")
    assert tools.list_files() == {
        "path": ".",
        "entries": [
            {"name": "a", "kind": "link"},
            {"name": "b", "kind": "folder"},
            {"name": "c.py", "kind": "file"},
            {"name": "d", "kind": "other"},
        ],
        "total": 4,
        "truncated": False,
    }
    assert tools.list_files("b") == {"path": "b", "entries": [], "total": 0, "truncated": False}


def test_a_huge_folder_is_listed_in_part(tools: CodingTools, root: Path) -> None:
    """The first names come, with the count of all of them."""
    for number in range(1_000):
        (root / f"{number:03}").touch()
    listed = tools.list_files(max_entries=MAX_ENTRIES)
    assert [entry["name"] for entry in listed["entries"]] == [f"{number:03}" for number in range(MAX_ENTRIES)]
    assert (listed["total"], listed["truncated"]) == (1_000, True)
    assert not tools.list_files(max_entries=1_000)["truncated"]


def test_a_name_that_is_not_text_is_listed_escaped(tools: CodingTools, root: Path) -> None:
    """A name that is no UTF-8 is shown escaped and marked: nobody can ask for it under that name."""
    (root / os.fsdecode(b"caf\xe9")).touch()
    assert tools.list_files()["entries"] == [{"name": "caf\\xe9", "kind": "file", "escaped": True}]


def test_a_file_is_not_listed(tools: CodingTools, root: Path) -> None:
    """A file is no folder."""
    (root / "a").touch()
    assert code_of(lambda: tools.list_files("a")) == "not_a_folder"


def test_an_unreadable_folder_is_not_listed(open_root: Path, unprivileged: Unprivileged) -> None:
    """A folder that the user may not read is unreadable."""
    (open_root / "closed").mkdir(mode=0)
    tools = CodingTools(Workspace(open_root))
    with unprivileged():
        assert code_of(lambda: tools.list_files("closed")) == "unreadable"


# search_text


def test_a_search_tells_file_line_and_text(tools: CodingTools, root: Path) -> None:
    """Each match names the file, the line's number from 1 and its text; the rest says how much was looked at."""
    (root / "a.py").write_text("x\nneedle\n")
    (root / "b").write_bytes(b"\0")
    assert tools.search_text("needle") == {
        "path": ".",
        "matches": [{"file": "a.py", "line": 2, "text": "needle"}],
        "files_searched": 1,
        "files_skipped": 1,
        "truncated": False,
    }
    assert tools.search_text("needle", "a.py")["matches"] == [{"file": "a.py", "line": 2, "text": "needle"}]


# read_lines


@pytest.mark.parametrize(
    ("start", "end", "lines"),
    [(1, 1, ["a"]), (2, 3, ["b", "c"]), (2, None, ["b", "c"]), (3, 99, ["c"]), (1, None, ["a", "b", "c"])],
)
def test_lines_are_read(tools: CodingTools, root: Path, start: int, end: int | None, lines: list[str]) -> None:
    """Lines count from 1, both ends are included, and an end beyond the last line means the last line."""
    (root / "a").write_text("a\nb\r\nc\n")
    assert tools.read_lines("a", start, end) == {
        "path": "a",
        "start_line": start,
        "end_line": start + len(lines) - 1,
        "lines": lines,
        "lossy": False,
        "line_count": 3,
        "truncated": False,
    }


@pytest.mark.parametrize(("content", "start"), [("", 1), ("a\n", 2), ("a\nb", 3)])
def test_a_line_beyond_the_end_is_not_found(tools: CodingTools, root: Path, content: str, start: int) -> None:
    """A range that begins after the last line is not found; an empty file has not even line 1."""
    (root / "a").write_text(content)
    with pytest.raises(NotFound):
        tools.read_lines("a", start)


def test_lines_are_bounded(tools: CodingTools, root: Path) -> None:
    """More lines than the bound are cut, and said to be; as many as the bound are not."""
    (root / "a").write_text("x\n" * (MAX_LINES + 1))
    read = tools.read_lines("a", 1)
    assert (len(read["lines"]), read["end_line"], read["truncated"]) == (MAX_LINES, MAX_LINES, True)
    read = tools.read_lines("a", 2)
    assert (len(read["lines"]), read["end_line"], read["truncated"]) == (MAX_LINES, MAX_LINES + 1, False)


def test_a_range_must_be_in_order() -> None:
    """An end before the start is invalid and repairable; equal ends, and none, are fine."""
    for legal in ({"start_line": 6, "end_line": 6}, {"start_line": 6}, {"start_line": 6, "end_line": None}):
        assert range_is_ordered(legal, None) is None
    invalid = range_is_ordered({"path": "a", "start_line": 6, "end_line": 2}, None)
    assert invalid is not None
    assert (invalid.code, invalid.pointer, invalid.repairable) == ("invalid_range", "/end_line", True)
    assert "6" in invalid.message


# edit_file


def test_an_edit_changes_the_file(tools: CodingTools, root: Path) -> None:
    """The file holds the new text, and the result identifies the new content."""
    (root / "a").write_text("x = 1\n")
    result = tools.edit_file("a", "1", "2")
    assert (root / "a").read_bytes() == b"x = 2\n"
    assert result == {"path": "a", "size_bytes": 6, "sha256": hashlib.sha256(b"x = 2\n").hexdigest()}


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"y\n", "not_found"), (b"x x\n", "not_unique"), (b"x\0", "not_text"), (b"-x-\n-", "already_applied")],
)
def test_a_refused_edit_leaves_the_file(tools: CodingTools, root: Path, content: bytes, code: str) -> None:
    """Whatever the refusal, the file is as it was."""
    (root / "a").write_bytes(content)
    assert code_of(lambda: tools.edit_file("a", "x", "-x-")) == code
    assert (root / "a").read_bytes() == content


def test_an_edit_through_a_link_keeps_the_link(tools: CodingTools, root: Path) -> None:
    """A link inside the workspace stays a link; its target is edited."""
    (root / "a").write_text("old")
    (root / "link").symlink_to("a")
    assert tools.edit_file("link", "old", "new")["path"] == "a"
    assert (root / "link").is_symlink()
    assert (root / "a").read_text() == "new"


EDIT = {"path": "a", "old_text": "old", "new_text": "new"}


def test_the_file_tells_that_an_edit_happened(tools: CodingTools, root: Path) -> None:
    """With the new text in the file the edit happened, with the result that the tool gave."""
    (root / "a").write_text("old")
    result = tools.edit_file(**EDIT)
    assert tools.edit_file_happened(EDIT, None) == Happened(result, {**result, "text": "replaced"})


def test_the_file_tells_that_an_edit_did_not_happen(tools: CodingTools, root: Path) -> None:
    """With the old text still in the file the edit did not happen; the evidence says what was seen."""
    (root / "a").write_text("old")
    answer = tools.edit_file_happened(EDIT, None)
    assert isinstance(answer, DidNotHappen)
    assert answer.evidence["text"] == "untouched"
    assert answer.evidence["path"] == "a"


def test_a_changed_file_cannot_tell(tools: CodingTools, root: Path) -> None:
    """With neither text in the file nobody can tell."""
    (root / "a").write_text("else")
    answer = tools.edit_file_happened(EDIT, None)
    assert isinstance(answer, CantTell)
    assert answer.evidence["text"] == "unclear"


def test_a_file_out_of_reach_cannot_tell(tools: CodingTools, root: Path) -> None:
    """A file that is gone, or that now leads outside, says nothing; the evidence says why."""
    missing = tools.edit_file_happened(EDIT, None)
    (root / "a").symlink_to("../secret.txt")
    outside = tools.edit_file_happened(EDIT, None)
    for answer, word in ((missing, "nothing"), (outside, "outside")):
        assert isinstance(answer, CantTell)
        assert word in answer.evidence["file"]


# run_test

PASSING = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"


def test_a_passing_test_exits_0(tools: CodingTools, root: Path) -> None:
    """The result holds the exit code and what the test said."""
    (root / "test_a.py").write_text(PASSING)
    result = tools.run_test("test_a.py")
    assert (result["path"], result["exit_code"]) == ("test_a.py", 0)
    assert "OK" in result["output"]
    assert result["output_bytes"] == len(result["output"])
    assert (result["truncated"], result["left_running"]) == (False, False)


def test_a_failing_test_is_a_result(tools: CodingTools, root: Path) -> None:
    """Bad news is no failure of the call."""
    (root / "test_a.py").write_text(PASSING.replace("pass", "self.fail('bad news')"))
    result = tools.run_test("test_a.py")
    assert result["exit_code"] == 1
    assert "bad news" in result["output"]


def test_a_folder_is_searched_for_tests(tools: CodingTools, root: Path) -> None:
    """A folder's tests run with the workspace as the current folder; without a path it is the whole workspace."""
    (root / "tests").mkdir()
    (root / "helper.py").write_text("VALUE = 1\n")
    (root / "tests/test_a.py").write_text("import helper\n" + PASSING)
    (root / "test_b.py").write_text(PASSING)
    assert "Ran 1 test" in tools.run_test("tests")["output"]
    assert tools.run_test("tests/test_a.py")["exit_code"] == 0
    assert "Ran 1 test" in tools.run_test()["output"]


def test_a_name_is_no_option(tools: CodingTools, root: Path) -> None:
    """A name that begins with a dash is a name."""
    (root / "--help.py").write_text(PASSING)
    (root / "--help").mkdir()
    (root / "--help/test_a.py").write_text(PASSING)
    for path in ("--help.py", "--help"):
        assert "Ran 1 test" in tools.run_test(path)["output"]


def test_only_python_is_a_test(tools: CodingTools, root: Path) -> None:
    """A file that is no Python is refused."""
    (root / "a.txt").touch()
    with pytest.raises(Rejected) as refused:
        tools.run_test("a.txt")
    assert refused.value.code == "not_a_test"


def test_a_test_sees_no_secret_of_the_host(tools: CodingTools, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's environment is not handed to code that a model may have written."""
    monkeypatch.setenv("API_KEY", "canary")
    (root / "test_a.py").write_text("import os\nprint(dict(os.environ))\n" + PASSING)
    output = tools.run_test("test_a.py")["output"]
    assert "PATH" in output
    assert "canary" not in output


def test_a_test_sees_the_edit_before_it(tools: CodingTools, root: Path) -> None:
    """An edit that keeps a file's size and its time is tested as it is: no stale bytecode."""
    place = root / "test_a.py"
    for word, code in (("pass", 0), ("1//0", 1)):
        place.write_text(PASSING.replace("pass", word))
        os.utime(place, (1_000_000_000, 1_000_000_000))
        assert tools.run_test("test_a.py")["exit_code"] == code


def test_a_test_that_hangs_meets_the_limit(root: Path) -> None:
    """At its own limit the tool kills the test and reports a known end."""
    (root / "test_a.py").write_text("import signal\nsignal.pause()\n")
    tools = CodingTools(Workspace(root), test_limit_seconds=0.2)
    with pytest.raises(Failed) as failed:
        tools.run_test("test_a.py")
    assert failed.value.code == "timeout"
