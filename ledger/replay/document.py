"""A recorded session as one JSON object, streamed as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ledger.calls import WAITING, Call
from ledger.events import Event
from ledger.events.fields import to_wire
from ledger.history import Said, Settled
from ledger.providers.answer import answer
from ledger.replay.reading import last_sequence
from ledger.replay.shapes import Shaping
from ledger.replay.told import AskedCall, Ending, Passage, passages
from ledger.store.port import Reader
from ledger.strictjson import JsonObject


def replay_json(
    reader: Reader, session_id: str, at: int | None = None, *, shaping: Shaping | None = None
) -> Iterator[str]:
    """
    Yield the pieces of one JSON object in printable ASCII: `sessionId`, `at`, `turns`, then how the session stands.

    Each turn has what was said `before` it and its `calls`: the intent, the state and the `answer` as of `at`, and in
    `read` what the model had read where that is something else. `hosted` are the calls that the provider executed
    itself, where there are any. With `shaping` each call says in `asVersion` how it reads in the newest form. Raises
    `UnknownSession`, and `UsageError` where the session has no event `at`, at the first piece.
    """
    until = last_sequence(reader, session_id, at)
    yield f'{{"sessionId": {_dumps(session_id)}, "at": {until}, "turns": ['
    comma = ""
    for passage in passages(reader, session_id, until):
        if isinstance(passage, Ending):
            yield "], " + _dumps(_ending(passage)).removeprefix("{")
        else:
            yield comma + _dumps(_turn(passage, shaping))
            comma = ", "


def _turn(passage: Passage, shaping: Shaping | None) -> JsonObject:
    turn = passage.turn
    body = turn.body
    return {
        "turn": turn.number,
        "sequence": turn.sequence,
        "kind": body.kind,
        "provider": body.provider,
        "text": body.text,
        "stopReason": body.stop_reason,
        "calls": [_call(asked) | _shaped(asked, shaping) for asked in passage.calls],
        **({"hosted": [_hosted(call) for call in passage.hosted]} if passage.hosted else {}),
        **_before(passage),
    }


def _ending(ending: Ending) -> JsonObject:
    history = ending.history
    waiting = any(history.calls[call_id].state in WAITING for call_id in history.open_ids)
    state = "closed" if history.closed else "waiting" if waiting else "open"
    return {
        "state": state,
        "opened": history.opened and to_wire(history.opened),
        "closed": history.closed and to_wire(history.closed),
        **_before(ending),
    }


def _before(passage: Passage | Ending) -> JsonObject:
    found: JsonObject = {"before": [_heard(entry) for entry in passage.before]}
    if passage.unreadable:
        found["unreadable"] = [_unreadable(event) for event in passage.unreadable]
    return found


def _heard(entry: Said | Settled) -> JsonObject:
    if isinstance(entry, Said):
        return {"sequence": entry.sequence, **to_wire(entry.body)}
    return {"sequence": entry.sequence, "settled": entry.call.call_id, "state": entry.call.state}


def _unreadable(event: Event) -> JsonObject:
    return {"sequence": event.sequence, "type": event.type, **to_wire(event.body)}


def _call(asked: AskedCall) -> JsonObject:
    intent, now = asked.intent, asked.now
    read, stands = answer(asked.read), answer(now)
    found: JsonObject = {
        "callId": now.call_id,
        "index": intent.index,
        "revision": now.revision,
        "tool": now.tool,
        "schemaVersion": now.schema_version,
        "effect": now.effect,
        "state": now.state,
        "attempt": now.attempt,
        "providerCallId": intent.provider_call_id,
        "rawArguments": intent.raw_arguments,
        "arguments": intent.arguments,
        **_ran(now),
        "proposedAt": now.proposed_at,
        "startedAt": now.started_at,
        "endedAt": now.ended_at,
        "answer": stands,
    }
    return found if read == stands else found | {"read": read}


def _shaped(asked: AskedCall, shaping: Shaping | None) -> JsonObject:
    return {} if shaping is None else {"asVersion": shaping(asked.intent).to_wire()}


def _hosted(call: Call) -> JsonObject:
    """Return a call that nobody here answers: what it was asked with, and what the provider says became of it."""
    return {
        "callId": call.call_id,
        "index": call.index,
        "tool": call.tool,
        "state": call.state,
        "providerCallId": call.provider_call_id,
        "rawArguments": call.raw_arguments,
        "arguments": call.arguments,
        "proposedAt": call.proposed_at,
        "endedAt": call.ended_at,
        "result": call.result,
        "message": call.message,
    }


def _ran(now: Call) -> JsonObject:
    """Return what ran where it is not what the model asked."""
    if now.revision:
        return {"executed": now.to_run}
    return {} if now.executed is None else {"executed": now.executed}


def _dumps(value: Any) -> str:
    """Return JSON without a raw control character: json leaves just one as it is."""
    return json.dumps(value, allow_nan=False).replace("\x7f", "\\u007f")
