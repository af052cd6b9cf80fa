"""The tools as the ledger itself recorded them: it explains its calls without the catalog's files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ledger.audit.reading import events_of_session
from ledger.events import Event, ToolStageChanged, ToolVersionPublished, read_event
from ledger.store.port import Reader

STREAM: Final = "_catalog"


@dataclass(frozen=True, slots=True)
class RecordedVersion:
    """
    A version: as it was published last, the digest of its shape, and when it was first published.

    A runbook holds until another one is published: a program of an older release has none to publish.
    """

    body: ToolVersionPublished
    schema_digest: str
    recorded_at: str


@dataclass(frozen=True, slots=True)
class RecordedTool:
    """A tool by name: its versions by number, and its stage as last recorded (None: it was never changed)."""

    name: str
    versions: dict[int, RecordedVersion] = field(default_factory=dict)
    stage: ToolStageChanged | None = None


def recorded_tools(reader: Reader) -> dict[str, RecordedTool]:
    """Return every tool that the ledger has seen, by name."""
    found: dict[str, RecordedTool] = {}
    for stored in events_of_session(reader, STREAM):
        _take(found, read_event(stored.record, stored))
    return found


def _take(found: dict[str, RecordedTool], event: Event) -> None:
    name = event.tool or ""
    match event.body:
        case ToolVersionPublished() as body:
            tool, number = found.setdefault(name, RecordedTool(name)), event.schema_version or 0
            known = tool.versions.get(number)
            if known is not None:
                body = replace(body, runbook=body.runbook or known.body.runbook)
            at = known.recorded_at if known is not None else event.recorded_at
            tool.versions[number] = RecordedVersion(body, event.schema_digest or "", at)
        case ToolStageChanged() as body:
            found[name] = replace(found.get(name) or RecordedTool(name), stage=body)
        case _:
            pass  # written by a newer release, or not readable: the other tools are shown all the same
