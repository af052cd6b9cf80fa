"""Why a session of a transcript is not taken in."""

from __future__ import annotations

from typing import Final

from ledger.counting import counted
from ledger.errors import (
    IntegrityFailure,
    LedgerError,
    SchemaOutdated,
    StoreBusy,
    StoreReplaced,
    StoreUnavailable,
    UsageError,
)

OF_THE_STORE: Final = (IntegrityFailure, SchemaOutdated, StoreBusy, StoreReplaced, StoreUnavailable)
"""What goes wrong for every session alike: the import ends."""


class TranscriptChanged(LedgerError):
    """
    The session is recorded already, and not as this transcript tells it; nothing of it was recorded now.

    `sequence` is the event of the ledger that differs. A ledger's own export keeps its ids: to keep both takes a ledger
    more.
    """

    default_code = "transcript_changed"

    def __init__(self, session_id: str, message: str, *, sequence: int, export: bool = False) -> None:
        way = "into another ledger (--db)" if export else "under another id (--session)"
        super().__init__(
            f"session {session_id!r}: {message}",
            hint=f"What is recorded is never changed. Import it {way} to keep both.",
        )
        self.session_id = session_id
        self.sequence = sequence


def changed(session_id: str, sequence: int, place: str, *, export: bool = False) -> TranscriptChanged:
    """Return the refusal of a transcript whose content is another at a place that is recorded."""
    message = f"{place} is another than what is recorded as event {sequence}"
    return TranscriptChanged(session_id, message, sequence=sequence, export=export)


def another(session_id: str) -> TranscriptChanged:
    """Return the refusal of a transcript whose session is recorded, but not from it."""
    return TranscriptChanged(session_id, "another session with this id is recorded", sequence=1)


def of_another_tenant(session_id: str, tenant: str) -> UsageError:
    """Return the refusal of a transcript that goes on for another tenant: a session keeps its own."""
    hint = "Give that one, or none; or import it under another id (--session)."
    return UsageError(f"session {session_id!r} belongs to another tenant than {tenant!r}", hint=hint)


def went_on(session_id: str, sequence: int, *, export: bool = False) -> TranscriptChanged:
    """Return the refusal of a transcript that goes on where the recorded session went on by itself."""
    what = "export" if export else "transcript"
    message = f"both went on: the {what}, and the ledger with event {sequence}"
    return TranscriptChanged(session_id, message, sequence=sequence, export=export)


def too_much_open(session_id: str, count: int, most: int) -> UsageError:
    """Return the refusal of an export of which a part would have to be committed while a call could run here."""
    are = counted(count, "call is", "calls are")
    return UsageError(
        f"session {session_id!r}: {are} open over more than {most // 2**20} MiB, which no single commit may hold",
        hint="What stands before is imported. A commit while a call is open could run here what ran there.",
    )
