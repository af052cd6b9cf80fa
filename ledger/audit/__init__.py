"""The read side: calls, events and open questions as plain rows, never domain objects; it changes nothing."""

from ledger.audit.queries import call_rows, event_rows, review_rows
from ledger.audit.story import call_events, call_of
from ledger.audit.tools import RecordedTool, RecordedVersion, recorded_tools

__all__ = [
    "RecordedTool",
    "RecordedVersion",
    "call_events",
    "call_of",
    "call_rows",
    "event_rows",
    "recorded_tools",
    "review_rows",
]
