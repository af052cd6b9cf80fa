"""Hostile text on a terminal."""

import sys
import unicodedata

import pytest

from ledger.cli.text import Ink, cut, encodable, paint, visible, visible_field, width


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text, 100 %", "plain text, 100 %"),
        ("中文 ✓ é", "中文 ✓ é"),
        ("\x1b]52;c;eA==\x07", r"\x1b]52;c;eA==\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb\u2066c\u2069", r"a\u202eb\u2066c\u2069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("caf\udce9.txt", r"caf\udce9.txt"),
        ("one\r\ntwo\u2028three\u2029\tfour\x85", r"one\r\ntwo\u2028three\u2029\tfour\x85"),
        ("nul\x00del\x7f", r"nul\x00del\x7f"),
        ("tag \U000e0041", r"tag \U000e0041"),
        ("filler \u3164", r"filler \u3164"),
        (r"C:\new", r"C:\new"),
    ],
)
def test_hidden_characters_are_escaped(raw: str, shown: str) -> None:
    """What hides, moves or commands is shown as an escape, everything else as it is; once more changes nothing."""
    assert visible(raw) == shown
    assert visible(shown) == shown


def test_every_hidden_character_of_unicode_is_known() -> None:
    """Every control, format, surrogate and separator character of this Python's Unicode is escaped."""
    hidden = [char for code in range(sys.maxunicode + 1) if unicodedata.category(char := chr(code)) in HIDDEN]
    assert len(hidden) > 2_000
    assert [char for char in hidden if not visible(char).isascii()] == []


HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_a_field_keeps_its_line_breaks() -> None:
    """Where quotes hold a field together, tabs and line breaks stay, other controls don't."""
    assert visible_field("a\tb\r\nc\x1bd\u2028") == "a\tb\r\nc\\x1bd\\u2028"


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("中文", 4), ("ｆｕｌｌ", 8), ("e\u0301", 1), ("é", 1), ("", 0), ("\u1112\u1161\u11ab", 2)],
)
def test_width_counts_columns(text: str, columns: int) -> None:
    """Wide characters take two columns, combining marks none, a Hangul syllable in its parts those of its first."""
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "room", "kept_start", "kept_end", "kept_both"),
    [
        ("short", 5, "short", "short", "short"),
        ("a longer text", 6, "a lon…", "… text", "a l…xt"),
        ("中文字符", 5, "中文…", "…字符", "中…符"),
        ("中文字符", 4, "中…", "…符", "中…"),
        ("abcde\u0301f", 3, "ab…", "…e\u0301f", "a…f"),
        ("abcde\u0301f", 2, "a…", "…f", "a…"),
        ("abc", 1, "…", "…", "…"),
        ("abc", 0, "", "", ""),
    ],
)
def test_cut_fits_the_room(text: str, room: int, kept_start: str, kept_end: str, kept_both: str) -> None:
    """A text is cut by columns at either end or between, and no combining mark is parted from its letter."""
    assert cut(text, room, "…") == kept_start
    assert cut(text, room, "…", keep="end") == kept_end
    assert cut(text, room, "…", keep="both") == kept_both
    assert all(width(kept) <= room for kept in (kept_start, kept_end, kept_both))


def test_encodable_writes_what_the_stream_will() -> None:
    """What an encoding lacks is escaped before it is measured, what it has stays."""
    assert encodable("é中✓", "cp1252") == r"é\u4e2d\u2713"
    assert encodable("é中✓", "utf-8") == "é中✓"
    assert encodable("é", "ascii") == r"\xe9"


def test_a_line_is_painted_part_by_part() -> None:
    """Tones come from us and only where colours are wanted; colour codes in the data never work."""
    line = ("state ", Ink("needs-review\x1b[0m", "warn"), " ", Ink("plain", None))
    assert paint(line, color=True) == "state \x1b[33mneeds-review\\x1b[0m\x1b[0m plain"
    assert paint(line, color=False) == r"state needs-review\x1b[0m plain"
    assert paint("a\nb", color=True) == r"a\nb"
