"""Records the calls that the provider executed itself: what it says of them, and nothing that runs here."""

from __future__ import annotations

from ledger.calls import NEW_CALL, Call
from ledger.errors import JsonRejected
from ledger.events import CallFailed, CallProposed, CallSucceeded
from ledger.providers.port import HostedCall, Reply
from ledger.session.core import Core, Item
from ledger.strictjson import JsonObject, decode, encode_result


def hosted_items(core: Core, reply: Reply, number: int) -> list[Item]:
    """
    Return the events of a turn's hosted calls, which stand behind those that the host executes.

    A result that comes with a later answer (Anthropic's `pause_turn`) ends the call of the earlier one.
    """
    items: list[Item] = []
    index = len(reply.calls)
    for hosted in reply.hosted:
        if hosted.name is None:
            call = _earlier(core, hosted)
        else:
            call = _stub(core, hosted, reply, place=(number, index))
            items.append(Item(_proposal(hosted, reply), call, actor="model"))
            index += 1
        if call is not None and hosted.ended is not None:
            items.append(Item(_end(hosted), call, actor="provider"))
    return items


def _earlier(core: Core, hosted: HostedCall) -> Call | None:
    """Return the open call whose end this is."""
    for call in core.history.open_calls():
        if call.executor == "provider" and call.provider_call_id == hosted.provider_call_id is not None:
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
    )


def _proposal(hosted: HostedCall, reply: Reply) -> CallProposed:
    return CallProposed(
        raw_arguments=hosted.raw,
        arguments=_arguments(hosted),
        provider_call_id=hosted.provider_call_id,
        provider=reply.provider,
        model=reply.model,
        executor="provider",
    )


def _arguments(hosted: HostedCall) -> JsonObject | None:
    """Return the arguments as an object; of a text that is none only the text is kept."""
    if hosted.raw is None:
        return hosted.arguments if isinstance(hosted.arguments, dict) else None
    try:
        found = decode(hosted.raw)
    except JsonRejected:
        return None
    return found if isinstance(found, dict) else None


def _end(hosted: HostedCall) -> CallSucceeded | CallFailed:
    if hosted.ended == "failed":
        message = hosted.message or "The provider says that it failed."
        return CallFailed(code="tool_error", error_class="tool", message=message)
    encoded = encode_result(hosted.result)
    marks = tuple({"pointer": e.pointer, "kind": e.kind, "type": e.type} for e in encoded.encodings)
    return CallSucceeded(result=encoded.value, encodings=marks, size=encoded.size)
