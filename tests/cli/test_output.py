"""The one door for printing."""

import json
import os
from collections.abc import Iterator

import click
import pytest

from ledger.cli.output import FORMATS, Format, Output
from ledger.cli.rows import Row
from ledger.cli.table import Column
from ledger.cli.text import Ink
from ledger.errors import IntegrityFailure
from tests.cli.running import ask, process, shared, terminal
from tests.cli.sample.thing import HOSTILE

COLUMNS = [Column(key="text"), Column(key="n")]


def raw_controls(text: str) -> list[str]:
    """Return the control characters of an output that may only hold line ends."""
    return [
        char
        for char in text
        if (char < " " and char != "\n") or "\x7f" <= char <= "\x9f" or char in "\u202e\u2066\u200b\u2028"
    ]


@pytest.mark.parametrize(
    "arguments", [["thing"], ["thing", "show", "1"], ["thing", "--json"], ["thing", "show", "1", "--json"]]
)
def test_no_raw_control_reaches_the_terminal(arguments: list[str]) -> None:
    """Hostile data leaves no raw control character in any output for people or in JSON."""
    result = ask(*arguments)
    assert result.exit_code == 0
    assert raw_controls(result.output) == []
    assert "evil" in result.output


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_carries_the_same_rows(format: Format) -> None:
    """Each format has all the rows, and only CSV has more than line ends in it."""
    result = ask("thing", "--count", "3", "--format", format)
    assert result.exit_code == 0
    assert result.stdout.count("evil") == 3
    assert raw_controls(result.stdout.replace("\r\n", "\n")) == []
    if format == "json":
        assert [row["text"] for row in json.loads(result.stdout)] == [HOSTILE] * 3
    if format == "jsonl":
        assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == [HOSTILE] * 3


def test_one_object_for_programs() -> None:
    """With --json there is one object in one line: data, or rows and the next cursor."""
    assert json.loads(ask("thing", "show", "7", "--json").stdout) == {"data": {"number": 7, "text": HOSTILE}}
    listed = ask("--json", "thing", "--count", "1", "--next", "c9")
    assert listed.stdout.count("\n") == 1
    assert json.loads(listed.stdout)["next"] == "c9"
    assert json.loads(ask("thing", "--count", "0", "--json").stdout) == {"data": [], "next": None}


