"""The limits of a tool's contract at work: what a start has to find a place under, and what it is told without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Final

from ledger.calls import Call
from ledger.catalog.limit import SECONDS, RateLimit
from ledger.errors import RateLimited
from ledger.events import CallDenied
from ledger.session.core import Core, Item
from ledger.session.work import Work
from ledger.store.port import RateGuard
from ledger.strictjson import canonical

SOON: Final = 1.0
"""When to ask again (seconds) for a place that a running call has: nobody knows when it ends."""

_MESSAGE: Final = "There were too many calls like this one."


def limits_of(core: Core, work: Work) -> Iterator[tuple[str, RateLimit]]:
    """Yield the limits on a call, the tool's and the ledger's own, each with the key that it counts under."""
    call = work.stub
    tool = core.wiring.registry.home(call.tool)
    contract = work.version.contract if work.version is not None else None
    for limit in contract.limits if contract is not None else ():
        yield _key(limit, tool, call), limit
    for limit in core.wiring.limits:
        yield _key(limit, tool if limit.scope == "tool" else None, call), limit


def _key(limit: RateLimit, tool: str | None, call: Call) -> str:
    """Return what is counted together; no tool: calls of all tools are."""
    match limit.scope:
        case "service":
            who = [limit.service]
        case "tool":
            who = [tool]
        case "tenant":
            who = [tool, call.tenant]
        case _:
            who = [tool, call.tenant, call.principal]
    return canonical([limit.per, limit.scope, *who]).decode()


def guards(core: Core, work: Work, call: Call) -> tuple[RateGuard, ...]:
    """
    Return the guards on a start of a call.

    A further attempt of a call that stands in state "started" has its place; what was allowed to run anew needs one.
    """
    if call.state == "started":
        return ()
    return tuple(
        RateGuard(key=key, max=limit.max, seconds=SECONDS[limit.per], calls=(work.call_id,))
        for key, limit in limits_of(core, work)
    )


def parted(works: Sequence[Work], starts: Sequence[Item], full: RateLimited) -> tuple[list[Work], list[Work]]:
    """Part what may still start from what finds no place; those asked for first find what room there is."""
    room, left, out = full.room, list[Work](), list[Work]()
    for work, start in zip(works, starts, strict=True):
        counts = any((guard.key, guard.max) == (full.key, full.max) for guard in start.guards)
        (out if counts and room <= 0 else left).append(work)
        room -= counts
    return left, out


def may_free(core: Core, siblings: Sequence[Work], full: RateLimited) -> bool:
    """Return whether one of these calls of the same turn has a place under this limit, and gives it back as it ends."""
    return full.retry_after is None and any(key == full.key for work in siblings for key, _ in limits_of(core, work))


def denied(core: Core, work: Work, full: RateLimited) -> CallDenied:
    """Return the end of a call that found no place."""
    found = (limit for key, limit in limits_of(core, work) if (key, limit.max) == (full.key, full.max))
    limit = next(found)
    wait = SOON if full.retry_after is None else ceil(full.retry_after * 1000) / 1000
    return CallDenied(code=limit.code, message=_MESSAGE, rule=str(limit), retry_after=wait)
