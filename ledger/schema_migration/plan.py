"""Plans over all recorded calls: session by session, in the memory of one session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ledger.calls import TERMINAL
from ledger.catalog import Registry
from ledger.errors import UnknownSession
from ledger.replay.reading import session_at
from ledger.schema_migration.judging import Judged, Status, judge
from ledger.store.port import Reader

PAGE: Final = 500

MOST_SHOWN: Final = 1_000
"""Calls that need a person which a plan names; all are counted."""

_ASKS: Final[tuple[Status, ...]] = ("needs-person", "invalid")


class Group(NamedTuple):
    """Calls of one tool that go the same way."""

    tool: str
    from_version: int | None
    to_version: int | None
    status: Status
    grade: str | None
    code: str | None


@dataclass(slots=True)
class Plan:
    """
    What was planned so far, counted by tool, versions and status.

    `asked` are the first calls that need a person, `cut` says that there are more.
    """

    groups: Counter[Group] = field(default_factory=Counter)
    asked: list[Judged] = field(default_factory=list)
    cut: bool = False

    def add(self, judged: Judged) -> None:
        """Count one more call."""
        call = judged.call
        version = judged.to_version
        self.groups[Group(call.tool, call.schema_version, version, judged.status, judged.grade, judged.code)] += 1
        if judged.status in _ASKS:
            self.cut = self.cut or len(self.asked) >= MOST_SHOWN
            if not self.cut:
                self.asked.append(judged)

    def count(self, *statuses: Status) -> int:
        """Return how many calls have one of these statuses."""
        return sum(count for group, count in self.groups.items() if group.status in statuses)

    @property
    def needed(self) -> int:
        """How many calls need a person."""
        return self.count(*_ASKS)

    def to_wire(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        rows = sorted(self.groups.items(), key=lambda each: tuple(str(part) for part in each[0]))
        return {
            "groups": [
                {
                    "tool": group.tool,
                    "fromVersion": group.from_version,
                    "toVersion": group.to_version,
                    "status": group.status,
                    "grade": group.grade,
                    "code": group.code,
                    "calls": count,
                }
                for group, count in rows
            ],
            "needsPerson": [judged.to_wire() for judged in self.asked],
            "cut": self.cut,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which calls: of a tool, of a session, and whether finished ones too; `to` is another version than the current."""

    tool: str | None = None
    session: str | None = None
    every: bool = False
    to: int | None = None


def sessions_of(reader: Reader, scope: Scope) -> Iterator[str]:
    """Yield the sessions that may hold calls of the scope, by id. Raises `UnknownSession` for one that is not there."""
    if scope.session is not None:
        if reader.head(scope.session) is None:
            raise UnknownSession(scope.session)
        yield scope.session
        return
    after = ""
    while page := reader.sessions(after=after, limit=PAGE):
        for row in page:
            if scope.every or (row.open and row.closed is None):
                yield row.session_id
        after = page[-1].session_id


def judged_of(reader: Reader, registry: Registry, session_id: str, scope: Scope) -> list[Judged]:
    """Judge the calls of one session that are in the scope: those that may still run, or all."""
    history = session_at(reader, session_id)
    found = []
    for call in history.calls.values():
        open_still = call.state not in TERMINAL and history.closed is None
        if (scope.every or open_still) and scope.tool in (None, call.tool) and call.executor == "host":
            found.append(judge(registry, call, to=scope.to))
    return found


def planned(reader: Reader, registry: Registry, scope: Scope) -> Iterator[Judged]:
    """Yield what becomes of each call of the scope. Bounded memory: a session at a time."""
    for session_id in sessions_of(reader, scope):
        yield from judged_of(reader, registry, session_id, scope)
