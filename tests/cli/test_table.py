"""Rows as a table."""

from collections.abc import Iterator, Sequence
from itertools import count, islice

import pytest

from ledger.cli import table
from ledger.cli.audit import EVENT_COLUMNS
from ledger.cli.rows import Row
from ledger.cli.table import WINDOW, Column, Flow, Paper, lines, plain, tail
from ledger.cli.text import paint, width
from ledger.events import BODIES

PIPE = Paper(None, "utf-8")


def printed(rows: Sequence[Row], columns: list[Column], paper: Paper = PIPE, *, color: bool = False) -> list[str]:
    return [paint(line, color=color) for line in lines(rows, columns, paper)]


def test_columns_are_aligned_as_the_eye_sees_them() -> None:
    """Texts stand left, numbers right, wide characters count two, and no line ends in blanks."""
    rows: list[Row] = [
        {"tool": "send_email", "n": 7, "note": "中文"},
        {"tool": "f", "n": None, "note": None},
        {"tool": "e\u0301", "n": 1234, "note": "x"},
    ]
    assert printed(rows, [Column(key="tool"), Column(key="n"), Column(key="note")]) == [
        "TOOL           N  NOTE",
        "send_email     7  中文",
        "f              -  -",
        "e\u0301           1234  x",
    ]


def test_a_last_column_of_numbers_stands_right() -> None:
    """The last column is filled only where it is aligned to the right."""
    assert printed([{"a": "x", "count": 5}], [Column(key="a"), Column(key="count")]) == ["A  COUNT", "x      5"]


def test_headings_are_words() -> None:
    """A wire name becomes words in capitals, unless a title is given."""
    assert [Column(key="callId").heading, Column(key="x", title="Age").heading] == ["CALL ID", "Age"]


def test_no_rows_no_lines() -> None:
    """An empty table has not even a header."""
    assert printed([], [Column(key="a")]) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (False, "no"),
        (1.0, "1.0"),
        ("x", "x"),
        (["é", None], '["é", null]'),
        (2**70, str(2**70)),
    ],
)
def test_values_are_plain(value: object, text: str) -> None:
    """A value is shown as a person writes it."""
    assert plain(value) == text


def test_ids_show_their_tail() -> None:
    """The random end of an id is shown, without a mark: it can be copied and given as a reference."""
    assert tail("01970000-0000-7000-8000-0123456789ab") == "456789ab"


def test_a_table_fits_the_terminal() -> None:
    """Long cells are cut at the end their column names, ids are not, and the heading stays."""
    rows: list[Row] = [{"id": "0123456789", "path": "/a/very/long/path/to/file.txt", "text": "word " * 20}]
    columns = [Column(key="id", keep="all"), Column(key="path", keep="end"), Column(key="text")]
    shown = printed(rows, columns, Paper(50, "utf-8"))
    assert shown == [
        "ID          PATH                TEXT",
        "0123456789  …/path/to/file.txt  word word word wo…",
    ]
    assert width(shown[1]) == 50


def test_a_terminal_too_narrow_still_gets_everything_that_is_never_cut() -> None:
    """Where nothing more can be cut, the table is wider than the terminal."""
    rows: list[Row] = [{"id": "0123456789", "text": "0123456789"}]
    columns = [Column(key="id", keep="all"), Column(key="text")]
    assert printed(rows, columns, Paper(5, "utf-8")) == ["ID          TEXT", "0123456789  0123456…"]


def test_a_pipe_is_never_cut() -> None:
    """Without a terminal every character arrives."""
    assert printed([{"a": "x" * 5_000}], [Column(key="a")])[1] == "x" * 5_000


def test_rows_after_the_window_flow_on() -> None:
    """Widths come from the first rows; a table of any length is written as it is read. A terminal makes room."""

    def endless() -> Iterator[dict[str, object]]:
        for number in count(1):
            yield {"a": "x" if number <= WINDOW else "longer than before", "b": "y"}

    columns = [Column(key="a"), Column(key="b")]
    piped = list(islice(lines(endless(), columns, PIPE), WINDOW + 2))
    assert [paint(line, color=False) for line in piped[WINDOW:]] == ["x  y", "longer than before  y"]
    shown = list(islice(lines(endless(), columns, Paper(80, "utf-8")), WINDOW + 2))
    assert [paint(line, color=False) for line in shown[WINDOW:]] == ["x  y", "longer than before  y"]


def test_poor_encodings_are_measured_as_they_are_written() -> None:
    """On cp1252 and ASCII the columns still stand, and the mark of a cut is one they have."""
    rows: list[Row] = [{"a": "中", "b": 1}, {"a": "é", "b": 2}]
    columns = [Column(key="a"), Column(key="b")]
    assert printed(rows, columns, Paper(None, "cp1252")) == ["A       B", "\\u4e2d  1", "é       2"]
    assert Paper(None, "ascii").ellipsis == "..."
    assert Paper(None, "cp1252").ellipsis == "…"


