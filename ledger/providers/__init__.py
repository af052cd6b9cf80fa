"""Wire formats in and out: what a model's reply asks for, and the conversation that a provider takes."""

from ledger.providers.answer import answer, answer_bytes, answer_text
from ledger.providers.conversation import conversation, note_message, turn_messages
from ledger.providers.formats import get_format
from ledger.providers.names import original_name, wire_name
from ledger.providers.port import ProposedCall, Reply, WireFormat
from ledger.providers.transcripts import complete

__all__ = [
    "ProposedCall",
    "Reply",
    "WireFormat",
    "answer",
    "answer_bytes",
    "answer_text",
    "complete",
    "conversation",
    "get_format",
    "note_message",
    "original_name",
    "turn_messages",
    "wire_name",
]
