"""Reading within bounds, and replacing in one step."""

import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ledger.answers import NotFound, Rejected, ToolAnswer
from ledger.demo.files import MAX_FILE_BYTES, as_text, lines_of, read_text_bytes, replace_file

Unprivileged = Callable[[], AbstractContextManager[None]]


def code_of_reading(place: Path) -> str:
    """Return the code with which reading is refused."""
    with pytest.raises(ToolAnswer) as refused:
        read_text_bytes(place, "named")
    assert "'named'" in refused.value.message
    return refused.value.code


def test_a_file_is_read_byte_for_byte(root: Path) -> None:
    """Whatever is no binary file is returned as it is: empty, any line ends, any encoding, as large as allowed."""
    for content in (b"", b"a\r\nb\n", "ä\u2028".encode(), b"\xff\xfeno utf-8", b"x" * MAX_FILE_BYTES):
        (root / "f").write_bytes(content)
        assert read_text_bytes(root / "f", "f") == content


def test_nothing_there_is_not_found(root: Path) -> None:
    """A missing file, one below a file, and a name longer than any file's are not found."""
    (root / "f").touch()
    for place in (root / "missing", root / "f" / "below", root / ("n" * 300)):
        with pytest.raises(NotFound):
            read_text_bytes(place, "named")


def test_only_regular_files_are_read(root: Path) -> None:
    """A folder, a named pipe without a writer and a device are refused at once: nothing is waited for."""
    os.mkfifo(root / "pipe")
    for place in (root, root / "pipe", Path("/dev/zero")):
        assert code_of_reading(place) == "not_a_file"


def test_a_large_file_is_refused(root: Path) -> None:
    """One byte more than the bound is too large."""
    (root / "f").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert code_of_reading(root / "f") == "too_large"


def test_a_binary_file_is_refused(root: Path) -> None:
    """A file with a NUL byte is no text."""
    (root / "f").write_bytes(b"MZ\0\1")
    assert code_of_reading(root / "f") == "not_text"


def test_an_unreadable_file_is_refused(open_root: Path, unprivileged: Unprivileged) -> None:
    """A file that the user may not read, and one below a folder that he may not enter, are unreadable."""
    (open_root / "closed").mkdir()
    for name in ("f", "closed/f"):
        (open_root / name).write_text("x")
    (open_root / "f").chmod(0)
    (open_root / "closed").chmod(0)
    with unprivileged():
        assert code_of_reading(open_root / "f") == "unreadable"
        assert code_of_reading(open_root / "closed/f") == "unreadable"
    (open_root / "closed").chmod(0o700)


def test_an_error_while_reading_is_unreadable(root: Path) -> None:
    """A file that opens and cannot be read, and a link in place of a resolved path, are unreadable."""
    (root / "loop").symlink_to("loop")
    assert code_of_reading(Path("/proc/self/mem")) == "unreadable"
    assert code_of_reading(root / "loop") == "unreadable"


def test_what_is_not_utf8_is_marked() -> None:
    """Content that is not UTF-8 is shown with replacement characters, and said to be."""
    assert as_text("ä".encode()) == ("ä", False)
    assert as_text("ä".encode("latin-1")) == ("\ufffd", True)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\nb", ["a", "", "b"]),
        ("a\rb\x0b\x0c\x1c\u2028c\n", ["a\rb\x0b\x0c\x1c\u2028c"]),
    ],
)
def test_lines_are_counted_as_editors_do(text: str, lines: list[str]) -> None:
    r"""Only `\n` and `\r\n` end a line, and the end of the last line begins no further one."""
    assert lines_of(text) == lines


def test_a_file_is_replaced_whole(root: Path) -> None:
    """The new content has the old name and mode, who has the old file open keeps that, and nothing else is left."""
    place = root / "f"
    place.write_bytes(b"old")
    place.chmod(0o751)
    with place.open("rb") as reader:
        replace_file(place, "f", b"new")
        assert reader.read() == b"old"
    assert place.read_bytes() == b"new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o751
    assert list(root.iterdir()) == [place]


@contextmanager
def no_room(size: int) -> Iterator[None]:
    """Let no file grow beyond this size: writing fails in the middle, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_no_room_leaves_the_old_file(root: Path) -> None:
    """When writing fails in the middle the old file is untouched and no half of the new one is left."""
    place = root / "f"
    place.write_bytes(b"old")
    with no_room(1_000), pytest.raises(Rejected) as refused:
        replace_file(place, "f", b"x" * 5_000)
    assert refused.value.code == "unwritable"
    assert place.read_bytes() == b"old"
    assert list(root.iterdir()) == [place]


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o700), (0o644, 0o500)])
def test_what_is_read_only_stays(open_root: Path, unprivileged: Unprivileged, file_mode: int, folder_mode: int) -> None:
    """A read-only file, and a file in a folder that takes no new names, are unwritable."""
    place = open_root / "f"
    with unprivileged():
        place.write_bytes(b"old")
        place.chmod(file_mode)
        open_root.chmod(folder_mode)
        with pytest.raises(Rejected) as refused:
            replace_file(place, "f", b"new")
        open_root.chmod(0o700)
    assert refused.value.code == "unwritable"
    assert place.read_bytes() == b"old"


def test_an_error_after_the_change_is_no_refusal(open_root: Path, unprivileged: Unprivileged) -> None:
    """When the folder cannot be synced the change is there already: no answer may say that nothing happened."""
    place = open_root / "f"
    with unprivileged():
        place.write_bytes(b"old")
        open_root.chmod(0o300)
        with pytest.raises(PermissionError):
            replace_file(place, "f", b"new")
        open_root.chmod(0o700)
    assert place.read_bytes() == b"new"
