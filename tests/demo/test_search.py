"""Searching finds every line, in a fixed order, within bounds."""

import os
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ledger.answers import NotFound, Rejected
from ledger.demo.files import MAX_FILE_BYTES
from ledger.demo.search import MAX_FILES, MAX_LINE_CHARS, MAX_MATCHES, MAX_TOTAL_BYTES, Search
from ledger.demo.workspace import Workspace

Unprivileged = Callable[[], AbstractContextManager[None]]


def search(root: Path, query: str, path: str = ".") -> Search:
    workspace = Workspace(root)
    result = Search(workspace, query)
    result.run(workspace.resolve(path), path)
    return result


def found(result: Search) -> list[tuple[str, int, str]]:
    return [(match["file"], match["line"], match["text"]) for match in result.matches]


def test_every_line_is_found_in_a_fixed_order(root: Path) -> None:
    """A folder's own files come first, by name, then those below; each line once, with its number and text."""
    (root / "b/c").mkdir(parents=True)
    (root / "a").mkdir()
    (root / "z.py").write_text("x\r\nneedle needle\r\n")
    (root / "b/c/f.py").write_text("\n\n  needle")
    (root / "b/f.py").write_text("needle")
    (root / "a/f.py").write_text("Needle\nneed\nle\n")
    (root / "a/g.py").write_text("a needle\n")
    result = search(root, "needle")
    assert found(result) == [
        ("z.py", 2, "needle needle"),
        ("a/g.py", 1, "a needle"),
        ("b/f.py", 1, "needle"),
        ("b/c/f.py", 3, "  needle"),
    ]
    assert (result.files_searched, result.files_skipped, result.truncated) == (5, 0, False)


def test_one_file_can_be_searched(root: Path) -> None:
    """A path may name a single file; its siblings are left alone."""
    for name in ("a.py", "b.py"):
        (root / name).write_text("needle\n")
    assert found(search(root, "needle", "b.py")) == [("b.py", 1, "needle")]


def test_the_query_is_plain_text(root: Path) -> None:
    """Metacharacters of patterns mean themselves."""
    (root / "a.py").write_text("a.c\nabc\n.*\n")
    assert [line for _, line, _ in found(search(root, ".*"))] == [3]


def test_what_is_no_text_is_counted(root: Path) -> None:
    """Binary files, pipes and links, which may lead outside, are passed over and counted."""
    (root / "binary").write_bytes(b"secret\0")
    (root / "outside").symlink_to("../secret.txt")
    (root / "folder").symlink_to("..")
    os.mkfifo(root / "pipe")
    result = search(root, "secret")
    assert result.matches == []
    assert (result.files_searched, result.files_skipped) == (0, 4)


def test_folders_of_tools_are_left_out(root: Path) -> None:
    """What version control, caches and package managers keep is not searched."""
    for name in (".git", "__pycache__", "node_modules"):
        (root / name).mkdir()
        (root / name / "f").write_text("needle")
    assert search(root, "needle").files_searched == 0


def test_a_name_that_is_not_text_is_escaped(root: Path) -> None:
    """A match in a file whose name is no UTF-8 is reported under an escaped name."""
    (root / os.fsdecode(b"caf\xe9")).write_text("needle")
    assert found(search(root, "needle")) == [("caf\\xe9", 1, "needle")]


def test_matches_are_bounded(root: Path) -> None:
    """As many matches as allowed are no cut; one more is, also in a later file."""
    (root / "a").write_text("needle\n" * MAX_MATCHES)
    (root / "b").write_text("hay\n")
    (root / "c").write_text("hay\n")
    result = search(root, "needle")
    assert (len(result.matches), result.truncated, result.files_searched) == (MAX_MATCHES, False, 3)
    (root / "b").write_text("needle\n")
    result = search(root, "needle")
    assert (len(result.matches), result.truncated, result.files_searched) == (MAX_MATCHES, True, 2)


def test_a_long_line_is_cut(root: Path) -> None:
    """A line is shown up to a bound."""
    (root / "a").write_text("needle" + "x" * 10_000)
    [(_, _, text)] = found(search(root, "needle"))
    assert len(text) == MAX_LINE_CHARS


def test_files_are_bounded(root: Path) -> None:
    """A huge folder is searched up to a number of files, and said to be cut."""
    (root / "f0000").write_text("needle\n")
    for number in range(1, MAX_FILES):
        os.link(root / "f0000", root / f"f{number:04}")
    assert not search(root, "hay").truncated
    (root / "g").touch()
    result = search(root, "hay")
    assert (result.truncated, result.files_searched) == (True, MAX_FILES)


def test_bytes_are_bounded(root: Path) -> None:
    """Large files are searched up to a total, and the search is said to be cut."""
    (root / "f00").write_bytes(b"x" * MAX_FILE_BYTES)
    for number in range(1, 40):
        os.link(root / "f00", root / f"f{number:02}")
    result = search(root, "needle")
    assert result.truncated
    assert result.files_searched == MAX_TOTAL_BYTES // MAX_FILE_BYTES + 1


def test_a_deep_tree_is_searched(root: Path) -> None:
    """A tree deeper than Python's recursion limit is no fault."""
    deepest = root.joinpath(*["d"] * 1_200)
    place = root
    for _ in range(1_200):
        place = place / "d"
        place.mkdir()
    (deepest / "f").write_text("needle")
    try:
        assert len(found(search(root, "needle"))) == 1
    finally:
        subprocess.run(["rm", "-rf", root / "d"], check=True)


def test_what_cannot_be_read(open_root: Path, unprivileged: Unprivileged) -> None:
    """An unreadable folder below is counted; an unreadable start is an answer of its own."""
    (open_root / "closed").mkdir(mode=0)
    (open_root / "f").write_text("needle")
    (open_root / "f").chmod(0o644)
    with unprivileged():
        result = search(open_root, "needle")
        with pytest.raises(Rejected) as refused:
            search(open_root, "needle", "closed")
    assert (found(result), result.files_skipped) == ([("f", 1, "needle")], 1)
    assert refused.value.code == "unreadable"


def test_a_missing_start_is_not_found(root: Path) -> None:
    """A path where nothing is cannot be searched."""
    with pytest.raises(NotFound):
        search(root, "needle", "missing")
