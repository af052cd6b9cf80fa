"""The small project that the scripted agent repairs, laid out in a folder."""

from __future__ import annotations

from pathlib import Path

from ledger.demo.workspace import Workspace
from ledger.errors import UsageError

PROJECT = Path(__file__).with_name("project")
PROJECT_FILES = ("NOTES.md", "pages.py", "test_pages.py")


def lay_out(folder: Path) -> Workspace:
    """
    Copy the sample project into a folder (made if missing) and return it as a workspace.

    Raises UsageError `folder_in_use` if one of the files is there already: a run that was cut short is not undone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROJECT_FILES:
        try:
            with (folder / name).open("xb") as copy:
                copy.write((PROJECT / name).read_bytes())
        except FileExistsError as error:
            raise UsageError(
                f"{folder / name} exists already", code="folder_in_use", hint="Name an empty folder, or a new one."
            ) from error
    return Workspace(folder)
