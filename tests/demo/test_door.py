"""The agent as a real process: what it says, how it ends, and what it does after it was killed at the worst moment."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ledger import Ledger
from ledger.demo import door
from ledger.demo.agent import SESSION
from ledger.demo.place import Place
from ledger.events import CallFlagged, CallSucceeded, SessionResumed
from ledger.session.reading import open_reader
from ledger.store.port import CallFilter
from tests.demo.agents import asked, copied, events_of, killed, opened, script, started

NEW = "start = (number - 1) * size"


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """What a killed agent leaves, made once."""
    return killed(tmp_path_factory.mktemp("left"))


@pytest.fixture
def place(left_behind: Place, tmp_path: Path) -> Place:
    """A folder in which an agent was killed inside its edit: the file was changed, and no outcome was recorded."""
    found = copied(left_behind, tmp_path)
    assert NEW in (found.work / "pages.py").read_text()
    assert found.times_edited() == 1
    return found


def ran(*arguments: str) -> tuple[int, list[str], str]:
    """Run the agent as a process to its end."""
    with started(*arguments) as process:
        out, err = process.communicate()
    return process.returncode, out.splitlines(), err


def test_it_tells_its_turns_and_its_answer(tmp_path: Path) -> None:
    """The program says a line a turn, then the answer and where the trace is, and exits with 0."""
    status, lines, err = ran(str(tmp_path))
    assert (status, err) == (0, "")
    assert lines[0].startswith("task    The tests of this project fail.")
    assert lines[1:7] == [
        "turn 1  list_files succeeded, read_file succeeded, search_text succeeded",
        "turn 2  read_lines rejected (invalid_range)",
        "turn 3  read_lines succeeded",
        "turn 4  edit_file succeeded",
        "turn 5  run_test succeeded",
        "turn 6  the answer",
    ]
    assert lines[7].startswith("answer  Fixed:")
    assert lines[8] == f"trace   {tmp_path}/trace.jsonl"
    assert json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[-1])["type"] == "session.closed"


def test_nobody_has_to_read_along(tmp_path: Path) -> None:
    """Whoever reads only the first line gets it, and the agent does its work to the end, quietly."""
    command = f'"{sys.executable}" -m ledger.demo "{tmp_path}" | head -1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("task")
    assert done.stderr == ""
    with opened(tmp_path) as ledger:
        assert len(events_of(ledger, SESSION, "session.closed")) == 1


def test_after_a_kill_a_person_is_asked(place: Place) -> None:
    """Started again, the agent does not edit again: the call waits, with what is known of it, and so does the agent."""
    status, lines, err = ran(str(place.folder))
    assert (status, err) == (3, "")
    assert lines[1:] == [f"waits   a person is asked: ledger review list --db {place.url}"]
    with opened(place.folder) as ledger:
        (flagged,) = events_of(ledger, SESSION, "call.flagged")
        (start,) = (event for event in events_of(ledger, SESSION, "call.started") if event.tool == "edit_file")
        assert isinstance(flagged.body, CallFlagged)
        assert (flagged.body.reason, flagged.call_id) == ("outcome-unknown", start.call_id)
        evidence = flagged.body.evidence
        assert evidence["found"] == "started"
        assert (evidence["startedAt"], evidence["attempt"]) == (start.recorded_at, 1)
        before = len(events_of(ledger, SESSION))
    assert ran(str(place.folder))[0] == 3
    with opened(place.folder) as ledger:
        assert len(events_of(ledger, SESSION)) == before
    assert place.times_edited() == 1


def test_after_the_verdict_the_agent_carries_on(place: Place) -> None:
    """A person looks and says that it happened: the same session goes on to its answer, and nothing ran twice."""
    ran(str(place.folder))
    with opened(place.folder) as ledger:
        (row,) = ledger.reviews()
        ledger.resolve(row["callId"], "happened", by="ada", note="the file holds the new text")
    status, lines, _ = ran(str(place.folder))
    assert status == 0
    assert [line[:6] for line in lines[1:3]] == ["turn 5", "turn 6"]
    with opened(place.folder) as ledger:
        assert place.times_edited() == 1
        assert [event.type for event in events_of(ledger, SESSION)].count("call.proposed") == 7
        assert_closed(ledger)


@pytest.mark.parametrize("declared_before", [True, False], ids=["before", "after the crash"])
def test_with_reconcile_it_settles_by_itself(left_behind: Place, tmp_path: Path, declared_before: bool) -> None:
    """An edit that can look for itself finds its text in the file: no person is asked, and it is not made again."""
    place = killed(tmp_path, "--reconcile") if declared_before else copied(left_behind, tmp_path)
    status, lines, _ = ran(str(place.folder), "--reconcile")
    assert (status, lines[1][:6]) == (0, "turn 5")
    with opened(place.folder) as ledger:
        assert events_of(ledger, SESSION, "call.flagged") == []
        (ended,) = (event for event in events_of(ledger, SESSION, "call.succeeded") if event.tool == "edit_file")
        (resumed,) = events_of(ledger, SESSION, "session.resumed")
        assert isinstance(resumed.body, SessionResumed)
        assert [decision["action"] for decision in resumed.body.decisions] == ["reconcile"]
        assert isinstance(ended.body, CallSucceeded)
        assert ended.body.reconciled
        assert ended.body.evidence["text"] == "replaced"
        assert ended.body.result["path"] == "pages.py"
        assert_closed(ledger)
    assert place.times_edited() == 1


def assert_closed(ledger: Ledger) -> None:
    (closed,) = events_of(ledger, SESSION, "session.closed")
    assert (closed.body.reason, closed.body.turns, closed.body.calls) == ("final_answer", 6, 7)  # type: ignore[union-attr]  # its type says so


def test_an_edit_that_was_never_made_is_not_believed(place: Place) -> None:
    """Where the file still holds the old text, looking does not invent a success: a person is asked."""
    file = place.work / "pages.py"
    file.write_text(file.read_text().replace("(number - 1)", "number"))
    assert ran(str(place.folder), "--reconcile")[0] == 3
    with opened(place.folder) as ledger:
        (row,) = ledger.reviews()
        (flagged,) = events_of(ledger, SESSION, "call.flagged")
    assert row["tool"] == "edit_file"
    assert isinstance(flagged.body, CallFlagged)
    assert flagged.body.evidence["reconcile"] == "did not happen"


# in this process: what the others leave out


class Starter(io.StringIO):
    """A stdin that ends at once, and remembers what was so when it was read."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place
        self.seen: tuple[int, str | None] | None = None

    def read(self, size: int | None = -1) -> str:
        reader = open_reader(self.place.url)
        self.seen = self.place.times_edited(), reader.calls(CallFilter(tool="edit_file"), limit=1)[0].row.state
        reader.close()
        return super().read(size)


