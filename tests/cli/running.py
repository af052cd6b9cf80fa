"""How these tests run a command line: in this process, or as a real one."""

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tests.cli.sample import root

ROOT = Path(__file__).parents[2]


def ask(*arguments: str, command: click.Command = root, env: Mapping[str, str] | None = None) -> Result:
    """Run a command line in this process; a failure that escapes the frame escapes here too."""
    return CliRunner().invoke(command, arguments, env=env, catch_exceptions=False)


def process(*arguments: str, shell: str = "", **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run the sample's command line as a process; `shell` is what follows the command in a pipeline."""
    command = [sys.executable, "-m", "tests.cli.sample", *arguments]
    whole = {name: value for name, value in os.environ.items() if name not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    if shell:
        command = ["bash", "-c", f'set -o pipefail; "$@" {shell}', "bash", *command]
    return subprocess.run(command, cwd=ROOT, env=whole | env, capture_output=True, check=False)


class Screen(io.TextIOWrapper):
    """A terminal: a stream that says so, and remembers what was written."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode(self.encoding)


class Broken(io.StringIO):
    """A stream whose reader left, or whose disk is full."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def write(self, text: str) -> int:
        raise OSError(self.number, os.strerror(self.number))

    def flush(self) -> None:
        raise OSError(self.number, os.strerror(self.number))


def terminal(monkeypatch: pytest.MonkeyPatch) -> tuple[Screen, Screen]:
    """Make both streams terminals of 30 columns; no fixture, because pytest sets its own streams after those."""
    out, err = Screen(), Screen()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return out, err
