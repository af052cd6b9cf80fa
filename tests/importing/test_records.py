"""Records of a file: torn, glued and overwritten ones are named, every good one is found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger.importing import records as module
from ledger.importing.lines import lines_of
from ledger.importing.records import Record, records
from ledger.importing.report import Problem

X = b'{"type":"x"}'


def found(data: bytes, longest: int = 10_000) -> list[tuple[int, int, Any]]:
    """Return line, offset, and the value or the code of each that is found."""
    return [
        (each.line, each.offset, each.value if isinstance(each, Record) else each.code)
        for each in records(lines_of([data], longest))
    ]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", []),
        (b'{"a":1}\n\n  \r\n{"b":2}\r\n', [(1, 0, {"a": 1}), (4, 13, {"b": 2})]),
        (b'\xef\xbb\xbf{"a":1}\n', [(1, 3, {"a": 1})]),
        (b"[1]\n2\nnull\n", [(1, 0, [1]), (2, 4, 2), (3, 6, None)]),
        (b'{"a":1}{"b":2} {"c":3}\n', [(1, 0, {"a": 1}), (1, 7, "glued"), (1, 7, {"b": 2}), (1, 15, {"c": 3})]),
        (b'{"a":1}\n{"b":', [(1, 0, {"a": 1}), (2, 8, "torn")]),
        (b'{"a":1}\n["b"\n{"c":1}\n', [(1, 0, {"a": 1}), (2, 8, "torn"), (3, 13, {"c": 1})]),
        (b'{"a":"\xc3\xa9hel' + X, [(1, 0, "torn"), (1, 11, {"type": "x"})]),
        (b'{"a":"caf\xc3' + X, [(1, 0, "torn"), (1, 10, {"type": "x"})]),
        (b'{"a":12' + X, [(1, 0, "torn"), (1, 7, {"type": "x"})]),
        (b'{"a":1,' + X, [(1, 0, "torn"), (1, 7, {"type": "x"})]),
        (b'{"a":1.' + X, [(1, 0, "torn"), (1, 7, {"type": "x"})]),
        (b'{"a":fal' + X, [(1, 0, "torn"), (1, 8, {"type": "x"})]),
        (b'{"a":"\\' + X, [(1, 0, "torn"), (1, 7, {"type": "x"})]),
        (b'{"typ' + X, [(1, 0, "torn"), (1, 5, {"type": "x"})]),
        (b'{"a"' + X, [(1, 0, "torn"), (1, 4, {"type": "x"})]),
        (b'{"a":' + X, [(1, 0, "torn")]),
        (b'{"a":{"id":1} "x"}\n{"b":2}\n', [(1, 0, "invalid_json"), (2, 19, {"b": 2})]),
        (b'{"a":"caf\xe9"}\n{"b":2}\n', [(1, 0, "invalid_utf8"), (2, 13, {"b": 2})]),
        (b'\0\0\0{"a":1}\n\0\0\n', [(1, 0, "nul"), (1, 3, {"a": 1}), (2, 11, "nul")]),
        (b'{"a":1}\0\0{"b":2}\n', [(1, 7, "nul"), (1, 0, {"a": 1}), (1, 9, {"b": 2})]),
        (b'{"a":"x\0y"}\n', [(1, 7, "nul"), (1, 0, "torn"), (1, 8, "invalid_json")]),
        (b"hello\n{}\n", [(1, 0, "invalid_json"), (2, 6, {})]),
        (b'{"a":NaN}\n', [(1, 0, "nan_or_infinity")]),
        (b'{"a":1e999}\n', [(1, 0, "number_out_of_range")]),
        (b'{"a":1,"a":2}{"b":2}\n', [(1, 0, "duplicate_key"), (1, 13, {"b": 2})]),
        (b'{"a":"\\ud83d"}\n', [(1, 0, {"a": "\ud83d"})]),
        (b"[" * 300 + b"]" * 300 + b"\n{}\n", [(1, 0, "too_deep"), (2, 601, {})]),
        (b"{}" + b"[" * 200_000 + b"\n{}\n", [(1, 0, "too_deep"), (2, 200_003, {})]),
        (b"{}x" + b'{"a":' * 200_000 + b"\n{}\n", [(1, 0, "too_deep"), (2, 1_000_004, {})]),
    ],
)
def test_records_and_problems(data: bytes, wanted: list[Any]) -> None:
    """Each good record at its line and byte, each bad one beside it."""
    assert found(data, 2_000_000) == wanted


def test_a_line_nested_without_end_behind_another_record() -> None:
    """The parser's own stack is no way to end the process."""
    data = b'{"a":1}' + b"[" * 100_000
    codes = [code for _, _, code in found(data, 200_000)]
    assert codes == ["too_deep"]


def test_a_line_that_is_too_long() -> None:
    """It is passed over and named, with how long it is; the next one is read."""
    data = b'{"a":"' + b"x" * 100 + b'"}\n{"b":2}\n'
    assert found(data, 50) == [(1, 0, "too_large"), (2, 109, {"b": 2})]
    problem = next(iter(records(lines_of([data], 50))))
    assert isinstance(problem, Problem)
    assert problem.message.startswith("a line of 108 bytes")


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b'{\n "a": [\n  1\n ]\n}\n\n{\n"b":2}\n', [(1, 0, {"a": [1]}), (7, 20, {"b": 2})]),
        (b'[\n{"a":1}\n]\n', [(1, 0, [{"a": 1}])]),
        (b'\xef\xbb\xbf[\n{"a":1}\n]\n', [(1, 3, [{"a": 1}])]),
        (b'[\n{"a":1},\n{"b":2}\n', [(1, 0, "torn"), (2, 2, {"a": 1}), (2, 9, "invalid_json"), (3, 11, {"b": 2})]),
        (b'{"a": [\n{"b":1}\n{"c":1}\n', [(1, 0, "torn"), (2, 8, {"b": 1}), (3, 16, {"c": 1})]),
        (b'{"a": {\n', [(1, 0, "torn")]),
        (b"[\n" * 301 + b"]\n" * 301, [(1, 0, "too_deep")]),
        (b"[\n" * 10_000 + b"]\n" * 10_000, [(1, 0, "too_deep")]),
    ],
)
def test_a_document_that_is_spread_over_lines(data: bytes, wanted: list[Any]) -> None:
    """Pretty-printed JSON is one record; where the lines are no document, they are read one by one."""
    seen = found(data)
    assert seen == wanted


def test_a_document_that_is_too_long_is_read_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is spread over more than the bound is not held."""
    monkeypatch.setattr(module, "LONGEST", 10)
    assert found(b'[\n{"a":1},\n{"b":2}]\n{"c":3}\n')[-1] == (4, 20, {"c": 3})


def test_a_line_of_many_glued_records_costs_no_more_than_its_length() -> None:
    """Places are counted on, not from the start: 20,000 records on a line take no time to speak of."""
    data = json.dumps({}).encode() * 20_000
    seen = [each for each in records(lines_of([data])) if isinstance(each, Record)]
    assert (len(seen), seen[-1].offset) == (20_000, 39_998)
