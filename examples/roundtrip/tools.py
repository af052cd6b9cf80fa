"""One tool that this system has beside those of the mini agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger import NotFound, Rejected
from ledger.demo.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Remover:
    """Deletes files of one workspace."""

    workspace: Workspace

    def delete_file(self, path: str) -> dict[str, Any]:
        place = self.workspace.resolve(path)
        try:
            place.unlink()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"There is nothing at {path!r} in the workspace.") from None
        except OSError as error:  # a folder, or no right to delete it: it is as it was
            raise Rejected("not_deleted", f"{path!r} cannot be deleted: {error.strerror}.") from None
        return {"path": self.workspace.name_of(place)}
