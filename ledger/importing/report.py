"""What an import says of itself: what became of each session, and what of the file could not be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ledger.errors import LedgerError

State: TypeAlias = Literal["new", "longer", "unchanged", "refused"]

MOST_SHOWN: Final = 1000
"""Problems that a report names; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    Something of the file that could not be taken in.

    `line` counts from 1, `offset` is that of its first byte, from 0 (of the unpacked text, where the file is packed);
    `code`: torn, glued, nul, too_large, or that of a `JsonRejected`; `skipped` for what is JSON and no message,
    `bundle_fault` for a ledger's own export.
    """

    line: int
    offset: int
    code: str
    message: str

    def told(self) -> str:
        """Return it in one line, for people."""
        return f"line {self.line}, byte {self.offset}: {self.message} ({self.code})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """
    What became of one session.

    `added` counts the events that were recorded now; `turns`, `calls`, `open` (calls without a result) and
    `reserialized` (calls whose argument text the source did not keep) what the transcript holds. A `refused` one says
    why in `error`.
    """

    session_id: str
    state: State
    added: int = 0
    turns: int = 0
    calls: int = 0
    open: int = 0
    reserialized: int = 0
    error: LedgerError | None = None


def state_of(error: LedgerError | None, *, known: bool, added: int) -> State:
    """Return what became of a session; `known`: it was recorded before."""
    if error is not None:
        return "refused"
    return "new" if not known else "longer" if added else "unchanged"


Told: TypeAlias = SessionReport | Problem


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What an import did; `format` is the transcript's. Of the `problems` the first 1,000 are kept, all are counted."""

    format: str
    sessions: list[SessionReport] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0

    def take(self, told: Iterable[Told]) -> ImportReport:
        """Take in all that an import tells, and return the report."""
        for each in told:
            if isinstance(each, SessionReport):
                self.sessions.append(each)
            else:
                self.problem_count += 1
                if len(self.problems) < MOST_SHOWN:
                    self.problems.append(each)
        return self

    @property
    def added(self) -> int:
        """Events that were recorded now."""
        return sum(session.added for session in self.sessions)

    @property
    def refused(self) -> list[SessionReport]:
        """The sessions that were not taken."""
        return [session for session in self.sessions if session.error is not None]