def test_tones_show_on_a_terminal() -> None:
    """The header is strong, a column colours its values, nothing is dim."""
    columns = [Column(key="state", tone=lambda state: "bad" if state == "failed" else None), Column(key="n")]
    assert printed([{"state": "failed", "n": None}, {"state": "ok", "n": 1}], columns, color=True) == [
        "\x1b[1mSTATE\x1b[0m   \x1b[1mN\x1b[0m",
        "\x1b[31mfailed\x1b[0m  \x1b[2m-\x1b[0m",
        "ok      1",
    ]


STEPS = (
    Column(key="at", title="AT", short=lambda at: at[-2:], keep="all"),
    Column(key="text"),
    Column(key="seq", keep="all", leave=1),
    Column(key="more", keep="all", leave=2),
)
STEP = {"at": "2026-05", "text": "x" * 12, "seq": 12, "more": "abc"}


@pytest.mark.parametrize(
    ("room", "heads", "at"),
    [
        (None, ["AT", "TEXT", "SEQ", "MORE"], "2026-05"),
        (40, ["AT", "TEXT", "SEQ", "MORE"], "2026-05"),
        (28, ["AT", "TEXT", "SEQ", "MORE"], "2026-05"),
        (27, ["AT", "TEXT", "SEQ", "MORE"], "05"),
        (23, ["AT", "TEXT", "SEQ", "MORE"], "05"),
        (22, ["AT", "TEXT", "MORE"], "05"),
        (18, ["AT", "TEXT", "MORE"], "05"),
        (17, ["AT", "TEXT", "SEQ"], "05"),
        (16, ["AT", "TEXT"], "05"),
        (3, ["AT", "TEXT"], "05"),
    ],
)
def test_a_narrow_terminal_has_less_in_it(room: int | None, heads: list[str], at: str) -> None:
    """Columns are cut, then shown short, then those go that may; the next one's room may do for the one before it."""
    head, row = (paint(line, color=False) for line in lines([STEP], STEPS, Paper(room, "utf-8")))
    assert head.split() == heads
    assert row.split()[0] == at
    assert room is None or room < 12 or width(row) <= room


@pytest.mark.parametrize(
    ("room", "heads", "at"), [(None, 4, "2026-05"), (28, 4, "2026-05"), (23, 3, "2026-05"), (21, 3, "05")]
)
def test_a_column_without_a_value_goes_first(room: int | None, heads: int, at: str) -> None:
    """What nobody has is not worth a year; where there is room for all, and in a pipe, it stays."""
    head, row = printed([{**STEP, "more": None}, {**STEP, "more": None}], [*STEPS], Paper(room, "utf-8"))[:2]
    assert (len(head.split()), row.split()[0]) == (heads, at)


@pytest.mark.parametrize(("room", "heads"), [(17, ["TEXT", "SEQ"]), (16, ["TEXT"])])
def test_a_column_that_wants_room_takes_it_from_one_that_may_go(room: int, heads: list[str]) -> None:
    """It would fit cut to 8 characters; what it wants is more, so the other one goes."""
    columns = [Column(key="text", wants=12), Column(key="seq", keep="all", leave=1)]
    assert printed([STEP], columns, Paper(room, "utf-8"))[0].split() == heads


def test_what_a_column_wants_is_cut_last() -> None:
    """The other one is cut first, though it is narrower; then this one too."""
    columns = [Column(key="why", wants=15), Column(key="note")]
    rows: list[Row] = [{"why": "outcome-unknown", "note": "b" * 12}]
    assert printed(rows, columns, Paper(26, "utf-8"))[1] == "outcome-unknown  bbbbbbbb…"
    assert printed(rows, columns, Paper(23, "utf-8"))[1] == "outcome-unkn…  bbbbbbb…"


@pytest.mark.parametrize(
    ("room", "told"), [(None, []), (22, []), (13, []), (12, ["SEQ"]), (8, ["SEQ"]), (7, ["MORE"]), (6, ["SEQ", "MORE"])]
)
def test_a_column_that_has_no_room_is_told(room: int | None, told: list[str]) -> None:
    """A person can't know of a column that is not there; one that is empty anyway is not missed."""
    left: list[str] = []
    columns = [*STEPS[:1], *STEPS[2:], Column(key="none", leave=3)]
    list(lines([STEP], columns, Paper(room, "utf-8"), left.extend))
    assert left == told


