"""A recorded session as the messages a provider takes, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ledger.events import MessageRecorded, TurnRecorded
from ledger.providers.answer import SHOWN_BYTES
from ledger.providers.conversation import Teller
from ledger.providers.port import WireFormat
from ledger.providers.quoted import SYSTEM
from ledger.replay.reading import session_events
from ledger.replay.shapes import Shaping, in_shape
from ledger.replay.told import entries_as_told
from ledger.store.port import Reader
from ledger.strictjson import JsonObject


def replay_messages(
    reader: Reader,
    session_id: str,
    wire: WireFormat,
    *,
    at: int | None = None,
    limit: int = SHOWN_BYTES,
    shaping: Shaping | None = None,
) -> Iterator[JsonObject]:
    """
    Yield the conversation as it was after the event `at`: the same messages as `conversation` of the folded session.

    With `shaping` the calls are told in the newest form, as far as that is proved. Raises `UnknownSession`, and
    `UsageError` where the session has no event `at`, at the first message.
    """
    teller = Teller(wire, limit, told_as=partial(in_shape, shaping))
    for history, entries, _ in entries_as_told(reader, session_id, at):
        yield from teller.tell(history, entries)
    yield from teller.end()


def begins_with_instructions(reader: Reader, session_id: str, at: int | None = None) -> bool:
    """Return whether the conversation starts with a system message: some formats have none in their list."""
    for event in session_events(reader, session_id, at):
        if isinstance(event.body, MessageRecorded):
            return event.body.role in SYSTEM
        if isinstance(event.body, TurnRecorded):
            return False
    return False
