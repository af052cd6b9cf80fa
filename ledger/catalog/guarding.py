"""Schemas of a catalog that was read, guarded once more for those who look into them, and only once."""

from __future__ import annotations

from ledger.catalog.definition import ToolVersion
from ledger.catalog.guard import CAPS, Guarded, guard


class Guards:
    """Gives the guarded schema of a version: its copy, and each schema in it by its pointer."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Guarded] = {}

    def __call__(self, version: ToolVersion) -> Guarded:
        """Return it; the version has passed the guard of its catalog, so none of our own limits is below that."""
        key = version.tool, version.version
        if key not in self._known:
            self._known[key] = guard(version.schema, limits=CAPS)
        return self._known[key]
