"""Under which name a call stands whose tool was renamed: its record keeps the old one, its version has the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:  # who only reads the record needs no catalog, and loads none
    from ledger.catalog import Catalog, ToolDefinition

Form: TypeAlias = tuple[str, int]
"""(recorded name, version)."""


@dataclass(frozen=True, slots=True)
class Names:
    """
    The names that versions have, where calls may be recorded under an earlier one: `charge` v2 is `pay` v2.

    Nothing is recorded under a name that was given up before a version: who has both was carried to it.
    """

    then: Mapping[Form, str] = field(default_factory=dict)

    @classmethod
    def of(cls, catalog: Catalog | None) -> Names:
        """Return the names of a catalog; of none, nothing is known."""
        tools = catalog.tools.values() if catalog is not None else ()
        return cls({form: name for tool in tools for form, name in _forms(tool)})

    def carried_to(self, tool: str, version: int | None) -> str | None:
        """Return the name that a recorded call's version has, where that is another one than it was recorded under."""
        return self.then.get((tool, version)) if version is not None else None

    def carried_as(self, name: object) -> tuple[Form, ...]:
        """Return what calls are recorded as that were carried to this name."""
        return tuple(form for form, now in self.then.items() if now == name)


NO_NAMES: Final = Names()
"""Where no catalog is at hand."""


def _forms(tool: ToolDefinition) -> Iterator[tuple[Form, str]]:
    given_up = sorted(tool.renamed.items(), key=lambda step: step[1])
    for old, last in given_up:
        for version in (each for each in tool.versions if each > last):
            yield (old, version), next((name for name, end in given_up if version <= end), tool.name)
