"""Tells a story act by act: to a person as it happens, to a program as one object at its end."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Any, Final, Literal, TypeAlias

import click

from ledger.cli import streams
from ledger.cli.layout import heading
from ledger.cli.rows import Row
from ledger.cli.shell import Shell
from ledger.cli.table import Column
from ledger.cli.text import Ink, Line
from ledger.demo.children import DemoFailed
from ledger.errors import LedgerError

_WIDTH: Final = 76
_Kind: TypeAlias = Literal["begun", "said", "asked", "shown"]
_GAPS: Final = {
    ("said", "said"),
    ("said", "asked"),
    ("said", "shown"),
    ("shown", "said"),
    ("shown", "asked"),
    ("asked", "said"),
}
"""Between which two kinds an empty line stands."""
_MEANINGS: Final = {3: "something waits for a person"}


class Teller:
    """
    The one who tells; `told` holds the acts so far, as they go into `--json`.

    Commands of this very command line are run in this process, so that what is shown is what they print.
    """

    def __init__(self, shell: Shell, root: click.Group, url: str) -> None:
        self._shell = shell
        self._root = root
        self._url = url
        self._last: _Kind = "begun"
        self.told: list[dict[str, Any]] = []

    def title(self, text: str) -> None:
        """Say what it is all about."""
        self._print("begun", [Ink(text, "strong"), ""])

    def act(self, name: str, title: str) -> None:
        """Begin an act; nothing that was said before waits in a buffer while it works."""
        self.told.append({"act": name, "title": title, "commands": [], "facts": {}})
        self._print("begun", [*heading(f"{len(self.told)}. {title}"), ""])
        if not self._shell.json:
            streams.flush(sys.stdout)

    def say(self, *paragraphs: str) -> None:
        """Say something to the person."""
        for text in paragraphs:
            lines = wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
            self._print("said", [f"  {line}" for line in lines])

    def show(self, lines: Iterable[Line]) -> None:
        """Show lines to the person."""
        self._print("shown", lines)

    def table(self, rows: Sequence[Row], columns: Sequence[Column]) -> None:
        """Show a table to the person."""
        self._print("shown", [])
        if not self._shell.json:
            self._shell.out.rows(rows, columns)

    def prompt(self, command: str) -> None:
        """Show a command as it would be typed."""
        self._print("asked", [(Ink("  $ ", "dim"), Ink(command, "strong", whole=True))])

    def _print(self, kind: _Kind, lines: Iterable[Line]) -> None:
        if self._shell.json:
            return
        gap = [""] if (self._last, kind) in _GAPS else []
        self._shell.out.lines([*gap, *lines])
        self._last = kind

    def know(self, **facts: Any) -> None:
        """Keep facts of this act for the program."""
        self.told[-1]["facts"] |= facts

    def command(self, command: str, status: int, output: Any = None) -> None:
        """Keep a command that was run for the program."""
        self.told[-1]["commands"].append({"command": command, "status": status, "output": output})

    def shown(self, command: str, output: list[str]) -> None:
        """Show a command that only looks, and what it prints."""
        self.prompt(command)
        self.show(output)
        self.command(command, 0, output)

    def ledger(self, *arguments: str, expect: int = 0) -> None:
        """Show a command of this command line on the story's ledger, and what it prints; DemoFailed for another end."""
        words = [*arguments, "--db", self._url]
        shown = shlex.join(["ledger", *words])
        self.prompt(shown)
        output = None
        try:
            if self._shell.json:
                status, output = self._captured([*words, "--json"])
            else:
                status = self._run(words)
                self._last = "shown"
        except LedgerError as error:
            raise DemoFailed(f"`{shown}` failed: {error}") from error
        if status:
            self.show([Ink(f"  (exit status {status}: {_MEANINGS.get(status, 'not as expected')})", "dim")])
        self.command(shown, status, output)
        expect_that(status == expect, f"`{shown}` was to exit with {expect}, and exited with {status}")

    def _captured(self, words: list[str]) -> tuple[int, Any]:
        with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
            status = self._run(words)
        return status, json.loads(out.getvalue())["data"]

    def _run(self, words: list[str]) -> int:
        shell = Shell(no_color=self._shell.no_color)
        try:
            with self._root.make_context("ledger", words, obj=shell) as context:
                self._root.invoke(context)
        except click.exceptions.Exit as left:
            return left.exit_code
        return 0


def expect_that(is_so: bool, otherwise: str) -> None:  # noqa: FBT001 - it reads as a sentence
    """Raise DemoFailed with these words unless it is so."""
    if not is_so:
        raise DemoFailed(otherwise)


def spelled() -> str | None:
    """
    Return the line that makes `ledger` this program in a shell; None where it is already.

    A virtual environment need not be active, and on Debian another program has this name.
    """
    program = Path(sys.argv[0])
    found = shutil.which("ledger")
    if found is not None and program.name == "ledger" and Path(found).resolve() == program.resolve():
        return None
    return f'ledger() {{ {shlex.join(_door(program))} "$@"; }}'


def _door(program: Path) -> list[str]:
    if program.name in ("ledger", "toolcall-ledger"):
        return [str(program.absolute())]
    return [sys.executable, *([str(program.absolute())] if program.name == "cli.py" else ["-m", "ledger"])]
