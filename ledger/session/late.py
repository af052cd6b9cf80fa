"""An outcome that arrives after nobody waited any more: kept, and believed only where no other owner came between."""

from __future__ import annotations

import asyncio
import logging

from ledger.calls import Call
from ledger.errors import LedgerError, UnknownCall
from ledger.events import CallFailed, CallSucceeded
from ledger.events.outcomes import late
from ledger.execution.drive import drive
from ledger.execution.outcome import Rules, TryAgain, Unknown, judge
from ledger.execution.requests import Ended, Steps
from ledger.history import History
from ledger.session.core import Core, Item
from ledger.session.doubt import Settler, proves_nothing
from ledger.session.work import Work

log = logging.getLogger("ledger.late")


class LateOutcome:
    """
    Called on the tool's own thread with its end; never raises (there is nobody to hear it).

    `started` is the call as it was during this attempt.
    """

    def __init__(self, core: Core, work: Work, started: Call, rules: Rules) -> None:
        self._core = core
        self._work = work
        self._started = started
        self._rules = rules
        self.ended = False

    def __call__(self, ended: Ended) -> None:
        """Record the end, if it says anything."""
        try:
            if not isinstance(ended.raised, asyncio.CancelledError):  # a task that was stopped: that is no outcome
                drive(self._record(ended))
        except LedgerError as error:
            log.warning("late outcome of call %s was not recorded: %s", ended.call_id, error.code)
        except Exception:
            log.exception("late outcome of call %s was not recorded", ended.call_id)
        finally:
            self.ended = True
            self._core.adrift.pop(ended.call_id, None)

    def _record(self, ended: Ended) -> Steps[None]:
        end = judge(ended, self._started, self._rules)
        if isinstance(end, Unknown):
            return  # as unknown as before
        if isinstance(end, TryAgain):
            end = end.failed
        mine = self._core
        core = Core(mine.wiring, History(mine.session_id), mine.opening, principal=mine.principal, tenant=mine.tenant)
        yield from core.refresh()
        context = ended.run.context if ended.run is not None else None
        yield from record_late(core, self._started, Settler(core, self._work, context).finished(end))


def record_late(core: Core, started: Call, end: CallSucceeded | CallFailed) -> Steps[None]:
    """
    Record an outcome without the lease; `started` is the call as it was during the attempt that came to this end.

    It settles a needs-review only where no other owner claimed the session, and no other attempt began, since that
    start, and where no earlier attempt is in doubt that it says nothing of; else it is evidence for the reviewer
    (https://github.com/aegra/aegra/issues/502). Raises `UnknownCall` where the session has no such call any more.
    """
    now = core.history.calls.get(started.call_id)
    if now is None:
        raise UnknownCall(f"session {core.session_id!r} has no call {started.call_id} any more")
    settles = not proves_nothing(end, started)  # whether it still does is seen at the append
    body = late(end, token=started.token, settles=settles)
    yield from core.commit([Item(body, now, attempt=started.attempt)], worker=False)
