"""Rows as JSON and CSV."""

import csv
import io
import json

import pytest

from ledger.cli.rows import Row, csv_lines, dumps, json_array

HOSTILE: list[Row] = [
    {"a": 'comma, "quote" and ; semicolon', "b": "line\r\nbreak\nand\ttab", "c": None, "d": ""},
    {"a": "中文 é", "b": " spaces ", "c": "lone \udce9", "d": "\x1b[31m\u202e\x00\x9b"},
    {"a": 2512292042121000001, "b": 1.0, "c": True, "d": -5},
    {"a": {"x": [1, "=1"]}, "b": ["y"], "c": False, "d": "'quoted'"},
]


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_json_is_printable_ascii_and_exact() -> None:
    """JSON has no raw control or foreign character, the last of ASCII included, and reads back as the same."""
    value = {"k": "\x7f\x1b\u2028\udce9中", "n": [2**70, 1.0, 1]}
    text = dumps(value)
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text) == value
    assert dumps({"a": 1}, indent=2) == '{\n  "a": 1\n}'


def test_json_array_reads_back() -> None:
    """The pieces are one array, with no row as well."""
    assert json.loads("".join(json_array(HOSTILE))) == HOSTILE
    assert "".join(json_array([])) == "[]"


def test_csv_gives_back_each_field() -> None:
    """A CSV parser gives back every field, line breaks, quotes and separators included; columns never shift."""
    text = "".join(csv_lines(HOSTILE, []))
    rows = table(text)
    assert rows[0] == ["a", "b", "c", "d"]
    assert rows[1] == ['comma, "quote" and ; semicolon', "line\r\nbreak\nand\ttab", "", ""]
    assert rows[2] == ["中文 é", " spaces ", r"lone \udce9", r"\x1b[31m\u202e\x00\x9b"]
    assert rows[3] == ["2512292042121000001", "1.0", "true", "-5"]
    assert rows[4] == ['{"x": [1, "=1"]}', '["y"]', "false", "'quoted'"]
    assert len(rows) == 5
    assert text.endswith("\r\n")


def test_csv_tells_null_from_empty() -> None:
    """Null is an empty field, the empty text is a pair of quotes."""
    assert list(csv_lines([{"a": None, "b": "", "c": 0}], [])) == ["a,b,c\r\n", ',"",0\r\n']


def test_csv_quotes_what_readers_would_trim() -> None:
    """Blanks at the ends stand in quotes, because many a reader takes bare ones away."""
    assert list(csv_lines([{"a": " x", "b": "y "}], []))[1] == '" x","y "\r\n'


def test_csv_of_one_column_loses_no_row() -> None:
    """A row that is one null is still a row for a parser."""
    rows = table("".join(csv_lines([{"a": None}, {"a": ""}, {"a": "x"}], [])))
    assert rows == [["a"], [""], [""], ["x"]]


@pytest.mark.parametrize(
    "cell", ["=HYPERLINK(1)", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", " =1", "＝1", "＋1", "－1", "＠1"]
)
def test_csv_formulas_are_neutralised(cell: str) -> None:
    """No text starts a formula in a spreadsheet, unless it is asked to stay as it is."""
    assert table("".join(csv_lines([{"a": cell, "b": 1}], [])))[1][0] == "'" + cell
    assert table("".join(csv_lines([{"a": cell, "b": 1}], [], keep_formulas=True)))[1][0] == cell


def test_csv_on_a_terminal_is_a_line_a_row() -> None:
    """With one_line, a bare carriage return in the data can't write over the line."""
    assert list(csv_lines([{"a": "x\ry\n", "b\n": 1}], [], one_line=True)) == ["a,b\\n\r\n", "x\\ry\\n,1\r\n"]


def test_csv_without_rows_has_its_header() -> None:
    """With no row the named fields are the header."""
    assert list(csv_lines([], ["a", "b"])) == ["a,b\r\n"]


def test_csv_loses_no_field() -> None:
    """A later row with a field that has no column is an error, one that lacks a field has it null."""
    assert list(csv_lines([{"a": 1, "b": 2}, {"a": 3}], []))[-1] == "3,\r\n"
    with pytest.raises(ValueError, match="no column for"):
        list(csv_lines([{"a": 1}, {"a": 2, "b": 3}], []))
