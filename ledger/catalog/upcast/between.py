"""What is known of the upcasts between two versions of a tool, from the schemas alone."""

from __future__ import annotations

from ledger.catalog.definition import ToolDefinition
from ledger.catalog.diff import Settings
from ledger.catalog.diff.difference import DEFAULT
from ledger.catalog.upcast.proof import Status, prove


def between(definition: ToolDefinition, old: int, new: int, settings: Settings = DEFAULT) -> Status:
    """Return the worst status of the files that lead from *old* to *new*; `none` where they do not lead there."""
    found: list[Status] = []
    while old != new:
        upcast = definition.upcasts.get(old)
        if upcast is None or upcast.to_version > new or not {old, upcast.to_version} <= definition.versions.keys():
            return "none"
        found.append(prove(upcast, definition.versions[old], definition.versions[upcast.to_version], settings).status)
        old = upcast.to_version
    order: tuple[Status, ...] = ("none", "refuted", "unknown")
    return next((status for status in order if status in found), "proved" if found else "none")
