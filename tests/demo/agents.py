"""What the agent's tests share: tools that are watched, a ledger with them, a model's replies, a process to kill."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ledger import Ledger
from ledger.demo.agent import WatchedTools, open_ledger
from ledger.demo.door import HELD
from ledger.demo.place import Place
from ledger.demo.sample import lay_out
from ledger.demo.tools import Row
from ledger.demo.workspace import Workspace
from ledger.events import Event, read_event
from tests.helpers.counting import untraced
from tests.session.agents import asked

__all__ = [
    "Meeting",
    "MeetingTools",
    "asked",
    "begun",
    "copied",
    "events_of",
    "killed",
    "opened",
    "replies_of",
    "script",
    "started",
]


@dataclass(slots=True)
class Meeting:
    """
    Lets a run end only when `size` of them are there.

    `peak` is how many there were at most, `ran` in which order they began, `beside` how many were there when one came.
    """

    size: int
    peak: int = 0
    ran: list[str] = field(default_factory=list)
    beside: dict[str, int] = field(default_factory=dict)
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _barrier: threading.Barrier | None = None

    @contextmanager
    def attended(self, name: str) -> Iterator[None]:
        with self._lock:
            self._barrier = self._barrier or threading.Barrier(self.size, timeout=60)
            self.ran.append(name)
            self.beside[name] = self._now
            self._now += 1
            self.peak = max(self.peak, self._now)
        try:
            self._barrier.wait()
            yield
        finally:
            with self._lock:
                self._now -= 1


@dataclass(frozen=True)
class MeetingTools(WatchedTools):
    """The tools, each of whose runs goes to a meeting first."""

    meeting: Meeting = field(default_factory=lambda: Meeting(1))

    def read_file(self, path: str) -> Row:
        with self.meeting.attended("read_file"):
            return super().read_file(path)

    def list_files(self, path: str = ".", max_entries: int = 100) -> Row:
        with self.meeting.attended("list_files"):
            return super().list_files(path, max_entries)

    def search_text(self, query: str, path: str = ".") -> Row:
        with self.meeting.attended("search_text"):
            return super().search_text(query, path)

    def edit_file(self, path: str, old_text: str, new_text: str) -> Row:
        with self.meeting.attended("edit_file"):
            return super().edit_file(path, old_text, new_text)


def begun(folder: Path) -> Workspace:
    """The sample project in a workspace."""
    return lay_out(folder / "work")


def opened(folder: Path, tools: WatchedTools | None = None, *, reconcile: bool = False) -> Ledger:
    """A ledger on a real file with the six tools."""
    place = Place(folder)
    return open_ledger(place.url, tools or WatchedTools(place.begin()), reconcile=reconcile)


def events_of(ledger: Ledger, session_id: str, type: str | None = None) -> list[Event]:
    """The session's events in order, perhaps only those of one type."""
    events = (read_event(row.record, row) for row in ledger.reader.read(session_id, limit=10_000))
    return [event for event in events if type in (None, event.type)]


def replies_of(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the tool messages say, as JSON."""
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def script(folder: Path, *decisions: dict[str, Any], task: str = "Do it.") -> Path:
    """A script of one's own, as a file."""
    file = folder / "script.json"
    file.write_text(json.dumps({"model": "mine", "task": task, "decisions": list(decisions)}))
    return file


def started(*arguments: str) -> subprocess.Popen[str]:
    """The agent as a process of its own; its streams are pipes."""
    command = [sys.executable, "-m", "ledger.demo", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=untraced(), stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def killed(folder: Path, *options: str) -> Place:
    """An agent's folder after SIGKILL at the worst moment: the file was changed, no outcome was recorded."""
    with started(str(folder), "--hold", *options) as process:
        assert process.stdout is not None
        said = list(itertools.takewhile(lambda line: line != f"{HELD}\n", process.stdout))
        process.kill()
    assert process.returncode == -signal.SIGKILL, said
    assert said[-1].startswith("turn 3")
    return Place(folder)


def copied(place: Place, folder: Path) -> Place:
    """An agent's folder once more: what a process left there does not name it."""
    shutil.copytree(place.folder, folder, dirs_exist_ok=True)
    return Place(folder)
