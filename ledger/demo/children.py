"""The agent in processes of its own: one that stops inside its first edit so that it can be killed, one that ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import ledger
from ledger.demo.door import HELD
from ledger.demo.place import Place
from ledger.errors import LedgerError

# Not `-m`: a checkout that was never installed must be found too, and behind everything else that is.
_START = "import sys; sys.path.append({root!r}); from ledger.demo.door import main; sys.exit(main())"
_SIGKILL = 9


class DemoFailed(LedgerError):
    """Something did not come out as the demo tells it."""

    default_code = "demo_failed"


@dataclass(slots=True)
class Held:
    """An agent that stands still inside of `edit_file`: the file is changed, and the ledger does not know yet."""

    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self.process.pid

    def kill(self) -> int:
        """Send SIGKILL and return the signal that ended the process. Raises DemoFailed if it ended otherwise."""
        self.process.kill()
        status = self.process.wait()
        if status != -_SIGKILL:
            raise DemoFailed(f"the agent was to be ended by signal {_SIGKILL}, and ended with {status}")
        return -status


@contextmanager
def held(place: Place) -> Iterator[Held]:
    """
    Start the agent and lend it when it has come to its first edit; it does not outlive the block.

    Raises DemoFailed if it ended without an edit.
    """
    agent = Held(_start(place, "--hold"))
    with agent.process as process:
        try:
            _listen(agent)
            yield agent
        finally:
            process.kill()


def _listen(agent: Held) -> None:
    assert agent.process.stdout is not None  # noqa: S101 - Popen was asked for a pipe
    for line in agent.process.stdout:
        if line.rstrip("\n") == HELD:
            return
        agent.said.append(line.rstrip("\n"))
    raise DemoFailed(f"the agent ended before its first edit: {' / '.join(agent.said[-3:])}")


def carry_on(place: Place) -> tuple[int, list[str]]:
    """Start the agent again and let it end; return its exit status and what it said."""
    with _start(place) as process:
        said, _ = process.communicate()
    return process.returncode, said.splitlines()


def _start(place: Place, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _START.format(root=_importable()), str(place.folder), *options]
    return subprocess.Popen(
        command,
        cwd=place.folder,
        env=os.environ | {"PYTHONUTF8": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def _importable() -> str:
    return str(Path(str(ledger.__file__)).resolve().parent.parent)