def test_a_column_that_only_later_rows_may_fill_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the window nobody looked."""
    monkeypatch.setattr(table, "WINDOW", 1)
    left: list[str] = []
    list(lines([{**STEP, "more": None}, STEP], STEPS, Paper(17, "utf-8"), left.extend))
    assert left == ["MORE"]


def apart(*values: str | None) -> list[Row]:
    return [{"session": value, "n": at, "text": "x" * 12} for at, value in enumerate(values, 1)]


def test_what_is_set_apart_stands_above_its_rows() -> None:
    """It is whole, once for all rows that follow each other with it, and what would have left has its room."""
    columns = [
        Column(key="session", keep="all", apart=2),
        Column(key="n", leave=1),
        Column(key="text", leave=2, keep="all"),
    ]
    rows = apart("long-" * 9 + "a", "long-" * 9 + "a", "long-" * 9 + "b", "\x1b[2J\n", None)
    assert printed(rows, columns, Paper(30, "utf-8")) == [
        "N  TEXT",
        "SESSION  long-long-long-long-long-long-long-long-long-a",
        "1  xxxxxxxxxxxx",
        "2  xxxxxxxxxxxx",
        "SESSION  long-long-long-long-long-long-long-long-long-b",
        "3  xxxxxxxxxxxx",
        "SESSION  \\x1b[2J\\n",
        "4  xxxxxxxxxxxx",
        "SESSION  -",
        "5  xxxxxxxxxxxx",
    ]
    assert printed(rows, columns)[1].split() == ["long-" * 9 + "a", "1", "x" * 12]


def test_it_is_set_apart_only_where_more_than_may_leave_would_have_to() -> None:
    """What leaves before it makes room first; a column without a value is not set apart but gone."""
    columns = [Column(key="session", keep="all", apart=2), Column(key="text", keep="all"), Column(key="n", leave=1)]
    assert printed(apart("s"), columns, Paper(24, "utf-8"))[0].split() == ["SESSION", "TEXT", "N"]
    assert printed(apart("s"), columns, Paper(21, "utf-8")) == ["SESSION  TEXT", "s        xxxxxxxxxxxx"]
    assert printed(apart("s"), columns, Paper(20, "utf-8"))[:2] == ["TEXT          N", "SESSION  s"]
    assert printed(apart(None), columns, Paper(20, "utf-8")) == ["TEXT          N", "xxxxxxxxxxxx  1"]


def test_a_word_is_whole_and_what_is_none_is_cut_in_its_middle() -> None:
    """What can be a name is never cut, in rows behind the window too; a text that a model made up is."""
    rows: list[Row] = [{"tool": "send_email_by_post"}, {"tool": "to=functions.x <|channel|> json"}, {"tool": "a" * 129}]
    columns = [Column(key="tool", keep="word"), Column(key="n")]
    assert [line.split("  ")[0] for line in printed(rows, columns, Paper(5, "utf-8"))] == [
        "TOOL",
        "send_email_by_post",
        "to=functi…l|> json",
        "aaaaaaaaa…aaaaaaaa",
    ]


def test_a_longer_id_behind_the_window_is_set_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it has no room beside the rest, the header comes again; what stands apart is not told twice."""
    monkeypatch.setattr(table, "WINDOW", 1)
    columns = [Column(key="session", keep="all", apart=1), Column(key="text", keep="all"), Column(key="n")]
    rows = [*apart("short"), *apart("longer-than-that", "longer-than-that")]
    assert printed(rows, columns, Paper(24, "utf-8")) == [
        "SESSION  TEXT          N",
        "short    xxxxxxxxxxxx  1",
        "TEXT          N",
        "SESSION  longer-than-that",
        "xxxxxxxxxxxx  1",
        "xxxxxxxxxxxx  2",
    ]


def test_of_two_that_stand_apart_only_what_changes_comes_again() -> None:
    """The first one is above the second, so that is told again with it."""
    columns = [Column(key="b", keep="all", apart=3), Column(key="a", keep="all", apart=2), Column(key="n")]
    pairs = (("x", "y"), ("x", "z"), ("x", "z"), ("w", "z"))
    rows: list[Row] = [{"a": one * 9, "b": other * 9, "n": at} for at, (one, other) in enumerate(pairs)]
    assert printed(rows, columns, Paper(9, "utf-8")) == [
        *("N", "A  xxxxxxxxx", "B  yyyyyyyyy", "0"),
        *("B  zzzzzzzzz", "1", "2"),
        *("A  wwwwwwwww", "B  zzzzzzzzz", "3"),
    ]


@pytest.mark.parametrize("also", ["was charge", "now transfer", "was charge, now transfer"])
def test_a_name_is_whole_with_what_else_it_was_called(also: str) -> None:
    """Both are names; other words in brackets are a text."""
    columns = [Column(key="tool", keep="word"), Column(key="n")]
    [_, whole, text] = printed([{"tool": f"pay ({also})"}, {"tool": f"pay ({also} or so)"}], columns, Paper(5, "utf-8"))
    assert whole.split("  ")[0] == f"pay ({also})"
    assert "…" in text


