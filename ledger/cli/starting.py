"""Makes a new project, and says what to try with it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ledger.cli.commands import completed
from ledger.cli.layout import heading
from ledger.cli.masking import mask_url
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.starter import files
from ledger.cli.text import Ink, Line
from ledger.errors import UsageError
from ledger.store.maintenance import locate, upgrade
from ledger.store.urls import POSTGRES

_NEXT: Final = (
    ("python app.py", "a scripted model reads the notes and wants to add one; a person is asked first"),
    ("ledger review", "what waits for you"),
    ("ledger review show CALL", "all about one of them, and the commands that answer it"),
    ("ledger review approve CALL", "your word"),
    ("ledger resume first --app app:ledger", "runs what you approved"),
    ("python app.py", "the same session goes on to its end"),
    ("ledger replay session first", "the whole story"),
)


def made(shell: Shell, folder: str) -> Row:
    """
    Make what is missing of a project; files that are there are kept as they are.

    Raises `UsageError` where the ledger is to be on a server, before anything is made.
    """
    if POSTGRES.match(shell.db):
        hint = "`ledger db upgrade` makes a server's tables. A new project has a file: leave out --db and LEDGER_DB."
        raise UsageError(f"{mask_url(shell.db)} is a server, and a new project begins with a file", hint=hint)
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[str]] = {"made": [], "kept": []}
    url = _inside(root, shell.db)
    locate(url).parent.mkdir(parents=True, exist_ok=True)
    database = upgrade(url)
    for name, text in files(shell.db, shell.catalog, completed(shell, "ledger review")).items():
        found["made" if _write(root / name, text) else "kept"].append(name)
    found["kept" if database.before is not None else "made"].append(os.path.relpath(database.path, root))
    steps = [] if folder == "." else [(shlex.join(["cd", folder]), "go there")]
    return {
        "folder": str(root.resolve()),
        "db": mask_url(shell.db),
        **found,
        "next": [{"command": _step(shell, command), "meaning": meaning} for command, meaning in (*steps, *_NEXT)],
    }


def _step(shell: Shell, command: str) -> str:
    return completed(shell, command) if command.startswith("ledger ") else command


def _inside(root: Path, url: str) -> str:
    """Return the URL as seen from here: the project's own is relative to its folder."""
    path = url.removeprefix("sqlite:///")
    return f"sqlite:///{root / path}" if "://" not in path else url


def _write(path: Path, text: str) -> bool:
    """Write a new file; return False, and change nothing, where there is one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def made_lines(data: Row) -> Iterator[Line]:
    """Yield what was made and what to try."""
    for name in data["made"]:
        yield (Ink("made  ", "good"), name)
    for name in data["kept"]:
        yield (Ink("kept  ", "dim"), name)
    yield from heading("What to try next")
    for step in data["next"]:
        yield ("  ", Ink(step["command"], "strong", whole=True))
        yield ("      ", Ink(step["meaning"], "dim"))
