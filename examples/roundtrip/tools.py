"""The tools of this system: three of the mini agent's, and one that only an administrator may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ledger import Allow, Deny, Ledger, NotFound, Rejected
from ledger.catalog import default_catalog_root
from ledger.demo.tools import CodingTools
from ledger.demo.workspace import Workspace

LOOKING = ("find_tools", "list_files", "read_file")
"""What the first stage of the task can use; `find_tools` finds the others."""
ADMINISTRATOR = "root"


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


def open_ledger(url: str, workspace: Workspace) -> Ledger:
    """Open a ledger with the tools on a workspace."""
    ledger = Ledger.open(url, catalog=default_catalog_root())
    coding = CodingTools(workspace)
    for tool in (coding.list_files, coding.read_file, coding.read_lines, Remover(workspace).delete_file):
        ledger.tool(tool.__name__)(tool)

    @ledger.authorize
    def only_administrators_delete(call: Any, principal: str | None) -> Allow | Deny:
        if call.tool != "delete_file" or principal == ADMINISTRATOR:
            return Allow()
        return Deny("not_permitted", "Files are deleted by an administrator.", user_action="Ask your administrator.")

    return ledger
