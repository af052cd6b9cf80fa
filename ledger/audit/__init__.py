"""The read side: calls, events and open questions as plain rows, never domain objects; it changes nothing."""

from ledger.audit.names import Names
from ledger.audit.queries import call_rows, event_rows, review_rows
from ledger.audit.stats import stat_rows
from ledger.audit.story import call_of, call_story, find_call
from ledger.audit.tail import Tail
from ledger.audit.tools import RecordedTool, RecordedVersion, recorded_tools
from ledger.audit.versions import version_rows

__all__ = [
    "Names",
    "RecordedTool",
    "RecordedVersion",
    "Tail",
    "call_of",
    "call_rows",
    "call_story",
    "event_rows",
    "find_call",
    "recorded_tools",
    "review_rows",
    "stat_rows",
    "version_rows",
]
