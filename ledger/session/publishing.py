"""Tells the ledger which tool versions there are, so that it explains itself without the catalog's files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ledger.catalog import Catalog, Tool, ToolDefinition
from ledger.errors import ToolMisfit, WrongSequence
from ledger.events import Body, Event, ToolStageChanged, ToolVersionPublished, encode, read_event
from ledger.events.fields import to_wire
from ledger.session.wiring import Wiring
from ledger.store.port import Append
from ledger.strictjson import canonical

STREAM = "_catalog"
PAGE = 500


@dataclass(slots=True)
class Publisher:
    """Writes to the stream `_catalog`; what is recorded there already, by whomever, is not written again."""

    wiring: Wiring
    versions: dict[tuple[str, int], tuple[str, Any]] = field(default_factory=dict)
    wordings: set[tuple[str, int, str, str | None]] = field(default_factory=set)
    stages_known: dict[str, ToolStageChanged] = field(default_factory=dict)
    sequence: int = 0

    def publish(self, tool: Tool) -> None:
        """
        Record a tool's version, once; each wording of it, so that audits can compare them; and each runbook.

        Raises `ToolMisfit` where the same version is recorded with another shape: it must be raised then.
        """
        version = tool.version
        body = ToolVersionPublished(
            schema=version.schema,
            contract=version.contract.to_wire(),
            description=version.description,
            description_digest=version.description_digest,
            output_schema=version.output_schema,
            runbook=version.runbook,
        )
        while not self._is_published(tool):
            with suppress(WrongSequence):  # another program published something first: it may be this version
                self._write([(body, tool.name, version.version, version.shape_digest)])
                return

    def _is_published(self, tool: Tool) -> bool:
        self._read()
        version = tool.version
        known = self.versions.get((tool.name, version.version))
        if known is not None and known[0] != version.shape_digest:
            raise _reused(tool, known[1], unused=1 + max(self._taken(tool)))
        return (tool.name, version.version, version.description_digest, version.runbook) in self.wordings

    def _taken(self, tool: Tool) -> Iterator[int]:
        """Yield the numbers that versions of a tool have, recorded under any name of it or only in the catalog."""
        names = self.wiring.registry.all_names(tool.name)
        yield from (number for name, number in self.versions if name in names)
        yield from tool.definition.versions

    def stages(self, catalog: Catalog | None) -> None:
        """
        Record the stages that differ from what was last recorded; "active" is where every tool begins.

        Of a retired tool also what is there instead: so that it is explained without the catalog's files.
        """
        if catalog is None:
            return
        while True:
            self._read()
            changed = [tool for tool in catalog.tools.values() if self._differs(tool)]
            with suppress(WrongSequence):
                self._write([(_stage(tool), tool.name, tool.current, tool.latest.shape_digest) for tool in changed])
                return

    def _differs(self, tool: ToolDefinition) -> bool:
        known = self.stages_known.get(tool.name)
        if tool.stage == "active":
            return known is not None and known.stage != "active"
        return known is None or to_wire(known) != to_wire(_stage(tool))

    def _read(self) -> None:
        while True:
            rows = self.wiring.store.read(STREAM, after=self.sequence, limit=PAGE)
            for row in rows:
                self._take(read_event(row.record))
                self.sequence = row.sequence
            if len(rows) < PAGE:
                return

    def _take(self, event: Event) -> None:
        body, tool = event.body, event.tool or ""
        if isinstance(body, ToolVersionPublished):
            self.versions[tool, event.schema_version or 0] = (event.schema_digest or "", body.schema)
            self.wordings.add((tool, event.schema_version or 0, body.description_digest, body.runbook))
        if isinstance(body, ToolStageChanged):
            self.stages_known[tool] = body

    def _write(self, found: list[tuple[Body, str, int, str]]) -> None:
        if not found:
            return
        clock = self.wiring.clock
        drafts = tuple(
            encode(
                Event(
                    session_id=STREAM,
                    event_id=clock.new_id(),
                    recorded_at=clock.stamp(),
                    body=body,
                    tool=tool,
                    schema_version=version,
                    schema_digest=digest,
                    actor="catalog",
                )
            )
            for body, tool, version, digest in found
        )
        self.wiring.store.append(Append(session_id=STREAM, drafts=drafts, expected=self.sequence))


def _stage(tool: ToolDefinition) -> ToolStageChanged:
    replacements = tuple({"tool": r.tool, "when": r.when, "example": r.example} for r in tool.replacements)
    return ToolStageChanged(stage=tool.stage, replacements=replacements, hint=tool.hint)


def _reused(tool: Tool, recorded: Any, *, unused: int) -> ToolMisfit:
    old, new = canonical(recorded).decode("utf-8", "replace"), canonical(tool.version.schema).decode("utf-8", "replace")
    return ToolMisfit(
        f"{tool.name} version {tool.version.version} is recorded with another schema: {_cut(old)} — now {_cut(new)}",
        hint=f"Raise the version: `version={unused}` in `@ledger.tool`, and in the catalog where that has the tool.",
    )


def _cut(text: str, limit: int = 600) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
