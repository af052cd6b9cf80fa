"""What a call's row in the table of calls says by itself: most calls are of the current version, and cost no event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from ledger.audit.reading import stored_events
from ledger.calls import NEW_CALL, Call, CallRow, State
from ledger.catalog import Registry
from ledger.events import read_event
from ledger.events.words import Effect
from ledger.schema_migration.judging import Judged, is_retired
from ledger.store.port import EventFilter, Reader

Digests: TypeAlias = Mapping[tuple[str, int], str | None]
"""The shape's digest of each version that a ledger recorded; None where it recorded several."""


def recorded_digests(reader: Reader) -> Digests:
    """Return the shapes of all versions that calls of this ledger may be recorded under."""
    found: dict[tuple[str, int], str | None] = {}
    for stored in stored_events(reader, EventFilter(types=("tool.version_published",))):
        event = read_event(stored.record, stored)
        version, digest = (event.tool or "", event.schema_version or 0), event.schema_digest
        found[version] = digest if found.get(version, digest) == digest else None
    return found


def glance(registry: Registry, digests: Digests, row: CallRow, *, to: int | None = None) -> Judged | None:
    """
    Return what `judge` would say where the row is enough for it: the call is current. None: its events are needed.

    A row has no digest of its schema: of a version that was recorded under one shape only, it is that one.
    """
    definition = registry.definition(row.tool)
    if definition is None or row.schema_version is None or row.reason == "duplicate":
        return None
    version = definition.versions.get(row.schema_version)
    if version is None or row.schema_version != (definition.current if to is None else to):
        return None
    writes = row.effect != "read"
    if is_retired(definition, side_effecting=writes) or (row.state == "started" and writes):
        return None
    if row.state in ("authorized", "needs-review") and row.attempt:  # no column says what is known of those attempts
        return None
    if digests.get((row.tool, row.schema_version)) != version.shape_digest:
        return None
    return Judged(call=_stub(row), status="current", to_version=row.schema_version, reached=row.schema_version)


def _stub(row: CallRow) -> Call:
    """Return as much of a call as a plan counts by."""
    return NEW_CALL.changed(
        call_id=row.call_id,
        session_id=row.session_id,
        tool=row.tool,
        schema_version=row.schema_version,
        state=cast("State", row.state),
        effect=cast("Effect", row.effect),
    )
