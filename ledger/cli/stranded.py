"""Calls that started and did not end, and that nobody works on: nothing is asked about them until a resume looks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ledger.audit.filters import call_filter
from ledger.cli.commands import argued, copyable
from ledger.cli.shell import Shell
from ledger.counting import counted
from ledger.ids import iso
from ledger.session.lease import is_dead
from ledger.store.port import Head, Reader

_MOST: Final = 100
"""Calls that are looked at: it is a hint, and a resume finds all of them."""


def stranded_hint(shell: Shell, reader: Reader, filters: Mapping[str, Any]) -> str | None:
    """
    Return what to do about sessions that have such calls, in a sentence; None where there is none.

    `filters` are those of the list of questions: what a resume asks about such a call is a doubt.
    """
    asked = {"states": ["started"], **filters}
    if asked.pop("kind", None) not in (None, "doubt"):
        return None
    found = reader.calls(call_filter(asked), limit=_MOST)
    sessions = [name for name in dict.fromkeys(each.row.session_id for each in found) if not _held(reader.head(name))]
    if not sessions:
        return None
    least = "At least " if len(found) == _MOST else ""
    have = counted(len(sessions), "session has calls", "sessions have calls")
    words = argued(sessions[0]) if len(sessions) == 1 else ("--all",)
    return f"{least}{have} that started and did not end: `{copyable(shell, 'resume', *words)}` looks at them."


def _held(head: Head | None) -> bool:
    """Return whether somebody works on a session, as far as can be seen: the calls run then."""
    owner = head.owner if head is not None and head.expires_at > iso(datetime.now(UTC)) else None
    return owner is not None and not is_dead(owner)
