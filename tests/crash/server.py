"""The process that forks: it has imported all there is and opens no database; one line a request, one a verdict."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from tests.crash.matrix import Verdict, killed
from tests.crash.random_kills import random_kills
from tests.crash.storm import storm

Request: TypeAlias = dict[str, Any]
"""`{"scenario": name}`, `{"seed": n, "kills": n}`, or `{"storm": seed, "kills": n, "sessions": n}`."""

MEMORY = "/dev/shm"
"""Files without a disk, where there are any: SIGKILL leaves the system's cache alone, so no disk is asked here."""


def serve() -> None:
    """Answer requests until there are no more."""
    gc.collect()
    gc.freeze()  # what is there now is never looked at again: the children share its pages
    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
            try:
                for verdict in _verdicts(Path(folder), request):
                    _say(asdict(verdict))
            except Exception as error:  # noqa: BLE001 - whatever it was, it is told to who asked
                _say({"failed": f"{type(error).__name__}: {error}"})
            else:
                _say(None)


def _verdicts(folder: Path, request: dict[str, Any]) -> Iterator[Verdict]:
    if "scenario" in request:
        return killed(folder, request["scenario"])
    if "storm" in request:
        return storm(folder, request["storm"], request["kills"], request["sessions"])
    return random_kills(folder, request["seed"], request["kills"])


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


class Killer:
    """Asks such a process, from one that may have threads and open databases, and must not fork."""

    def __init__(self) -> None:
        # A killed child reports no coverage, and measuring the others takes most of their time.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
        command = [sys.executable, "-m", "tests.crash.server"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, request: Request) -> list[Verdict]:
        """Return the verdicts on one request."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        found = []
        while (answer := json.loads(self._process.stdout.readline() or "{}")) is not None:
            if "point" not in answer:
                raise AssertionError(answer.get("failed", "the process that forks is gone"))
            found.append(Verdict(**answer))
        return found

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Killers:
    """Several such processes at work, begun at once with everything that will be asked for."""

    def __init__(self, requests: Iterable[Request], processes: int = 2) -> None:
        self._processes: list[Killer] = []
        self._mine = threading.local()
        self._pool = ThreadPoolExecutor(processes, initializer=self._begin)
        self._work = {_key(request): self._pool.submit(self._ask, request) for request in requests}

    def _begin(self) -> None:
        self._mine.killer = Killer()
        self._processes.append(self._mine.killer)

    def _ask(self, request: Request) -> list[Verdict]:
        killer: Killer = self._mine.killer
        return killer.ask(request)

    def verdicts(self, **request: Any) -> list[Verdict]:
        """Wait for the verdicts on one of the requests."""
        return self._work[_key(request)].result()

    def close(self) -> None:
        """End the processes; what has not begun is left undone."""
        self._pool.shutdown(cancel_futures=True)
        for process in self._processes:
            process.close()


def _key(request: Request) -> str:
    return json.dumps(request, sort_keys=True)


if __name__ == "__main__":
    serve()
