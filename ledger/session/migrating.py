"""Carries the open calls of many sessions to the newer versions of their tools, as `migrate-schemas --apply` asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ledger.catalog import Registry
from ledger.errors import LedgerError, UsageError
from ledger.events import CallFlagged
from ledger.execution.requests import Steps
from ledger.recovery import Here, decide
from ledger.schema_migration import Judged, judge, may_be_carried
from ledger.schema_migration.plan import Planner, Scope, sessions_of
from ledger.session.carrying import carried
from ledger.session.core import Core, Item
from ledger.session.ledger import Ledger
from ledger.session.resuming import evidence_of


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

    Raises `UsageError` for a draft: its upcast may still be edited, and what it makes of an approved call would run.
    """
    _check_published(ledger.registry, scope)
    planner = Planner.of(ledger.reader, ledger.registry)
    for session_id in sessions_of(ledger.reader, scope):
        judged: tuple[Judged, ...] = ()
        try:
            judged = tuple(planner.open_calls(session_id, scope))
            if any(_is_carried(each) for each in judged):
                yield ledger.session(session_id).run_steps(lambda core: _migrated(core, scope))
                continue
        except LedgerError as error:
            yield Migrated(session_id=session_id, judged=judged, error=error)
            continue
        yield Migrated(session_id=session_id, judged=judged)


def _check_published(registry: Registry, scope: Scope) -> None:
    tools = registry.catalog.tools if registry.catalog is not None and scope.to is not None else ()
    asked = (name for name in tools if scope.holds(registry, name))
    draft = next((name for name in asked if registry.upcasts.is_draft(name, scope.to or 0)), None)
    if draft is not None:
        message = f"version {scope.to} of {draft} is a draft: nothing is carried to it before it is published"
        hint = 'Plan without --apply; then make it "current" in tool.json, and lock it with `ledger tool lock`.'
        raise UsageError(message, hint=hint)


def _migrated(core: Core, scope: Scope) -> Steps[Migrated]:
    yield from core.refresh()
    while True:
        judged = tuple(_judged(core, scope))
        events = [_events(core, each) for each in judged]
        items, before = [item for each in events for item in each], core.history.sequence
        refused = (yield from core.commit(items, release=True, whole=True)) if items else []
        if refused and core.history.sequence != before:
            continue  # somebody else was faster with one of these calls: they are judged anew
        return Migrated(session_id=core.session_id, judged=judged, carried=0 if refused else sum(map(bool, events)))


def _judged(core: Core, scope: Scope) -> Iterator[Judged]:
    for call in core.history.open_calls() if core.history.closed is None else ():
        if call.executor == "host" and scope.holds(core.wiring.registry, call.tool):
            yield judge(core.wiring.registry, call, to=scope.to)


def _is_carried(found: Judged) -> bool:
    return (found.status == "migratable" or found.carried_to_be_asked) and may_be_carried(found.call)


def _events(core: Core, found: Judged) -> list[Item]:
    """
    Return the steps of one call; and what a resume records behind them, where an answer was of the old form only.

    Then a person is asked about the new form (`approval-mismatch`): an approval is bound to what it was given for.
    """
    if found.journey is None or not _is_carried(found):
        return []
    carrying = carried(core, found.call, found.journey)
    # Judged at this place: where the call moves on meanwhile (a person may be asked by then), it is judged anew.
    items = [replace(item, seen=found.call.sequence) for item in carrying.items]
    if not found.carried_to_be_asked:
        return items
    decision = decide(carrying.call, Here(has_code=False))
    flag = CallFlagged(reason="approval-mismatch", evidence=evidence_of(core, carrying.call, decision))
    return [*items, Item(flag, carrying.call)]
