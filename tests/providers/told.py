"""Sessions made through one format and told in it (or in another), with nothing that it refuses."""

from __future__ import annotations

from typing import Any

from ledger.catalog.contract import Contract
from ledger.catalog.definition import ToolVersion
from ledger.events import MessageRecorded
from ledger.providers import conversation, get_format
from ledger.providers.check import check
from tests.providers.recording import Recording, ok


def told(recording: Recording, name: str) -> list[dict[str, Any]]:
    """Return the conversation; it has nothing to refuse."""
    found = conversation(recording.history, get_format(name))
    assert check(name, found) == []
    return found


def asked(recording: Recording, name: str, message: Any, *results: Any) -> None:
    """Record a reply in this format, its calls run to these results."""
    for call, result in zip(recording.turn(get_format(name).parse(message), parse=True), results, strict=True):
        recording.run(call, ok(result))


def said(recording: Recording, name: str, *messages: Any, role: str | None = None) -> None:
    """Record the host's messages in this format."""
    for message in messages:
        found = role or message.get("role", "assistant")
        recording.add(MessageRecorded(role=found, provider=name, message=message))


def version(tool: str, schema: dict[str, Any] | None = None) -> ToolVersion:
    """Return a tool to offer."""
    return ToolVersion(
        tool=tool,
        version=1,
        schema=schema or {"type": "object"},
        contract=Contract(effect="read"),
        description="Reads.",
        use_when="you need it",
        shape_digest="",
        description_digest="",
    )