def test_a_list_that_breaks_is_still_one_object() -> None:
    """A failure in the middle of a list keeps the rows so far, adds the error and shows in the status."""
    result = ask("thing", "--broken-after", "1", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert len(found["data"]) == 1
    assert found["next"] is None
    assert found["error"]["message"] == "the database broke at postgresql://u:***@h/db"


def test_a_list_that_never_began_is_an_error() -> None:
    """A failure before the first row is the plain error object."""
    result = ask("thing", "--broken-after", "0", "--json")
    assert result.exit_code == 1
    assert list(json.loads(result.stdout)) == ["error"]


def test_a_broken_list_has_its_traceback_on_demand() -> None:
    """The traceback of a list that broke is told with LEDGER_DEBUG=1, without the password."""
    result = ask("thing", "--broken-after", "1", "--json", env={"LEDGER_DEBUG": "1"})
    assert "Traceback" in result.stderr
    assert "geheim" not in result.output


def test_json_and_format_exclude_each_other() -> None:
    """Asking for the envelope and for bare rows at once is wrong usage, told as JSON."""
    result = ask("thing", "--json", "--format", "csv")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["hint"] == "Try: ledger thing list --help"


def test_a_page_says_that_there_is_more() -> None:
    """A person reads how to go on, on stderr."""
    result = ask("thing", "--next", "c9", "--format", "csv")
    assert result.stderr == "There are more: go on with --after c9\n"
    assert "c9" not in result.stdout


def test_an_empty_list_says_so() -> None:
    """No rows: stdout stays empty, a person reads a sentence."""
    result = ask("thing", "--count", "0")
    assert (result.stdout, result.stderr) == ("", "No things.\n")


def test_a_status_can_follow_an_answer() -> None:
    """A command that found something waiting prints it and exits 3."""
    result = ask("thing", "--waits")
    assert result.exit_code == 3
    assert "evil" in result.stdout


def test_a_terminal_gets_colour_and_cut_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the table fits its width and has a strong header."""
    screens = terminal(monkeypatch)
    Output().rows([{"text": "a long text that does not fit", "n": 1}], COLUMNS)
    assert (
        screens[0].shown
        == "\x1b[1mTEXT\x1b[0m                         \x1b[1mN\x1b[0m\na long text that does not …  1\n"
    )


def test_what_a_terminal_has_no_room_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the table a dim line names the columns that do not fit; --json says nothing, as it has them."""
    screens = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    columns = [Column(key=name, keep="all", leave=place) for place, name in enumerate(("id", "first", "second"))]
    row = {"id": "i" * 75, "first": "f" * 9, "second": "s"}
    Output().rows([row], columns[:2])
    Output().rows([row], columns)
    Output(json=True).rows([row], columns)
    monkeypatch.setenv("COLUMNS", "180")
    Output().rows([row], columns)
    assert screens[1].shown == (
        "\x1b[2m1 column does not fit (FIRST): widen the terminal, or use --json.\x1b[0m\n"
        "\x1b[2m2 columns do not fit (FIRST, SECOND): widen the terminal, or use --json.\x1b[0m\n"
    )


def test_a_terminal_gets_readable_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal an object is indented and a list has a line a row; both are still one object."""
    screens = terminal(monkeypatch)
    Output(json=True).show({"a": [1]}, [])
    Output(json=True).rows([{"n": 1}, {"n": 2}], COLUMNS)
    assert screens[0].shown == (
        '{\n  "data": {\n    "a": [\n      1\n    ]\n  }\n}\n{"data": [{"n": 1},\n {"n": 2}], "next": null}\n'
    )


def test_a_terminal_gets_csv_a_line_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal a carriage return in a CSV field can't overwrite the line."""
    screens = terminal(monkeypatch)
    Output().rows([{"text": "x\rError", "n": 1}], COLUMNS, format="csv")
    assert screens[0].shown == "text,n\r\nx\\rError,1\r\n"


def test_formulas_stay_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    """A command may offer CSV with formulas as they are."""
    Output().rows([{"text": "=1", "n": 1}], COLUMNS, format="csv", keep_formulas=True)
    Output().rows([], COLUMNS, format="csv")
    assert capsys.readouterr().out == "text,n\r\n=1,1\r\ntext,n\r\n"


def test_words_go_to_stderr_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes and warnings are masked in every part and keep their tones."""
    screens = terminal(monkeypatch)
    out = Output()
    out.note("at x://u:p@h ", Ink("password=p", "strong"))
    out.warn("careful\n")
    assert screens[1].shown == ("at x://u:***@h \x1b[1mpassword=***\x1b[0m\n\x1b[33mWarning: \x1b[0mcareful\\n\n")
    assert screens[0].shown == ""


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without colours no escape is written, even on a terminal."""
    screens = terminal(monkeypatch)
    out = Output(color=False)
    out.lines([Ink("x", "bad")])
    out.warn("y")
    assert (screens[0].shown, screens[1].shown) == ("x\n", "Warning: y\n")


def test_progress_shows_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress rewrites one line, once a percent, and takes it away at the end, also of an early one."""
    screens = terminal(monkeypatch)
    assert list(Output().progress(range(1000), "Checking\x07", 1000)) == list(range(1000))
    shown = screens[1].shown
    assert shown.count("\r") == 101
    assert shown.startswith("\rChecking\\x07 0 %\rChecking\\x07 1 %")
    assert shown.endswith("99 %\r\x1b[K")
    steps = Output().progress([1, 2], "Half", 0)
    assert next(steps) == 1
    steps.close()  # type: ignore[attr-defined]  # it is a generator
    assert screens[1].shown.endswith("Half 0 %\r\x1b[K")


def test_progress_is_silent_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal nothing is said."""
    assert list(Output().progress([1, 2], "Checking", 2)) == [1, 2]
    assert capsys.readouterr().err == ""


def test_json_and_format_exclude_each_other_outside_of_a_command() -> None:
    """The door refuses the pair without a click context too."""
    with pytest.raises(click.UsageError):
        Output(json=True).rows([], COLUMNS, format="csv")


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
@pytest.mark.parametrize("arguments", [["--format", "table"], ["--format", "csv"], ["--json"]])
def test_case_44_no_locale_crashes_it(env: dict[str, str], arguments: list[str]) -> None:
    """On cp1252 and in the C locale the output is complete, escaped where needed, and JSON is ASCII."""
    done = process("thing", "list", *arguments, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("ascii")
    assert text.count(r"\u4e2d\u6587") == 2
    assert text.count(r"\udce9") == 2


@pytest.mark.parametrize(
    "arguments", [["--json", "--count", "10000"], ["--count", "10000"], ["--count", "1"], ["--help"]]
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_case_43_a_reader_who_leaves_is_no_error(arguments: list[str], unbuffered: str) -> None:
    """`| head -1` gets its line, stderr stays empty, and the status is 0 or that of a closed pipe."""
    done = process("thing", "list", *arguments, shell="| head -1", env={"PYTHONUNBUFFERED": unbuffered})
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1
    assert done.returncode in {0, 141}


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_case_43_a_reader_who_never_came_is_no_error(unbuffered: str) -> None:
    """Even one short line to a pipe that was closed before is quiet, up to the flush at interpreter shutdown."""
    reader, writer = os.pipe()
    os.close(reader)
    done = process("thing", "show", "1", stdout=writer, env={"PYTHONUNBUFFERED": unbuffered})
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_words_come_after_what_was_printed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where both streams end in one place, they appear in the order in which they were written."""
    place = shared(monkeypatch)
    out = Output()
    out.lines(["1"])
    out.note("2")
    out.lines(["3"])
    out.warn("4")
    assert place.getvalue() == b"1\n2\n3\nWarning: 4\n"


def test_a_jsonl_row_is_whole_when_it_appears(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever follows sees each row at once."""
    place = shared(monkeypatch)

    def rows() -> Iterator[Row]:
        yield {"n": 1}
        assert place.getvalue() == b'{"n": 1}\n'
        yield {"n": 2}

    Output().rows(rows(), COLUMNS, format="jsonl")
    assert place.getvalue() == b'{"n": 1}\n{"n": 2}\n'


@pytest.mark.parametrize(
    ("json", "pieces", "pipe", "screen"),
    [
        (False, ['{"a": ', "[1]}"], '{"a": [1]}\n', '{\n  "a": [\n    1\n  ]\n}\n'),
        (True, ["[", "]"], '{"data": []}\n', '{\n  "data": []\n}\n'),
    ],
)
def test_a_document_comes_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    json: bool,
    pieces: list[str],
    pipe: str,
    screen: str,
) -> None:
    """In a pipe the pieces flow in one line, in the envelope where it is asked for; a terminal gets it indented."""
    Output(json=json).document(iter(pieces))
    assert capsys.readouterr().out == pipe
    screens = terminal(monkeypatch)
    Output(json=json).document(iter(pieces))
    assert screens[0].shown == screen


@pytest.mark.parametrize("json", [False, True])
def test_a_document_that_breaks_off_says_so_beside_it(capsys: pytest.CaptureFixture[str], json: bool) -> None:
    """A second object behind half of one is no JSON: what failed stands on stderr, and the status tells it, too."""

    def pieces(*given: str) -> Iterator[str]:
        yield from given
        raise IntegrityFailure("it was changed", hint="Look.")

    with pytest.raises(click.exceptions.Exit) as ended:
        Output(json=json).document(pieces("[1"))
    printed = capsys.readouterr()
    assert ended.value.exit_code == 4
    assert printed.out == ('{"data": [1\n' if json else "[1\n")
    assert printed.err == "Error: it was changed (integrity)\nLook.\n"
    with pytest.raises(IntegrityFailure):
        Output(json=json).document(pieces())
    assert capsys.readouterr().out == ""


def test_a_cursor_may_be_known_only_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    """Where the next page begins is asked behind the last row, in every form."""
    seen: list[int] = []

    def rows() -> Iterator[Row]:
        for n in range(2):
            seen.append(n)
            yield {"text": "x", "n": n}

    Output(json=True).rows(rows(), COLUMNS, next=lambda: f"c{len(seen)}")
    assert capsys.readouterr().out.endswith('"next": "c2"}\n')
    Output().rows(rows(), COLUMNS, next=lambda: f"c{len(seen)}")
    assert capsys.readouterr().err == "There are more: go on with --after c4\n"


def test_one_of_many_things_is_told_as_it_happens(capsys: pytest.CaptureFixture[str]) -> None:
    """A program gets a line of JSON for each, a person the lines."""
    Output(json=True).progressed({"n": 1}, ["one"])
    Output().progressed({"n": 2}, ["two"])
    assert capsys.readouterr().out == '{"n": 1}\ntwo\n'
