"""Which revision of the tables this release works on; known without loading Alembic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ledger.errors import SchemaOutdated

HEAD: Final = "0003"
"""The newest revision in ledger/migrations/versions."""

EPOCH: Final = 1
"""
Raised by a migration that older releases cannot work beside (a contracting one); kept in `PRAGMA user_version`.

A database with a newer revision of the same epoch is fine: that release only added to it.
"""

Migrate: TypeAlias = Literal["auto", "check", "off"]


@dataclass(frozen=True, slots=True)
class Tables:
    """
    What a database holds.

    `revision` is None where there is no ledger in it, `foreign` says that there is something else under the names that
    a ledger needs, `empty` that there is nothing at all.
    """

    revision: str | None
    epoch: int
    foreign: bool
    empty: bool = False

    @property
    def current(self) -> bool:
        """Whether this release can work with them: its own, or newer ones that only added to them."""
        return self.revision == HEAD or (self.revision is not None and self.revision > HEAD and self.epoch == EPOCH)

    @property
    def newer(self) -> bool:
        """Whether a newer release made them so that this one cannot work with them."""
        return self.epoch > EPOCH


def outdated(where: object, tables: Tables) -> SchemaOutdated:
    """Return the error for tables that this release cannot work with; `where` is the file, or the server's URL."""
    if tables.newer:
        return SchemaOutdated(
            f"{where} was upgraded by a newer release (tables {tables.revision}, here {HEAD})",
            hint="Upgrade this program.",
        )
    return SchemaOutdated(
        f"{where} has the tables of an older release ({tables.revision}, here {HEAD})",
        hint="Run `ledger db upgrade`.",
    )