def test_a_held_edit_goes_on_when_its_starter_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hold lasts as long as stdin, with the file changed and no outcome recorded; then the work goes on."""
    starter = Starter(Place(tmp_path))
    monkeypatch.setattr(sys, "stdin", starter)
    assert door.main([str(tmp_path), "--hold"]) == 0
    assert starter.seen == (1, "started")
    assert door.HELD in capsys.readouterr().out.splitlines()


def test_a_script_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file given as --script is what the model says; what a terminal would obey in it is shown escaped."""
    file = script(tmp_path, asked(("list_files", {})), asked(text="\x1b[2JThree."), task="Count.")
    assert door.main([str(tmp_path / "home"), "--script", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["task    Count.", "turn 1  list_files succeeded"]
    assert lines[3] == "answer  \\x1b[2JThree."


def test_what_is_wrong_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing script is one line on stderr and exit status 1; a wrong option is 2."""
    assert door.main([str(tmp_path), "--script", str(tmp_path / "none.json")]) == 1
    assert capsys.readouterr().err.startswith(f"error   {tmp_path}/none.json: the script cannot be read")
    with pytest.raises(SystemExit) as left:
        door.main(["--nonsense"])
    assert left.value.code == 2
    assert not (tmp_path / "agent.db").exists()


def test_a_folder_that_cannot_be_had_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the system refuses is one line that names the place, and exit status 1."""
    (tmp_path / "file").touch()
    assert door.main([str(tmp_path / "file" / "home")]) == 1
    assert capsys.readouterr() == ("", f"error   Not a directory: {tmp_path}/file/home/work\n")
