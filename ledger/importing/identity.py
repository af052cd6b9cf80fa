"""
Ids made from content: the same transcript gets the same ids, so that importing it twice adds nothing.

An event's id stands for all that came before it in its session, not only for itself: where two transcripts have the
same id at a place they are equal up to there. Times and what a reader may tell better one day (token counts, labels)
are left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from ledger.providers.imported import Outcome, Said, Turn
from ledger.strictjson import Json, canonical

_VARIANTS: Final = "89ab"
_SCHEME: Final = b"toolcall-ledger import 1"
LONGEST_ID: Final = 255


def uuid8(digest: bytes) -> str:
    """Return a UUIDv8 (RFC 9562, 5.8) from a digest of 16 bytes or more."""
    text = digest.hex()
    variant = _VARIANTS[digest[8] >> 4 & 3]
    return f"{text[:8]}-{text[8:12]}-8{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def is_made_from_content(event_id: str) -> bool:
    """Whether an id is one of an import's: those that the ledger mints are of version 7."""
    return event_id[14:15] == "8"


class Chain:
    """The digest of a session's content so far."""

    def __init__(self, session_id: str, source: str) -> None:
        self.digest = hashlib.sha256(_SCHEME + canonical([session_id, source])).digest()

    def move(self, content: bytes) -> None:
        """Take in the next part of the content."""
        self.digest = hashlib.sha256(self.digest + content).digest()

    def id(self, *what: bytes) -> str:
        """Return the id of something at this place."""
        return uuid8(hashlib.sha256(b"\0".join((self.digest, *what))).digest())


def content_of(item: Said | Turn) -> bytes:
    """Return what of a message counts for sameness."""
    if isinstance(item, Said):
        return canonical(["said", item.role, item.provider, item.message])
    reply = item.reply
    calls: list[Json] = [[call.name, call.raw, call.arguments, call.provider_call_id] for call in reply.calls]
    hosted: list[Json] = [
        [call.name, call.raw, call.arguments, call.provider_call_id, call.ended, call.result, call.message]
        for call in reply.hosted
    ]
    rest = [reply.kind, reply.provider, reply.text, reply.response_id, reply.items]
    return canonical(["turn", item.requestor, calls, hosted, rest])


def content_of_outcome(outcome: Outcome) -> bytes:
    """Return what of a result counts for sameness."""
    return canonical([outcome.content, outcome.error])


def usable(session_id: str | None) -> bool:
    """Whether a session may have this id: 1 to 255 printable characters, not beginning with `_`."""
    if session_id is None or not 1 <= len(session_id) <= LONGEST_ID:
        return False
    return session_id.isprintable() and not session_id.startswith("_")


def named(session_id: str) -> str:
    """Return the id of a session whose own one cannot be one here."""
    return f"import-{uuid8(hashlib.sha256(_SCHEME + canonical(session_id)).digest())}"


class Naming:
    """Gives the sessions of a file without an id one that is made from how they begin."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def name(self, source: str, begin: Iterable[Said | Turn]) -> str:
        """Return the id; a second session of the file that begins so gets another one."""
        chain = Chain("", source)
        for item in begin:
            chain.move(content_of(item))
        found = f"import-{chain.id(b'session')}"
        number = self._given[found] = self._given.get(found, 0) + 1
        return found if number == 1 else f"{found}/{number}"
