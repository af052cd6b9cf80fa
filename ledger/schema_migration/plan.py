"""Plans over all recorded calls, in the memory of a page of rows; what has ended is looked at only where asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ledger.audit.reading import placed_calls
from ledger.audit.story import call_of
from ledger.calls import TERMINAL, CallRow
from ledger.calls.follows import FOLLOWS
from ledger.catalog import Registry
from ledger.errors import UnknownSession
from ledger.schema_migration.glance import Digests, glance, recorded_digests
from ledger.schema_migration.judging import Judged, Status, judge
from ledger.store.port import CallFilter, EventFilter, Reader

PAGE: Final = 500

OPEN: Final = tuple(sorted(FOLLOWS.keys() - TERMINAL - {"unknown"}))
"""The states of calls that have not ended."""

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

    `asked` are the first calls that need a person, `cut` says that there are more. `asked_anew` counts those of them
    that are carried all the same, and `lacks_file` says that some of them only want an upcast file.
    """

    groups: Counter[Group] = field(default_factory=Counter)
    asked: list[Judged] = field(default_factory=list)
    cut: bool = False
    asked_anew: int = 0
    lacks_file: bool = False

    def add(self, judged: Judged) -> None:
        """Count one more call."""
        call = judged.call
        version = judged.to_version
        self.groups[Group(call.tool, call.schema_version, version, judged.status, judged.grade, judged.code)] += 1
        self.asked_anew += judged.carried_to_be_asked
        forward = judged.reached is not None and version is not None and judged.reached < version
        self.lacks_file = self.lacks_file or (judged.code == "no_upcast" and forward)
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

    def holds(self, registry: Registry, tool: str) -> bool:
        """Whether calls recorded under this name are asked for: under it, or under the one that the tool has now."""
        return self.tool in (None, tool, registry.home(tool))


def sessions_of(reader: Reader, scope: Scope) -> Iterator[str]:
    """
    Yield the sessions with calls of the scope that may still run, by id; closed ones have none.

    Raises `UnknownSession` for one that is not there.
    """
    if scope.session is None:
        after = ""
        while page := reader.sessions(after=after, limit=PAGE, unfinished=True):
            after = page[-1].session_id
            yield from (row.session_id for row in page)
        return
    if reader.head(scope.session) is None:
        raise UnknownSession(scope.session)
    if not reader.events(EventFilter(session_id=scope.session, types=("session.closed",)), limit=1):
        yield scope.session


@dataclass(frozen=True, slots=True)
class Planner:
    """Judges recorded calls by their rows, and by their own events where a row does not say enough."""

    reader: Reader
    registry: Registry
    digests: Digests

    @classmethod
    def of(cls, reader: Reader, registry: Registry) -> Planner:
        """Return one that knows which versions this ledger has recorded until now."""
        return cls(reader, registry, recorded_digests(reader))

    def open_calls(self, session_id: str, scope: Scope) -> Iterator[Judged]:
        """Yield what becomes of the calls of a session that have not ended."""
        return self._judged(CallFilter(session_id=session_id, tool=self._led_by(scope), states=OPEN), scope)

    def every_call(self, scope: Scope) -> Iterator[Judged]:
        """Yield what would become of each recorded call. Raises `UnknownSession`."""
        if scope.session is not None and self.reader.head(scope.session) is None:
            raise UnknownSession(scope.session)
        return self._judged(CallFilter(session_id=scope.session, tool=self._led_by(scope)), scope)

    def _led_by(self, scope: Scope) -> str | None:
        """Return the one name to look up; None where the tool had other names too, so that all are looked at."""
        heirs = {self.registry.home(name) for name in self.registry.given_up}
        return None if scope.tool in heirs else scope.tool

    def _judged(self, where: CallFilter, scope: Scope) -> Iterator[Judged]:
        rows = (placed.row for placed in placed_calls(self.reader, where))
        for row in (each for each in rows if scope.holds(self.registry, each.tool)):
            found = glance(self.registry, self.digests, row, to=scope.to) or self._read(row, scope)
            if found is not None:
                yield found

    def _read(self, row: CallRow, scope: Scope) -> Judged | None:
        call = call_of(self.reader, row.session_id, row.call_id)
        return judge(self.registry, call, to=scope.to) if call.executor == "host" else None


def planned(reader: Reader, registry: Registry, scope: Scope) -> Iterator[Judged]:
    """Yield what becomes of each call of the scope; bounded memory, however long the history and its sessions."""
    planner = Planner.of(reader, registry)
    if scope.every:
        yield from planner.every_call(scope)
        return
    for session_id in sessions_of(reader, scope):
        yield from planner.open_calls(session_id, scope)
