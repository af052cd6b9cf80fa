"""The tools this process can run, and those it only knows from the catalog."""

from __future__ import annotations

import copy
from dataclasses import replace

from ledger.catalog import Catalog, CompiledSchema, Tool, ToolDefinition, ToolVersion, compile_schema
from ledger.errors import ToolMisfit

READ_RESULT = "read_result"


class Toolbox:
    """Execution is only ever from here: never by a name looked up in a module, never by an import path from data."""

    def __init__(self, catalog: Catalog | None) -> None:
        self._catalog = catalog
        self._tools: dict[str, Tool] = {}

    def register(self, tool: Tool) -> None:
        """Add a tool. Raises `ToolMisfit` where another function has its name already."""
        known = self._tools.get(tool.name)
        if known is not None and known.function is not tool.function:
            raise ToolMisfit(
                f"{tool.name} is registered twice: {known.signature.place} and {tool.signature.place}",
                hint="Give one of them another name.",
            )
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """Return the tool with its function, or None."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools that have a function here."""
        return tuple(self._tools)

    def definition(self, name: str) -> ToolDefinition | None:
        """Return what is known of a tool, with or without a function."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool.definition
        return self._catalog.tools.get(name) if self._catalog else None

    def version(self, name: str) -> ToolVersion | None:
        """Return the version that is current here."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool.version
        definition = self.definition(name)
        return definition.latest if definition else None

    def validator(self, name: str) -> CompiledSchema | None:
        """Return the compiled schema of a tool, with or without a function."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool.validator
        version = self.version(name)
        return compile_schema(version.schema, path=version.path) if version else None

    def offered(self, *, more: bool) -> list[ToolVersion]:
        """
        Return copies of what a model may choose from: active tools that have a function.

        The built-in `read_result` is among them only if there is `more` to read of some result.
        """
        found = [tool for tool in self._tools.values() if tool.definition.stage == "active"]
        return [
            replace(tool.version, schema=copy.deepcopy(tool.version.schema))
            for tool in found
            if more or tool.name != READ_RESULT
        ]
