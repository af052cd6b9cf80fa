"""The door to a ledger that is already there, for commands that record a person's word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ledger.cli.opening import catalog_folder
from ledger.cli.shell import Shell
from ledger.session.existing import open_existing
from ledger.session.ledger import Ledger


@contextmanager
def answering(shell: Shell, *, recorded: bool = False, read_only: bool = False) -> Iterator[Ledger]:
    """Lend the ledger, with its tools' definitions and without their code; see `open_existing`."""
    ledger = open_existing(shell.db, catalog=catalog_folder(shell), recorded=recorded, read_only=read_only)
    try:
        yield ledger
    finally:
        ledger.close()
