"""Pieces of a page."""

from ledger.cli.layout import block, bullets, facts, heading
from ledger.cli.text import Ink, Line, paint


def printed(lines: list[Line]) -> list[str]:
    return [paint(line, color=False) for line in lines]


def test_a_heading_stands_apart() -> None:
    """A heading has an empty line before it."""
    assert printed(heading("Evidence")) == ["", "Evidence"]


def test_facts_stand_below_each_other() -> None:
    """Names are padded to one width, values are plain, an inked value keeps its tone."""
    found = facts({"Call": "abc", "Started at": None, "中文": Ink("failed", "bad")})
    assert printed(found) == ["  Call        abc", "  Started at  -", "  中文        failed"]
    assert paint(found[2], color=True).endswith("\x1b[31mfailed\x1b[0m")
    assert facts({}) == []


def test_a_block_of_data_stays_indented() -> None:
    """No line of data can pass for one of ours, however it breaks its lines."""
    assert printed(block("one\r\nError: two\n\x1b[2Jthree\rfour")) == [
        "  one",
        "  Error: two",
        "  \\x1b[2Jthree\\rfour",
    ]


def test_bullets_are_lines() -> None:
    """One item a line, whatever it holds."""
    assert printed(bullets(["a\nb", Ink("c", "dim")])) == ["  - a\\nb", "  - c"]
