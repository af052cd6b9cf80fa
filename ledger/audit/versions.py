"""The versions and wordings of tools that a ledger knows, as it recorded them, and the calls under each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from ledger.audit.filters import call_filter
from ledger.audit.names import NO_NAMES, Names
from ledger.audit.queries import check_types
from ledger.audit.reading import events_of_session
from ledger.audit.rows import Row
from ledger.audit.tools import STREAM
from ledger.events import Event, ToolStageChanged, ToolVersionPublished, read_event
from ledger.store.port import CallFilter, GroupKey, Reader

_Key: TypeAlias = tuple[Any, ...]
"""(tool, version, digest of its description)."""

_BY: Final[tuple[GroupKey, ...]] = ("tool", "schema_version", "description_digest", "recorded_version")
_ENDS: Final = ("succeeded", "rejected", "denied", "failed")


@dataclass(slots=True)
class _Count:
    """The calls that were recorded under one version and wording: by their states, and how many were carried on."""

    states: Counter[str] = field(default_factory=Counter)
    carried: int = 0


def version_rows(reader: Reader, *, names: Names = NO_NAMES, **filters: Any) -> Iterator[Row]:
    """
    Yield one row a tool, version and wording: when it was first published here, its stage now, its calls.

    A call counts under the tool, version and wording that it was recorded as, since that is what its model chose;
    `carried` says how many of them an upcast has carried to a later version since, under another name too. Filters and
    `names` as for `call_rows` say which calls are counted; `tool` and `schema_version` (the recorded one) also which
    versions are listed. Calls under a version that was never published here (tools nobody knows, imports) have a row
    with `publishedAt` null. Raises `UsageError` at once.
    """
    where = call_filter(filters, names)
    check_types(reader, where.types)
    published, stages = _published(reader)
    counted, number = _counted(reader, replace(where, schema_version=None)), where.schema_version
    keys = {key for key in published if where.tool in (None, key[0])} | counted.keys()
    asked = sorted((key for key in keys if number in (None, key[1])), key=_order)
    return (_row(key, published.get(key), stages.get(str(key[0])), counted.get(key)) for key in asked)


def _counted(reader: Reader, where: CallFilter) -> Mapping[_Key, _Count]:
    """Return the calls by what they were recorded as: their rows say what they were carried to."""
    counts: dict[_Key, _Count] = {}
    for tally in reader.tally(where, _BY):
        tool, version, digest, recorded = tally.key
        count = counts.setdefault((tool, recorded, digest), _Count())
        count.states.update(tally.states)
        count.carried += tally.calls if version != recorded else 0
    return counts


def descriptions(reader: Reader) -> dict[str, str]:
    """Return the wordings of tools by their digests."""
    published, _ = _published(reader)
    bodies = (event.body for event in published.values())
    return {body.description_digest: body.description for body in bodies if isinstance(body, ToolVersionPublished)}


def _published(reader: Reader) -> tuple[dict[_Key, Event], dict[str, str]]:
    """Return each version's first event, and the stage that each tool was last recorded in."""
    found: dict[_Key, Event] = {}
    stages: dict[str, str] = {}
    for stored in events_of_session(reader, STREAM):
        event = read_event(stored.record, stored)
        match event.body:
            case ToolVersionPublished() as body:
                found.setdefault((event.tool, event.schema_version, body.description_digest), event)
            case ToolStageChanged() as body:
                stages[event.tool or ""] = body.stage
            case _:
                pass  # written by a newer release, or not readable: the others are shown all the same
    return found, stages


def _order(key: _Key) -> list[tuple[bool, Any]]:
    return [(value is not None, value or "") for value in key]


def _row(key: _Key, event: Event | None, stage: str | None, count: _Count | None) -> Row:
    tool, version, digest = key
    body = event.body if event is not None and isinstance(event.body, ToolVersionPublished) else None
    count = count or _Count()
    return {
        "tool": tool,
        "schemaVersion": version,
        "schemaDigest": event.schema_digest if event is not None else None,
        "descriptionDigest": digest,
        "description": body.description if body is not None else None,
        "stage": stage or ("active" if body is not None else None),
        "publishedAt": event.recorded_at if event is not None else None,
        "calls": count.states.total(),
        "carried": count.carried,
        **{state: count.states[state] for state in _ENDS},
    }
