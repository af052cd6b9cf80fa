"""The agent in processes of its own: held inside of its edit, killed by a signal, carried on."""

import subprocess
import sys
from pathlib import Path

import pytest

from ledger.demo.children import DemoFailed, Held, carry_on, held
from ledger.demo.place import Place


def test_it_is_held_inside_of_its_edit_and_killed(tmp_path: Path) -> None:
    """While it is held the file is changed and counted; then a real signal ends it, and nothing is left running."""
    place = Place(tmp_path)
    with held(place) as agent:
        assert agent.process.poll() is None
        assert "(number - 1)" in (place.work / "pages.py").read_text()
        assert place.times_edited() == 1
        assert agent.said[-1] == "turn 3  read_lines succeeded"
        assert agent.kill() == 9
    assert agent.process.returncode == -9


def test_it_does_not_outlive_the_one_who_holds_it(tmp_path: Path) -> None:
    """Whatever happens inside of the block, the process is gone behind it."""
    with pytest.raises(ZeroDivisionError), held(Place(tmp_path)) as agent:
        raise ZeroDivisionError
    assert agent.process.returncode == -9


def test_a_process_that_ended_by_itself_was_not_killed() -> None:
    """Only an end by the signal is told as one."""
    process = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE, text=True)
    with process:
        process.wait()
        with pytest.raises(DemoFailed, match="ended with 0"):
            Held(process).kill()


def test_an_agent_without_an_edit_cannot_be_held(tmp_path: Path) -> None:
    """One whose session ended long ago says so, and is not waited for."""
    place = Place(tmp_path)
    assert carry_on(place)[0] == 0
    with pytest.raises(DemoFailed, match=r"ended before its first edit: task .* / answer .* / trace"), held(place):
        pass


def test_it_carries_on_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is found without being installed and without being in the current folder; its words are UTF-8."""
    monkeypatch.chdir("/")
    status, said = carry_on(Place(tmp_path))
    assert status == 0, said
    assert said[-1].startswith("trace")
