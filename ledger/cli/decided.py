"""What a person decided about a call, as its page shows it: the word, who said it when, why, and by what evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ledger.cli.layout import facts, heading
from ledger.cli.rows import Row
from ledger.cli.table import plain
from ledger.cli.text import Line
from ledger.cli.when import instant
from ledger.counting import counted

_HEADINGS: Final = {"approved": "Approval", "denied": "Denial", "superseded": "Replaced by another call"}


def decision(said: Row) -> Iterator[Line]:
    """Yield the lines of one decision (a row of `ledger.audit.decisions`)."""
    word = said["decision"]
    at = f"{said['osUser']} on {said['host']}" if said["osUser"] else None
    named = {
        "verdict": _verdict(said) if word not in _HEADINGS else None,
        "new call": said["supersededBy"],
        "did it happen": "no" if word == "superseded" and said["didNotHappen"] else None,
        "by": who_and_when(said),
        "user": at,
        "settled by": said["settledBy"],
        "note": said["note"],
        "evidence": evidence(said["evidence"]) or None,
    }
    yield from heading(_HEADINGS.get(word, "Verdict"))
    yield from facts({name: fact for name, fact in named.items() if fact is not None})


def note(said: Row) -> str:
    """Return a note in one line."""
    seen = evidence(said.get("evidence", ()))
    return f"{_who(said)}, {instant(said['at'])}: {said['text']}" + (f" (evidence: {seen})" if seen else "")


def who_and_when(said: Row) -> str:
    """Return who decided, whether that was checked, and the time."""
    return f"{_who(said)}, {instant(said['at'])} UTC"


def _who(said: Row) -> str:
    return f"{said['by']} (verified)" if said.get("verified") else str(said["by"])


def evidence(found: Sequence[Any]) -> str:
    """Return what somebody looked at: files with size and digest, URLs, what else a host gave as it is."""
    return "; ".join(map(_seen, found))


def _seen(each: Any) -> str:
    match each:
        case {"file": str() as name, "sha256": str() as digest, "size": int() as size}:
            return f"{name} ({counted(size, 'byte')}, SHA-256 {digest})"
        case {"url": str() as url} if len(each) == 1:
            return url
        case _:
            return plain(each)


def _verdict(said: Mapping[str, Any]) -> str:
    word = str(said["decision"])
    return f"{word}, run" if said["run"] and word != "run" else word
