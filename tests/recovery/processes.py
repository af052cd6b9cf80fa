"""Starting, hearing and ending host processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.helpers.counting import untraced


class Host:
    """A child that works on a turn; see `tests.recovery.child`."""

    def __init__(self, folder: Path, *calls: tuple[str, dict[str, Any]]) -> None:
        command = [sys.executable, "-m", "tests.recovery.child", str(folder), json.dumps(calls)]
        self._process = subprocess.Popen(command, env=untraced(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self._process.pid

    def heard(self) -> str:
        """Wait for the next line it says; '' at its end."""
        assert self._process.stdout
        return self._process.stdout.readline().decode().strip()

    def go_on(self) -> None:
        """Let a waiting tool go on."""
        assert self._process.stdin
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def ended(self) -> int:
        """Wait for its end; return its status."""
        return self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
