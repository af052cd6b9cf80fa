"""Which upcasts may carry calls that run: published ones, as they were published. A draft may still be edited."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final, Protocol

from ledger.catalog.definition import Catalog, ToolDefinition
from ledger.catalog.lock import Lock, is_draft, upcast_file
from ledger.catalog.steps import Upcast
from ledger.catalog.upcast.records import NotCarried
from ledger.errors import CatalogFault

_HOW: Final = "`ledger tool check` says how it stands, `ledger tool lock` takes in what is new"


class Recorded(Protocol):
    """What an event says of the file that carried a call (`ledger.events.CallUpcast`)."""

    @property
    def from_version(self) -> int:
        """The version of the arguments before."""

    @property
    def upcast_digest(self) -> str:
        """The file's digest."""


class Published:
    """
    What of a catalog's upcasts is published: by its lock, read once, when asked for; by `current` where it has none.

    A lock that cannot be read publishes nothing: whoever would be carried is a person's.
    """

    def __init__(self, catalog: Catalog | None) -> None:
        self._catalog = catalog

    @cached_property
    def _lock(self) -> Lock | CatalogFault | None:
        from ledger.catalog.disk import read_lock  # only who meets a record of another version pays for it

        try:
            return read_lock(self._catalog.root) if self._catalog and self._catalog.root else None
        except CatalogFault as fault:
            return fault

    @property
    def _said(self) -> Lock:
        return self._lock if isinstance(self._lock, Lock) else Lock()

    def is_draft(self, definition: ToolDefinition, number: int) -> bool:
        """Whether a version is not published: above the current one, and not locked."""
        return is_draft(definition, number, self._said)

    def missing(self, definition: ToolDefinition, upcast: Upcast) -> NotCarried | None:
        """Return why a file does not stand in the lock as it is; None: it does, or nothing was ever locked here."""
        if self._lock is None:
            return None
        if isinstance(self._lock, CatalogFault):
            message = f"the lock of the catalog cannot be read: {self._lock.fault}"
            return NotCarried(code="not_locked", pointer="", message=message)
        locked = self._said.of(definition).upcasts.get(upcast_file(upcast))
        if locked == upcast.digest:
            return None
        how = "does not have" if locked is None else "has another form of"
        message = f"the lock of the catalog {how} {upcast_file(upcast)}: {_HOW}"
        return NotCarried(code="not_locked", pointer="", message=message)

    def stand(self, definition: ToolDefinition | None, carried: Iterable[Recorded]) -> bool:
        """Whether each file that carried a call is published, and still the one that its event names."""
        return all(self._stands(definition, each) for each in carried)

    def _stands(self, definition: ToolDefinition | None, recorded: Recorded) -> bool:
        upcast = definition.upcasts.get(recorded.from_version) if definition is not None else None
        if definition is None or upcast is None or upcast.digest != recorded.upcast_digest:
            return False
        return not self.is_draft(definition, upcast.to_version) and self.missing(definition, upcast) is None
