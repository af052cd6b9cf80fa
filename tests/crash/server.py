"""The process that forks: it has imported all there is and opens no database; one line a request, one a verdict."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from tests.crash.grounds import Grounds, warm
from tests.crash.matrix import Verdict, killed
from tests.crash.places import Backend
from tests.crash.random_kills import random_kills
from tests.crash.scenarios import SCENARIOS
from tests.crash.storm import storm
from tests.helpers import memory

Request: TypeAlias = dict[str, Any]
"""
`{"scenario": name}`, `{"seed": n, "kills": n}`, or `{"storm": seed, "kills": n, "sessions": n}`; each with a `backend`,
a scenario also with `most` for a part of its points.
"""


def serve() -> None:
    """Answer requests until there are no more."""
    with tempfile.TemporaryDirectory(dir=memory.folder(200_000_000)) as name:
        folder = Path(name)
        os.chdir(folder)
        warm(folder / "warm")
        grounds = Grounds(folder)
        for number, line in enumerate(sys.stdin):
            _answer(json.loads(line), grounds, folder / f"request {number}")
        grounds.remove()


def _answer(request: Request, grounds: Grounds, folder: Path) -> None:
    folder.mkdir()
    try:
        for verdict in _verdicts(request, grounds, folder):
            _say(asdict(verdict))
    except Exception as error:  # noqa: BLE001 - whatever it was, it is told to who asked
        _say({"failed": f"{type(error).__name__}: {error}"})
    else:
        _say(None)
    shutil.rmtree(folder)


def _verdicts(request: Request, grounds: Grounds, folder: Path) -> Iterator[Verdict]:
    backend = request["backend"]
    if "scenario" in request:
        name = request["scenario"]
        ground = grounds.world(backend, published=SCENARIOS[name].published)
        return killed(folder, ground, name, request.get("most"))
    if "storm" in request:
        ground = grounds.world(backend, published=False)
        return storm(folder, ground, request["storm"], request["kills"], request["sessions"])
    return random_kills(folder, grounds.world(backend, published=True), request["seed"], request["kills"])


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
    """Such processes at work, one for each back end, begun at once with everything that will be asked for."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._processes: dict[Backend, tuple[Killer, ThreadPoolExecutor]] = {}
        self._work: dict[str, Future[list[Verdict]]] = {}
        for request in requests:
            backend = request["backend"]
            if backend not in self._processes:
                self._processes[backend] = Killer(), ThreadPoolExecutor(1)
            killer, thread = self._processes[backend]
            self._work[_key(request)] = thread.submit(killer.ask, request)

    def verdicts(self, **request: Any) -> list[Verdict]:
        """Wait for the verdicts on one of the requests."""
        return self._work[_key(request)].result()

    def close(self) -> None:
        """End the processes; what has not begun is left undone."""
        for killer, thread in self._processes.values():
            thread.shutdown(cancel_futures=True)
            killer.close()


def _key(request: Request) -> str:
    return json.dumps(request, sort_keys=True)


if __name__ == "__main__":
    serve()
