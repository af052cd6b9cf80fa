"""Commands that are printed to be copied: each works as it stands, on the ledger that this command line was about."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import Final

from ledger.cli.masking import without_password
from ledger.cli.shell import Shell

_COMMAND: Final = re.compile(r"`(ledger [^`]+)`")


def copyable(shell: Shell, *words: str) -> str:
    """Return a command line to copy; it names the ledger and the catalog where this one did."""
    at = words.index("--") if "--" in words else len(words)
    return shlex.join(["ledger", *words[:at], *_named(shell, words), *words[at:]])


def pasteable(shell: Shell, text: str) -> str:
    """Return a text whose commands (`ledger …`, in backquotes) name the ledger and the catalog where this one did."""
    return _COMMAND.sub(lambda found: f"`{completed(shell, found[1])}`", text)


def argued(word: str, *options: str) -> Sequence[str]:
    """Return an argument and options in an order that works: an argument that begins with `-` stands behind `--`."""
    return (*options, "--", word) if word.startswith("-") else (word, *options)


def completed(shell: Shell, command: str) -> str:
    """Return a command line (`ledger …`) that names the ledger and the catalog where this one did."""
    named = _named(shell, command.split())
    return f"{command} {shlex.join(named)}" if named else command


def _named(shell: Shell, words: Sequence[str]) -> list[str]:
    if "--app" in words:  # it brings its own
        return []
    named: list[str] = []
    if "db" in shell.given and shell.db != os.environ.get("LEDGER_DB"):
        named += ["--db", without_password(shell.db)]
    if "catalog" in shell.given:
        named += ["--catalog", shell.catalog]
    return named
