"""The folder in which one agent lives: what its tools may touch, and beside it what is kept about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ledger.demo.sample import lay_out
from ledger.demo.workspace import Workspace
from ledger.errors import UsageError


@dataclass(frozen=True, slots=True)
class Place:
    """
    One agent's folder, made absolute: the tools work in `work/` and cannot reach the rest of it.

    `agent.db` is the ledger, `trace.jsonl` its events as lines. `edits.log` gets a line each time a file was changed:
    the tool itself writes it, so that what happened can be counted without asking the ledger.
    """

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder).resolve())

    @property
    def database(self) -> Path:
        """The ledger's file."""
        return self.folder / "agent.db"

    @property
    def url(self) -> str:
        """The ledger's URL, for `--db`."""
        return f"sqlite:///{self.database.as_posix()}"

    @property
    def work(self) -> Path:
        """The workspace."""
        return self.folder / "work"

    @property
    def trace(self) -> Path:
        """The events of the session, one a line."""
        return self.folder / "trace.jsonl"

    @property
    def edits(self) -> Path:
        """The outside count of changes."""
        return self.folder / "edits.log"

    def begin(self) -> Workspace:
        """
        Return the workspace; at the first time the sample project is laid out in it.

        Raises UsageError `folder_in_use` if its files are there and no ledger.
        """
        return Workspace(self.work) if self.database.exists() else lay_out(self.work)

    def found(self) -> Workspace:
        """Return the workspace of an agent that was here before; raises UsageError `no_agent` where none was."""
        if not self.database.exists():
            raise UsageError(
                f"no agent was in {self.folder}",
                code="no_agent",
                hint="Run one there first: python -m ledger.demo FOLDER",
            )
        return Workspace(self.work)

    def edited(self, path: str) -> None:
        """Count a change of a file."""
        with self.edits.open("a", encoding="utf-8") as log:
            log.write(ascii(path)[1:-1] + "\n")

    def times_edited(self) -> int:
        """Return how often a file was changed."""
        return len(self.edits.read_bytes().splitlines()) if self.edits.exists() else 0
