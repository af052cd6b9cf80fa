"""The tools of one host: what its catalog defines, and the functions that run it. Execution only ever starts here."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import Any

from ledger.catalog.definition import Catalog, ToolDefinition, ToolVersion
from ledger.catalog.function import place_of
from ledger.catalog.tool import Tool
from ledger.catalog.upcast.chain import Upcasts
from ledger.errors import ToolMisfit


class Registry:
    """
    Tools by name. What it hands out to models is a copy: changing it changes nothing here.

    A tool that the catalog defines is known even without a function (its history stays readable), but never offered.
    """

    def __init__(self, catalog: Catalog | None = None) -> None:
        self.catalog = catalog
        self._tools: dict[str, dict[int, Tool]] = {}

    def register(self, tool: Tool) -> None:
        """Add a tool; the same version again is fine for the same function, and raises ToolMisfit for another."""
        versions = self._tools.setdefault(tool.name, {})
        number = tool.version.version
        if number in versions and versions[number].function is not tool.function:
            first, second = place_of(versions[number].function), place_of(tool.function)
            message = f"{tool.name} version {number} is {first}, and now also {second}."
            raise ToolMisfit(message, hint="Give one of them another name, or raise the version.")
        versions[number] = tool

    def get(self, name: str, version: int | None = None) -> Tool | None:
        """
        Return the tool that runs *name* here, or None.

        Without *version*: the catalog's current one if it has a function here, else the highest that has.
        """
        versions = self._tools.get(name)
        if not versions:
            return None
        if version is not None:
            return versions.get(version)
        definition = self._published(name)
        if definition is not None and definition.current in versions:
            return versions[definition.current]
        return versions[max(versions)]

    def _published(self, name: str) -> ToolDefinition | None:
        return self.catalog.tools.get(name) if self.catalog else None

    @cached_property
    def upcasts(self) -> Upcasts:
        """The proved steps between versions; shared, so that each is proved once."""
        return Upcasts(self.catalog)

    @cached_property
    def _renamed(self) -> dict[str, tuple[str, int]]:
        tools = self.catalog.tools.values() if self.catalog else ()
        return {old: (each.name, last) for each in tools for old, last in each.renamed.items()}

    @property
    def given_up(self) -> tuple[str, ...]:
        """The names that tools had before, and nobody has now."""
        return tuple(name for name in self._renamed if self.home(name) != name)

    def home(self, name: str) -> str:
        """
        Return the name that a tool has now: another one where a `rename_tool` step of the catalog gave this one up.

        What was recorded under the old name belongs to that tool; nothing new is asked for under it.
        """
        return self._renamed[name][0] if name in self._renamed and name not in self._tools else name

    def all_names(self, name: str) -> tuple[str, ...]:
        """Return the name that a tool has now, and those that it gave up."""
        home = self.home(name)
        return (home, *(old for old, (heir, _) in self._renamed.items() if heir == home)) if self._renamed else (home,)

    def form(self, name: str) -> ToolVersion | None:
        """Return the version that arguments under this name have: the last one that had it, where it was given up."""
        if self.home(name) == name:
            return self.version(name)
        heir, last = self._renamed[name]
        definition = self._published(heir)
        return definition.versions[last] if definition else None

    def definition(self, name: str) -> ToolDefinition | None:
        """Return how *name* is defined, by the catalog or by its function; None: nobody knows it."""
        tool = self.get(name)
        return self._published(name) or (tool.definition if tool else None)

    def defined_now(self, name: str) -> ToolDefinition | None:
        """Return how the tool is defined that *name* belongs to, whatever it is called now; None: nobody knows it."""
        return self.definition(self.home(name))

    def version(self, name: str) -> ToolVersion | None:
        """Return the version that a call of *name* is checked against: the tool's here, else the current one."""
        tool = self.get(name)
        if tool is not None:
            return tool.version
        definition = self._published(name)
        return definition.latest if definition else None

    @property
    def names(self) -> tuple[str, ...]:
        """All known names, with a function or without."""
        published = self.catalog.tools.keys() if self.catalog else ()
        return tuple(sorted(self._tools.keys() | set(published)))

    def offered(self, *, also: Collection[str] = ()) -> list[ToolVersion]:
        """Return copies of what a model may be offered, by name: active, with a function here; *also* these hidden."""
        found = [each for name in sorted(self._tools) if (each := self.version(name)) is not None]
        stages = {each.tool: self._stage(each) for each in found}
        kept = {name for name, stage in stages.items() if stage == "active" or (stage == "hidden" and name in also)}
        return [exported(each) for each in found if each.tool in kept]

    def _stage(self, version: ToolVersion) -> str:
        definition = self.definition(version.tool)
        return definition.stage if definition else version.stage

    def __iter__(self) -> Iterator[Tool]:
        return (tool for name in sorted(self._tools) for tool in self._tools[name].values())

    def __contains__(self, name: Any) -> bool:
        return name in self._tools


def exported(version: ToolVersion) -> ToolVersion:
    """Return a copy whose schemas may be changed without changing the registry's."""
    return replace(
        version, schema=deepcopy(version.schema), output_schema=deepcopy(version.output_schema), guarded=None
    )
