"""A story is told to a person as it happens and to a program at its end, and stops where it is not true."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.cli import main
from ledger.cli.shell import Shell
from ledger.cli.telling import Teller, expect_that, spelled
from ledger.demo.children import DemoFailed
from ledger.session.ledger import Ledger

GONE = "sqlite:///nowhere/at-all.db"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """An empty ledger."""
    url = f"sqlite:///{tmp_path}/agent.db"
    Ledger.open(url).close()
    return url


def test_a_person_reads_it_as_it_happens(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Acts are numbered, words are folded, an empty line stands between words, commands and what they print."""
    tell = Teller(Shell(), main, url)
    tell.title("A story")
    tell.act("one", "It begins")
    tell.say("long " * 20, "And more.")
    tell.ledger("session", "list")
    tell.act("two", "It ends")
    tell.shown("cat file", ["what is in it"])
    tell.say("So it is.")
    told = capsys.readouterr().out
    assert (
        told
        == f"""A story


1. It begins

  {" ".join(["long"] * 15)}
  {" ".join(["long"] * 5)}

  And more.

  $ ledger session list --db {url}

2. It ends

  $ cat file
what is in it

  So it is.
"""
    )


def test_a_program_gets_it_at_the_end(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With --json nothing is printed on the way; acts, facts and the commands' own answers are kept."""
    tell = Teller(Shell(json=True), main, url)
    tell.title("A story")
    tell.act("one", "It begins")
    tell.say("Words.")
    tell.table([{"a": 1}], [])
    tell.ledger("session", "list")
    tell.know(true=True)
    command = f"ledger session list --db {url}"
    assert capsys.readouterr() == ("", "")
    assert tell.told == [
        {
            "act": "one",
            "title": "It begins",
            "commands": [{"command": command, "status": 0, "output": []}],
            "facts": {"true": True},
        }
    ]


@pytest.mark.parametrize("json", [True, False])
def test_a_command_that_fails_ends_the_story(json: bool) -> None:
    """The command and its fault are named."""
    tell = Teller(Shell(json=json), main, GONE)
    tell.act("one", "It begins")
    with pytest.raises(DemoFailed, match=r"`ledger session list --db sqlite:///nowhere/at-all\.db` failed: "):
        tell.ledger("session", "list")


def test_a_command_that_ends_otherwise_ends_the_story(url: str) -> None:
    """A status that was not expected is refused, also if it is success."""
    tell = Teller(Shell(), main, url)
    tell.act("one", "It begins")
    with pytest.raises(DemoFailed, match="was to exit with 3, and exited with 0"):
        tell.ledger("review", "list", expect=3)


def test_what_is_not_so_ends_the_story() -> None:
    """What must be so is said where it is not."""
    expect_that(True, "never said")
    with pytest.raises(DemoFailed, match="said"):
        expect_that(False, "said")


# which program `ledger` is


@pytest.mark.parametrize(
    ("door", "words"),
    [
        ("bin/ledger", ["{folder}/bin/ledger"]),
        ("bin/toolcall-ledger", ["{folder}/bin/toolcall-ledger"]),
        ("cli.py", [sys.executable, "{folder}/cli.py"]),
        ("ledger/__main__.py", [sys.executable, "-m", "ledger"]),
        ("pytest", [sys.executable, "-m", "ledger"]),
    ],
)
def test_the_door_that_was_taken_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str, words: list[str]
) -> None:
    """Where the shell finds no `ledger`, or another one, a line makes it the program that was started."""
    other = tmp_path / "debian"
    other.mkdir()
    (other / "ledger").write_text("#!/bin/sh\necho the accounting program\n")
    (other / "ledger").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (str(tmp_path / "nothing"), str(other)):
        monkeypatch.setenv("PATH", path)
        monkeypatch.setattr(sys, "argv", [door])
        own = shlex.join(word.format(folder=tmp_path) for word in words)
        assert spelled() == f'ledger() {{ {own} "$@"; }}'


def test_the_line_is_understood_by_a_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The line can be pasted, whatever the folder is called."""
    folder = tmp_path / "a 'b' $c"
    folder.mkdir()
    (folder / "ledger").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (folder / "ledger").chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(folder / "ledger")])
    done = subprocess.run(["sh", "-c", f'{spelled()}\nledger "x y" z'], capture_output=True, text=True, check=True)
    assert done.stdout == "x y|z|"


def test_nothing_need_be_said_where_it_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In an active environment `ledger` is this program already, also behind a link."""
    (tmp_path / "real").mkdir()
    program = tmp_path / "real/ledger"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "ledger").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [str(program)])
    assert spelled() is None
