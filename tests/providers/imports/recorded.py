"""Imported transcripts as recorded sessions, and what of a session must come back out of any format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ledger.events import CallFlagged
from ledger.providers.imported import ImportedSession, Read, Said, Skipped, Turn
from ledger.strictjson import canonical
from tests.providers.recording import Recording


def recorded(items: Iterable[Read]) -> Recording:
    """Return the session that the items of one transcript make."""
    recording = Recording()
    for item in items:
        match item:
            case Said():
                recording.add(item.recorded())
            case Turn():
                _turn(recording, item)
            case ImportedSession() | Skipped():
                pass
    return recording


def _turn(recording: Recording, turn: Turn) -> None:
    number = len(recording.history.turns) + 1
    recording.add(turn.recorded(), turn=number)
    for index, sent in enumerate(turn.reply.calls):
        place: dict[str, Any] = {"turn": number, "index": index, "revision": 0}
        recording.add(turn.proposed(index), call_id=recording.new_id(), tool=sent.name, **place)
    for call, outcome in zip(recording.history.turn_calls(recording.history.turns[-1]), turn.outcomes, strict=True):
        recording.add(CallFlagged(reason="outcome-unknown") if outcome is None else outcome.recorded(), call)


def calls_of(items: Iterable[Read]) -> list[tuple[Any, ...]]:
    """Return the model's calls: name, id, arguments, and the text of what answered them."""
    found = []
    for turn in items:
        if isinstance(turn, Turn) and turn.requestor == "model":
            for index, sent in enumerate(turn.reply.calls):
                outcome = turn.outcomes[index]
                arguments = turn.proposed(index).arguments
                text = None if outcome is None else outcome.text
                found.append((sent.name, sent.provider_call_id, canonical(arguments), text))
    return found
