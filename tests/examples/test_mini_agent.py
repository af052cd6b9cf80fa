"""The example runs as its README says: by its name, by its file, and behind the worker."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.demo.agents import killed
from tests.helpers.counting import untraced

ROOT = Path(__file__).parents[2]
DOORS = [["-m", "examples.mini_agent"], [str(ROOT / "examples/mini_agent/main.py")]]


def ran(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = untraced() | {"MINI_AGENT": str(folder)}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("door", DOORS, ids=["module", "file"])
def test_both_doors_run_the_agent(tmp_path: Path, door: list[str]) -> None:
    """Each door runs the agent in the folder that is named, to its answer."""
    done = ran(*door, str(tmp_path), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[7].startswith("answer  Fixed:")


def test_the_worker_settles_what_the_crash_left(tmp_path: Path) -> None:
    """`ledger resume --app` with the example's ledger looks for itself; without the code the call is left to it."""
    place = killed(tmp_path, "--reconcile")
    left = ran("-m", "ledger", "resume", "mini-agent", "--db", place.url, folder=tmp_path)
    assert left.returncode == 3
    assert "needs code" in left.stdout
    app = ["--app", "examples.mini_agent.app:LEDGER"]
    settled = ran("-m", "ledger", "resume", "mini-agent", *app, folder=tmp_path)
    assert (settled.returncode, "succeeded" in settled.stdout) == (0, True), settled
    assert place.times_edited() == 1


def test_the_worker_says_where_no_agent_was(tmp_path: Path) -> None:
    """Without an agent's folder the example's ledger is not made, but missed."""
    done = ran("-m", "ledger", "resume", "--all", "--app", "examples.mini_agent.app:LEDGER", folder=tmp_path)
    assert done.returncode == 1
    assert "no agent was in" in done.stderr
    assert list(tmp_path.iterdir()) == []
