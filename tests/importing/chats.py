"""Small transcripts in OpenAI's format, and what an import makes of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

from ledger.history import History
from ledger.importing import ImportReport, Wanted, import_file
from ledger.replay import session_at
from ledger.store.memory import MemoryStore
from ledger.store.port import Store

SYSTEM = {"role": "system", "content": "Help."}
ASK = {"role": "user", "content": "Pay both."}


def asking(*calls: tuple[str | None, str, str], text: str | None = None) -> dict[str, Any]:
    """Return an assistant's message with calls: id, name, argument text."""
    listed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": text, "tool_calls": listed}


def result(given: str | None, content: Any) -> dict[str, Any]:
    """Return a tool's message."""
    return {"role": "tool", "tool_call_id": given, "content": content}


def says(text: str) -> dict[str, Any]:
    """Return an assistant's text."""
    return {"role": "assistant", "content": text}


PAYS = asking(("a", "pay", '{ "to":"x" }'), ("b", "pay", '{"to": "y"}'))
WHOLE = [SYSTEM, ASK, PAYS, result("a", "ok x"), result("b", "ok y"), says("Done.")]


def chat(messages: Iterable[Any], session: str | None = "s", **head: Any) -> bytes:
    """Return a session as one line of a file."""
    known = {} if session is None else {"session": session}
    return json.dumps({**known, **head, "messages": list(messages)}).encode() + b"\n"


def jsonl(values: Iterable[Any]) -> bytes:
    """Return values, one a line."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def taken(data: bytes, store: Store | None = None, format: str = "openai", **wanted: Any) -> ImportReport:
    """Import a file's bytes."""
    given = Wanted(**wanted) if wanted else None
    return import_file(io.BytesIO(data), MemoryStore() if store is None else store, format=format, wanted=given)


def told(report: ImportReport) -> list[tuple[str, str, int]]:
    """Return id, state and added events of each session."""
    return [(each.session_id, each.state, each.added) for each in report.sessions]


def history(store: Store, session_id: str = "s") -> History:
    """Return a session as it is recorded."""
    return session_at(store, session_id)


def records(store: Store, session_id: str = "s") -> list[bytes]:
    """Return the session's exact records."""
    return [row.record for row in store.read(session_id, limit=10_000)]


def types(store: Store, session_id: str = "s") -> list[str]:
    """Return the names of its events."""
    return [row.type for row in store.read(session_id, limit=10_000)]
