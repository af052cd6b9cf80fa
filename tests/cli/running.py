"""How these tests run a command line: in this process, or as a real one."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from ledger.cli import main, streams
from tests.cli.sample import root
from tests.helpers.counting import untraced

ROOT = Path(__file__).parents[2]


def ask(*arguments: str, command: click.Command = root, env: Mapping[str, str] | None = None) -> Result:
    """Run a command line in this process; a failure that escapes the frame escapes here too."""
    return CliRunner().invoke(command, arguments, env=env, catch_exceptions=False)


def ledger(*arguments: str, **options: Any) -> Result:
    """Run the real command line in this process, in the current folder."""
    return CliRunner().invoke(main, arguments, catch_exceptions=False, **options)


def data(*arguments: str, **options: Any) -> Any:
    """Return the data that the real command line answers with --json, whatever its exit status."""
    return json.loads(ledger(*arguments, "--json", **options).stdout)["data"]


def failure(*arguments: str, **options: Any) -> tuple[int, str, str]:
    """Return the exit status, the code and the message of a command that fails, with --json."""
    result = ledger(*arguments, "--json", **options)
    error = json.loads(result.stdout)["error"]
    return result.exit_code, error["code"], error["message"]


def call_ids(**filters: str) -> dict[str, str]:
    """Return the calls of the ledger here by session and place, `mix 3.0`."""
    options = [word for name, value in filters.items() for word in (f"--{name}", value)]
    rows = json.loads(ledger("audit", "calls", *options, "--json").stdout)["data"]
    return {f"{row['sessionId']} {row['turn']}.{row['index']}": row["callId"] for row in rows}


def process(
    *arguments: str,
    module: str = "tests.cli.sample",
    env: Mapping[str, str] | None = None,
    shell: str = "",
    stdout: int = subprocess.PIPE,
    cwd: Path = ROOT,
) -> subprocess.CompletedProcess[bytes]:
    """Run a command line as a process; `module` is `ledger` for the real one, `shell` what follows in a pipeline."""
    command = [sys.executable, "-m", module, *arguments]
    whole = {name: value for name, value in untraced().items() if not name.startswith("PYTHON")}
    if shell:
        command = ["bash", "-c", f'set -o pipefail; "$@" {shell}', "bash", *command]
    return subprocess.run(
        command, cwd=cwd, env=whole | dict(env or {}), stdout=stdout, stderr=subprocess.PIPE, check=False
    )


class Screen(io.TextIOWrapper):
    """A terminal: a stream that says so, and remembers what was written. It breaks lines as Windows does."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True, newline="\r\n")

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode(self.encoding)


class Broken(io.StringIO):
    """A stream whose reader left, or whose disk is full: always, or only for one write."""

    def __init__(self, number: int, *, only_at: int | None = None) -> None:
        super().__init__()
        self.number = number
        self.only_at = only_at
        self.writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        if self.only_at in {None, self.writes}:
            raise OSError(self.number, os.strerror(self.number))
        return super().write(text)

    def flush(self) -> None:
        if self.only_at is None:
            raise OSError(self.number, os.strerror(self.number))


def shared(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    """Send both streams, each with its own buffer, to one place, as `2>&1` does."""
    place = io.BytesIO()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(place, encoding="utf-8"))
    return place


def terminal(monkeypatch: pytest.MonkeyPatch) -> tuple[Screen, Screen]:
    """Make both streams terminals of 30 columns; no fixture, because pytest sets its own streams after those."""
    out, err = Screen(), Screen()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    streams.prepare()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return out, err
