"""`ledger demo` as real processes: the story comes out as told, for people and programs, and can be tried again."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger.cli import main
from ledger.demo.place import Place
from tests.cli.running import ROOT, ask, ledger, process, terminal

UNCOUNTED = pytest.mark.uncounted  # a story for a program and one on a terminal reach all of it
ACTS = ["work", "write", "kill", "blind", "resume", "question", "verdict", "end", "replay", "audit"]


def named(told: str) -> Path:
    """Return the folder that a story names."""
    found = re.search(r"everything is in (\S+)", told)
    assert found
    return Path(found[1])


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go; nothing else of the demo may be there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a program reads, run where LEDGER_DB names somebody's real ledger; nothing but its folder is left behind."""
    temporary = tmp_path_factory.mktemp("temporary")
    env = {"TMPDIR": str(temporary), "LEDGER_DB": f"sqlite:///{temporary}/real.db"}
    done = process("demo", "--json", module="ledger", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    told: dict[str, Any] = json.loads(done.stdout)["data"]
    assert list(temporary.iterdir()) == [Path(told["folder"])]
    return told


def test_the_story_for_a_program(told: dict[str, Any]) -> None:
    """With --json stdout has one object and stderr nothing; its figures say that the effect happened once."""
    assert [act["act"] for act in told["acts"]] == ACTS
    acts: dict[str, dict[str, Any]] = {act["act"]: act["facts"] for act in told["acts"]}
    assert acts["work"]["batch"] == "parallel"
    assert acts["work"]["stopped"] == "invalid_range"
    assert acts["write"]["events"] == ["call.proposed", "call.validated", "call.authorized", "call.started"]
    assert (acts["kill"]["signal"], acts["kill"]["state"]) == (9, "started")
    assert acts["blind"]["secondTry"].startswith("not_found")
    assert (acts["resume"]["state"], acts["resume"]["reason"]) == ("needs-review", "outcome-unknown")
    assert (acts["verdict"]["state"], acts["verdict"]["by"]) == ("succeeded", "demo")
    figures = told["figures"]
    assert (figures["effects"], figures["lost"], figures["addedBySecondResume"]) == (1, 0, 0)
    assert figures["acknowledged"] < figures["events"]
    statuses = {entry["command"].split()[1]: entry["status"] for act in told["acts"] for entry in act["commands"]}
    assert statuses["review"] == 0
    outputs = {entry["command"]: entry["output"] for act in told["acts"] for entry in act["commands"]}
    assert all(output is not None for output in outputs.values())
    assert Place(Path(told["folder"])).times_edited() == 1


def test_the_environment_does_not_lead_it_astray(told: dict[str, Any]) -> None:
    """LEDGER_DB names somebody's real ledger: the demo does not touch it."""
    assert told["db"] == f"sqlite:///{told['folder']}/agent.db"
    assert not Path(told["folder"]).with_name("real.db").exists()


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What a person reads in a pipe, in cp1252, and the folder of its temporary files; the current one stayed empty."""
    here, temporary = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("temporary")
    env = {"COLUMNS": "40", "TMPDIR": str(temporary), "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = process("demo", module="ledger", env=env, cwd=here)
    assert done.returncode == 0, done
    assert list(here.iterdir()) == []
    return done.stdout.decode("cp1252"), temporary


@UNCOUNTED
def test_the_story_for_a_person(story: tuple[str, Path]) -> None:
    """It is plain text in a pipe of any encoding, says each step in order, and leaves one folder, which it names."""
    told, temporary = story
    assert "\x1b" not in told
    steps = [
        "A coding agent is killed",
        "turn 2  read_lines rejected (invalid_range)",
        "call.started",
        "6:    start = (number - 1) * size",
        "ended by signal 9 (SIGKILL)",
        "would write again",
        "$ ledger resume mini-agent --db sqlite:///",
        "needs-review",
        "$ ledger review list --db",
        "$ ledger review show",
        "It was started and no outcome is recorded: it may have happened, or not.",
        "$ ledger review resolve",
        "answer  Fixed:",
        "$ ledger replay session mini-agent",
        "final_answer, 6 turns, 7 calls",
        "$ ledger audit calls",
        "In figures",
        "times the file was changed       1",
        "rm -r",
    ]
    places = [told.index(step) for step in steps]
    assert places == sorted(places)
    assert list(temporary.iterdir()) == [named(told)]


@UNCOUNTED
def test_the_commands_can_be_tried(story: tuple[str, Path]) -> None:
    """Each command that is shown can be copied into a shell and works there, in any folder, after the story ended."""
    told, _ = story
    commands = re.findall(r"^  \$ (.+)$", told, flags=re.MULTILINE)
    assert commands[0].startswith("ledger() {")
    script = "\n".join([commands[0], *(f"{{ {command}; }} > /dev/null; echo $?" for command in commands[1:])])
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    ends = dict(zip(commands[1:], map(int, done.stdout.split()), strict=True))
    refused = [command for command, status in ends.items() if status != 0]
    assert [command.split()[:3] for command in refused] == [["ledger", "review", "resolve"]]
    assert "already" in done.stderr


@UNCOUNTED
def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    """With --folder it happens there, and any encoding will do; a second story there is refused."""
    home = tmp_path / "a b" / "story"
    locale = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = process("demo", "--folder", str(home), module="ledger", env=locale)
    assert (done.returncode, str(home) in done.stdout.decode("ascii")) == (0, True)
    assert b"In figures" in done.stdout
    held = sorted(home.iterdir())
    again = process("demo", "--folder", str(home), module="ledger")
    assert (again.returncode, again.stdout) == (1, b"")
    assert b"folder_in_use" in again.stderr
    assert sorted(home.iterdir()) == held


@UNCOUNTED
def test_whoever_reads_one_line(temporary: Path) -> None:
    """`ledger demo | head -1` is quiet, and a story that nobody heard leaves nothing behind."""
    done = process("demo", module="ledger", shell="| head -1")
    assert done.stdout == b"A coding agent is killed in the middle of a write\n"
    assert done.stderr == b""
    assert list(temporary.iterdir()) == []


@UNCOUNTED
def test_a_reader_who_leaves_keeps_his_own_folder(tmp_path: Path) -> None:
    """A folder that was named stays, whoever left."""
    process("demo", "--folder", str(tmp_path / "mine"), module="ledger", shell="| head -1")
    assert (tmp_path / "mine").is_dir()


# in this process


def test_it_is_coloured_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal gets colours, and where the shell knows `ledger` already, nothing is said about it."""
    out, _ = terminal(monkeypatch)
    program = tmp_path / "ledger"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(sys, "argv", [str(program)])
    with pytest.raises(SystemExit) as left:
        main(["demo", "--folder", str(tmp_path / "story")])
    assert left.value.code == 0
    assert "\x1b[1m3. kill -9\x1b[0m" in out.shown
    assert "ledger() {" not in out.shown
    assert "\x1b[33mneeds-review\x1b[0m" in out.shown


@UNCOUNTED
def test_no_colour_is_for_the_commands_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--no-color reaches the commands that the story runs."""
    out, _ = terminal(monkeypatch)
    with pytest.raises(SystemExit):
        main(["demo", "--no-color", "--folder", str(tmp_path / "story")])
    assert "needs-review" in out.shown
    assert "\x1b" not in out.shown


@pytest.mark.parametrize("option", ["--db", "--catalog"])
def test_it_brings_its_own_ledger(option: str) -> None:
    """Another ledger or catalog is refused as wrong usage, before anything happens."""
    refused = ask("demo", option, "other", command=main)
    assert refused.exit_code == 2
    assert f"leave {option} out" in refused.stderr


def test_it_is_over_when_anything_is_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that cannot work ends the story with status 1, what was to be, and where to look."""
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    failed = ask("demo", "--folder", str(tmp_path / "story"), command=main)
    assert failed.exit_code == 1
    assert "did not come out as told: the agent ended before its first edit" in failed.stderr
    assert f"Look at {tmp_path}/story" in failed.stderr
    told = json.loads(ask("demo", "--json", "--folder", str(tmp_path / "other"), command=main).stdout)
    assert told["error"]["code"] == "demo_failed"


def test_a_folder_that_holds_something_is_not_touched(tmp_path: Path) -> None:
    """It is refused before anything happens."""
    (tmp_path / "mine").touch()
    refused = ledger("demo", "--folder", str(tmp_path))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "folder_in_use" in refused.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "mine"]


def test_a_system_without_the_signal_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be killed like that, the demo says so and does nothing."""
    monkeypatch.delattr("signal.SIGKILL")
    refused = ask("demo", command=main)
    assert refused.exit_code == 2
    assert "POSIX" in refused.stderr


def test_a_folder_that_cannot_be_written_is_told(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the story is begun: one line names the folder, and the status is 1."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    told = ledger("demo", "--folder", "story")
    assert (told.exit_code, told.stdout, told.stderr) == (1, "", "Error: Permission denied: story (os_error)\n")
    (empty / "file").touch()
    assert "Not a directory: file/story" in ledger("demo", "--folder", "file/story").stderr