def flowed(rows: Sequence[Row], columns: list[Column], paper: Paper = PIPE) -> list[str]:
    flow = Flow(columns, paper)
    return [paint(line, color=False) for row in rows for line in flow.lines(row)]


def test_rows_that_come_one_at_a_time_are_a_table_at_once() -> None:
    """The header goes before the first row; a column grows with what comes, numbers stand right."""
    rows: list[Row] = [{"n": 7, "a": "x", "b": None}, {"n": 12, "a": "wide", "b": "y"}, {"n": 1234, "a": "z", "b": "y"}]
    assert flowed(rows, [Column(key="n"), Column(key="a"), Column(key="b")]) == [
        "N  A  B",
        "7  x  -",
        "12  wide  y",
        "1234  z     y",
    ]
    assert flowed(rows[:1], [Column(key="b", wants=4), Column(key="a")]) == ["B     A", "-     x"]
    assert flowed(rows[:1], [Column(key="name"), Column(key="n", title="NUMBER")]) == ["NAME  NUMBER", "-          7"]


def test_rows_that_come_one_at_a_time_are_cut_to_the_paper() -> None:
    """What has no room in the first row goes, and texts are cut, as in a table that is whole."""
    columns = [Column(key="id", keep="all"), Column(key="seq", keep="all", leave=1), Column(key="text")]
    rows: list[Row] = [{"id": "a" * 8, "seq": 1, "text": "b" * 30}, {"id": "c" * 8, "seq": 2, "text": "d" * 30}]
    assert flowed(rows, columns, Paper(20, "utf-8")) == printed(rows, columns, Paper(20, "utf-8"))
    assert flowed(rows, columns, Paper(30, "utf-8")) == printed(rows, columns, Paper(30, "utf-8"))
    later: list[Row] = [{"id": "a" * 8, "text": None, "more": "b" * 30}, {"id": "c" * 8, "text": "d", "more": "e"}]
    columns = [Column(key="id", keep="all"), Column(key="text"), Column(key="more")]
    assert [line.split()[1] for line in flowed(later, columns, Paper(24, "utf-8"))] == ["TEXT", "-", "d"]


def test_a_short_first_row_leaves_later_ones_their_room() -> None:
    """No later line is longer than the paper: what may be cut is cut, and what is never cut says how wide it gets."""
    columns = [Column(key="seq", keep="all", leave=1), Column(key="type", keep="all", wants=9), Column(key="text")]
    rows: list[Row] = [{"seq": 100, "type": "a", "text": "b"}, {"seq": 101, "type": "c" * 9, "text": "d" * 30}]
    assert flowed(rows, columns, Paper(20, "utf-8")) == ["TYPE       TEXT", "a          b", "ccccccccc  dddddddd…"]
    assert flowed(rows, columns, Paper(24, "utf-8"))[2] == "101  ccccccccc  ddddddd…"


def test_a_column_that_has_no_room_beside_rows_to_come_is_told_once() -> None:
    """Nobody knows what later rows have, so an empty column counts too; a pipe has them all."""
    columns = [Column(key="id", keep="all"), Column(key="seq", keep="all", leave=1)]
    for paper, told in ((Paper(5, "utf-8"), ["SEQ"]), (PIPE, [])):
        flow = Flow(columns, paper)
        assert flow.missing() == []
        list(flow.lines({"id": "a" * 8, "seq": None}))
        assert [flow.missing(), flow.missing()] == [told, []]


def test_rows_that_come_one_at_a_time_are_set_apart_once_they_have_to() -> None:
    """Where an id comes that has no room beside the others, the header comes again, and it is told anew what left."""
    columns = [
        Column(key="session", keep="all", apart=2),
        Column(key="text", keep="all", wants=12),
        Column(key="n", leave=1),
    ]
    flow, rows = Flow(columns, Paper(22, "utf-8")), apart("short", "longer-than-that", "longer-than-that", "short")
    shown = [[paint(line, color=False) for line in flow.lines(row)] + flow.missing() for row in rows]
    assert shown == [
        ["SESSION  TEXT", "short    xxxxxxxxxxxx", "N"],
        ["TEXT          N", "SESSION  longer-than-that", "xxxxxxxxxxxx  2"],
        ["xxxxxxxxxxxx  3"],
        ["SESSION  short", "xxxxxxxxxxxx  4"],
    ]


def test_the_widest_type_of_events_has_room() -> None:
    """The table of events says how wide a type gets."""
    [column] = [each for each in EVENT_COLUMNS if each.key == "type"]
    assert column.wants == max(map(len, BODIES))
