"""Who works on a session, and whether that process is still there."""

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from ledger.session import lease
from ledger.session.lease import Owner, is_alive, is_dead


def changed(owner: str, place: int, value: str) -> str:
    """An owner's name with another part."""
    parts = owner.split(":")
    parts[place] = value
    return ":".join(parts)


def test_this_process_is_alive() -> None:
    """An owner of this process is there, and keeps its name; another ledger in it is another owner."""
    owner = Owner()
    assert (is_alive(str(owner)), is_dead(str(owner))) == (True, False)
    first = str(owner)
    assert first == str(owner)
    assert str(Owner()) != str(owner)


def test_a_process_that_ended_is_dead() -> None:
    """Its pid is gone, or is another process's now."""
    code = "from ledger.session.lease import Owner; print(Owner())"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (is_alive(child.stdout.strip()), is_dead(child.stdout.strip())) == (False, True)
    mine = str(Owner())
    assert is_dead(changed(mine, 4, "1"))  # this pid, started at another time
    assert is_dead(changed(mine, 3, "9" * 30))  # no pid of any machine


@pytest.mark.parametrize(
    ("place", "value"), [(0, "elsewhere"), (1, "another-boot"), (2, "another-container"), (3, "x"), (3, "\u00b2")]
)
def test_nobody_can_tell_of_what_is_elsewhere(place: int, value: str) -> None:
    """Another host, boot or container, or a pid that is none: neither alive nor dead."""
    name = changed(str(Owner()), place, value)
    assert (is_alive(name), is_dead(name)) == (None, False)
    assert is_alive("a name of somebody's own") is None


def test_somebody_elses_process_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that we may not signal is alive all the same."""

    def forbidden(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr("os.kill", forbidden)
    assert is_alive(str(Owner())) is True


def test_where_signals_cannot_ask_nobody_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows signal 0 would end the process: there nobody asks."""
    owner = str(Owner())
    monkeypatch.setattr(lease, "os", SimpleNamespace(name="nt"))
    assert is_alive(owner) is None


def test_a_system_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where /proc tells nothing, a pid that is there counts as the owner."""

    def missing(self: Any, **options: Any) -> Any:
        raise OSError

    with monkeypatch.context() as bare:
        bare.setattr("pathlib.Path.read_text", missing)
        bare.setattr("pathlib.Path.readlink", missing)
        owner = str(Owner())
        found = is_alive(owner)
    assert owner.split(":")[1:5] == ["", "", str(os.getpid()), ""]
    assert found is True


def test_a_process_that_is_hidden_from_us_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """With /proc mounted as hidepid=2 its start time cannot be read; signals still tell that it is there."""
    owner, ended = str(Owner()), subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert is_alive(changed(owner, 3, str(ended.pid))) is False  # it ended, and nobody has asked about it yet
    ended.wait()
    monkeypatch.setattr(lease, "_start_of", lambda pid: "")
    assert is_alive(owner) is True
