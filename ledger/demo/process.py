"""Running one command to its end or to a limit, leaving nothing of it behind."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ledger.answers import Failed, OutcomeUnknown, Rejected

KEPT_HEAD_BYTES = 16 * 2**10
KEPT_TAIL_BYTES = 48 * 2**10
TAIL_IN_FAILURE = 2_000
"""Characters of output that a timeout's message quotes."""

_CHUNK = 65_536
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended by itself; a negative exit code is the signal that ended it."""

    exit_code: int
    output: str
    output_bytes: int
    truncated: bool
    left_running: bool
    """A process that it started left its process group and still holds the output: it was not killed."""


def run_bounded(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limit_seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> Finished:
    """
    Run a command (an argument array, no shell) in a process group of its own; output and errors are one stream.

    The group is killed in every case: what a command leaves running would compete with the next call. Raises Rejected
    `not_started`, Failed `timeout` when the limit was reached and the whole group is gone, OutcomeUnknown when
    something escaped from the group by then. POSIX only.
    """
    output = _Output()
    with _start(command, folder, environment) as process:
        stream = process.stdout
        assert stream is not None  # noqa: S101 - Popen was asked for a pipe
        deadline = clock() + limit_seconds
        try:
            output.read(stream, until=lambda: process.poll() is not None or clock() >= deadline)
            in_time = _has_ended(process, deadline - clock())
        finally:
            _kill_group(process)
        process.wait()
        grace = clock() + _GRACE_SECONDS
        # Every process that inherited the pipe is gone when it ends: this is the proof, not a list of pids.
        all_gone = output.read(stream, until=lambda: clock() >= grace)
    if in_time:
        return Finished(process.returncode, output.text(), output.size, output.truncated, left_running=not all_gone)
    if not all_gone:
        raise OutcomeUnknown(f"Stopped after {limit_seconds:g} seconds, but a process it started is still running.")
    last = output.text()[-TAIL_IN_FAILURE:]
    raise Failed("timeout", f"Stopped with all its processes after {limit_seconds:g} seconds. Last output: {last!r}")


def _start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise Rejected("not_started", f"It could not be started: {error.strerror}.", model_can_repair=False) from error


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """It may close its output and work on."""
    try:
        process.wait(timeout=max(0.0, seconds))
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody left; on macOS: only a zombie left
        os.killpg(process.pid, signal.SIGKILL)


class _Output:
    """The beginning and the end of a stream; the middle is counted and dropped."""

    def __init__(self) -> None:
        self.size = 0
        self._head = b""
        self._tail = b""

    def read(self, stream: IO[bytes], *, until: Callable[[], bool]) -> bool:
        """Take what comes; return True at the stream's end, False when `until` says stop, silent or flooding."""
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while True:
                if selector.select(_POLL_SECONDS):
                    chunk = os.read(stream.fileno(), _CHUNK)
                    if not chunk:
                        return True
                    self._add(chunk)
                if until():
                    return False

    def _add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = KEPT_HEAD_BYTES - len(self._head)
        self._head += chunk[:room]
        self._tail = (self._tail + chunk[room:])[-KEPT_TAIL_BYTES:]

    @property
    def truncated(self) -> bool:
        return self.size > KEPT_HEAD_BYTES + KEPT_TAIL_BYTES

    def text(self) -> str:
        dropped = self.size - len(self._head) - len(self._tail)
        middle = f"\n[{dropped} bytes left out]\n".encode() if dropped else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")
