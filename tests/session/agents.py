"""What the session tests share: a ledger on a real file, a model's replies, a look at what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ledger import Ledger
from ledger.events import Event, read_event


def asked(
    *calls: tuple[str, Any], text: str | None = None, ids: tuple[Any, ...] | None = None, **more: Any
) -> dict[str, Any]:
    """A model's message in OpenAI Chat form; arguments that are a text go out as they are."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": ids[n] if ids else f"call_{n}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for n, (name, given) in enumerate(calls)
        ]
    return message | more


def opened(folder: Path, **settings: Any) -> Ledger:
    """A ledger on a real SQLite file in this folder."""
    return Ledger.open(f"sqlite:///{folder}/ledger.db", **settings)


def recorded(ledger: Ledger, session_id: str) -> list[Event]:
    """All events of a session, in order."""
    return [read_event(row.record) for row in ledger.reader.read(session_id, limit=10_000)]


def types(ledger: Ledger, session_id: str) -> list[str]:
    """The types of a session's events, in order."""
    return [event.type for event in recorded(ledger, session_id)]


def answers(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the tool messages say, as JSON."""
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]
