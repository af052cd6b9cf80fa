"""Records the calls that the provider executed itself: what it says of them, and nothing that runs here."""

from __future__ import annotations

from ledger.calls import NEW_CALL, Call
from ledger.events import CallProposed
from ledger.providers.port import HostedCall, Reply
from ledger.session.core import Core, Item


def hosted_items(core: Core, reply: Reply, number: int) -> list[Item]:
    """
    Return the events of a turn's hosted calls, which stand behind those that the host executes.

    A result that comes with a later answer (Anthropic's `pause_turn`) ends the call of the earlier one.
    """
    if not reply.hosted:
        return []
    from ledger.providers.imported import hosted_end  # with every format's parser: seldom needed

    items: list[Item] = []
    index = len(reply.calls)
    for hosted in reply.hosted:
        if hosted.name is None:
            call = _earlier(core, hosted)
        else:
            call = _stub(core, hosted, reply, place=(number, index))
            items.append(Item(_proposal(core, hosted, reply), call, actor="model"))
            index += 1
        end = hosted_end(hosted)
        if call is not None and end is not None:
            items.append(Item(end, call, actor="provider"))
    return items


def _earlier(core: Core, hosted: HostedCall) -> Call | None:
    """Return the open call whose end this is."""
    for call in core.history.open_calls() if hosted.provider_call_id else ():
        if call.executor == "provider" and call.provider_call_id == hosted.provider_call_id:
            return call
    return None


def _stub(core: Core, hosted: HostedCall, reply: Reply, place: tuple[int, int]) -> Call:
    return NEW_CALL.changed(
        call_id=core.wiring.clock.new_id(),
        session_id=core.session_id,
        tool=hosted.name or "",
        turn=place[0],
        index=place[1],
        provider=reply.provider,
        model=reply.model,
        executor="provider",
        principal=core.principal,
        tenant=core.tenant,
        on_behalf_of=core.on_behalf_of,
    )


def _proposal(core: Core, hosted: HostedCall, reply: Reply) -> CallProposed:
    from ledger.providers.imported import arguments_of

    raw, given = hosted.raw, arguments_of(hosted)
    arguments = core.secrets.scrubbed(given)
    masked = arguments is not given or core.secrets.scrubbed(raw) != raw
    return CallProposed(
        raw_arguments=None if masked else raw,
        arguments=arguments,
        redacted=masked,
        provider_call_id=hosted.provider_call_id,
        provider=reply.provider,
        model=reply.model,
        executor="provider",
    )
