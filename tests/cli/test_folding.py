"""Lines folded to a terminal."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.cli import main
from ledger.cli.folding import folded
from ledger.cli.planning import draft_lines
from ledger.cli.shell import Shell
from ledger.cli.text import Ink, Line, paint, width
from ledger.strictjson import JsonObject
from tests.audit.odd import held
from tests.audit.world import opened
from tests.cli.running import ledger, terminal


def shown(line: Line, room: int) -> list[str]:
    return [paint(each, color=False) for each in folded(line, room)]


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("a short line", ["a short line"]),
        ("a line that is too long for it", ["a line that is too", "  long for it"]),
        (("  ", Ink("name", "dim"), "  ", "a value of many words"), ["  name  a value of", "    many words"]),
        (("Error: ", Ink("x" * 30, "bad")), ["Error:", "  " + "x" * 18, "  " + "x" * 12]),
        ("Run `ledger review show CALL`.", ["Run", "  `ledger review show CALL`."]),
        ((Ink("ledger review show CALL --db x.db", "strong", whole=True),), ["ledger review show CALL --db x.db"]),
        ("中文" * 8, ["中文" * 4 + "中", "  " + "文" + "中文" * 3]),
        ("a\nb\x1b[31m" + " c" * 8, ["a\\nb\\x1b[31m c c c c", "  c c c c"]),
    ],
)
def test_a_line_is_folded_at_words(line: Line, lines: list[str]) -> None:
    """What follows is indented; a long word is broken, a command never."""
    assert shown(line, 20) == lines


def test_the_tones_stay() -> None:
    """Each piece keeps its colour on its line."""
    first, second = folded(("one two ", Ink("three four five six", "bad")), 20)
    assert first == (Ink("one two ", None), Ink("three four", "bad"))
    assert second == (Ink("  ", None), Ink("five six", "bad"))


@given(st.lists(st.text(max_size=40), max_size=4), st.integers(1, 60))
def test_nothing_is_lost_and_nothing_sticks_out(texts: list[str], room: int) -> None:
    """Whatever is in it, every character that is seen is there in order, and no line is wider than the room."""
    parts = tuple(text.replace("`", "") for text in texts)
    lines = shown(parts, room)
    assert "".join("".join(lines).split()) == "".join(paint(parts, color=False).split())
    assert room < 20 or all(width(line) <= room for line in lines)


@pytest.mark.parametrize(
    "command", ["session repair long.json", "session export done --format ledger", "tool infer send_email"]
)
def test_json_is_not_folded(world: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """What is JSON is copied from a terminal as it is: a line broken inside of a text would be none any more."""
    (world / "long.json").write_text(json.dumps([{"role": "user", "content": "Pay the two invoices. " * 9}]))
    out, _ = terminal(monkeypatch)
    with pytest.raises(SystemExit):
        main.main([*command.split(), "--no-color"])
    one_a_line = out.shown.splitlines() if "infer" not in command else [out.shown]
    assert all(isinstance(json.loads(line), dict) for line in one_a_line)


def test_a_draft_in_a_plan_is_not_folded() -> None:
    """It is copied into a file."""
    draft: JsonObject = {"tool": "pay", "from": 1, "to": 2, "ops": [{"op": "set", "path": "/a", "value": "word " * 30}]}
    head, *lines = draft_lines(Shell(), [draft])
    text = "\n".join(paint(each, color=False) for line in lines for each in folded(line, 80))
    assert (json.loads(text), str(head).startswith("A guess at")) == (draft, True)


def test_pages_fit_the_terminal(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words on both streams keep to 80 columns where that is the terminal, and are not broken in a pipe."""
    with opened(world) as host:
        held(host, "crash", "elsewhere:boot:ns:17:2:x")
    asked = ledger("review", "--format", "jsonl").stdout
    call = asked.partition('"callId": "')[2][:36]
    assert max(map(len, ledger("review", "show", call).stdout.splitlines())) > 80
    out, err = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["review", "show", call], ["resume", "--all", "--dry-run"], ["resume", "crash"], ["db", "check"]):
        with pytest.raises(SystemExit):
            main.main([*words, "--no-color"])
    lines = (out.shown + err.shown).splitlines()
    assert len(lines) > 40
    assert [line for line in lines if width(line) > 80 and not line.startswith("  ledger ")] == []
