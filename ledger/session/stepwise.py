"""One call, one step at a time: propose records the intent, advance takes it one gate or one run further."""

from __future__ import annotations

from dataclasses import replace

from ledger.calls import TERMINAL, Call
from ledger.errors import UnknownCall, UsageError
from ledger.execution.requests import Steps
from ledger.providers.port import Reply
from ledger.session.carrying import UPCASTABLE, carry
from ledger.session.copies import settle_stranded
from ledger.session.core import Core, Item
from ledger.session.damaged import damaged
from ledger.session.gating import authorization, checked, pass_gates, resource_keys, to_pass
from ledger.session.intake import Terms, compare, proposals, rebuilt
from ledger.session.repeats import repeated_since, repeated_unknowingly
from ledger.session.resuming import check_again, here, hindrance, tool_of
from ledger.session.running import Runner
from ledger.session.work import Work


def propose(core: Core, reply: Reply, terms: Terms) -> Steps[int]:
    """
    Record a turn and its intents, and nothing more; returns the turn's number.

    But a call that repeats one whose end its model was not told is known as that only now, and flagged at once.
    """
    number = core.history.turns[-1].number + 1 if core.history.turns else 1
    items, works = proposals(core, reply, terms, number)
    for work in works:
        compare(core, work, repeated_unknowingly)
        items += work.items()
    yield from core.commit(items, release=True)
    return number


def advance(core: Core, call_id: str) -> Steps[Call]:
    """
    Take a call one step further: proposed → validated or rejected → authorized, denied or asked → run to its end.

    A call that waits for a person, or has ended, stays as it is; but a copy whose original ended without it ends here.
    Raises `UnknownCall`, and `IntegrityFailure` for one of which an event cannot be read.
    """
    call = yield from _known(core, call_id)
    while call.state in UPCASTABLE and (steps := carry(core, call).items):
        # Judged at this place: where the call moves on meanwhile (a person may be asked by then), it is judged anew.
        yield from core.commit([replace(item, seen=call.sequence) for item in steps], release=True, whole=True)
        call = core.history.calls[call_id]
    work = rebuilt(core, call, tool_of(core, call))
    if call.state in ("proposed", "validated", "authorized"):
        if call.schema_version is not None and not here(core, call).has_code:
            what = call.tool if work.tool is None else f"{call.tool} v{call.schema_version}"
            raise UsageError(f"this process has no code for {what}", hint="Register its function first.")
        hindered = hindrance(core, call, work)
        if hindered is not None:
            yield from core.commit([Item(hindered, call)], release=True)
            return core.history.calls[call_id]
    if call.state == "proposed":
        check_again(core, work)
        copied = repeated_since(core, work) if work.refusal is None else []
        if copied:
            yield from core.commit([Item(body, call) for body in copied], release=True)
            return core.history.calls[call_id]
        found = work.refusal or (yield from checked(core, work))
        yield from core.commit([Item(found, call)], release=True)
    elif call.state == "validated":
        decision = yield from authorization(core, work)
        yield from core.commit([Item(decision, call)], release=True)
    elif call.state == "authorized":
        yield from _run(core, work)
    return core.history.calls[call_id]


def _known(core: Core, call_id: str) -> Steps[Call]:
    yield from core.refresh()
    yield from settle_stranded(core)
    call = core.history.calls.get(call_id)
    if call is None:
        raise UnknownCall(f"session {core.session_id!r} has no call {call_id}")
    if call_id in core.history.broken and call.state not in TERMINAL:
        raise damaged(call_id, "nobody can say how it stands")
    return call


def _run(core: Core, work: Work) -> Steps[None]:
    """Run an authorized call, behind the gates that a person's word let it skip so far."""
    approval = work.stub.approval
    if approval is not None and approval.by != "policy" and to_pass(work.stub):
        yield from pass_gates(core, work)
        if not work.authorized:
            yield from core.commit(work.items(), release=True)
            return
    work.keys = yield from resource_keys(work)
    yield from Runner(core).run([work])
