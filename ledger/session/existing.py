"""The door to a ledger that is already there, for a person's answers: its tools' definitions without their code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ledger.audit import RecordedTool, recorded_tools
from ledger.catalog import Catalog, Registry, ToolDefinition, load_catalog
from ledger.errors import CatalogFault
from ledger.session.binding import recorded_version
from ledger.session.ledger import Ledger
from ledger.session.reading import lasting, open_reader
from ledger.session.wiring import Wiring
from ledger.store.port import Reader
from ledger.store.urls import open_store
from ledger.version import VERSION


def open_existing(url: str, *, catalog: Path | None = None, recorded: bool = False, read_only: bool = False) -> Ledger:
    """
    Open a ledger that is there already, with the tools of a catalog folder.

    `recorded` adds the tools that only the ledger knows, at the versions that it recorded: so that a person's
    arguments can be checked. Nothing is published. Raises `NoDatabase`, `StoreError`s, and `CatalogFault` for a bad
    folder.
    """
    found = load_catalog(catalog) if catalog is not None else None
    store = open_reader(url) if read_only else open_store(lasting(url), create=False)
    known = with_recorded_tools(store, found) if recorded else found
    return Ledger(Wiring(store=store, registry=Registry(known), version=VERSION, url=url), known)


def with_recorded_tools(reader: Reader, catalog: Catalog | None) -> Catalog:
    """Return the catalog together with the tools that only the ledger knows."""
    tools: dict[str, ToolDefinition] = {}
    for tool in recorded_tools(reader).values():
        try:
            tools[tool.name] = _definition(tool)
        except (CatalogFault, ValueError):  # recorded by a newer release, or no version of it can be read
            continue
    there: Mapping[str, ToolDefinition] = catalog.tools if catalog is not None else {}
    for definition in there.values():
        for name in definition.renamed:  # its calls belong to the tool that has another name now
            tools.pop(name, None)
    return Catalog(tools=tools | dict(there), digest=catalog.digest if catalog is not None else "")


def _definition(tool: RecordedTool) -> ToolDefinition:
    versions = {number: recorded_version(tool.name, number, version) for number, version in tool.versions.items()}
    stage = tool.stage.stage if tool.stage is not None else "active"
    return ToolDefinition(name=tool.name, current=max(versions), versions=versions, stage=stage)
