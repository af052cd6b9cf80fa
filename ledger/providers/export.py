"""A recorded session as the body of a request: the messages, and the instructions where they stand beside them."""

from __future__ import annotations

from collections.abc import Collection
from itertools import takewhile

from ledger.history import History, Said
from ledger.providers.answer import SHOWN_BYTES
from ledger.providers.apart import take_apart
from ledger.providers.conversation import conversation
from ledger.providers.port import WireFormat
from ledger.providers.quoted import SYSTEM
from ledger.strictjson import JsonObject, export_text


def export(history: History, wire: WireFormat, limit: int = SHOWN_BYTES, *, gone: Collection[str] = ()) -> JsonObject:
    """
    Return what a request to the provider holds of the session.

    `{"messages"}` for OpenAI and Mistral, `{"input"}` for Responses, `{"system", "messages"}` for Anthropic,
    `{"systemInstruction", "contents"}` for Gemini; the instructions only where there are any.
    """
    system = leading_system(history) if wire.system_apart else None
    return wire.request(system, conversation(history, wire, limit, gone=gone))


def leading_system(history: History) -> str | None:
    """Return the instructions with which the session begins, if it does."""
    saids = takewhile(lambda entry: isinstance(entry, Said) and entry.body.role in SYSTEM, history.entries)
    bodies = [entry.body for entry in saids if isinstance(entry, Said)]
    texts = [take_apart(body.provider, body.role, body.message).words for body in bodies]
    return export_text("\n\n".join(texts), nul=True) if texts else None
