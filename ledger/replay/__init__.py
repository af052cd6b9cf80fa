"""A session as it was at any of its events, and what differs between two: executes nothing, writes nothing."""

from ledger.replay.comparison import Difference, compare
from ledger.replay.document import replay_json
from ledger.replay.messages import begins_with_instructions, replay_messages
from ledger.replay.reading import call_at, last_sequence, session_at, session_events
from ledger.replay.rows import ReplayRow, replay_rows
from ledger.replay.shapes import Shaped, Shaping

__all__ = [
    "Difference",
    "ReplayRow",
    "Shaped",
    "Shaping",
    "begins_with_instructions",
    "call_at",
    "compare",
    "last_sequence",
    "replay_json",
    "replay_messages",
    "replay_rows",
    "session_at",
    "session_events",
]
