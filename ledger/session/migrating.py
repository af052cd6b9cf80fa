"""Carries the open calls of many sessions to the newer versions of their tools, as `migrate-schemas --apply` asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledger.errors import LedgerError
from ledger.execution.requests import Steps
from ledger.schema_migration import Judged, judge, may_be_carried
from ledger.schema_migration.plan import Planner, Scope, sessions_of
from ledger.session.carrying import recorded_steps
from ledger.session.core import Core, Item
from ledger.session.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """
    What became of one session: its calls as they were judged, and how many of them were carried now.

    `error` is what kept it from being carried: another process works on it, it cannot be read, nothing can be written.
    Then nothing of it was carried, and `judged` says what would have been.
    """

    session_id: str
    judged: tuple[Judged, ...] = ()
    carried: int = 0
    error: LedgerError | None = None


def migrate(ledger: Ledger, scope: Scope) -> Iterator[Migrated]:
    """
    Carry what may be carried, a session in one commit; yields what became of each session with open calls.

    Asking again changes nothing: a carried call is of the newer version. A crash in between leaves whole sessions
    carried or not, and the next run goes on. Finished calls and intents stay as they are. A session in which nothing
    can be carried is not opened: whoever works on it is not disturbed.
    """
    planner = Planner.of(ledger.reader, ledger.registry)
    for session_id in sessions_of(ledger.reader, scope):
        judged: tuple[Judged, ...] = ()
        try:
            judged = tuple(planner.open_calls(session_id, scope))
            if any(each.status == "migratable" for each in judged):
                yield ledger.session(session_id).run_steps(lambda core: _migrated(core, scope))
                continue
        except LedgerError as error:
            yield Migrated(session_id=session_id, judged=judged, error=error)
            continue
        yield Migrated(session_id=session_id, judged=judged)


def _migrated(core: Core, scope: Scope) -> Steps[Migrated]:
    yield from core.refresh()
    judged = []
    items: list[Item] = []
    for call in core.history.open_calls() if core.history.closed is None else ():
        if call.executor != "host" or scope.tool not in (None, call.tool):
            continue
        found = judge(core.wiring.registry, call, to=scope.to)
        judged.append(found)
        if found.status == "migratable" and found.journey is not None and may_be_carried(call):
            items += recorded_steps(core, call, found.journey)
    refused = (yield from core.commit(items, release=True)) if items else []
    return Migrated(session_id=core.session_id, judged=tuple(judged), carried=len(_ids(items) - _ids(refused)))


def _ids(items: list[Item]) -> set[str]:
    """Return the calls that these events are about."""
    return {item.call.call_id for item in items if item.call is not None}
