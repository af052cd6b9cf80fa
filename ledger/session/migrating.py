"""Carries the open calls of many sessions to the newer versions of their tools, as `migrate-schemas --apply` asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ledger.errors import LedgerError
from ledger.execution.requests import Steps
from ledger.schema_migration import Judged, judge, may_be_carried
from ledger.schema_migration.plan import Scope, sessions_of
from ledger.session.carrying import recorded_steps
from ledger.session.core import Core, Item
from ledger.session.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """
    What became of one session: its calls as they were judged, and how many of them were carried now.

    `error` is what kept it from being carried: another process works on it, it cannot be read.
    """

    session_id: str
    judged: tuple[Judged, ...] = ()
    carried: int = 0
    error: LedgerError | None = None


def migrate(ledger: Ledger, scope: Scope) -> Iterator[Migrated]:
    """
    Carry what may be carried, a session in one commit; yields what became of each.

    Asking again changes nothing: a carried call is of the newer version. A crash in between leaves whole sessions
    carried or not, and the next run goes on. Finished calls and intents stay as they are.
    """
    for session_id in sessions_of(ledger.reader, scope):
        try:
            yield ledger.session(session_id).run_steps(lambda core: _migrated(core, scope))
        except LedgerError as error:
            yield Migrated(session_id=session_id, error=error)


def _migrated(core: Core, scope: Scope) -> Steps[Migrated]:
    yield from core.refresh()
    judged = []
    items: list[Item] = []
    carried = 0
    for call in core.history.open_calls() if core.history.closed is None else ():
        if call.executor != "host" or scope.tool not in (None, call.tool):
            continue
        found = judge(core.wiring.registry, call, to=scope.to)
        judged.append(found)
        if found.status == "migratable" and found.journey is not None and may_be_carried(call):
            items += recorded_steps(core, call, found.journey)
            carried += 1
    if items:
        yield from core.commit(items, release=True)
    return Migrated(session_id=core.session_id, judged=tuple(judged), carried=carried)
